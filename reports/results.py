"""A run's results as sentences, tables and plots show them: names, units, and numbers with their intervals.

`Results` holds a run's tables in that form: shares in percent, differences of shares in percentage points, all else in the metric's unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import pandas as pd

from reports.languages import localize, say, word, write_count
from reports.run import EFFECT, MEASURES, USE, Run
from reports.statistics import Interval
from reports.tables import cells_table, differences_table, metrics_table, text_of

BASELINE = "baseline"  # the setting of pairs compared with the baseline only
HOUSE_RULES = "house rules"  # the setting of such a pair that differs in rules the run fixes, and in nothing it sweeps

Figure = tuple[str, int | None]  # metric and seat

LINE_UP = "line_up"  # the sweep of `[robust]`
SEATS = "seats"  # the sweep of how many play

ASSUMED = "†"  # marks what rests on assumed figures

POLICY = re.compile(r"policies\[(?P<seat>\d+)\](\.(?P<parameter>\w+))?")
SETTINGS_NAMED = 2  # swept settings that sentences name in full; of more, only those not at their first value
LEVEL_MOST = 40  # characters of a level
RUN = 4  # whole numbers in a row that are written as a run, `2–10`
NUMBERS = re.compile(r"\d+( / \d+)+")


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
        self.counts: dict[tuple[int, Figure], int] = {}  # games behind each figure
        self.still = {(cell["cell"], (f["metric"], f["seat"])) for cell in run.played for f in run.figures(cell) if _never_varied(run, cell["cell"], f)}
        for cell, metric, seat, count, *interval in read_rows(self.metrics, "cell", "metric", "seat", "games", "value", "low", "high"):
            figure = (metric, _seat(seat))
            self.figures[cell, figure] = self._shown(metric, interval)
            self.counts[cell, figure] = count
        of_headlines = [(m, f["seat"]) for m in run.manifest["headlines"] for cell in run.cells for f in run.figures(cell) if f["metric"] == m]
        self.headlines: list[Figure] = list(dict.fromkeys(of_headlines))
        columns = ("setting", "from", "to", "cell", "reference", "metric", "seat", "same", "variance_ratio", "value", "low", "high")
        show, told = show_levels(run), self._find_house_rules()
        changes = []
        for setting, start, end, cell, reference, metric, seat, same, ratio, *interval in read_rows(self.differences, *columns):
            what, before, after = told.get((setting, cell, reference), (setting, show(setting, start), show(setting, end)))
            if not math.isnan(interval[0]):
                changes.append(Change(what, before, after, cell, reference, (metric, _seat(seat)), self._shown(metric, interval), same, ratio))
        with_baseline = [c for c in changes if c.reference == run.played[c.cell]["baseline"]]
        self.changes = [c for c in changes if c.figure in self.headlines and c.setting != BASELINE]
        self.deltas = [c for c in with_baseline if c.figure in self.headlines]
        self.balance = [c for c in with_baseline if c.figure[0] in MEASURES]
        self.differing = {(c.cell, c.reference) for c in changes if not c.same and run.metrics[c.figure[0]]["column"] is not None}
        self.levels = [[show(setting, text_of(cell["swept"][setting])) for setting in run.swept] for cell in run.cells]
        self.labels = [label_cell(run, cell["cell"]) for cell in run.cells]

    def _find_house_rules(self) -> dict[tuple[str, int, int], tuple[str, str, str]]:
        """Of each pair whose cells differ only in rules fixed for the whole run: setting and levels that tell what these rules are."""
        swept = {setting.removeprefix("rules.") for setting in self.run.swept}
        found = {}
        for pair in self.run.manifest["pairs"]:
            if pair["setting"] != BASELINE:
                continue
            cell, reference = (self.run.played[pair[which]] for which in ("cell", "reference"))
            knobs = [name for name, value in cell["rules"].items() if value != reference["rules"][name]]
            if knobs and not set(knobs) & swept and cell["policies"] == reference["policies"]:
                start, end = _write_rules(knobs, reference, cell)
                found[BASELINE, pair["cell"], pair["reference"]] = (HOUSE_RULES, start, end)
        return found

    @property
    def games(self) -> str:
        """How many games, from which seed."""
        count, seed = self.games_per_cell, self.run.manifest["seed"]
        if len(self.run.cells) == 1:
            return say("{count} games, seed {seed}", count=count, seed=seed)
        return say("{count} games per cell, seed {seed}", count=count, seed=seed)

    @property
    def games_per_cell(self) -> str:
        """How many games a cell played: fewest to most, if they differ."""
        counts = {cell["games"] for cell in self.run.cells}
        return write_count(min(counts)) if len(counts) == 1 else say("{low} to {high}", low=write_count(min(counts)), high=write_count(max(counts)))

    def name_cell(self, cell: int) -> str:
        """A cell's swept settings, or what else it was played for."""
        return label_cell(self.run, cell)

    def name(self, figure: Figure) -> str:
        """A figure's name in words, with a dagger if it rests on assumed figures."""
        metric, seat = figure
        words = name_metric(metric) + self.mark(metric)
        return words if seat is None or all(cell["seats"] == 1 for cell in self.run.cells) else say("{figure} of seat {seat}", figure=words, seat=seat)

    def mark(self, metric: str) -> str:
        """The dagger of what rests on assumed figures."""
        return ASSUMED if self.run.assumes(metric) else ""

    def unit(self, metric: str, difference: bool = False) -> str:
        """The unit a metric, or a difference of it, is shown in."""
        unit = "%" if self.run.metrics[metric]["kind"] == "share" else self.run.metrics[metric]["unit"]
        return say("percentage points") if difference and unit == "%" else word(unit)

    def meaning(self, metric: str) -> str:
        """What a metric is."""
        if self.run.metrics[metric]["column"] is None:
            minutes = say("; ideal here: {minutes} min", minutes=localize(f"{self.run.manifest['ideal_minutes']:g}")) if metric == "ideal_duration" else ""
            return say(self.run.metrics[metric]["meaning"]) + minutes
        return word(self.run.metrics[metric]["meaning"])

    def describe_others(self, cell: int, *settings: str) -> str:
        """The levels, in a cell, of the swept settings other than these; none of those that stand at the baseline."""
        levels = zip(self.run.swept, self.levels[cell], strict=True)
        varied = [(other, level) for other, level in levels if other == LINE_UP or self.run.manifest["sweep_mode"] == "grid"]
        return ", ".join(name_level(other, level) for other, level in varied if other not in settings)

    def tell_cell(self, cell: int, *settings: str) -> str:
        """As `describe_others`, for a sentence: of many settings only those not at their first value; empty if none."""
        if not self.names_few:
            return self.describe_others(cell, *settings)
        levels = zip(self.run.swept, self.levels[cell], self.levels[0], strict=True)
        return ", ".join(name_level(s, level) for s, level, first in levels if s not in settings and (level != first or s == LINE_UP))

    @property
    def names_few(self) -> bool:
        """Are there so many swept settings that sentences leave out those at their first value?"""
        return self.run.manifest["sweep_mode"] == "grid" and len(self.run.swept) > SETTINGS_NAMED

    def place(self, cell: int) -> str:
        """A cell's name for a sentence."""
        return (self.tell_cell(cell) or say("every setting at its first value")) if self.names_few else self.labels[cell]

    def write(self, cell: int, figure: Figure) -> str:
        """A figure of a cell with unit and interval."""
        return write_interval(self.figures[cell, figure], self.unit(figure[0]), still=self.never_varied(cell, figure))

    def never_varied(self, cell: int, figure: Figure) -> str:
        """That a mean was the same in every game, in place of an interval; empty for all else."""
        if (cell, figure) not in self.still:
            return ""
        return say("never varied in {count} games", count=write_count(self.counts[cell, figure]))

    def line_up(self, cell: int) -> str:
        """Who plays a cell of a run under several line-ups."""
        return self.levels[cell][self.run.swept.index(LINE_UP)]

    def _shown(self, metric: str, interval: Iterable[float]) -> Interval:
        scale = 100 if self.run.metrics[metric]["kind"] == "share" else 1
        return Interval(*(float(x) * scale for x in interval))


