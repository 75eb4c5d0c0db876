"""What a run shows, in plain sentences, each figure with its 95% interval.

`Results` holds a run's tables in the form that sentences, plots and report share: shares in percent,
differences of shares in percentage points, all else in the metric's unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import pandas as pd

from reports.run import Run
from reports.statistics import Interval, share
from reports.tables import cells_table, compare_seats, confidence_of, differences_table, metrics_table

BASELINE = "baseline"  # the setting of pairs compared with the baseline only

# Names that games agree on; a game without one goes without the sentence.
WIN = "win_rate"
UNFINISHED = "unfinished_rate"
WINNER_LED = "winner_led_at_half"

ASSUMED = "†"  # marks what rests on assumed figures

POLICY = re.compile(r"policies\[(?P<seat>\d+)\](\.(?P<parameter>\w+))?")
SETTINGS_TOLD = 6  # swept settings with sentences of their own; the others are named
STEPS_TOLD = 4  # levels of a setting told one by one
FIGURES_TOLD = 4  # further figures told for a setting

PARTS = {0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 0.75: "three quarters", 0.9: "nine tenths"}

Figure = tuple[str, int | None]


@dataclass(frozen=True)
class Finding:
    """One bullet of the findings: what it is about and what is seen. A warning is marked as such, a note is about the figures."""

    kind: Literal["finding", "warning", "note"]
    subject: str
    text: str


@dataclass(frozen=True)
class Change:
    """Paired difference of one figure, cell minus reference, when one setting goes from level `start` to `end`."""

    setting: str
    start: str
    end: str
    cell: int
    reference: int
    figure: Figure
    interval: Interval
    same: bool  # this figure came out the same in every game
    ratio: float = math.nan  # variance as of independent games over the variance as paired

    @property
    def clear(self) -> bool:
        """Is the change distinguishable from zero?"""
        return self.interval.low > 0 or self.interval.high < 0


class Results:
    """A run with its tables, figures and paired changes, in the units shown, and the names of its cells."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.metrics = metrics_table(run)
        self.cells = cells_table(run, self.metrics)
        self.differences = differences_table(run)
        self.figures: dict[tuple[int, Figure], Interval] = {}
        for cell, metric, seat, *interval in _records(self.metrics, "cell", "metric", "seat", "value", "low", "high"):
            figure = (metric, _seat(seat))
            self.figures[cell, figure] = self._shown(metric, interval)
        of_headlines = [(m, f["seat"]) for m in run.manifest["headlines"] for cell in run.cells for f in run.figures(cell) if f["metric"] == m]
        self.headlines: list[Figure] = list(dict.fromkeys(of_headlines))
        columns = ("setting", "from", "to", "cell", "reference", "metric", "seat", "same", "variance_ratio", "value", "low", "high")
        changes = [
            Change(setting, write_level(start), write_level(end), cell, reference, (metric, _seat(seat)), self._shown(metric, interval), same, ratio)
            for setting, start, end, cell, reference, metric, seat, same, ratio, *interval in _records(self.differences, *columns)
        ]
        self.changes = [c for c in changes if c.figure in self.headlines and c.setting != BASELINE]
        self.deltas = [c for c in changes if c.figure in self.headlines and c.reference == run.baseline]
        self.differing = {(c.cell, c.reference) for c in changes if not c.same}
        self.levels = [[write_level(row[setting]) for setting in run.swept] for row in self.cells.to_dict("records")[: len(run.cells)]]
        self.labels = [self._label(levels) for levels in self.levels]

    @property
    def games(self) -> str:
        """How many games, from which seed."""
        counts, seed = {cell["games"] for cell in self.run.cells}, self.run.manifest["seed"]
        count = f"{min(counts):,}" if len(counts) == 1 else f"{min(counts):,} to {max(counts):,}"
        return f"{count} games{' per cell' if len(self.run.cells) > 1 else ''}, seed {seed}"

    def name_cell(self, cell: int) -> str:
        """A cell's swept settings, or what else it was played for."""
        return self.labels[cell] if cell < len(self.labels) else str(self.run.played[cell]["label"])

    def name(self, figure: Figure) -> str:
        """A figure's name in words, with a dagger if it rests on assumed figures."""
        metric, seat = figure
        words = metric.replace("_", " ") + (ASSUMED if self.run.metrics[metric]["assumed"] else "")
        return words if seat is None or all(cell["seats"] == 1 for cell in self.run.cells) else f"{words} of seat {seat}"

    def unit(self, metric: str, difference: bool = False) -> str:
        """The unit a metric, or a difference of it, is shown in."""
        unit = "%" if self.run.metrics[metric]["kind"] == "share" else str(self.run.metrics[metric]["unit"])
        return "percentage points" if difference and unit == "%" else unit

    def describe_others(self, cell: int, setting: str) -> str:
        """The levels, in a cell, of the swept settings other than this one; empty if there is none or they stand at the baseline."""
        if self.run.manifest["sweep_mode"] == "one-at-a-time":
            return ""
        levels = zip(self.run.swept, self.levels[cell], strict=True)
        return ", ".join(name_level(other, level) for other, level in levels if other != setting)

    def _shown(self, metric: str, interval: Iterable[float]) -> Interval:
        scale = 100 if self.run.metrics[metric]["kind"] == "share" else 1
        return Interval(*(float(x) * scale for x in interval))

    def _label(self, levels: Sequence[str]) -> str:
        if not levels:
            return "rules as given"
        baseline = self.levels[0] if self.run.manifest["sweep_mode"] == "one-at-a-time" else [None] * len(levels)
        parts = [name_level(s, level) for s, level, base in zip(self.run.swept, levels, baseline, strict=True) if level != base]
        return ", ".join(parts) or "baseline"


