"""The plots of a run, drawn without pyplot, laid out in inches so that no label is cut and no second layout pass is needed.

Colours are those of Okabe and Ito, and cividis; hatches, markers or written numbers tell the same without colour.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.ticker import ScalarFormatter

from reports.findings import share_endings
from reports.ladder import find_ladder
from reports.languages import localize, say, word, write_count
from reports.results import (
    HOUSE_RULES,
    LINE_UP,
    Change,
    Results,
    adapt_digits,
    choose_digits,
    describe_column,
    join_words,
    name_action,
    name_level,
    name_metric,
    name_setting,
    start_capital,
    write_number,
)
from reports.run import USE, WIN, Sums
from reports.statistics import Interval, quantile

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#7F7F7F")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "|||", "---", "+++")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#222222"
FAINT = "#777777"

DPI = 144
TEXT = 9.0  # points
SMALL = 8.0
LINE = 0.165  # inches a line of text takes
ROWS_A_PAGE = 30
ROWS_MOST = 60
LEVELS_MOST = 24
FACETS_MOST = 12
RASTER = 160  # points of a density
TORNADOES_MOST = 4
LINES_MOST = 6
DWARFED = 10  # times the middle change that the largest must be for an axis to be stretched
CELLS_MOST = 24  # columns of the map of actions
NAME_LINES_MOST = 3  # of a column's name below it
LEADS = re.compile(r"leader_at_(quarter|half|three_quarters|[0-9]{1,3})_wins")
QUARTERS = {"quarter": 25.0, "half": 50.0, "three_quarters": 75.0}

STYLE: dict[RcKeyType, Any] = {
    "font.size": TEXT,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": TEXT,
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.6,
    "hatch.color": "white",
    "svg.hashsalt": "housecarlo",
}


@dataclass(frozen=True)
class Plot:
    """A drawn plot: `name` of its files, `title` in words, `caption` with what it leaves out."""

    name: str
    title: str
    caption: str


def draw_plots(results: Results, folder: Path) -> list[Plot]:
    """Draw every plot that fits the run into `folder` (NAME.png and NAME.svg)."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = []
    with mpl.rc_context():
        mpl.rcdefaults()  # not the user's style: the same run gives the same bytes
        mpl.rcParams.update(STYLE)
        for draw in (
            _draw_effects,
            _draw_tornado,
            _draw_ladder,
            _draw_endings,
            _draw_heat_maps,
            _draw_seats,
            _draw_lengths,
            _draw_counts,
            _draw_leads,
            _draw_uses,
        ):
            for plot, figure in draw(results):
                figure.savefig(folder / f"{plot.name}.png", dpi=DPI, metadata={"Software": None})
                figure.savefig(folder / f"{plot.name}.svg", metadata={"Date": None})
                plots.append(plot)
    return plots


Drawn = Iterator[tuple[Plot, Figure]]

# ---------------------------------------------------------------- layout


@lru_cache(maxsize=8)
def _font(size: float) -> FontProperties:
    return FontProperties(size=size)


def _width(text: str, size: float = TEXT) -> float:
    """Inches the widest line of a text takes."""
    return max((text_to_path.get_text_width_height_descent(line, _font(size), ismath=False)[0] / 72 for line in text.split("\n")), default=0.0)


def _wrap(text: str, characters: int) -> str:
    return "\n".join(textwrap.wrap(text, characters)) or text


def _lines(text: str) -> int:
    return text.count("\n") + 1


@dataclass(frozen=True)
class Panels:
    """Panels of one size in a grid, in inches: room at the left for row labels, under each panel for ticks and the axis' name."""

    count: int
    columns: int
    width: float
    height: float
    left: float
    under: float = 0.5
    over: float = 0.3
    gap: float = 0.25
    legend: float = 0.0

    def make(self, title: str, caption: str) -> tuple[Figure, list[Axes]]:
        """A figure with title above, caption below and the axes of every panel."""
        columns = min(self.columns, self.count)
        rows = math.ceil(self.count / columns)
        width = max(self.left + columns * self.width + (columns - 1) * self.gap + 0.3, 5.6)
        title = _wrap(title, int((width - 0.3) / 0.105))
        caption = _wrap(caption, int((width - 0.3) / 0.066))
        head = 0.15 + 0.23 * _lines(title) + self.legend
        foot = 0.1 + 0.15 * _lines(caption)
        height = head + rows * (self.over + self.height + self.under) + foot
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        figure.text(0.15 / width, 1 - 0.12 / height, title, size=12, weight="bold", va="top")
        figure.text(0.15 / width, 0.07 / height, caption, size=SMALL, color="#555555", va="bottom")
        axes = []
        for n in range(self.count):
            row, column = divmod(n, columns)
            x = self.left + column * (self.width + self.gap)
            y = height - head - (row + 1) * (self.over + self.height) - row * self.under
            axes.append(figure.add_axes((x / width, y / height, self.width / width, self.height / height)))
            axes[-1].xaxis.set_major_formatter(_Numbers(useOffset=False))
            axes[-1].yaxis.set_major_formatter(_Numbers(useOffset=False))
        return figure, axes

    def place_legend(self, figure: Figure, title: str, handles: Sequence[Any]) -> None:
        """A legend in one or more lines between title and panels."""
        width, height = figure.get_size_inches()
        columns = _legend_columns([str(h.get_label()) for h in handles], width)
        below = 0.12 + 0.23 * _lines(_wrap(title, int((width - 0.3) / 0.105)))
        figure.legend(
            handles=list(handles), loc="upper left", bbox_to_anchor=(0.1 / width, 1 - below / height), ncols=columns, frameon=False, borderaxespad=0.2
        )


