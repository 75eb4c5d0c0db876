"""Plays an experiment: blocks of games over workers, tallied where they are played.

A block is a range of game indices, played for every cell, so that cells are compared game by game. Tallies are exact integers: the
result is the same for any number of workers of any kind, any block size, and any stop and resumption between blocks.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.engine import Fault, PolicyError, Table
from sim.experiment import Experiment
from sim.tally import CellTally, Counter, PairCounter, PairTally

BLOCK_SECONDS = 1.0  # how long a block should take: what a kill costs each worker
FIRST_BLOCK = 16  # games of a block while nothing is known of their speed
CHUNK_GAMES = 20_000  # most games of a cell held as rows at once
FIRST_LOOK = 10_000  # games per cell played before the first look at how well the figures are known
LOOK_GROWTH = 1.25  # each look has so many times the games of the one before
ROWS_BYTES = 24 * 2**20  # outcome rows a worker holds at once, over all cells

LineUp = tuple[tuple[Any, ...], tuple[tuple[float, ...], ...]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """Games first … last − 1 of these cells: one unit of work."""

    first: int
    last: int
    cells: frozenset[int]


@dataclass(frozen=True, order=True)
class Failure:
    """How a policy failed: the game, and in which way."""

    game: int
    fault: Fault


@dataclass
class Tallies:
    """The tallies of an experiment: one per cell, one per pair of cells; a cell's are of its games 0 … games − 1.

    `failed` names the cells in which a policy failed, with the first game in which it did.
    """

    games: list[int]
    cells: list[CellTally]
    pairs: list[PairTally]
    failed: dict[int, Failure] = field(default_factory=dict)

    def add(self, other: Tallies) -> None:
        """Take in the tallies of other games."""
        self.games = [a + b for a, b in zip(self.games, other.games, strict=True)]
        for mine, theirs in zip(self.cells, other.cells, strict=True):
            mine.add(theirs)
        for ours, others in zip(self.pairs, other.pairs, strict=True):
            ours.add(others)
        for cell, failure in other.failed.items():
            self.failed[cell] = min(failure, self.failed.get(cell, failure))

    def without_failed(self, pairs: Sequence[tuple[int, int]]) -> Tallies:
        """The tallies, those of failed cells and of their `pairs` emptied: games before a failure are no fair sample of a cell's games."""
        return Tallies(
            [0 if cell in self.failed else games for cell, games in enumerate(self.games)],
            [tally.emptied() if cell in self.failed else tally for cell, tally in enumerate(self.cells)],
            [tally.emptied() if set(pair) & set(self.failed) else tally for pair, tally in zip(pairs, self.pairs, strict=True)],
            dict(self.failed),
        )


@dataclass
class Played:
    """What came out of a block: its tallies, the seconds it took, and, if asked for, the outcome rows of each cell."""

    block: Block
    tallies: Tallies
    seconds: float
    rows: list[Rows]


def set_table(experiment: Experiment, cell: int, line_up: LineUp) -> Table:
    """The table of a cell."""
    policies, parameters = line_up
    return Table(experiment.module, experiment.cells[cell].rules, [policy.call for policy in policies], parameters, experiment.max_decisions)