def name_setting(setting: str) -> str:
    """A swept setting in words: `rules.monster_die` → `monster_die`, `policies[0]` → `policy of seat 0`."""
    policy = POLICY.fullmatch(setting)
    if policy:
        return f"{policy['parameter'] or 'policy'} of seat {policy['seat']}"
    return setting.removeprefix("rules.")


def name_level(setting: str, level: str) -> str:
    """A setting at one of its levels: `monster_die 6`, `seat 0 racer`."""
    policy = POLICY.fullmatch(setting)
    return f"seat {policy['seat']} {policy['parameter'] or ''} {level}".replace("  ", " ") if policy else f"{name_setting(setting)} {level}"


def write_level(value: Any) -> str:
    """A level as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def choose_digits(intervals: Iterable[Interval]) -> int:
    """Decimals that show one digit, at least 1.5, of the half-width typical of these intervals."""
    halves = [half for half in ((i.high - i.low) / 2 for i in intervals) if half > 0 and math.isfinite(half)]
    return min(max(math.ceil(-math.log10(median(halves) / 1.5)), 0), 4) if halves else 1


def adapt_digits(interval: Interval, digits: int) -> int:
    """A table's decimals, or the interval's own where those would show it without width."""
    return digits if round((interval.high - interval.low) / 2, digits) or interval.low == interval.high else choose_digits([interval])


def write_number(value: float, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign and no signed zero; an en dash where there is none."""
    if math.isnan(value):
        return "–"
    text = f"{value:{'+' if signed else ''},.{digits}f}"
    return text.lstrip("+-") if not text.strip("+-0.,") else text.replace("-", "−")


def write_interval(interval: Interval, unit: str = "", signed: bool = False) -> str:
    """A figure with unit and interval, such as `3.1% (2.9 to 3.3)`."""
    if math.isnan(interval.value):
        return "no figure (no game has one)"
    digits = choose_digits([interval])
    if interval.low > 0 or interval.high < 0:  # what is set off from zero must look so
        nearest = min(abs(interval.low), abs(interval.high))
        digits = max(digits, min(math.ceil(-math.log10(nearest)), 4))
    value, low, high = (write_number(x, digits, signed) for x in interval)
    spread = "too few games for an interval" if math.isnan(interval.low) and math.isnan(interval.high) else f"{low} to {high}"
    return f"{value}{unit if unit == '%' else f' {unit}'.rstrip()} ({spread})"


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def start_capital(text: str) -> str:
    """The same with a capital at the start."""
    return text[:1].upper() + text[1:]


def describe_column(column: dict[str, Any]) -> str:
    """A column's meaning without its remarks."""
    return str(column["meaning"]).partition(";")[0]


