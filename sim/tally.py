"""Outcome columns summed up while they are played: exact, and the same in whatever order blocks arrive.

Every outcome is an integer, so counts, sums, sums of squares and of products are exact integers, and
memory does not grow with the number of games. Distributions are counted in bins that are exact up to
4096 above a column's least value and 1/2048 wide beyond (log-linear, as in HdrHistogram).

Columns that have quantiles or standard deviations are counted once more, coarsely and in GROUPS groups by game index: the groups are
what a paired bootstrap draws from, the same whatever the blocks were.

Measures of balance need two things besides: how far each game was from the ideal length (none is further off than no game at all), and
how games ended in both cells of a pair, a joint table.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from sim.jit import jit
from sim.outcomes import MISSING, Column, Metric

EXACT = 4096
GROUPS = 32
GROUPS_EXACT = 512  # bins of the groups: 1/256 wide beyond this
LOW_32 = 0xFFFFFFFF
SECONDS = "seconds"  # the column of playing time, of games that have one
DRAWN = ("quantile", "sd")  # kinds of figures whose differences are bootstrapped


@dataclass(frozen=True)
class Field:
    """One flat field of an outcome row: a column, or one seat's part of it."""

    column: Column
    seat: int | None

    @property
    def label(self) -> str:
        """The column's name, and the seat where it has one: `points[0]`."""
        return self.column.name if self.seat is None else f"{self.column.name}[{self.seat}]"


@dataclass(frozen=True)
class Figure:
    """One metric of one seat (None where it does not apply), and the flat field it reads."""

    metric: Metric
    seat: int | None
    index: int

    @property
    def equals(self) -> int | None:
        """The value a share counts."""
        return self.seat if self.metric.equals is None else self.metric.equals


def fields_of(module: ModuleType, seats: int) -> list[Field]:
    """The flat fields of a game's outcome rows, in the order of memory."""
    return [Field(column, seat) for column in module.COLUMNS for seat in (range(seats) if column.per_seat else (None,))]


def figures_of(module: ModuleType, seats: int) -> list[Figure]:
    """Every metric of every seat it applies to."""
    fields = fields_of(module, seats)
    figures = []
    for metric in module.METRICS:
        for seat in range(seats) if metric.per_seat else (None,):
            index = next(n for n, f in enumerate(fields) if f.column.name == metric.column and f.seat in (seat, None))
            figures.append(Figure(metric, seat, index))
    return figures


def grouped_fields(module: ModuleType, seats: int) -> list[int]:
    """The flat fields that some quantile or standard deviation is of."""
    return sorted({figure.index for figure in figures_of(module, seats) if figure.metric.kind in DRAWN})


def ending_field(module: ModuleType, seats: int) -> int | None:
    """The flat field that tells how a game ended: of the first labelled column that all seats share; None if there is none."""
    return next((n for n, f in enumerate(fields_of(module, seats)) if f.column.labels and not f.column.per_seat), None)


