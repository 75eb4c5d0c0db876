"""Built-in controls: what must hold in any run, whatever the rules' effect. One that fails makes every other figure doubtful.

Each is held at five sigma (an error of 6 in 10 million) with intervals that are exact for rare events and hold
wherever play stopped (reports/sequences.py), so that a failure is no chance of the dice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reports.findings import UNFINISHED, WIN, write_interval
from reports.run import Run
from reports.statistics import Confidence, Interval
from reports.tables import compare_seats, figure_of

FIVE_SIGMA = Confidence(math.erfc(5 / math.sqrt(2)), anytime=True)
UNFINISHED_MOST = 0.01  # of a cell's games; with more, figures of finished games no longer speak of the game


@dataclass(frozen=True)
class Control:
    """One kind of control over all cells that it applies to: its worst case in words, and whether all hold."""

    name: str
    text: str
    passed: bool


@dataclass(frozen=True)
class _Check:
    """One thing that must hold: `interval` (shown in `unit`) holds `wanted`, give or take `rounding`."""

    interval: Interval
    wanted: float
    what: str
    unit: str
    rounding: float = 0.0

    @property
    def distance(self) -> float:
        """How far off, in parts of what is allowed: above 1 it fails."""
        value, low, high = self.interval
        if math.isnan(low) or math.isnan(high):
            return 0.0
        allowed = (high - value if value < self.wanted else value - low) + self.rounding
        off = abs(value - self.wanted)
        return off / allowed if allowed > 0 else (math.inf if off > 0 else 0.0)


def control(run: Run) -> list[Control]:
    """The controls that apply to a run."""
    kinds = [
        ("mirror line-up", "the same policy in every seat wins alike in every seat", _check_mirrors(run)),
        ("seat swap", "a policy wins as often from another seat, its opponents moved with it", _check_swaps(run)),
        ("exact value", "figures that are known exactly", _check_exact(run)),
    ]
    told = [_sum_up(name, meaning, list(checks)) for name, meaning, checks in kinds]
    return [one for one in [*told, _control_unfinished(run)] if one]


def _sum_up(name: str, meaning: str, checks: list[_Check]) -> Control | None:
    if not checks:
        return None
    worst = max(checks, key=lambda check: check.distance)
    failed = sum(check.distance > 1 for check in checks)
    shown = write_interval(worst.interval, worst.unit, signed=worst.wanted == 0)
    text = f"{meaning}: {len(checks) - failed} of {len(checks)} hold; the farthest: {worst.what} {shown}, wanted {worst.wanted:g}"
    return Control(name, text, failed == 0)


def _check_mirrors(run: Run) -> Iterator[_Check]:
    for cell in run.played:
        wins = _wins(run, cell)
        if not cell["symmetric"] or len({_key(policy) for policy in cell["policies"]}) > 1:
            continue
        for other in wins[1:]:
            gap = compare_seats(run, cell["cell"], wins[0], other, FIVE_SIGMA)
            if gap:
                yield _Check(_percent(gap), 0.0, f"seat 0 minus seat {other['seat']} with {cell['label']}", "percentage points")


def _check_swaps(run: Run) -> Iterator[_Check]:
    """Seats of different cells meet different luck, of unknown correlation: the limits of both are added, which allows for any."""
    for cell in run.played:
        line_up = [_key(policy) for policy in cell["policies"]]
        if not cell["symmetric"] or len(set(line_up)) == 1:
            continue
        moved = [line_up[-1], *line_up[:-1]]
        for other in run.played:
            if other["rules"] != cell["rules"] or [_key(policy) for policy in other["policies"]] != moved:
                continue
            theirs = _wins(run, other)
            for seat, mine in enumerate(_wins(run, cell)):
                x = figure_of(run, cell["cell"], mine, FIVE_SIGMA)[0]
                y = figure_of(run, other["cell"], theirs[(seat + 1) % len(theirs)], FIVE_SIGMA)[0]
                difference = Interval(x.value - y.value, x.low - y.high, x.high - y.low)
                moved_seat = f"{cell['policies'][seat]['label']} in seat {seat} minus in the next with {cell['label']}"
                yield _Check(_percent(difference), 0.0, moved_seat, "percentage points")


def _check_exact(run: Run) -> Iterator[_Check]:
    for cell in run.played:
        for exact in run.manifest["exact"]:
            if exact["rules"] != cell["rules"] or [(name, ()) for name in exact["policies"]] != [_key(policy) for policy in cell["policies"]]:
                continue
            for name, (value, rounding) in exact["values"].items():
                metric, _, seat = name.rstrip("]").partition("[")
                figure = next(f for f in run.figures(cell) if f["metric"] == metric and f["seat"] == (int(seat) if seat else None))
                percent = 100 if run.metrics[metric]["kind"] == "share" else 1
                interval = Interval(*(percent * x for x in figure_of(run, cell["cell"], figure, FIVE_SIGMA)[0]))
                unit = "%" if percent == 100 else run.metrics[metric]["unit"]
                yield _Check(interval, percent * value, f"{name} with {cell['label']}", unit, percent * rounding)


def _control_unfinished(run: Run) -> Control | None:
    found = []
    for cell in run.played:
        for figure in run.figures(cell):
            if figure["metric"] == UNFINISHED:
                found.append((figure_of(run, cell["cell"], figure, FIVE_SIGMA)[0], cell["label"]))
    if not found:
        return None
    most, label = max(found, key=lambda pair: pair[0].value)
    where = f" with {label}, the most" if most.value > 0 else " in every cell"
    text = f"{write_interval(_percent(most), '%')}{where}; more than {UNFINISHED_MOST:.0%} would fail"
    return Control("unfinished games", text, not most.low > UNFINISHED_MOST)


def _wins(run: Run, cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [figure for figure in run.figures(cell) if figure["metric"] == WIN and figure["seat"] is not None]


def _key(policy: dict[str, Any]) -> tuple[str, tuple[tuple[str, float], ...]]:
    return policy["name"], tuple(sorted(policy["parameters"].items()))


def _percent(interval: Interval) -> Interval:
    return Interval(*(100 * x for x in interval))