def find(results: Results) -> list[Finding]:
    """The findings, most important first: warnings, effects (or the one cell's figures), balance of seats, lead, length, notes."""
    return [
        *_warn_of_unfinished(results),
        *(_tell_effects(results) if results.changes else _tell_figures(results)),
        *_tell_sensitivity(results),
        *_tell_balance(results),
        *_tell_lead(results),
        *_tell_lengths(results),
        *_note_comparisons(results),
        *_note_assumed(results),
    ]


# ---------------------------------------------------------------- effects of swept settings


def _tell_effects(results: Results) -> list[Finding]:
    by_setting: dict[str, list[Change]] = {}
    for change in results.changes:
        by_setting.setdefault(change.setting, []).append(change)
    clear = {s: changes for s, changes in by_setting.items() if any(c.clear for c in changes)}
    ranked = sorted(clear, key=lambda s: -max(_weigh(results, c) for c in clear[s]))
    findings = [_tell_setting(results, clear[s]) for s in ranked[:SETTINGS_TOLD]]
    if ranked[SETTINGS_TOLD:]:
        others = join_words([name_setting(s) for s in ranked[SETTINGS_TOLD:]])
        findings.append(Finding("finding", "Smaller effects", f"are seen of {others}; the table of differences lists them."))
    return findings + [_tell_no_effect(results, changes) for s, changes in by_setting.items() if s not in clear]


def _tell_setting(results: Results, changes: Sequence[Change]) -> Finding:
    """The figure that a setting moves most, level by level; how far that depends on the other settings; then the other figures."""
    lead = _choose_lead(results, changes)
    base = min(c.reference for c in changes)
    steps = [c for c in changes if c.figure == lead and c.reference == base]
    told = steps if len(steps) <= STEPS_TOLD else _choose_steps(steps)
    one_way = all(c.interval.low > 0 for c in told) or all(c.interval.high < 0 for c in told)
    verb = ("rises" if told[0].interval.value > 0 else "falls") if one_way else "changes"
    unit = results.unit(lead[0], difference=True)
    first, *further = [f"{c.end}{{}} by {_write_amount(c, one_way, unit if c is told[0] else '')}" for c in told]
    amounts = ", to ".join([first.format(f" the {results.name(lead)} {verb}"), *(part.format("") for part in further)])
    before = write_interval(results.figures[base, lead], results.unit(lead[0]))
    context = results.describe_others(base, told[0].setting)
    text = f"from {told[0].start} to {amounts}; at {told[0].start} it is {before}{context and f', with {context}'}."
    strongest = max(told, key=lambda c: abs(c.interval.value))
    some = "" if len(told) == len(steps) else f" ({len(told)} of {len(steps)} levels told)"
    subject = f"{name_setting(told[0].setting)}{some}:"
    return Finding("finding", subject, text + _tell_range(results, changes, strongest) + _tell_others(results, changes, lead, base))


def _write_amount(change: Change, one_way: bool, unit: str) -> str:
    if change.same:
        return "0 (no game differs)"
    return write_interval(_magnitude(change.interval), unit) if one_way else write_interval(change.interval, unit, signed=True)


def _tell_range(results: Results, changes: Sequence[Change], step: Change) -> str:
    """How a step's change differs over the levels of the other settings."""
    same = sorted((c for c in changes if c.figure == step.figure and c.end == step.end), key=lambda c: c.interval.value)
    if len(same) < 2:
        return ""
    unit = results.unit(step.figure[0], difference=True)
    others = [name_setting(s) for s in results.run.swept if s != step.setting]
    over = f"{len(same)} {f'levels of {others[0]}' if len(others) == 1 else 'combinations of the other settings'}"
    if same[0].interval == same[-1].interval:
        return f" The change at {step.end} is the same over the {over}."
    least, most = (f"{write_interval(c.interval, signed=True)} with {results.describe_others(c.cell, c.setting)}" for c in (same[0], same[-1]))
    return f" Over the {over}, the change at {step.end} goes from {least} to {most} ({unit})."


