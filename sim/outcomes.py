"""What a game reports of each game played: outcome columns, and the metrics read off them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

MISSING = -(2**62)  # a column's value in a game where it has none (the time of an unfinished game)


@dataclass(frozen=True)
class Column:
    """One int64 outcome column; `value × scale` is in `unit`. `low` is its least value.

    `per_seat` makes one per seat: a field of OUTCOME as long as the most seats, of which the seats at the table are kept.
    Values lie in low .. low + 2³¹ − 1, so that sums of squares stay exact.
    """

    name: str
    meaning: str
    unit: str = ""
    scale: float = 1.0
    low: int = 0
    per_seat: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """One figure over the games in which `column` is not missing.

    kind: "share" (of games with the column equal to `equals`; None: equal to the seat), "mean",
    "sd" (standard deviation), or "quantile" (the smallest value that a share `level` of games does not exceed).
    The figure is multiplied by `scale` and is in `unit`; `assumed`: it rests on knobs whose defaults are assumed.
    """

    name: str
    meaning: str
    column: str
    kind: Literal["share", "mean", "sd", "quantile"]
    equals: int | None = None
    level: float = 0.5
    unit: str = ""
    scale: float = 1.0
    per_seat: bool = False
    assumed: bool = False


@dataclass(frozen=True)
class Highlight:
    """A game worth telling: the one that is first by `order`, pairs of (column, +1 least first or −1 greatest first)."""

    name: str
    meaning: str
    order: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Exact:
    """Figures known exactly: those of `rules` (what is unsaid is the rulebook's) when `policies` sit in the seats.

    `values` gives each figure (`metric` or `metric[seat]`, shares as fractions) and how far its last digit may be off.
    """

    policies: tuple[str, ...]
    rules: dict[str, Any]
    values: dict[str, tuple[float, float]]
