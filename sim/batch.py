"""Plays an experiment: blocks of games over worker threads, tallied where they are played.

Compiled play holds no lock, so threads share one process. A block is a range of game indices, played for
every cell, so that cells are compared game by game. Tallies are exact integers: the result is the same for
any number of workers and any block size.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from sim.engine import PolicyError, Table
from sim.experiment import Experiment
from sim.tally import CellTally, Counter, PairCounter, PairTally

BLOCK_GAMES = 20_000
FIRST_LOOK = 10_000  # games per cell played before the first look at how well the figures are known
LOOK_GROWTH = 1.25  # each look has so many times the games of the one before
ROWS_BYTES = 24 * 2**20  # outcome rows a worker holds at once, over all cells

LineUp = tuple[tuple[Any, ...], tuple[tuple[float, ...], ...]]


@dataclass
class Tallies:
    """The tallies of an experiment: one per cell, one per pair of cells; a cell's are of its games 0 … games − 1."""

    games: list[int]
    cells: list[CellTally]
    pairs: list[PairTally]

    def add(self, other: Tallies) -> None:
        """Take in the tallies of other games."""
        self.games = [a + b for a, b in zip(self.games, other.games, strict=True)]
        for mine, theirs in zip(self.cells, other.cells, strict=True):
            mine.add(theirs)
        for ours, others in zip(self.pairs, other.pairs, strict=True):
            ours.add(others)


class CellError(Exception):
    """A policy chose an illegal action: the cell and the game."""

    def __init__(self, cell: int, game: int) -> None:
        super().__init__(f"illegal action in cell {cell}, game {game}")
        self.cell = cell
        self.game = game


class Player:
    """Plays blocks of an experiment; each worker thread has its own tables."""

    def __init__(self, experiment: Experiment, line_ups: Sequence[LineUp]) -> None:
        self.experiment = experiment
        self.line_ups = line_ups
        module = experiment.module
        self.counters = {len(policies): Counter(module, len(policies), experiment.ideal_minutes) for policies, _ in line_ups}
        seats = [(len(line_ups[pair.cell][0]), len(line_ups[pair.reference][0])) for pair in experiment.pairs]
        kinds = {both: PairCounter(module, *both, experiment.ideal_minutes) for both in set(seats)}
        self.pair_counters = [kinds[both] for both in seats]
        self.local = threading.local()
        fields = max(len(counter.fields) for counter in self.counters.values())
        self.chunk_games = max(250, min(BLOCK_GAMES, ROWS_BYTES // (8 * fields * len(line_ups))))
        self._play_chunk(0, 0, frozenset())  # compile in the calling thread, once

    def tables(self) -> list[Table]:
        """This thread's table of each cell."""
        if not hasattr(self.local, "tables"):
            cells = zip(self.experiment.cells, self.line_ups, strict=True)
            self.local.tables = [Table(self.experiment.module, cell.rules, [p.call for p in policies], values) for cell, (policies, values) in cells]
        tables: list[Table] = self.local.tables
        return tables

    def play(self, first: int, games: int, cells: Collection[int] | None = None) -> Tallies:
        """Play and tally games first … first + games − 1 of these cells (None: of all). Raises CellError."""
        total: Tallies | None = None
        for start in range(first, first + games, self.chunk_games):
            chunk = self._play_chunk(start, min(self.chunk_games, first + games - start), cells)
            if total is None:
                total = chunk
            else:
                total.add(chunk)
        assert total is not None
        return total

    def _play_chunk(self, first: int, games: int, cells: Collection[int] | None) -> Tallies:
        counters = [self.counters[len(policies)] for policies, _ in self.line_ups]
        rows = []
        for number, table in enumerate(self.tables()):
            if cells is not None and number not in cells:
                rows.append(np.empty((0, len(counters[number].fields)), dtype=np.int64))
                continue
            try:
                rows.append(table.play(self.experiment.seed, first, games))
            except PolicyError as error:
                raise CellError(number, error.index) from None
        return Tallies(
            [len(r) for r in rows],
            [counter.tally(r, first) for counter, r in zip(counters, rows, strict=True)],
            [counter.tally(rows[pair.cell], rows[pair.reference]) for counter, pair in zip(self.pair_counters, self.experiment.pairs, strict=True)],
        )


def play_experiment(
    experiment: Experiment, line_ups: Sequence[LineUp], jobs: int = 0, block_games: int = BLOCK_GAMES, progress: Callable[[int], None] | None = None
) -> Tallies:
    """Play all games of all cells on `jobs` threads (0: one per core); `progress` is told the games played so far, over all cells."""
    return play_blocks(Player(experiment, line_ups), jobs, block_games, progress)


def play_blocks(player: Player, jobs: int = 0, block_games: int = BLOCK_GAMES, progress: Callable[[int], None] | None = None) -> Tallies:
    """As `play_experiment`, with a player already compiled."""
    return _play_rounds(player, [player.experiment.games], lambda _: set(), jobs, block_games, progress)


def play_until_known(
    player: Player,
    find_open: Callable[[Tallies], set[int]],
    jobs: int = 0,
    block_games: int = BLOCK_GAMES,
    progress: Callable[[int], None] | None = None,
) -> Tallies:
    """Play on, in rounds, the cells that `find_open` names, until it names none or the experiment's games are played.

    It looks after numbers of games fixed beforehand, so what is played does not depend on threads or blocks.
    A cell once done is not played again: its games are always 0 … n − 1.
    """
    return _play_rounds(player, looks(player.experiment.games), find_open, jobs, block_games, progress)


def _play_rounds(
    player: Player, ends: Sequence[int], find_open: Callable[[Tallies], set[int]], jobs: int, block_games: int, progress: Callable[[int], None] | None
) -> Tallies:
    total: Tallies | None = None
    cells = set(range(len(player.line_ups)))
    for first, last in itertools.pairwise([0, *ends]):
        for block in _play_range(player, first, last, frozenset(cells), jobs, block_games):
            if total is None:
                total = block
            else:
                total.add(block)
            if progress:
                progress(sum(total.games))
        assert total is not None
        cells &= find_open(total)
        if not cells:
            break
    assert total is not None
    return total


def looks(games: int) -> list[int]:
    """The numbers of games after which a sequential run looks, the last being all `games`."""
    counts = [min(FIRST_LOOK, games)]
    while counts[-1] < games:
        counts.append(min(int(counts[-1] * LOOK_GROWTH), games))
    return counts


def _play_range(player: Player, first: int, last: int, cells: Collection[int], jobs: int, block_games: int) -> Iterator[Tallies]:
    """The tallies of games first … last − 1 of these cells, block by block as they are done."""
    threads = jobs or os.cpu_count() or 1
    block_games = min(block_games, max(1_000, (last - first) // (4 * threads)))  # short rounds, too, have work for all
    starts = range(first, last, block_games)
    work = (delayed(player.play)(start, min(block_games, last - start), cells) for start in starts)
    parallel = Parallel(n_jobs=threads, backend="threading", return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
    results: Iterator[Tallies] = parallel(work)
    return results