def _tell_others(results: Results, changes: Sequence[Change], lead: Figure, base: int) -> str:
    """The further metrics that a setting moves, each by its strongest step, and the figures it is not seen to move."""
    levels = len({c.end for c in changes})
    strongest: dict[str, Change] = {}
    still = []
    for figure in results.headlines:
        of_figure = [c for c in changes if c.figure == figure]
        if not all(c.same for c in of_figure) and not any(c.clear for c in of_figure):
            still.append(f"{results.name(figure)} (none beyond {_write_bounds(results, of_figure)})")
        told = [c for c in of_figure if c.reference == base and c.clear and figure[0] != lead[0]]
        strongest |= {figure[0]: max([*told, *([strongest[figure[0]]] if figure[0] in strongest else [])], key=lambda c: _weigh(results, c))} if told else {}
    moved = [
        f"{results.name(c.figure)} {'rises' if c.interval.value > 0 else 'falls'} by "
        f"{write_interval(_magnitude(c.interval), results.unit(c.figure[0], difference=True))}{f' at {c.end}' if levels > 1 else ''}"
        for c in sorted(strongest.values(), key=lambda c: -_weigh(results, c))[:FIGURES_TOLD]
    ]
    return (f" {start_capital(join_words(moved))}." if moved else "") + (f" No effect seen on {join_words(still)}." if still else "")


def _tell_no_effect(results: Results, changes: Sequence[Change]) -> Finding:
    steps = list({c.end: c for c in changes}.values())
    if not any((c.cell, c.reference) in results.differing for c in changes):
        text = f"no effect; not one of the {results.run.cells[0]['games']:,} games came out differently."
    else:
        text = f"no effect seen at this number of games: none larger than {_write_bounds(results, changes)} in any headline figure."
    subject = f"{name_setting(steps[0].setting)} from {steps[0].start} to {join_words([c.end for c in steps])}:"
    return Finding("finding", subject, text)


def _write_bounds(results: Results, changes: Sequence[Change]) -> str:
    """How large a change may be, by the intervals: one bound for each unit."""
    bounds: dict[str, float] = {}
    for change in (c for c in changes if not c.same):
        unit = results.unit(change.figure[0], difference=True)
        bounds[unit] = max(bounds.get(unit, 0.0), abs(change.interval.low), abs(change.interval.high))
    return join_words([f"±{_round_up(bound)} {unit}".rstrip() for unit, bound in bounds.items()])


def _round_up(bound: float) -> str:
    if not 0 < bound < math.inf:
        return write_number(bound, 0)
    digits = max(math.ceil(-math.log10(bound)) + 1, 0)
    return write_number(math.ceil(bound * 10**digits) / 10**digits, digits)


def _choose_lead(results: Results, changes: Sequence[Change]) -> Figure:
    """For the policy of a seat that seat's wins; else the first headline moved at least a third as much as the one moved most."""
    policy = POLICY.match(changes[0].setting)
    own = [c.figure for c in changes if policy and c.clear and c.figure == (WIN, int(policy["seat"]))]
    if own:
        return own[0]
    weights = {figure: max((_weigh(results, c) for c in changes if c.figure == figure), default=0.0) for figure in results.headlines}
    return next(figure for figure, weight in weights.items() if 3 * weight >= max(weights.values()))


def _choose_steps(steps: Sequence[Change]) -> list[Change]:
    """The steps with the least and the greatest change, and the last one, in order."""
    least, most = (choose(steps, key=lambda c: c.interval.value) for choose in (min, max))
    return [c for c in steps if c in (least, most, steps[-1])]


def _weigh(results: Results, change: Change) -> float:
    """How much a clear change matters: shares by their points, means by the part of the reference they change; 1 at most."""
    if not change.clear:
        return 0.0
    if results.run.metrics[change.figure[0]]["kind"] == "share":
        return abs(change.interval.value) / 100
    before = abs(results.figures[change.reference, change.figure].value)
    return min(abs(change.interval.value) / before, 1.0) if before else 1.0


def _magnitude(interval: Interval) -> Interval:
    """A change told by rises or falls: without its sign."""
    return interval if interval.value >= 0 else Interval(-interval.value, -interval.high, -interval.low)


# ---------------------------------------------------------------- figures of cells


def _tell_figures(results: Results) -> list[Finding]:
    """For a run without comparisons: how the games of its cell end, and the headline figures."""
    findings = []
    column = find_endings(results.run)
    if column:
        endings = [f"{label} {write_interval(one, '%')}" for label, one in zip(column["labels"], share_endings(results.run, 0, column), strict=True)]
        findings.append(Finding("finding", "How games end", f"({describe_column(column)}): {join_words(endings)}."))
    told = [f for f in results.headlines if not (column and results.run.metrics[f[0]]["column"] == column["name"])]
    if told:
        figures = [f"{results.name(f)} {write_interval(results.figures[0, f], results.unit(f[0]))}" for f in told]
        findings.append(Finding("finding", "Headline figures:", f"{join_words(figures)}."))
    return findings


