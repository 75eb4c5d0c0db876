"""Looks at outcomes: tallies, statistics, tables, plots, report. Sees data only, never a state; imports neither sim nor policies."""
