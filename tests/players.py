"""Small help for the tests: tables of one game with named policies, without an experiment file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from policies.loading import load_policy
from sim.engine import Table
from sim.experiment import PolicyChoice
from sim.tally import fields_of


def seat_table(module: ModuleType, rules: Any, policies: Sequence[str | PolicyChoice]) -> Table:
    """A table at which the named policies sit."""
    choices = [PolicyChoice(p) if isinstance(p, str) else p for p in policies]
    loaded = [load_policy(module, choice, "test", Path(__file__).parent) for choice in choices]
    return Table(module, rules, [p.call for p in loaded], [p.values(c.parameters) for p, c in zip(loaded, choices, strict=True)])


def play_columns(table: Table, seed: int, games: int, first: int = 0) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """Outcome columns by name (`points[0]`, …) of some games."""
    rows = table.play(seed, first, games)
    names = [f.column.name if f.seat is None else f"{f.column.name}[{f.seat}]" for f in fields_of(table.module, len(table.policies))]
    return {name: rows[:, n] for n, name in enumerate(names)}