def find_endings(run: Run) -> dict[str, Any] | None:
    """The game's first labelled column that all seats share: how a game ended."""
    return next((column for column in run.columns.values() if column["labels"] and not column["per_seat"]), None)


def share_endings(run: Run, cell: int, column: dict[str, Any]) -> list[Interval]:
    """Share in percent of each label of a column."""
    sums = run.distribution(cell, column["name"])
    return [Interval(*(100 * x for x in share(sums.count_of(value), sums.n, confidence_of(run)))) for value in range(len(column["labels"]))]


def _warn_of_unfinished(results: Results) -> list[Finding]:
    cells = [(results.figures.get((cell["cell"], (UNFINISHED, None))), cell["cell"]) for cell in results.run.cells]
    found = [(interval, cell) for interval, cell in cells if interval and interval.value > 0]
    if not found:
        return []
    most, cell = max(found, key=lambda pair: pair[0].value)
    where = f" with {results.labels[cell]}, the most; {len(found)} of {len(cells)} cells have some" if len(cells) > 1 else ""
    meaning = results.run.metrics[UNFINISHED]["meaning"]
    text = f"{write_interval(most, '%')}{where} ({meaning}). They count in shares of all games; means and lengths are over finished games only."
    return [Finding("warning", "Unfinished games:", text)]


def _tell_sensitivity(results: Results) -> list[Finding]:
    """In a one-at-a-time sweep of assumed knobs: which of their values change who wins more often, seat 0 or seat 1."""
    run = results.run
    assumed = {f"rules.{knob['knob']}" for knob in run.manifest["knobs"] if knob["assumed"]}
    gaps = []
    for cell in run.cells:
        seats = {f["seat"]: f for f in run.figures(cell) if f["metric"] == WIN}
        changed = {s for s in run.swept if cell["swept"][s] != run.cells[0]["swept"][s]}
        gap = compare_seats(run, cell["cell"], seats[0], seats[1]) if {0, 1} <= seats.keys() and changed <= assumed else None
        if gap:
            gaps.append((Interval(*(100 * v for v in gap)), results.labels[cell["cell"]]))
    if run.manifest["sweep_mode"] != "one-at-a-time" or len(gaps) < 2:
        return []
    (base, _), *others = gaps
    turned = [f"{label}: {write_interval(gap, signed=True)}" for gap, label in others if _sign(gap) != _sign(base)]
    told = f"the gap of the win rates, seat 0 minus seat 1, is {write_interval(base, 'percentage points', signed=True)} at the assumed figures."
    verdict = f"{len(turned)} change whether it is above, below or not told from 0{': ' if turned else ''}{'; '.join(turned)}"
    return [Finding("finding", "What is assumed:", f"{told} Of {len(others)} other values of assumed figures, {verdict}.")]


def _sign(interval: Interval) -> int:
    """1 above zero, −1 below it, 0 not told from it."""
    return (interval.low > 0) - (interval.high < 0)


