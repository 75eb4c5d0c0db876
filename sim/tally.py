"""Outcome columns summed up while they are played: exact, and the same in whatever order blocks arrive.

Every outcome is an integer, so counts, sums, sums of squares and of products are exact integers, and
memory does not grow with the number of games. Distributions are counted in bins that are exact up to
4096 above a column's least value and 1/2048 wide beyond (log-linear, as in HdrHistogram).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from sim.jit import jit
from sim.outcomes import MISSING, Column, Metric

EXACT = 4096
HALF = EXACT // 2
LOW_32 = 0xFFFFFFFF


@dataclass(frozen=True)
class Field:
    """One flat field of an outcome row: a column, or one seat's part of it."""

    column: Column
    seat: int | None


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


@dataclass
class CellTally:
    """Exact sums of one cell: per field the games counted, Σx, Σx² and the bins; and the games to tell."""

    counts: list[int]
    totals: list[int]
    squares: list[int]
    bins: list[np.ndarray[Any, np.dtype[np.int64]]]
    highlights: list[tuple[tuple[int, ...], int] | None] = field(default_factory=list)

    def add(self, other: CellTally) -> None:
        """Take in the tally of other games of the same cell."""
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.totals = [a + b for a, b in zip(self.totals, other.totals, strict=True)]
        self.squares = [a + b for a, b in zip(self.squares, other.squares, strict=True)]
        self.bins = [_add_bins(a, b) for a, b in zip(self.bins, other.bins, strict=True)]
        both = zip(self.highlights, other.highlights, strict=True)
        self.highlights = [min((one for one in pair if one is not None), default=None) for pair in both]


@dataclass
class PairTally:
    """Exact sums over the games in which both cells have a value: per figure n, Σx, Σy, Σxy (x: cell, y: reference)."""

    sums: list[list[int]]

    def add(self, other: PairTally) -> None:
        """Take in the tally of other games of the same pair."""
        self.sums = [[a + b for a, b in zip(mine, theirs, strict=True)] for mine, theirs in zip(self.sums, other.sums, strict=True)]


class Counter:
    """Turns blocks of outcome rows into tallies, for one game and number of seats."""

    def __init__(self, module: ModuleType, seats: int) -> None:
        self.fields = fields_of(module, seats)
        self.lows = np.array([f.column.low for f in self.fields], dtype=np.int64)
        paired = [f for f in figures_of(module, seats) if f.metric.kind != "quantile"]
        self.paired_index = np.array([f.index for f in paired], dtype=np.int64)
        self.paired_equals = np.array([MISSING if f.metric.kind == "mean" else f.equals for f in paired], dtype=np.int64)
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
        )

    def tally_pair(self, rows: np.ndarray[Any, np.dtype[np.int64]], reference: np.ndarray[Any, np.dtype[np.int64]]) -> PairTally:
        """The tally of two cells' rows of the same games."""
        sums = _tally_pair(rows, reference, self.paired_index, self.paired_equals)
        return PairTally([[int(s[0]), int(s[1]), int(s[2]), _join(s[3], s[4])] for s in sums])


def _join(high: Any, low: Any) -> int:
    return (int(high) << 32) + int(low)


def _add_bins(a: np.ndarray[Any, np.dtype[np.int64]], b: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer


@jit
def _bin_of(value):
    """Bin of a value ≥ 0 above the column's low."""
    shift = 0
    while (value >> shift) >= EXACT:
        shift += 1
    return shift * HALF + (value >> shift)


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
        starts[f + 1] = starts[f] + (_bin_of(largest[f] - lows[f]) + 1 if largest[f] >= lows[f] else 0)
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
            bins[starts[f] + _bin_of(value - lows[f])] += 1
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
def _tally_pair(rows, reference, index, equals):
    """Per figure: (n, Σx, Σy, Σxy split into high and low 32 bits) over games where neither is missing."""
    sums = np.zeros((len(index), 5), np.int64)
    for g in range(len(rows)):
        for k in range(len(index)):
            x = rows[g, index[k]]
            y = reference[g, index[k]]
            if x == MISSING or y == MISSING:
                continue
            if equals[k] != MISSING:
                x = 1 if x == equals[k] else 0
                y = 1 if y == equals[k] else 0
            product = x * y
            sums[k, 0] += 1
            sums[k, 1] += x
            sums[k, 2] += y
            sums[k, 3] += product >> 32
            sums[k, 4] += product & LOW_32
    return sums


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