class Ideal(NamedTuple):
    """The ideal length of a game in the units of its flat field."""

    field: int
    length: int

    def distances(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How far from the ideal each game of rows (games, fields) is, at most as far as a game of no length: (games, 1)."""
        lengths = rows[:, [self.field]]
        return np.where(lengths == MISSING, MISSING, np.minimum(np.abs(lengths - self.length), self.length))


def ideal_of(module: ModuleType, seats: int, minutes: float | None) -> Ideal | None:
    """The ideal length, for games whose playing time is told."""
    field = next((n for n, f in enumerate(fields_of(module, seats)) if f.column.name == SECONDS), None)
    return None if minutes is None or field is None else Ideal(field, round(60 * minutes / fields_of(module, seats)[field].column.scale))


@dataclass
class CellTally:
    """Exact sums of one cell: per field the games counted, Σx, Σx² and the bins; the games to tell; (GROUPS, bins) per grouped field.

    `off_ideal` is n, Σx, Σx² of the distances from the ideal length; empty without an ideal.
    """

    counts: list[int]
    totals: list[int]
    squares: list[int]
    bins: list[np.ndarray[Any, np.dtype[np.int64]]]
    highlights: list[tuple[tuple[int, ...], int] | None] = field(default_factory=list)
    groups: list[np.ndarray[Any, np.dtype[np.int64]]] = field(default_factory=list)
    off_ideal: list[int] = field(default_factory=list)

    def add(self, other: CellTally) -> None:
        """Take in the tally of other games of the same cell."""
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.totals = [a + b for a, b in zip(self.totals, other.totals, strict=True)]
        self.squares = [a + b for a, b in zip(self.squares, other.squares, strict=True)]
        self.bins = [_add_bins(a, b) for a, b in zip(self.bins, other.bins, strict=True)]
        self.groups = [_add_bins(a, b) for a, b in zip(self.groups, other.groups, strict=True)]
        self.off_ideal = [a + b for a, b in zip(self.off_ideal, other.off_ideal, strict=True)]
        both = zip(self.highlights, other.highlights, strict=True)
        self.highlights = [min((one for one in pair if one is not None), default=None) for pair in both]

    def emptied(self) -> CellTally:
        """The tally of none of the cell's games."""
        zeros, none = [0] * len(self.counts), [array[..., :0] for array in self.bins]
        groups = [array[..., :0] for array in self.groups]
        return CellTally(zeros, zeros, zeros, none, [None] * len(self.highlights), groups, [0] * len(self.off_ideal))


@dataclass
class PairTally:
    """Exact sums of each figure over the games both cells played (x: cell, y: reference; a share counts 0 or 1).

    n, Σx, Σx² of the games with an x; n, Σy, Σy² of those with a y; n, Σx, Σy, Σxy of those with both; and in how many games x and y
    differ, or only one is there. `off_ideal` is one more such row, of the distances from the ideal length (empty without an ideal).
    `endings` counts games by ending (in the cell, in the reference).
    """

    sums: list[list[int]]
    off_ideal: list[int] = field(default_factory=list)
    endings: np.ndarray[Any, np.dtype[np.int64]] = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    def add(self, other: PairTally) -> None:
        """Take in the tally of other games of the same pair."""
        self.sums = [[a + b for a, b in zip(mine, theirs, strict=True)] for mine, theirs in zip(self.sums, other.sums, strict=True)]
        self.off_ideal = [a + b for a, b in zip(self.off_ideal, other.off_ideal, strict=True)]
        self.endings = self.endings + other.endings

    def emptied(self) -> PairTally:
        """The tally of none of the pair's games."""
        return PairTally([[0] * len(row) for row in self.sums], [0] * len(self.off_ideal), np.zeros_like(self.endings))


class Counter:
    """Turns blocks of outcome rows into tallies, for one game and number of seats; `ideal_minutes` is how long a game should last."""

    def __init__(self, module: ModuleType, seats: int, ideal_minutes: float | None = None) -> None:
        self.ideal = ideal_of(module, seats, ideal_minutes)
        self.fields = fields_of(module, seats)
        self.lows = np.array([f.column.low for f in self.fields], dtype=np.int64)
        self.grouped = grouped_fields(module, seats)
        place = {f.column.name: n for n, f in reversed(list(enumerate(self.fields)))}
        self.orders = [
            (np.array([place[name] for name, _ in h.order], dtype=np.int64), np.array([sign for _, sign in h.order], dtype=np.int64)) for h in module.HIGHLIGHTS
        ]

    def tally(self, rows: np.ndarray[Any, np.dtype[np.int64]], first: int) -> CellTally:
        """The tally of outcome rows (games, fields); the first row is game `first`."""
        sums, bins, starts = _tally_block(rows, self.lows)
        highlights: list[tuple[tuple[int, ...], int] | None] = []
        for index, signs in self.orders:
            row = int(_find_first(rows, index, signs))
            highlights.append((tuple(int(s * rows[row, n]) for n, s in zip(index, signs, strict=True)), first + row) if row >= 0 else None)
        return CellTally(
            counts=[int(n) for n in sums[:, 0]],
            totals=[int(n) for n in sums[:, 1]],
            squares=[_join(high, low) for high, low in sums[:, 2:]],
            bins=[bins[a:b].copy() for a, b in itertools.pairwise(starts)],
            highlights=highlights,
            groups=[_tally_groups(rows, first, f, self.lows[f]) for f in self.grouped],
            off_ideal=_pair_distances(rows, self.ideal, rows, self.ideal)[:3],
        )


class PairCounter:
    """Turns two cells' rows of the same games into tallies; where their seats differ in number, of the figures both have."""

    def __init__(self, module: ModuleType, seats: int, reference_seats: int, ideal_minutes: float | None = None) -> None:
        self.ideals = [ideal_of(module, n, ideal_minutes) for n in (seats, reference_seats)]
        self.endings = [ending_field(module, n) for n in (seats, reference_seats)]
        self.kinds = 0 if self.endings[0] is None else len(fields_of(module, seats)[self.endings[0]].column.labels)
        theirs = {(f.metric.name, f.seat): f.index for f in figures_of(module, reference_seats)}
        paired = [f for f in figures_of(module, seats) if (f.metric.name, f.seat) in theirs]
        self.index = np.array([f.index for f in paired], dtype=np.int64)
        self.reference_index = np.array([theirs[f.metric.name, f.seat] for f in paired], dtype=np.int64)
        self.equals = np.array([f.equals if f.metric.kind == "share" else MISSING for f in paired], dtype=np.int64)

    def tally(self, rows: np.ndarray[Any, np.dtype[np.int64]], reference: np.ndarray[Any, np.dtype[np.int64]]) -> PairTally:
        """The tally of outcome rows of a cell and of its reference."""
        sums = _pair_rows(rows, reference, self.index, self.reference_index, self.equals)
        return PairTally(sums, _pair_distances(rows, self.ideals[0], reference, self.ideals[1]), self._count_endings(rows, reference))

    def _count_endings(self, rows: np.ndarray[Any, np.dtype[np.int64]], reference: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Games by ending, (in the cell, in the reference)."""
        both = min(len(rows), len(reference))
        if not self.kinds:
            return np.zeros((0, 0), np.int64)
        joint = rows[:both, self.endings[0]] * self.kinds + reference[:both, self.endings[1]]
        return np.bincount(joint, minlength=self.kinds**2).reshape(self.kinds, self.kinds)


FIRST_FIELD, NO_SHARE = np.array([0]), np.array([MISSING])


def _pair_distances(
    rows: np.ndarray[Any, np.dtype[np.int64]], ideal: Ideal | None, others: np.ndarray[Any, np.dtype[np.int64]], same: Ideal | None
) -> list[int]:
    """One row of pair sums of the distances from the ideal length; empty without one."""
    if ideal is None or same is None:
        return []
    (sums,) = _pair_rows(ideal.distances(rows), same.distances(others), FIRST_FIELD, FIRST_FIELD, NO_SHARE)
    return sums


def _pair_rows(rows: Any, reference: Any, index: Any, reference_index: Any, equals: Any) -> list[list[int]]:
    """The sums of a PairTally: figures that are the fields `index` and `reference_index`, or the share of games with the value `equals`."""
    counts, products = _tally_pair(rows, reference, index, reference_index, equals)
    sums = []
    for n, p in zip(counts, products, strict=True):
        squares_x, squares_y, both = (_join(high, low) for high, low in p)
        sums.append([int(n[0]), int(n[1]), squares_x, int(n[2]), int(n[3]), squares_y, int(n[4]), int(n[5]), int(n[6]), both, int(n[7])])
    return sums


def _join(high: Any, low: Any) -> int:
    return (int(high) << 32) + int(low)


def _add_bins(a: np.ndarray[Any, np.dtype[np.int64]], b: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    longer, shorter = (a, b) if a.shape[-1] >= b.shape[-1] else (b, a)
    longer = longer.copy()
    longer[..., : shorter.shape[-1]] += shorter
    return longer


@jit
def _bin_of(value, exact):
    """Bin of a value ≥ 0 above the column's low, of bins that are exact below `exact`."""
    shift = 0
    while (value >> shift) >= exact:
        shift += 1
    return shift * (exact // 2) + (value >> shift)


@jit
def _tally_block(rows, lows):
    """Per field: (n, Σx, Σx² split into high and low 32 bits); all bins in one array, and where each field's start.

    Of a field whose values all have exact bins only the bins are counted: its sums follow from them.
    """
    games, fields = rows.shape
    largest = lows - 1
    for g in range(games):
        for f in range(fields):
            if rows[g, f] > largest[f]:
                largest[f] = rows[g, f]
    starts = np.zeros(fields + 1, np.int64)
    for f in range(fields):
        starts[f + 1] = starts[f] + (_bin_of(largest[f] - lows[f], EXACT) + 1 if largest[f] >= lows[f] else 0)
    bins = np.zeros(starts[fields], np.int64)
    sums = np.zeros((fields, 4), np.int64)
    for g in range(games):
        for f in range(fields):
            value = rows[g, f]
            if value == MISSING:
                continue
            if largest[f] - lows[f] < EXACT:
                bins[starts[f] + value - lows[f]] += 1
                continue
            square = value * value
            sums[f, 0] += 1
            sums[f, 1] += value
            sums[f, 2] += square >> 32
            sums[f, 3] += square & LOW_32
            bins[starts[f] + _bin_of(value - lows[f], EXACT)] += 1
    for f in range(fields):
        if largest[f] - lows[f] < EXACT:
            for k in range(starts[f + 1] - starts[f]):
                value = lows[f] + k
                count = bins[starts[f] + k]
                square = value * value
                sums[f, 0] += count
                sums[f, 1] += count * value
                sums[f, 2] += count * (square >> 32)
                sums[f, 3] += count * (square & LOW_32)
    return sums, bins, starts


@jit
def _tally_groups(rows, first, field, low):
    """Counts (GROUPS, bins) of one field by game index modulo GROUPS; the first row is game `first`."""
    largest = low - 1
    for g in range(len(rows)):
        largest = max(largest, rows[g, field])
    counts = np.zeros((GROUPS, _bin_of(largest - low, GROUPS_EXACT) + 1 if largest >= low else 0), np.int64)
    for g in range(len(rows)):
        if rows[g, field] != MISSING:
            counts[(first + g) % GROUPS, _bin_of(rows[g, field] - low, GROUPS_EXACT)] += 1
    return counts


@jit
def _tally_pair(rows, reference, index, reference_index, equals):
    """Per figure, over the rows both have: (n, Σx) with an x, (n, Σy) with a y, (n, Σx, Σy) with both, and the rows that differ; Σx², Σy², Σxy.

    Of the last three the high and the low 32 bits.
    """
    counts = np.zeros((len(index), 8), np.int64)
    products = np.zeros((len(index), 3, 2), np.int64)
    for g in range(min(len(rows), len(reference))):
        for k in range(len(index)):
            x = rows[g, index[k]]
            y = reference[g, reference_index[k]]
            has_x, has_y = x != MISSING, y != MISSING
            if equals[k] != MISSING:
                x = 1 if x == equals[k] else 0
                y = 1 if y == equals[k] else 0
            if has_x != has_y or (has_x and x != y):
                counts[k, 7] += 1
            if has_x:
                counts[k, 0] += 1
                counts[k, 1] += x
                _add_product(products[k, 0], x * x)
            if has_y:
                counts[k, 2] += 1
                counts[k, 3] += y
                _add_product(products[k, 1], y * y)
            if has_x and has_y:
                counts[k, 4] += 1
                counts[k, 5] += x
                counts[k, 6] += y
                _add_product(products[k, 2], x * y)
    return counts, products


@jit
def _add_product(halves, product):
    halves[0] += product >> 32
    halves[1] += product & LOW_32


@jit
def _find_first(rows, index, signs):
    """Row that comes first by sign × value of the given fields in turn; −1 if the first is missing everywhere."""
    best = -1
    for g in range(len(rows)):
        if rows[g, index[0]] == MISSING:
            continue
        if best < 0:
            best = g
            continue
        for k in range(len(index)):
            mine = signs[k] * rows[g, index[k]]
            held = signs[k] * rows[best, index[k]]
            if mine < held:
                best = g
            if mine != held:
                break
    return best