class Player:
    """Plays blocks of an experiment; each worker thread has its own tables."""

    def __init__(self, experiment: Experiment, line_ups: Sequence[LineUp]) -> None:
        self.experiment = experiment
        self.line_ups = line_ups
        module = experiment.module
        counters = {len(policies): Counter(module, len(policies), experiment.ideal_minutes) for policies, _ in line_ups}
        self.counters = [counters[len(policies)] for policies, _ in line_ups]
        seats = [(len(line_ups[pair.cell][0]), len(line_ups[pair.reference][0])) for pair in experiment.pairs]
        kinds = {both: PairCounter(module, *both, experiment.ideal_minutes) for both in set(seats)}
        self.pair_counters = [kinds[both] for both in seats]
        self.local = threading.local()
        fields = max(len(counter.fields) for counter in self.counters)
        self.chunk_games = max(250, min(CHUNK_GAMES, ROWS_BYTES // (8 * fields * len(line_ups))))
        self.nothing()  # compile in the calling thread, once

    def tables(self) -> list[Table]:
        """This thread's table of each cell."""
        if not hasattr(self.local, "tables"):
            self.local.tables = [set_table(self.experiment, cell, line_up) for cell, line_up in enumerate(self.line_ups)]
        tables: list[Table] = self.local.tables
        return tables

    def nothing(self) -> Tallies:
        """The tallies of no games."""
        return self._play_chunk(PAUSE)[1]

    def play(self, block: Block, keep_rows: bool = False) -> Played:
        """Play and tally a block. A cell whose policy fails is noted, and left out from there on."""
        if block == PAUSE:
            time.sleep(PAUSE_SECONDS)
        start = time.perf_counter()
        total: Tallies | None = None
        kept: list[list[Rows]] = [[] for _ in self.line_ups]
        for first in range(block.first, max(block.last, block.first + 1), self.chunk_games):
            failed = total.failed if total else {}
            rows, chunk = self._play_chunk(Block(first, min(first + self.chunk_games, block.last), block.cells - set(failed)))
            if keep_rows:
                for cell, of_cell in enumerate(rows):
                    kept[cell].append(of_cell)
            if total is None:
                total = chunk
            else:
                total.add(chunk)
        assert total is not None
        return Played(block, total, time.perf_counter() - start, [np.concatenate(of_cell) for of_cell in kept] if keep_rows else [])

    def _play_chunk(self, block: Block) -> tuple[list[Rows], Tallies]:
        rows, failed = [], {}
        for number, (table, counter) in enumerate(zip(self.tables(), self.counters, strict=True)):
            played = np.empty((0, len(counter.fields)), dtype=np.int64)
            if number in block.cells:
                try:
                    played = table.play(self.experiment.seed, block.first, block.last - block.first)
                except PolicyError as error:
                    failed[number] = Failure(error.index, error.fault)
            rows.append(played)
        return rows, Tallies(
            [len(r) for r in rows],
            [counter.tally(r, block.first) for counter, r in zip(self.counters, rows, strict=True)],
            [counter.tally(rows[pair.cell], rows[pair.reference]) for counter, pair in zip(self.pair_counters, self.experiment.pairs, strict=True)],
            failed,
        )


class Ledger:
    """What of an experiment is played so far, and what came out. `sim.blocks` has one that outlives the process."""

    def __init__(self, nothing: Tallies) -> None:
        self.tallies = nothing
        self.blocks: list[Block] = []  # in order, those that meet and have the same cells joined

    def add(self, played: Played) -> None:
        """Take in a played block."""
        self.tallies.add(played.tallies)
        self.blocks = join_blocks([*self.blocks, played.block])

    def find_gaps(self, first: int, last: int) -> list[tuple[int, int]]:
        """The ranges of games first … last − 1 that no block holds."""
        inside = [block for block in self.blocks if block.first < last and block.last > first]
        edges = [first, *(edge for block in inside for edge in (block.first, block.last)), last]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    def find_failed(self, game: int) -> frozenset[int]:
        """The cells that are known to fail before a game. They sit out from there on, not before: a lost block may hold an earlier failure."""
        return frozenset(cell for cell, failure in self.tallies.failed.items() if failure.game < game)

    def cells_played(self, first: int, last: int) -> frozenset[int]:
        """The cells that some block of games first … last − 1 holds."""
        return frozenset().union(*(block.cells for block in self.blocks if block.first < last and block.last > first))


def join_blocks(blocks: Sequence[Block]) -> list[Block]:
    """The blocks in order, those that meet and have the same cells made one."""
    joined: list[Block] = []
    for block in sorted(blocks, key=lambda b: b.first):
        if joined and joined[-1].last == block.first and joined[-1].cells == block.cells:
            joined[-1] = Block(joined[-1].first, block.last, block.cells)
        else:
            joined.append(block)
    return joined


class Pace:
    """How many games a block should have: about BLOCK_SECONDS of play, fewer towards the end so that all workers end together.

    Longer where taking in and storing a block, which the parent does one by one, would be more than a twentieth of playing it, or where there
    are so many workers that the parent would fall behind them.
    """

    def __init__(self, workers: int, fixed: int | None) -> None:
        self.workers = workers
        self.fixed = fixed
        self.games = fixed or FIRST_BLOCK

    def learn(self, played: Played, parent_seconds: float) -> None:
        """Follow the speed of a played block that took the parent so long, growing at most fourfold at a time."""
        games = played.block.last - played.block.first
        block_seconds = max(BLOCK_SECONDS, max(20, 2 * self.workers) * parent_seconds)
        if not self.fixed:
            self.games = max(1, min(4 * max(games, self.games), int(block_seconds * games / max(played.seconds, 1e-6))))

    def split(self, gaps: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Cut gaps into blocks of the pace at the time each is asked for; of a fixed size, at its multiples."""
        left = sum(last - first for first, last in gaps)
        for first, last in gaps:
            while first < last:
                if self.fixed:
                    end = min(last, (first // self.fixed + 1) * self.fixed)
                else:
                    end = min(last, first + max(min(self.games, left // (2 * self.workers)), self.games // 16, 1))
                yield first, end
                left -= end - first
                first = end


PAUSE = Block(0, 0, frozenset())  # what a worker gets that should wait: joblib sends blocks as fast as they are played, not as they are taken in
PAUSE_SECONDS = 0.05


class Flow:
    """Keeps workers from running far ahead of the parent: at most so many blocks are sent and not yet taken in."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.sent = self.taken = 0

    def send(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks, with pauses between where too many are out."""
        for block in blocks:
            while self.sent - self.taken >= self.most:
                self.sent += 1
                yield PAUSE
            self.sent += 1
            yield block


Work = Callable[[Iterator[Block]], Iterator[Played]]


@dataclass(frozen=True)
class Workers:
    """Whoever plays blocks: how many there are, and how to have blocks played, each as soon as one is free."""

    count: int
    play: Work


def play_on(
    player: Player,
    workers: Workers,
    ledger: Ledger,
    find_open: Callable[[Tallies], set[int]] | None = None,
    keep: Callable[[Played], None] | None = None,
    block_games: int | None = None,
) -> None:
    """Play, into `ledger`, what it lacks of an experiment's games.

    With `find_open`, cells are played on in rounds, those it names, until it names none or the experiment's games are played; it looks after
    numbers of games fixed beforehand, so what is played does not depend on workers or blocks. A cell once done is not played again: its games
    are always 0 … n − 1. `keep` is handed every block before it counts as played.
    """
    games = player.experiment.games
    pairs = [(pair.cell, pair.reference) for pair in player.experiment.pairs]
    cells = frozenset(range(len(player.line_ups)))
    pace = Pace(workers.count, block_games)
    for first, last in itertools.pairwise([0, *(looks(games) if find_open else [games])]):
        if first and find_open:  # blocks stored of a round tell what its cells were; else all before it, and nothing more, is tallied
            cells = ledger.cells_played(first, last) or cells & find_open(ledger.tallies.without_failed(pairs))
        cells -= ledger.find_failed(first)
        if not cells:
            break
        flow = Flow(4 * workers.count)
        ranges = pace.split(ledger.find_gaps(first, last))
        for played in workers.play(flow.send(Block(start, end, cells - ledger.find_failed(start)) for start, end in ranges)):
            flow.taken += 1
            if played.block == PAUSE:
                continue
            start = time.perf_counter()
            if keep:
                keep(played)
            ledger.add(played)
            pace.learn(played, time.perf_counter() - start)


def looks(games: int) -> list[int]:
    """The numbers of games after which a sequential run looks, the last being all `games`."""
    counts = [min(FIRST_LOOK, games)]
    while counts[-1] < games:
        counts.append(min(int(counts[-1] * LOOK_GROWTH), games))
    return counts
