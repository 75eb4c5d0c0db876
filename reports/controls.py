"""Built-in controls: what must hold in any run, whatever the rules' effect. One that fails makes every other figure doubtful.

Each is held at five sigma (an error of 6 in 10 million) with intervals that are exact for rare events and hold
wherever play stopped (reports/sequences.py), so that a failure is no chance of the dice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reports.languages import localize, say, word
from reports.results import label_cell, name_metric, round_up, write_interval
from reports.run import UNFINISHED, WIN, Run
from reports.statistics import Confidence, Interval
from reports.tables import compare_seats, figure_of

FIVE_SIGMA = Confidence(math.erfc(5 / math.sqrt(2)), anytime=True)
TELLING = 0.25  # a control that lets pass what is so far off, of the wanted value or of all games, tells nothing
UNFINISHED_MOST = 0.01  # of a cell's games; with more, figures of finished games no longer speak of the game


@dataclass(frozen=True)
class Control:
    """One kind of control over all cells that it applies to: its worst case in words, whether all hold, and if so whether they could have failed."""

    name: str
    text: str
    passed: bool
    could_fail: bool


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

    @property
    def tells(self) -> bool:
        """Are there games enough that something could fail?"""
        return not self.interval.high - self.interval.low > (TELLING * abs(self.wanted) if self.unit != "%" and self.wanted else 100 * TELLING)


def control(run: Run) -> list[Control]:
    """The controls that apply to a run."""
    kinds = [
        (say("mirror line-up"), say("the same policy in every seat wins alike in every seat"), _check_mirrors(run)),
        (say("seat swap"), say("a policy wins as often from another seat, its opponents moved with it"), _check_swaps(run)),
        (say("exact value"), say("figures that are known exactly"), _check_exact(run)),
    ]
    told = [_sum_up(name, meaning, [check for check in checks if not math.isnan(check.interval.value)]) for name, meaning, checks in kinds]
    return [one for one in [*told, _control_unfinished(run)] if one]


def _sum_up(name: str, meaning: str, checks: list[_Check]) -> Control | None:
    if not checks:
        return None
    worst = max(checks, key=lambda check: check.distance)
    failed = sum(check.distance > 1 for check in checks)
    widest: dict[str, float] = {}
    for check in checks:
        unit = say("percentage points") if check.unit == "%" else check.unit
        widest[unit] = max(widest.get(unit, 0.0), check.interval.high - check.interval.low)
    shown = write_interval(worst.interval, worst.unit, signed=worst.wanted == 0)
    text = say(
        "{meaning}: {some} of {all} hold; the farthest: {what} {value}, wanted {wanted}; {limit} off or more could not pass",
        meaning=meaning,
        some=len(checks) - failed,
        all=len(checks),
        what=worst.what,
        value=shown,
        wanted=localize(f"{worst.wanted:g}"),
        limit=", ".join(f"{round_up(width)} {unit}".rstrip() for unit, width in widest.items()),
    )
    return Control(name, text, failed == 0, all(check.tells for check in checks))


def _check_mirrors(run: Run) -> Iterator[_Check]:
    for cell in run.played:
        wins = _wins(run, cell)
        if not cell["symmetric"] or len({_key(policy) for policy in cell["policies"]}) > 1:
            continue
        for other in wins[1:]:
            gap = compare_seats(run, cell["cell"], wins[0], other, FIVE_SIGMA)
            if gap:
                what = say("seat 0 minus seat {seat} with {settings}", seat=other["seat"], settings=label_cell(run, cell["cell"]))
                yield _Check(_percent(gap), 0.0, what, say("percentage points"))


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
                moved_to = (seat + 1) % len(theirs)
                x = figure_of(run, cell["cell"], mine, FIVE_SIGMA)[0]
                y = figure_of(run, other["cell"], theirs[moved_to], FIVE_SIGMA)[0]
                difference = Interval(x.value - y.value, x.low - y.high, x.high - y.low)
                policy = cell["policies"][seat]["label"]
                settings = label_cell(run, cell["cell"])
                what = say("{policy} in seat {seat} minus in seat {other} with {settings}", policy=policy, seat=seat, other=moved_to, settings=settings)
                yield _Check(_percent(difference), 0.0, what, say("percentage points"))


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
                unit = "%" if percent == 100 else word(run.metrics[metric]["unit"])
                words = say("{figure} of seat {seat}", figure=name_metric(metric), seat=seat) if seat else name_metric(metric)
                what = say("{amount} with {settings}", amount=words, settings=label_cell(run, cell["cell"]))
                yield _Check(interval, percent * value, what, unit, percent * rounding)


def _control_unfinished(run: Run) -> Control | None:
    found = []
    for cell in run.played:
        for figure in run.figures(cell):
            if figure["metric"] == UNFINISHED and cell["games"]:
                found.append((figure_of(run, cell["cell"], figure, FIVE_SIGMA)[0], label_cell(run, cell["cell"])))
    if not found:
        return None
    most, label = max(found, key=lambda pair: pair[0].value)
    share, limit = write_interval(_percent(most), "%"), f"{UNFINISHED_MOST:.0%}"
    if most.value > 0:
        text = say("{share} with {cell}, the most; more than {limit} would fail", share=share, cell=label, limit=limit)
    else:
        text = say("{share} in every cell; more than {limit} would fail", share=share, limit=limit)
    return Control(say("unfinished games"), text, not most.low > UNFINISHED_MOST, most.high < TELLING)


def _wins(run: Run, cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [figure for figure in run.figures(cell) if figure["metric"] == WIN and figure["seat"] is not None]


def _key(policy: dict[str, Any]) -> tuple[str, tuple[tuple[str, float], ...]]:
    return policy["name"], tuple(sorted(policy["parameters"].items()))


def _percent(interval: Interval) -> Interval:
    return Interval(*(100 * x for x in interval))