def tell_apart(reference: dict[str, Any], cell: dict[str, Any]) -> tuple[str, str]:
    """What two cells are: the rules in which they differ, and who plays them, the second only where that differs."""
    rules = _write_rules([name for name, value in cell["rules"].items() if value != reference["rules"][name]], reference, cell)
    players = ["played by " + ", ".join(dict.fromkeys(policy["label"] for policy in one["policies"])) for one in (reference, cell)]
    if cell["policies"] == reference["policies"]:
        return rules[0], f"{rules[1] or 'the same rules'}, {players[1]}"
    return ", ".join(filter(None, (rules[0], players[0]))), ", ".join(filter(None, (rules[1], players[1])))


def _write_rules(knobs: Sequence[str], *cells: dict[str, Any]) -> tuple[str, ...]:
    return tuple(join_words([f"{name} {write_level(text_of(cell['rules'][name]))}" for name in knobs]) for cell in cells)


def _never_varied(run: Run, cell: int, figure: dict[str, Any]) -> bool:
    sums = run.sums(cell, figure["field"])
    return run.metrics[figure["metric"]]["kind"] in ("mean", "sd") and sums.n > 1 and sums.variance == 0


def label_cell(run: Run, cell: int) -> str:
    """A cell's swept settings, in a one-at-a-time sweep the one that differs, or what else it was played for."""
    played = run.played[cell]
    settings = [name_level(setting, level) for setting, level in tell_levels(run, cell).items()]
    if played.get("purpose") == BASELINE:
        settings.insert(0, say("baseline"))
    elif played.get("purpose"):
        settings.append(say("control, seats swapped: {players}", players=" / ".join(policy["label"] for policy in played["policies"])))
    is_start = run.manifest["sweep_mode"] == "one-at-a-time" and run.swept and played["baseline"] == cell
    return ", ".join(settings) or (say("baseline") if is_start else say("rules as given"))