def _legend_columns(labels: Sequence[str], width: float) -> int:
    return max(1, min(len(labels), int((width - 0.2) / (max(_width(label) for label in labels) + 0.6))))


def _legend_height(labels: Sequence[str], width: float) -> float:
    """Inches of a legend whose entries fill its columns one after the other."""
    columns = _legend_columns(labels, width)
    rows = math.ceil(len(labels) / columns)
    return 0.08 + max(sum(0.05 + 0.15 * _lines(label) for label in labels[n : n + rows]) for n in range(0, len(labels), rows))


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Rows from the top; labels as plain texts, which draw much faster than ticks."""
    axes.set_yticks([])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    for row, label in enumerate(labels):
        axes.annotate(label, (0, row), (-5, 0), ("axes fraction", "data"), "offset points", ha="right", va="center", annotation_clip=False)


class _Numbers(ScalarFormatter):
    """Ticks as the reader's language writes numbers."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return localize(super().__call__(x, pos))


def _rule_rows(axes: Axes, rows: int) -> None:
    axes.hlines(range(rows), 0, 1, color="#eeeeee", linewidth=0.8, zorder=0, transform=axes.get_yaxis_transform())


def _room_for(labels: Sequence[str]) -> float:
    return max(_width(label) for label in labels) + 0.3


