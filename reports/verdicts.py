"""Targets held against what was played: PASS, FAIL or UNDECIDED, never silently one of many.

All intervals that verdicts rest on are simultaneous: of m lines each errs with chance 5%/m (Bonferroni), so that with
95% chance all hold at once, whatever depends on what. A verdict is given only where the whole interval lies within
the band, or the whole interval outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reports.languages import localize, say, word, write_count
from reports.measures import has_measure, measure, measure_difference, measure_differences
from reports.results import ASSUMED, LINE_UP, join_words, label_cell, name_level, tell_levels, write_interval
from reports.run import EFFECT, MEASURES, OF_SEATS, USE, Run
from reports.statistics import Confidence, Difference, Interval
from reports.tables import confidence_of, difference_of, differences_of, figure_of

FAMILY_ERROR = 0.05
HEAD = 3  # texts of a row that stay on one line where all have no room

Word = Literal["PASS", "FAIL", "UNDECIDED"]


@dataclass(frozen=True)
class Measure:
    """A figure that was asked for: its name, cell, interval in the metric's unit (shares as fractions), and games."""

    name: str
    cell: int
    interval: Interval
    games: int


@dataclass(frozen=True)
class Verdict:
    """One line of the targets: what was measured, the band, and whether it holds."""

    measure: Measure
    at_least: float | None
    at_most: float | None

    @property
    def word(self) -> Word:
        """PASS if the interval lies within the band, FAIL if outside, else UNDECIDED."""
        _, low, high = self.measure.interval
        least = -math.inf if self.at_least is None else self.at_least
        most = math.inf if self.at_most is None else self.at_most
        if least <= low and high <= most:
            return "PASS"
        return "FAIL" if high < least or low > most else "UNDECIDED"


@dataclass(frozen=True)
class Comparison:
    """One line of a comparison: a figure of both cells, and the paired difference."""

    name: str
    reference: Interval
    cell: Interval
    difference: Difference

    @property
    def word(self) -> str:
        """Which way the figure went, where its interval says so; EQUAL if it was the same in every game."""
        _, low, high = self.difference.interval
        return "HIGHER" if low > 0 else "LOWER" if high < 0 else "EQUAL" if self.difference.same else "UNDECIDED"


def judge(run: Run) -> list[Verdict]:
    """A verdict per target, cell and seat; for a difference, per cell other than the baseline."""
    targets = run.manifest["targets"]
    lines = sum(len(list(_asked(run, cell, target["quantity"]))) for target in targets for cell in run.cells)
    sure = confidence_of(run, FAMILY_ERROR / max(lines, 1))
    return [
        Verdict(found, target["at_least"], target["at_most"])
        for target in targets
        for cell in run.cells
        for found in _measure(run, cell, target["quantity"], sure)
    ]


def tell_agreement(run: Run, verdicts: Sequence[Verdict]) -> list[str]:
    """Under several line-ups: of each target whether the verdict is the same whoever plays; those that turn come first."""
    if LINE_UP not in run.swept:
        return []
    words = translate_words()
    groups: dict[str, dict[Word, list[str]]] = {}
    for verdict in verdicts:
        levels = tell_levels(run, verdict.measure.cell)
        line_up = levels.pop(LINE_UP)
        _, name, *_, band, _ = write_verdict(run, verdict)
        target = ", ".join([f"{name} ({band})", *(name_level(setting, level) for setting, level in levels.items())])
        groups.setdefault(target, {}).setdefault(verdict.word, []).append(line_up)
    told = []
    for target, found in sorted(groups.items(), key=lambda group: -len(group[1])):
        if len(found) == 1:
            told.append(say("{target}: {verdict} whoever plays.", target=target, verdict=words[next(iter(found))]))
            continue
        among = "; ".join(say("{verdict} with {line_ups}", verdict=words[one], line_ups=join_words(line_ups)) for one, line_ups in found.items())
        if {"PASS", "FAIL"} <= found.keys():
            told.append(say("{target} turns with who plays: {verdicts}.", target=target, verdicts=among))
        else:
            told.append(say("{target} is not decided with everybody: {verdicts}.", target=target, verdicts=among))
    return told


def translate_words() -> dict[Word, str]:
    """The verdicts in the language in force."""
    return {"PASS": say("PASS"), "FAIL": say("FAIL"), "UNDECIDED": say("UNDECIDED")}