def tell_levels(run: Run, cell: int) -> dict[str, str]:
    """The levels that tell a cell apart: of all swept settings, in a one-at-a-time sweep of the line-up and of what differs from the start."""
    around = run.cells[0]["swept"] if run.manifest["sweep_mode"] == "one-at-a-time" else {}
    show = show_levels(run)
    swept = run.played[cell]["swept"].items()
    return {s: show(s, text_of(level)) for s, level in swept if s not in around or s == LINE_UP or level != around[s]}


def name_metric(metric: str) -> str:
    """A metric in words: `win_rate` → `win rate`."""
    if metric in MEASURES:
        return say(metric.replace("_", " "))
    if metric.startswith(USE):
        return say("use of {action}", action=name_action(metric))
    if metric.startswith(EFFECT):
        return say("effect of {action}", action=name_action(metric))
    return word(metric.replace("_", " "))


def name_action(metric: str) -> str:
    """The action whose use or effect a metric tells: `use_stand_up` → `stand up`."""
    return word(metric.removeprefix(USE).removeprefix(EFFECT).replace("_", " "))


def name_setting(setting: str) -> str:
    """A swept setting in words: `rules.monster_die` → `monster_die`, `policies[0]` → `policy of seat 0`."""
    policy = POLICY.fullmatch(setting)
    if policy:
        return say("{parameter} of seat {seat}", parameter=policy["parameter"] or say("policy"), seat=policy["seat"])
    words = {LINE_UP: say("line-up"), SEATS: say("seats"), "policies": say("policy"), HOUSE_RULES: say("house rules")}
    return words.get(setting, setting.removeprefix("rules."))


def name_level(setting: str, level: str) -> str:
    """A setting at one of its levels: `monster_die 6`, `seat 0 racer`, `3 seats`."""
    if setting == SEATS:
        return say("{count} seats", count=level)
    policy = POLICY.fullmatch(setting)
    if not policy:
        return f"{name_setting(setting)} {level}"
    return say("seat {seat} {level}", seat=policy["seat"], level=" ".join([*filter(None, [policy["parameter"]]), level]))


