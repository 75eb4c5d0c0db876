"""Plays games: rules, random streams, the one play loop, batches. Knows nothing of policies/, reports/ or cli.py."""