def find_open(run: Run) -> set[int]:
    """The cells that must be played on: those with a figure not as narrow, or a target not as decided, as `[stop]` asks; their baselines with them.

    Differences of quantiles and standard deviations are of all games of both cells, not only of those both played, so where one is asked for, a cell
    goes on as long as its baseline does: else what it had decided might be lost again.
    """
    cells = {found.cell for found, _ in find_imprecise(run)}
    if run.manifest["until_decided"]:
        cells |= {verdict.measure.cell for verdict in judge(run) if verdict.word == "UNDECIDED"}
    baselines = {run.played[cell]["baseline"] for cell in cells}
    if any(one["quantity"]["delta"] and _is_drawn(run, one["quantity"]) for one in (*run.manifest["targets"], *run.manifest["precision"])):
        cells |= {cell["cell"] for cell in run.cells if cell["baseline"] in baselines}
    return cells | baselines


def _is_drawn(run: Run, quantity: dict[str, Any]) -> bool:
    return run.metrics.get(quantity["metric"], {}).get("kind") in ("quantile", "sd")


def find_imprecise(run: Run) -> list[tuple[Measure, float]]:
    """The figures that are not as narrow as `[stop]` asks, with the half-width asked."""
    sure = confidence_of(run)
    failed = dict(run.failed)
    asked = [
        (found, one["half_width"])
        for one in run.manifest["precision"]
        for cell in run.cells
        if cell["cell"] not in failed and not (one["quantity"]["delta"] and cell["baseline"] in failed)
        for found in _measure(run, cell, one["quantity"], sure)
    ]
    return [(found, width) for found, width in asked if not max(found.interval.high - found.interval.value, found.interval.value - found.interval.low) <= width]


def compare(run: Run, cell: int = 0) -> list[Comparison]:
    """The headline figures and balance measures of a cell and the baseline; intervals of differences are simultaneous."""
    pair = _pair_with_baseline(run, run.cells[cell])
    if pair is None:
        return []
    baseline = run.cells[cell]["baseline"]
    figures = [f for name in run.manifest["headlines"] for f in run.figures(run.played[cell]) if f["metric"] == name]
    measures = [name for name, _ in measure_differences(run, pair) if not name.startswith((USE, EFFECT))]
    sure = confidence_of(run, FAMILY_ERROR / (len(figures) + len(measures)))
    found = {(f["metric"], f["seat"]): difference for f, difference in differences_of(run, pair, sure)}
    lines = []
    for figure in figures:
        difference = found[figure["metric"], figure["seat"]]
        before, after = (figure_of(run, number, figure)[0] for number in (baseline, cell))
        lines.append(Comparison(_name(figure), before, after, difference))
    for name in measures:
        difference = measure_difference(run, pair, name, sure)
        before, after = (measure(run, run.played[number], name, confidence_of(run))[0] for number in (baseline, cell))
        lines.append(Comparison(name, before, after, difference))
    return lines


def changes_anything(run: Run) -> bool:
    """Does any game of the first cell come out otherwise than with its baseline, by any figure? Of no games nothing is said."""
    pair = _pair_with_baseline(run, run.cells[0])
    sums = [] if pair is None else run.pair_sums(pair)
    return any(one.differ for one in sums) or not any(one.both[0] for one in sums)


def write_verdict(run: Run, verdict: Verdict) -> tuple[str, ...]:
    """Verdict, name, cell, figure with its interval, band, games: as texts."""
    found = verdict.measure
    scale, unit = _unit(run, found.name)
    shown = Interval(*(x * scale for x in found.interval))
    return (
        verdict.word,
        found.name,
        label_cell(run, found.cell),
        write_interval(shown, unit, signed=_is_signed(found.name)),
        _write_band(verdict, scale, unit),
        say("{count} games", count=write_count(found.games)),
    )


def write_comparison(run: Run, line: Comparison) -> tuple[str, ...]:
    """Verdict, name, difference with its interval, both figures, games, variance ratio: as texts."""
    scale, unit = _unit(run, line.name)
    before, after, difference = (Interval(*(x * scale for x in one)) for one in (line.reference, line.cell, line.difference.interval))
    _, unit_of_difference = _unit(run, f"delta.{line.name}")
    figures = f"{write_interval(before, unit)} → {write_interval(after, unit)}"
    name = line.name + (ASSUMED if run.assumes(line.name.partition("[")[0]) else "")
    shown = write_interval(difference, unit_of_difference, signed=True)
    return (line.word, name, shown, figures, f"{line.difference.games:,} games", write_ratio(line.difference.ratio))