def _pages(count: int) -> list[range]:
    """Rows in pages of even length."""
    count = min(count, ROWS_MOST)
    pages = math.ceil(count / ROWS_A_PAGE)
    return [range(n * count // pages, (n + 1) * count // pages) for n in range(pages)]


def _page_name(name: str, page: int) -> str:
    return f"{name}_{page + 1}" if page else name


def _caption(results: Results, text: str, shown: int, of: int) -> str:
    """Games and seed, the text, and what is left out."""
    left_out = say(" Only {shown} of {all} are drawn; the tables hold all.", shown=shown, all=of) if shown < of else ""
    return f"{results.games}. {text}{left_out}".strip()


def _name_rows(labels: Sequence[str]) -> tuple[list[str], float]:
    """Row labels wrapped, and the inches a row needs for them."""
    wrapped = [_wrap(label, 38) for label in labels]
    return wrapped, LINE * max(_lines(label) for label in wrapped) + 0.12


# ---------------------------------------------------------------- the plots


def _draw_endings(results: Results) -> Drawn:
    """How games end: a bar of shares for each cell."""
    column = results.run.ending
    if not column:
        return
    title = say("How games end: {column}", column=describe_column(column))
    shares = [share_endings(results.run, cell) for cell in range(min(len(results.labels), ROWS_MOST))]
    digits = choose_digits(share for row in shares for share in row)
    widest = max(((i.high - i.low) / 2 for row in shares for i in row if not math.isnan(i.value)), default=math.nan)
    if math.isnan(widest):
        return
    names = [_wrap(word(column["labels"][value]), 40) for value in results.run.endings_possible]
    patches = [Patch(facecolor=_colour(n), hatch=_hatch(n), edgecolor="white", label=name) for n, name in enumerate(names)]
    for page, rows in enumerate(_pages(len(results.labels))):
        labels, row_height = _name_rows([results.labels[cell] for cell in rows])
        left = _room_for(labels)
        legend = _legend_height(names, left + 6.3)
        panels = Panels(1, 1, 6.0, len(rows) * max(row_height, 0.3), left, over=0.05, legend=legend)
        half = write_number(widest, choose_digits([Interval(0, -widest, widest)]))
        text = say("Written are shares in percent; no 95% interval is wider than ±{half} percentage points.", half=half)
        caption = _caption(results, text, len(shares), len(results.labels))
        figure, (axes,) = panels.make(title, caption)
        panels.place_legend(figure, title, patches)
        starts = np.zeros(len(rows))
        for n in range(len(names)):
            values = np.nan_to_num([shares[cell][n].value for cell in rows])
            axes.barh(range(len(rows)), values, left=starts, height=0.74, color=_colour(n), hatch=_hatch(n), edgecolor="white", linewidth=0.5)
            for row, (value, start) in enumerate(zip(values, starts, strict=True)):
                written = f"{write_number(value, digits)}%"
                if _width(written, SMALL) + 0.06 < value / 100 * panels.width:
                    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
                    axes.text(start + value / 2, row, written, size=SMALL, ha="center", va="center", bbox=box)
            starts += values
        _label_rows(axes, labels)
        axes.set_xlim(0, 100)
        axes.set_xlabel(say("share of games (%)"))
        yield Plot(_page_name("endings", page), title, caption), figure


def _draw_effects(results: Results) -> Drawn:
    """Paired differences from the first level, where one setting is swept or one differs at a time; under several line-ups a row each."""
    robust = LINE_UP in results.run.swept
    if results.run.manifest["sweep_mode"] != "one-at-a-time" and len(results.run.swept) > 1 and not robust:
        return
    moved = [f for f in results.headlines if any(c.figure == f and not (c.same or c.interval.value == 0) for c in results.changes)]
    metrics = list(dict.fromkeys(metric for metric, _ in moved))
    still = [results.name(f) for f in results.headlines if f[0] not in metrics]
    steps = list(dict.fromkeys((c.cell, c.reference, _name_step(results, c)) for c in results.changes))
    if robust:
        steps.sort(key=lambda step: step[2])
        steps = [(cell, reference, f"{step}, {results.line_up(cell)}") for cell, reference, step in steps]
    if not metrics or not steps:
        return
    title = say("What each setting changes under each line-up") if robust else say("What each setting changes")
    found = {(c.cell, c.reference, c.figure): c for c in results.changes}
    clear = {m: sorted(abs(c.interval.value) for c in results.changes if c.figure[0] == m and c.clear) for m in metrics}
    stretched = {m for m, sizes in clear.items() if sizes and sizes[-1] > DWARFED * sizes[(len(sizes) - 1) // 2]}
    for page, rows in enumerate(_pages(len(steps))):
        labels, row_height = _name_rows([steps[row][2] for row in rows])
        seats = sorted({seat for metric, seat in moved if seat is not None})
        handles = _seat_handles(seats)
        left = _room_for(labels)
        columns = min(3, len(metrics))
        legend = _legend_height([str(h.get_label()) for h in handles], left + columns * 2.3) if handles else 0.0
        panels = Panels(len(metrics), columns, 2.2, len(rows) * max(row_height, 0.34, 0.14 * len(seats) + 0.1), left, legend=legend)
        text = say("Paired differences with 95% intervals, not simultaneous; hollow where the interval holds 0.")
        text += say(" Axes marked (log) are logarithmic away from 0.") if stretched else ""
        text += say(" No change at all in {figures}.", figures=", ".join(still)) if still else ""
        caption = _caption(results, text, min(len(steps), ROWS_MOST), len(steps))
        figure, all_axes = panels.make(title, caption)
        if handles:
            panels.place_legend(figure, title, handles)
        for n, (metric, axes) in enumerate(zip(metrics, all_axes, strict=True)):
            axes.axvline(0, color=FAINT, linewidth=0.8)
            _rule_rows(axes, len(rows))
            if robust:
                _part_rows(axes, [results.levels[steps[row][0]][:-1] for row in rows])
            for of_metric, seat in moved:
                if of_metric == metric:
                    changes = [found.get((*steps[row][:2], (metric, seat))) for row in rows]
                    _draw_dots(axes, [c.interval if c else None for c in changes], seat, seats, [bool(c and c.clear) for c in changes])
            _label_rows(axes, labels if n % columns == 0 else [""] * len(labels))
            axes.set_title(name_metric(metric))
            unit = results.unit(metric, difference=True)
            axes.margins(x=0.1)
            if metric in stretched:
                _stretch(axes, clear[metric])
            else:
                axes.locator_params(axis="x", nbins=4)
            axes.set_xlabel(say("{unit} (log)", unit=unit) if metric in stretched else unit)
        yield Plot(_page_name("effects", page), title, caption), figure


def _name_step(results: Results, change: Change) -> str:
    """What changes, and with which levels of what else is swept."""
    context = results.describe_others(change.cell, change.setting, LINE_UP)
    return f"{name_setting(change.setting)}: {change.start} → {change.end}" + (f", {context}" if context else "")


def _stretch(axes: Axes, sizes: Sequence[float]) -> None:
    """Make an axis logarithmic away from 0, so that changes (`sizes`, ascending) that one dwarfs can be read."""
    smallest = 10.0 ** math.floor(math.log10(sizes[len(sizes) // 4]))
    decades = math.floor(math.log10(sizes[-1] / smallest))
    powers = smallest * 10.0 ** np.arange(decades, -1, -(decades // 2 + 1))  # two on either side have room
    axes.set_xscale("symlog", linthresh=smallest)
    low, high = axes.get_xlim()
    ticks = [tick for tick in (*-powers, 0.0, *powers) if low <= tick <= high]
    axes.set_xticks(ticks, [localize(f"{tick:g}".replace("-", "−")) for tick in ticks])
    axes.minorticks_off()


def _part_rows(axes: Axes, groups: Sequence[Any]) -> None:
    """A line between rows of unlike groups."""
    for row, (before, after) in enumerate(itertools.pairwise(groups)):
        if before != after:
            axes.axhline(row + 0.5, color=FAINT, linewidth=0.6)


def _draw_tornado(results: Results) -> Drawn:
    """One-at-a-time sweeps: how far each setting swings the figures, from its lowest to its highest level, the widest swing on top."""
    if results.run.manifest["sweep_mode"] != "one-at-a-time" or LINE_UP in results.run.swept:
        return
    by_figure: dict[tuple[str, int | None], dict[str, list[Change]]] = {}
    around = [change for change in results.changes if change.setting != HOUSE_RULES]
    for change in around:
        by_figure.setdefault(change.figure, {}).setdefault(change.setting, []).append(change)
    figures = [f for f in results.headlines if any(c.clear for changes in by_figure.get(f, {}).values() for c in changes)][:TORNADOES_MOST]
    settings = list(dict.fromkeys(c.setting for c in around))
    if not figures or len(settings) < 2:
        return
    title = say("How far each setting swings the figures")
    names = {f: sorted(by_figure[f], key=lambda s: -_swing(by_figure[f][s])) for f in figures}
    left = _room_for([name_setting(s) for s in settings])
    panels = Panels(len(figures), 1, 6.0, max(len(settings) * 0.34, 0.8), left, under=0.62)
    text = say("Paired differences from the baseline; a bar spans a setting's levels, thin lines are 95% intervals of the outermost, whose levels are written.")
    caption = _caption(results, text, len(figures), len(figures))
    figure, all_axes = panels.make(title, caption)
    for axes, of in zip(all_axes, figures, strict=True):
        reach = max(abs(x) for s in names[of] for c in by_figure[of][s] for x in (c.interval.low, c.interval.high) if not math.isnan(x))
        axes.set_xlim(-1.3 * reach, 1.3 * reach)
        axes.axvline(0, color=INK, linewidth=0.9)
        for row, setting in enumerate(names[of]):
            moved = sorted((c for c in by_figure[of][setting] if not c.same), key=lambda c: abs(c.interval.value))
            for right, change in {c.interval.value > 0: c for c in moved}.items():  # the outermost on either side
                value, low, high = change.interval
                axes.barh(row, value, height=0.66, color=_colour(0 if right else 1), hatch="" if right else "///", edgecolor="white", linewidth=0.5)
                axes.hlines(row, low, high, color=INK, linewidth=1.2)
                place = max(high, 0.0) if right else min(low, 0.0)
                side, shift = ("left", 4) if right else ("right", -4)
                axes.annotate(change.end, (place, row), (shift, 0), textcoords="offset points", ha=side, va="center", size=SMALL)
        _label_rows(axes, [name_setting(s) for s in names[of]])
        axes.set_title(results.name(of))
        axes.set_xlabel(results.unit(of[0], difference=True))
    yield Plot("tornado", title, caption), figure


def _swing(changes: Sequence[Change]) -> float:
    """From the lowest to the highest of the changes and no change."""
    values = [0.0, *(c.interval.value for c in changes)]
    return max(values) - min(values)


def _draw_ladder(results: Results) -> Drawn:
    """The ratings of a skill ladder."""
    ladder = find_ladder(results.run)
    if not ladder:
        return
    title = say("Skill ladder")
    labels = [_wrap(name, 38) for name, _ in ladder.ratings]
    panels = Panels(1, 1, 5.0, len(labels) * 0.36, _room_for(labels), over=0.05)
    text = say("A lead of 400 points is odds of 10 to 1. Lines are 95% intervals; where none is seen, it is narrower than the mark.")
    caption = _caption(results, text, len(labels), len(labels))
    figure, (axes,) = panels.make(title, caption)
    _rule_rows(axes, len(labels))
    _draw_dots(axes, [rating for _, rating in ladder.ratings], None, [], [True] * len(labels))
    for row, (_, rating) in enumerate(ladder.ratings):
        axes.annotate(write_number(rating.value, 0, signed=True), (rating.value, row), (0, 6), textcoords="offset points", ha="center", size=SMALL)
    _label_rows(axes, labels)
    axes.margins(x=0.1)
    axes.set_xlabel(say("rating (Elo points, mean 0)"))
    yield Plot("ladder", title, caption), figure


def _draw_leads(results: Results) -> Drawn:
    """How often whoever leads goes on to win, over the course of the game."""
    moments = sorted((_read_moment(found[1]), metric) for metric in results.run.metrics if (found := LEADS.fullmatch(metric)))
    shown = _spread_over(len(results.labels), LINES_MOST)
    if len(moments) < 3:
        return
    title = say("How often the leader goes on to win")
    labels = [_wrap(results.labels[cell], 60) for cell in shown]
    handles = [Line2D([], [], color=_colour(n), marker=_marker(n), markersize=4, label=label) for n, label in enumerate(labels)]
    panels = Panels(1, 1, 5.6, 3.2, 0.75, over=0.1, legend=_legend_height(labels, 6.6))
    text = say(
        "Of the games with a leader at that moment; lines are 95% intervals. A flat curve at the height of the first moment would be a race decided at once."
    )
    caption = _caption(results, text, len(shown), len(results.labels))
    figure, (axes,) = panels.make(title, caption)
    panels.place_legend(figure, title, handles)
    for n, cell in enumerate(shown):
        points = [(moment + (n - (len(shown) - 1) / 2) * 0.35, results.figures[cell, (metric, None)]) for moment, metric in moments]
        points = [(x, i) for x, i in points if not math.isnan(i.value)]
        axes.plot([x for x, _ in points], [i.value for _, i in points], color=_colour(n), marker=_marker(n), markersize=4, linewidth=1.2)
        axes.vlines([x for x, _ in points], [i.low for _, i in points], [i.high for _, i in points], color=_colour(n), linewidth=1.2)
    axes.set_xlim(0, 100)
    axes.set_ylim(top=100)
    axes.set_xlabel(say("part of the game played (%)"))
    axes.set_ylabel(say("leader wins (%)"))
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    yield Plot("leads", title, caption), figure


def _spread_over(count: int, most: int) -> list[int]:
    """At most so many of 0 … count − 1, first and last among them, evenly apart."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def _read_moment(name: str) -> float:
    return QUARTERS[name] if name in QUARTERS else float(name)


def _draw_uses(results: Results) -> Drawn:
    """How often each action is chosen where it is legal: a row an action, a column a cell."""
    shown = range(min(len(results.labels), CELLS_MOST))
    names = [USE + action for action in results.run.actions if action]
    rows = [(name, [results.figures[cell, (name, None)] for cell in shown]) for name in names]
    rows = [(name, intervals) for name, intervals in rows if any(not math.isnan(i.value) for i in intervals)]
    if not rows:
        return
    title = say("How often each action is chosen where it is legal")
    labels = [name_action(name) for name, _ in rows]
    columns = [_wrap(results.labels[cell], 34) for cell in shown]
    named = all(_lines(column) <= NAME_LINES_MOST for column in columns)  # else the numbers of the cells
    panels = Panels(1, 1, 0.52 * len(shown), 0.28 * len(rows), _room_for(labels), over=0.1, under=_room_for(columns) if named else 0.55)
    text = say(
        "In percent of the decisions with a choice; empty: never legal, 0: legal and never chosen. "
        "Counted in {games} games of each cell; metrics.csv holds the intervals.",
        games=write_count(results.run.manifest["usage_games"]),
    )
    caption = _caption(results, text, len(shown), len(results.labels))
    figure, (axes,) = panels.make(title, caption)
    grid = np.array([[i.value for i in intervals] for _, intervals in rows])
    axes.pcolormesh(np.arange(len(shown) + 1) - 0.5, np.arange(len(rows) + 1) - 0.5, grid, cmap="cividis", vmin=0, vmax=100, edgecolors="white")
    for (row, cell), value in np.ndenumerate(grid):
        if not math.isnan(value):
            written = "<1" if 0 < value < 0.5 else ">99" if 99.5 < value < 100 else write_number(value, 0)
            axes.text(cell, row, written, size=SMALL, ha="center", va="center", color="white" if value < 50 else "black")
    _label_rows(axes, labels)
    axes.set_xticks(list(shown), columns if named else [str(cell) for cell in shown], rotation=90 if named else 0)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("" if named else say("cell"))
    yield Plot("uses", title, caption), figure


def _draw_seats(results: Results) -> Drawn:
    """The headline figures that each seat has: win rates first."""
    metrics = sorted({metric for metric, seat in results.headlines if seat is not None}, key=lambda metric: metric != WIN)
    if not metrics:
        return
    title = start_capital(say("{figures} by seat", figures=join_words([name_metric(m) for m in metrics])))
    seats = sorted({seat for _, seat in results.headlines if seat is not None})
    handles = _seat_handles(seats)
    for page, rows in enumerate(_pages(len(results.labels))):
        labels, row_height = _name_rows([results.labels[cell] for cell in rows])
        columns = min(2, len(metrics))
        left = _room_for(labels)
        legend = _legend_height([str(h.get_label()) for h in handles], left + columns * 3.2)
        panels = Panels(len(metrics), columns, 3.0, len(rows) * max(row_height, 0.14 * len(seats) + 0.1), left, legend=legend)
        text = say("Lines are 95% intervals; where none is seen, it is narrower than the mark.")
        caption = _caption(results, text, min(len(results.labels), ROWS_MOST), len(results.labels))
        figure, all_axes = panels.make(title, caption)
        panels.place_legend(figure, title, handles)
        for n, (metric, axes) in enumerate(zip(metrics, all_axes, strict=True)):
            _rule_rows(axes, len(rows))
            for seat in seats:
                _draw_dots(axes, [results.figures.get((cell, (metric, seat))) for cell in rows], seat, seats, [True] * len(rows))
            _label_rows(axes, labels if n % columns == 0 else [""] * len(labels))
            axes.set_title(name_metric(metric))
            axes.set_xlabel(results.unit(metric))
            axes.margins(x=0.08)
            axes.grid(axis="x", color="#eeeeee")
            axes.set_axisbelow(True)
        yield Plot(_page_name("seats", page), title, caption), figure


def _seat_handles(seats: Sequence[int]) -> list[Line2D]:
    return [Line2D([], [], color=_colour(seat), marker=_marker(seat), linestyle="", label=say("seat {seat}", seat=seat)) for seat in seats]


def _draw_dots(axes: Axes, intervals: Sequence[Interval | None], seat: int | None, seats: Sequence[int], clear: Sequence[bool]) -> None:
    """One seat's figures with their intervals, a little above or below the middle of each row; hollow where not clear."""
    offset = 0.0 if seat is None else (seats.index(seat) - (len(seats) - 1) / 2) * 0.6 / len(seats)
    colour = INK if seat is None else _colour(seat)
    dots = [(row + offset, *i, full) for row, (i, full) in enumerate(zip(intervals, clear, strict=True)) if i and not math.isnan(i.value)]
    axes.hlines([y for y, *_ in dots], [low for _, _, low, _, _ in dots], [high for *_, high, _ in dots], color=colour, linewidth=1.3)
    for face, filled in ((colour, True), ("white", False)):
        places = [(value, y) for y, value, _, _, full in dots if full == filled]
        marker = _marker(seat or 0)
        axes.plot([x for x, _ in places], [y for _, y in places], color=colour, linestyle="", marker=marker, markersize=4.5, markerfacecolor=face, zorder=3)


def _draw_heat_maps(results: Results) -> Drawn:
    """Grids of two or more settings: a map of each headline figure that seats share; of the wins of seat 0 if seats' policies are swept."""
    swept = [s for s in results.run.swept if len({levels[results.run.swept.index(s)] for levels in results.levels}) > 1]
    if results.run.manifest["sweep_mode"] != "grid" or len(swept) < 2:
        return
    against = {"policies[0]", "policies[1]"} <= set(swept)
    figures = [f for f in results.headlines if f[1] is None or (against and f == (WIN, 0))]
    by_figure = {f: [results.figures.get((cell, f)) for cell in range(len(results.labels))] for f in figures}
    varied = [f for f, intervals in by_figure.items() if len({i.value for i in intervals if i and not math.isnan(i.value)}) > 1]
    same = [results.name(f) for f in figures if f not in varied]
    remark = say(" No map of {figures}: alike in every cell.", figures=join_words(same)) if same else ""
    for figure in varied:
        yield _draw_heat_map(results, figure, by_figure[figure], swept, remark)


def _draw_heat_map(
    results: Results, figure: tuple[str, int | None], intervals: Sequence[Interval | None], swept: Sequence[str], remark: str
) -> tuple[Plot, Figure]:
    """One figure over the levels of two settings, a panel for each combination of the others."""
    down, across = _choose_axes(results, swept)
    place = {setting: n for n, setting in enumerate(results.run.swept)}
    rows, columns = (list(dict.fromkeys(levels[place[s]] for levels in results.levels)) for s in (down, across))
    facets: dict[str, list[tuple[int, int, Interval]]] = {}
    for cell, interval in enumerate(intervals):
        levels = results.levels[cell]
        facet = ", ".join(f"{name_level(s, levels[n])}" for s, n in place.items() if s not in (down, across))
        if interval:
            facets.setdefault(facet, []).append((rows.index(levels[place[down]]), columns.index(levels[place[across]]), interval))
    shown_rows, shown_columns = rows[:LEVELS_MOST], columns[:LEVELS_MOST]
    shown = dict(list(facets.items())[:FACETS_MOST])
    kept = [i for cells in shown.values() for row, column, i in cells if row < LEVELS_MOST and column < LEVELS_MOST and not math.isnan(i.value)]
    digits = choose_digits(kept)
    written = [_write_half(i, digits) for i in kept]
    row_labels, column_labels = [_wrap(r, 22) for r in shown_rows], [_wrap(c, 14) for c in shown_columns]
    cell_width = max(*(_width(text, SMALL) + 0.2 for text in written), *(_width(label) + 0.15 for label in column_labels), 0.7)
    row_height = max(0.44, *(LINE * _lines(label) + 0.1 for label in row_labels))
    under = 0.38 + LINE * max(_lines(label) for label in column_labels)
    facet_columns = max(1, min(len(shown), int(9 / (cell_width * len(shown_columns)))))
    left = max(_room_for(row_labels), 0.4) + 0.25
    facet_titles = {facet: _wrap(facet, max(int(cell_width * len(shown_columns) / 0.075), 12)) for facet in shown}
    over = 0.12 + (LINE * max(_lines(t) for t in facet_titles.values()) if len(swept) > 2 else 0.0)
    panels = Panels(len(shown), facet_columns, cell_width * len(shown_columns), row_height * len(shown_rows), left, under, over)
    unit = results.unit(figure[0])
    name = start_capital(f"{results.name(figure)}{unit and f' ({unit})'}")
    title = say("{figure} by {setting} and {other}", figure=name, setting=name_setting(down), other=name_setting(across))
    text = say("{meaning}; ± is half of the 95% interval.", meaning=start_capital(results.meaning(figure[0]))) + remark
    caption = _caption(results, text, len(kept), sum(1 for i in intervals if i and not math.isnan(i.value)))
    sheet, all_axes = panels.make(title, caption)
    least, most = (choose(i.value for i in kept) for choose in (min, max))
    for n, (facet, axes) in enumerate(zip(shown, all_axes, strict=True)):
        grid = np.full((len(shown_rows), len(shown_columns)), np.nan)
        for row, column, interval in shown[facet]:
            if row < LEVELS_MOST and column < LEVELS_MOST:
                grid[row, column] = interval.value
                colour = "white" if interval.value < (least + most) / 2 else "black"
                axes.text(column, row, _write_half(interval, digits), size=SMALL, ha="center", va="center", color=colour, linespacing=1.1)
        axes.pcolormesh(np.arange(grid.shape[1] + 1) - 0.5, np.arange(grid.shape[0] + 1) - 0.5, grid, cmap="cividis", vmin=least, vmax=most, edgecolors="white")
        axes.set_xticks(range(len(column_labels)), column_labels)
        axes.tick_params(length=0)
        _label_rows(axes, row_labels if n % facet_columns == 0 else [""] * len(row_labels))
        axes.spines[:].set_visible(False)
        axes.set_title(facet_titles[facet])
        axes.set_xlabel(name_setting(across))
        if n % facet_columns == 0:
            axes.set_ylabel(name_setting(down), labelpad=72 * (left - 0.3))
    return Plot(f"heat_{figure[0]}" if figure[1] is None else f"heat_{figure[0]}_{figure[1]}", title, caption), sheet


def _choose_axes(results: Results, swept: Sequence[str]) -> tuple[str, str]:
    """The policies of the first two seats; else the two settings with the most levels, which leaves the fewest panels."""
    if {"policies[0]", "policies[1]"} <= set(swept):
        return "policies[0]", "policies[1]"
    counts = {s: len({levels[results.run.swept.index(s)] for levels in results.levels}) for s in swept}
    two = sorted(swept, key=lambda s: -counts[s])[:2]
    down, across = sorted(two, key=swept.index)
    return down, across


def _write_half(interval: Interval, digits: int) -> str:
    if math.isnan(interval.value):
        return "–"
    digits = adapt_digits(interval, digits)
    half = "" if math.isnan(interval.low) or interval.low == interval.high else f"\n±{write_number((interval.high - interval.low) / 2, digits)}"
    return f"{write_number(interval.value, digits)}{half}"


def _draw_lengths(results: Results) -> Drawn:
    """How the column behind the game's first quantile is distributed: density above, quantiles below, for each cell."""
    metric = next((m for m in results.run.metrics.values() if m["kind"] == "quantile" and not m["per_seat"]), None)
    if not metric:
        return
    meaning = describe_column(results.run.columns[metric["column"]])
    title = say("{column}: how it is distributed", column=start_capital(meaning))
    shown = range(min(len(results.labels), ROWS_MOST))
    sums = {cell: results.run.distribution(cell, metric["column"]) for cell in shown}
    marks = {cell: [quantile(s, level).value * metric["scale"] for level in (0.1, 0.25, 0.5, 0.75, 0.9, 0.01, 0.99)] for cell, s in sums.items() if s.n}
    if not marks:
        return
    smallest, largest = min(m[0] for m in marks.values()), max(m[4] for m in marks.values())
    logarithmic = smallest > 0 and largest > 30 * smallest
    start, end = min(m[5] for m in marks.values()), max(max(m[6] for m in marks.values()), smallest + 1e-9)
    edges = np.geomspace(smallest / 4, end, RASTER + 1) if logarithmic else np.linspace(min(0.0, start), end, RASTER + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    for page, rows in enumerate(_pages(len(results.labels))):
        labels, row_height = _name_rows([results.labels[cell] for cell in rows])
        panels = Panels(1, 1, 6.0, len(rows) * max(row_height, 0.5), _room_for(labels), over=0.05)
        beyond = max((_share_beyond(sums[cell], metric["scale"], edges) for cell in rows if cell in marks), default=0.0)
        text = say("Line: 10% to 90% of games; box: 25% to 75%; white mark: median; hill: density.")
        text += say(" Up to {share}% of a cell's games lie beyond the edges.", share=write_number(100 * beyond, 1)) if beyond else ""
        caption = _caption(results, text, len(shown), len(results.labels))
        figure, (axes,) = panels.make(title, caption)
        for row, cell in enumerate(rows):
            if cell not in marks:
                axes.text(middles[0], row, say("no game has one"), size=SMALL, va="center", color=FAINT)
                continue
            q10, q25, q50, q75, q90 = marks[cell][:5]
            hill = _smooth(sums[cell], metric["scale"], edges, logarithmic)
            axes.fill_between(middles, row + 0.15 - 0.58 * hill, row + 0.15, color=COLOURS[5], alpha=0.75, linewidth=0)
            axes.plot([q10, q90], [row + 0.29] * 2, color=COLOURS[0], linewidth=1.2, solid_capstyle="butt")
            axes.plot([q25, q75], [row + 0.29] * 2, color=COLOURS[0], linewidth=5, solid_capstyle="butt")
            axes.plot([q50], [row + 0.29], color="white", marker="|", markersize=5, markeredgewidth=1.6)
        _label_rows(axes, labels)
        axes.set_xlim(edges[0], edges[-1])
        if logarithmic:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda x, _: localize(f"{x:g}"))
        unit, scale = f"({word(metric['unit'])})" if metric["unit"] else "", say("on a logarithmic scale") if logarithmic else ""
        axes.set_xlabel(" ".join(filter(None, [meaning, unit, scale])))
        axes.grid(axis="x", color="#eeeeee")
        axes.set_axisbelow(True)
        yield Plot(_page_name("lengths", page), title, caption), figure


def _draw_counts(results: Results) -> Drawn:
    """How often each value of the columns that the game wants shown so, for each cell: such as where games are lost."""
    for name in results.run.manifest["distributions"]:
        column = results.run.columns[name]
        meaning = describe_column(column)
        title = say("{column}: how often", column=start_capital(meaning))
        sums = [results.run.distribution(cell, name) for cell in range(min(len(results.labels), ROWS_MOST))]
        first = min((int(np.flatnonzero(s.bins)[0]) for s in sums if s.n), default=0)
        last = max(max((len(s.bins) for s in sums), default=0), first + 1)
        shares = np.array([np.pad(s.bins, (0, last - len(s.bins)))[first:] / s.n * 100 if s.n else np.full(last - first, np.nan) for s in sums])
        if np.isnan(shares).all():
            continue
        for page, rows in enumerate(_pages(len(results.labels))):
            labels, row_height = _name_rows([results.labels[cell] for cell in rows])
            panels = Panels(1, 1, 6.6, len(rows) * max(row_height, 0.3), _room_for(labels), over=0.05)
            caption = _caption(results, say("Share of the games that have a value, in percent; empty: no game has one."), len(sums), len(results.labels))
            figure, (axes,) = panels.make(title, caption)
            edges = np.arange(first, last + 1) + column["low"] - 0.5
            mesh = axes.pcolormesh(edges, np.arange(len(rows) + 1) - 0.5, shares[rows.start : rows.stop], cmap="cividis", vmin=0, vmax=np.nanmax(shares))
            _label_rows(axes, labels)
            axes.set_xlabel(f"{meaning} ({word(column['unit'])})" if column["unit"] else meaning)
            figure.colorbar(mesh, ax=axes, label="%", fraction=0.06, pad=0.02)
            yield Plot(_page_name(f"counts_{name}", page), title, caption), figure


def _share_beyond(sums: Sums, scale: float, edges: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    values = sums.values * scale
    return float(sums.bins[(values < edges[0]) | (values > edges[-1])].sum() / sums.n)


def _smooth(sums: Sums, scale: float, edges: np.ndarray[Any, np.dtype[np.float64]], logarithmic: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Density at the raster, largest 1: a histogram smoothed by a Gaussian of Silverman's width."""
    change: Callable[[Any], Any] = np.log if logarithmic else np.asarray
    raster = change(edges)
    kept = sums.values * scale >= edges[0]
    values, games = change(sums.values[kept] * scale), sums.bins[kept]
    counts = np.histogram(values, raster, weights=games)[0]
    centre = np.average(values, weights=games)
    spread = math.sqrt(np.average((values - centre) ** 2, weights=games))
    width = max(0.9 * spread * float(sums.n) ** -0.2 / (raster[1] - raster[0]), 0.7)
    reach = np.arange(-math.ceil(4 * width), math.ceil(4 * width) + 1)
    hill = np.convolve(counts, np.exp(-0.5 * (reach / width) ** 2), mode="full")[len(reach) // 2 :][: len(counts)]
    return np.asarray(hill / hill.max())


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _hatch(number: int) -> str:
    return HATCHES[number % len(HATCHES)]


def _marker(number: int) -> str:
    return MARKERS[number % len(MARKERS)]