def write_level(value: Any) -> str:
    """A level as text, with runs of whole numbers as `2–10`."""
    if isinstance(value, float):
        return f"{value:g}"
    if not NUMBERS.fullmatch(str(value)):
        return str(value)
    parts: list[list[int]] = []
    for number in map(int, str(value).split(" / ")):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " / ".join(f"{part[0]}–{part[-1]}" if len(part) >= RUN else " / ".join(map(str, part)) for part in parts)


def quote(level: str) -> str:
    """A level in a sentence: words in quotes, numbers and truth values as they are."""
    return say("“{level}”", level=level) if re.search("[a-z]", level) and not re.fullmatch("(true|false| / )+", level) else level


def show_levels(run: Run) -> Callable[[str, Any], str]:
    """How levels of a run's settings are shown: cut in the middle where long, unless two of a setting would look alike."""
    full = {setting: [write_level(text_of(level)) for level in levels] for setting, levels in run.manifest["sweep"].items()}

    def show(setting: str, level: Any) -> str:
        text = write_level(level)
        alike = [other for other in full.get(setting, ()) if _cut(other) == _cut(text)]
        return _cut(text) if alike == [text] else text

    return show


def _cut(text: str) -> str:
    half = LEVEL_MOST // 2 - 1
    return text if len(text) <= LEVEL_MOST else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def choose_digits(intervals: Iterable[Interval]) -> int:
    """Decimals that show one digit, at least 1.5, of the half-width typical of these intervals."""
    halves = [half for half in ((i.high - i.low) / 2 for i in intervals) if half > 0 and math.isfinite(half)]
    return min(max(math.ceil(-math.log10(median(halves) / 1.5)), 0), 4) if halves else 1


def show_apart(interval: Interval) -> int:
    """Decimals with which an interval that is set off from zero looks so; at most 4."""
    if not (interval.low > 0 or interval.high < 0):
        return 0
    return max(min(math.ceil(-math.log10(min(abs(interval.low), abs(interval.high)))), 4), 0)


def adapt_digits(interval: Interval, digits: int) -> int:
    """A table's decimals, or the interval's own where those would show it without width."""
    return digits if round((interval.high - interval.low) / 2, digits) or interval.low == interval.high else choose_digits([interval])


def write_number(value: float, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign and no signed zero; an en dash where there is none."""
    if math.isnan(value):
        return "–"
    text = f"{value:{'+' if signed else ''},.{digits}f}"
    return localize(text.lstrip("+-") if not text.strip("+-0.,") else text.replace("-", "−"))


def write_interval(interval: Interval, unit: str = "", signed: bool = False, still: str = "") -> str:
    """A figure with unit and interval, such as `3.1% (2.9 to 3.3)`; `still`: what to say in place of the interval."""
    if math.isnan(interval.value):
        return say("no figure: too few games")
    digits = choose_digits([interval])
    digits = max(digits, show_apart(interval))
    value, low, high = (write_number(x, digits, signed) for x in interval)
    none = math.isnan(interval.low) and math.isnan(interval.high)
    spread = still or (say("too few games for an interval") if none else say("{low} to {high}", low=low, high=high))
    return f"{value}{unit if unit == '%' else f' {unit}'.rstrip()} ({spread})"


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return say("{words} and {last}", words=", ".join(words[:-1]), last=words[-1]) if len(words) > 1 else "".join(words)


def start_capital(text: str) -> str:
    """The same with a capital at the start."""
    return text[:1].upper() + text[1:]


def describe_column(column: dict[str, Any]) -> str:
    """A column's meaning without its remarks."""
    return word(column["meaning"]).partition(";")[0]


def round_up(bound: float) -> str:
    """A bound with two digits, never below it."""
    if not 0 < bound < math.inf:
        return write_number(bound, 0)
    digits = max(math.ceil(-math.log10(bound)) + 1, 0)
    return write_number(math.ceil(bound * 10**digits) / 10**digits, digits)


def read_rows(table: pd.DataFrame, *columns: str) -> Iterable[tuple[Any, ...]]:
    """The rows of a table, of these columns only."""
    return zip(*(table[column].tolist() for column in columns), strict=True)


def _seat(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