def write_ratio(ratio: float) -> str:
    """How much pairing gained, as `paired ×5.2`: as many times the games would be needed without it."""
    if math.isnan(ratio):
        return ""
    return say("paired ×{ratio}", ratio="∞" if math.isinf(ratio) else localize(f"{ratio:.{1 if ratio < 100 else 0}f}"))


def write_imprecise(run: Run, found: Measure, width: float) -> str:
    """That a figure is not known as well as asked."""
    scale, unit = _unit(run, found.name)
    shown = write_interval(Interval(*(x * scale for x in found.interval)), unit, signed=_is_signed(found.name))
    return say(
        "{figure} of {cell} is {value} after {games} games; ±{width} was asked",
        figure=found.name,
        cell=label_cell(run, found.cell),
        value=shown,
        games=write_count(found.games),
        width=localize(f"{width * scale:g}") + (unit if unit == "%" else f" {unit}".rstrip()),
    )


def align(rows: Sequence[Sequence[str]], width: int = 0) -> list[str]:
    """Rows of texts as lines with columns that stand below each other; where `width` characters are too few (0: never), the first three of each,
    and below them the rest."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if width and sum(widths) + 2 * len(widths) - 2 > width and len(widths) > HEAD:
        heads = align([row[:HEAD] for row in rows])
        return [line for head, row in zip(heads, rows, strict=True) for line in (head, f"    {', '.join(filter(None, row[HEAD:]))}")]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _asked(run: Run, cell: dict[str, Any], quantity: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The figures of a cell that a quantity means; for a measure of balance, one that only names it."""
    if quantity["delta"] and _pair_with_baseline(run, cell) is None:
        return
    if quantity["metric"] in MEASURES:
        compared = [cell, run.played[cell["baseline"]]] if quantity["delta"] else [cell]
        if all(has_measure(run, one, quantity["metric"]) for one in compared):
            yield {"metric": quantity["metric"], "seat": None}
        return
    for figure in run.figures(cell):
        if quantity["delta"] and run.same_figure(cell["baseline"], figure) is None:
            continue
        if figure["metric"] == quantity["metric"] and quantity["seat"] in (None, figure["seat"]):
            yield figure


def _measure(run: Run, cell: dict[str, Any], quantity: dict[str, Any], sure: Confidence) -> Iterator[Measure]:
    number = cell["cell"]
    for figure in _asked(run, cell, quantity):
        name = figure["metric"]
        if quantity["delta"]:
            pair = _pair_with_baseline(run, cell)
            assert pair is not None
            if name in MEASURES:
                difference = measure_difference(run, pair, name, sure)
            else:
                sums = run.pair_sums(pair)[run.paired_figures(pair).index(figure)]
                difference = difference_of(run, run.manifest["pairs"][pair], figure, sums, sure)
            yield Measure(f"delta.{_name(figure)}", number, difference.interval, difference.games)
        elif name in MEASURES:
            yield Measure(name, number, *measure(run, cell, name, sure))
        else:
            yield Measure(_name(figure), number, *figure_of(run, number, figure, sure))


def _pair_with_baseline(run: Run, cell: dict[str, Any]) -> int | None:
    return run.pair_numbers.get((cell["cell"], cell["baseline"]))


def _name(figure: dict[str, Any]) -> str:
    return str(figure["metric"]) if figure["seat"] is None else f"{figure['metric']}[{figure['seat']}]"


def _unit(run: Run, name: str) -> tuple[float, str]:
    """By what a figure is multiplied to be shown, and the unit it is then in."""
    delta, metric = name.startswith("delta."), name.removeprefix("delta.").partition("[")[0]
    scale, unit = (100.0, "%") if run.metrics[metric]["kind"] == "share" else (1.0, word(run.metrics[metric]["unit"]))
    return scale, say("percentage points") if metric in OF_SEATS or (unit == "%" and delta) else unit


def _is_signed(name: str) -> bool:
    """Can a figure be on either side of 0, so that its sign is told?"""
    return name.startswith("delta.") or name == "first_seat_advantage"


def _write_band(verdict: Verdict, scale: float, unit: str) -> str:
    low, high = (None if bound is None else localize(f"{bound * scale:.6g}".replace("-", "−")) for bound in (verdict.at_least, verdict.at_most))
    shown = unit if unit == "%" else f" {unit}".rstrip()
    if low and high:
        return say("wanted: {low} to {high}{unit}", low=low, high=high, unit=shown)
    return say("wanted: at least {low}{unit}", low=low, unit=shown) if low else say("wanted: at most {high}{unit}", high=high, unit=shown)
