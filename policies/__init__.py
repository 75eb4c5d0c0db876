"""Decides: one module per game with its shipped policies; loading a user's own. May import sim/, never reports/."""