def _tell_balance(results: Results) -> list[Finding]:
    """Win rate of seat 0 minus that of each other seat: for one policy in every seat, under rules alike for all seats or not, and for the others."""
    mirrors: list[tuple[Interval, str]] = []
    handicaps: list[tuple[Interval, str]] = []
    others: list[tuple[Interval, str]] = []
    for cell in results.run.cells:
        seats = {f["seat"]: f for f in results.run.figures(cell) if f["metric"] == WIN and f["seat"] is not None}
        policies = [p["label"] for p in cell["policies"]]
        where = "" if all(s.startswith("policies") for s in results.run.swept) else results.labels[cell["cell"]]
        for seat in sorted(seats.keys() - {0}):
            found = compare_seats(results.run, cell["cell"], seats[0], seats[seat])
            if found:
                gap = Interval(*(100 * x for x in found))
                group = others if len(set(policies)) > 1 else mirrors if cell["symmetric"] else handicaps
                group.append((gap, f"seat 0 ({policies[0]}) minus seat {seat} ({policies[seat]}){where and f' with {where}'}"))
    findings = []
    if mirrors:
        even = sum(gap.low <= 0 <= gap.high for gap, _ in mirrors)
        gap, where = max(mirrors, key=lambda pair: abs(pair[0].value))
        seen = "a gap is seen; cells share their dice, so their gaps are one piece of evidence: try another seed or more games"
        verdict = "no difference between seats is seen" if even == len(mirrors) else seen
        count = f" In {even} of {len(mirrors)} comparisons the interval holds 0." if len(mirrors) > 1 else ""
        text = f"with the same policy in every seat, {verdict}.{count} {'Largest gap' if count else 'Gap'} of the win rates: {_write_gap(gap, where)}."
        findings.append(Finding("finding", "Seat balance:", text))
    for subject, start, gaps in (("Seats of unequal rules:", "with the same policy in every seat, ", handicaps), ("Policies against each other:", "", others)):
        if gaps:
            extremes = dict.fromkeys(choose(gaps, key=lambda pair: pair[0].value) for choose in (min, max))
            told = " to ".join(_write_gap(gap, where) for gap, where in extremes)
            findings.append(Finding("finding", subject, f"{start}the gap of the win rates {'is' if len(extremes) == 1 else 'goes from'} {told}."))
    return findings


def _write_gap(gap: Interval, where: str) -> str:
    return f"{write_interval(gap, 'percentage points', signed=True)}, {where}"


def _tell_lead(results: Results) -> list[Finding]:
    told = _tell_extremes(results, (WINNER_LED, None))
    return [Finding("finding", "Lead:", f"of the games that were won, the winner led at half-time in {told}.")] if told else []


def _tell_lengths(results: Results) -> list[Finding]:
    """The median and the highest quantile that the game reports of each column."""
    by_column: dict[str, list[dict[str, Any]]] = {}
    for metric in results.run.metrics.values():
        if metric["kind"] == "quantile" and not metric["per_seat"]:
            by_column.setdefault(metric["column"], []).append(metric)
    findings = []
    for column, metrics in by_column.items():
        middle = min(metrics, key=lambda m: abs(m["level"] - 0.5))
        highest = max(metrics, key=lambda m: m["level"])
        parts = [
            f"{_write_part(metric['level'])} of the games are at or below {told}"
            for metric in ([middle] if middle is highest else [middle, highest])
            if (told := _tell_extremes(results, (metric["name"], None)))
        ]
        if parts:
            findings.append(Finding("finding", start_capital(f"{describe_column(results.run.columns[column])}:"), f"{'; '.join(parts)}."))
    return findings


def _write_part(level: float) -> str:
    return PARTS.get(level, f"{100 * level:g}%")


def _tell_extremes(results: Results, figure: Figure) -> str:
    """A figure's value, or its least and greatest over the cells; empty if no cell has it."""
    found = [(i, cell) for cell in range(len(results.run.cells)) if (i := results.figures.get((cell, figure))) and not math.isnan(i.value)]
    if not found:
        return ""
    unit = results.unit(figure[0])
    (least, low), (most, high) = (choose(found, key=lambda pair: pair[0].value) for choose in (min, max))
    if least == most:
        return write_interval(least, unit) + (" in every cell" if len(found) > 1 else "")
    return f"{write_interval(least, unit)} with {results.labels[low]} to {write_interval(most, unit)} with {results.labels[high]}"


def _note_comparisons(results: Results) -> list[Finding]:
    count = len(results.changes)
    if count < 2:
        return []
    text = "each has its own 95% interval; they are not simultaneous, so about one in 20 misses the true value."
    return [Finding("note", f"{count:,} differences are shown:", text)]


def _note_assumed(results: Results) -> list[Finding]:
    """Which knobs the marked figures rest on, with their values in the first cell."""
    if not any(metric["assumed"] for metric in results.run.metrics.values()):
        return []
    rules = results.run.cells[0]["rules"]
    knobs = [
        f"{knob['knob']} {write_level(rules[knob['knob']])}{knob['unit'] and ' ' + knob['unit']}" for knob in results.run.manifest["knobs"] if knob["assumed"]
    ]
    return [Finding("note", f"{ASSUMED} rests on assumed figures:", f"{join_words(knobs)}.")]


# ---------------------------------------------------------------- reading tables


def _records(table: pd.DataFrame, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(table[column].tolist() for column in columns), strict=True)


def _seat(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
