"""What decisions are worth, seen in a sample of every cell's games: how often each action is chosen where it is legal, whether
forbidding it changes how games end, and whether a seat that can no longer win still decides who does.

The sample plays the same loop, bound to a game whose state has counters and orders besides, so the loop that plays millions of games
carries none of this. Decisions with a single legal action are nobody's choice and not counted.

Without an action: a game in which it was chosen is played again, on the same streams, with the action illegal wherever another is legal.
A policy that insists on it is given another legal action by lot instead.
Out of the race: a game is played again with the choices that a seat makes once it cannot win drawn by lot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from sim.batch import LineUp
from sim.engine import NO_TURN, PolicyError, Table
from sim.experiment import Experiment
from sim.jit import bind, jit, record_dict, set_field
from sim.rng import draw_bit
from sim.tally import ending_field

BATCHES = 20  # a batch is what the reports take as independent: the choices of one game are not
BATCH_GAMES = 100
WITHOUT = 100  # games at most played again without an action
BY_LOT = 500  # games at most played again with the choices of a seat out of the race drawn by lot

game: Any = None  # filled in by `bind`
ACTIONS = 0


class Usage(NamedTuple):
    """The sample of one cell, int64.

    `counts` (batches, 2, actions): times legal, times chosen. `effects` (actions, 2): games played again without the action, those
    that ended otherwise. `race` (4): games of the sample, those in which a seat that could no longer win still had choices, those of
    them played again with such choices drawn by lot, those that then ended otherwise.
    """

    counts: np.ndarray[Any, np.dtype[np.int64]]
    effects: np.ndarray[Any, np.dtype[np.int64]]
    race: np.ndarray[Any, np.dtype[np.int64]]


def begin(state, rules, streams):
    """Set up the next game of a batch."""
    state.number += 1
    game.set_up(state, rules, streams)


def turn_if_wanted(state):
    """Whose turn it is; nobody's in a game that is left out."""
    return NO_TURN if state.skipped[state.number] else game.turn(state)


def score_if_wanted(state, rules, streams, row):
    """Write the outcome of a game that is not left out."""
    if not state.skipped[state.number]:
        game.score(state, rules, streams, row)


def allow_others(state, rules):
    """The legal actions, without those forbidden where others remain."""
    legal = game.legal_actions(state, rules)
    left = legal & ~state.forbidden
    return left if left != 0 else legal


def count_and_act(state, rules, streams, action):
    """Count what was legal and what was chosen, put another action in its place if so ordered, then act."""
    legal = game.legal_actions(state, rules)
    if legal & (legal - 1) != 0:
        seat = game.turn(state)
        for each in range(ACTIONS):
            state.times_legal[each] += (legal >> each) & 1
        state.times_chosen[action] += 1
        state.chosen[state.number] |= 1 << action
        if game.is_out(state, rules, seat):
            state.out[state.number] |= 1 << seat
            if (state.by_lot >> seat) & 1 == 1:
                action = draw_bit(streams[game.PURPOSES + seat], legal)
        if (state.replaced >> action) & 1 == 1:
            action = draw_bit(streams[game.PURPOSES + seat], legal & ~(1 << action))
    game.act(state, rules, streams, action)


@jit
def never_out(_state, _rules, _seat):
    """For games that do not tell: no seat is ever known to be out of the race."""
    return False


ORDERS = ("forbidden", "replaced", "by_lot")  # bit masks of actions, of actions, of seats


@cache
def observe_game(module: ModuleType) -> ModuleType:
    """The game with counters and orders in its state; one call of its kernel plays a batch."""
    actions = max(module.Action) + 1
    own = {"is_out": never_out} | {name: value for name, value in vars(module).items() if not name.startswith("__")}
    asked = ModuleType(module.__name__)
    vars(asked).update(own)
    counters = [(name, np.int64, (actions,)) for name in ("times_legal", "times_chosen")]
    counters += [(name, np.int64, (BATCH_GAMES,)) for name in ("skipped", "chosen", "out")]  # by game of the batch; bit masks of actions, of seats
    fields = [(name, module.STATE[name]) for name in module.STATE.names]
    bound: dict[str, Callable[..., Any]] = {
        "set_up": begin,
        "turn": turn_if_wanted,
        "score": score_if_wanted,
        "legal_actions": allow_others,
        "act": count_and_act,
    }
    observed = ModuleType(f"{module.__name__}.observed")
    vars(observed).update(own)
    vars(observed).update({name: jit(bind(function, module.__name__, game=asked, ACTIONS=actions)) for name, function in bound.items()})
    vars(observed)["STATE"] = np.dtype([*fields, *counters, *((name, np.int64) for name in ("number", *ORDERS))], align=True)
    return observed


def split_sample(games: int) -> tuple[int, int]:
    """Batches of the sample, and games of each, for cells of so many games."""
    batches = min(BATCHES, games)
    return batches, min(BATCH_GAMES, games // batches)


def count_usage(experiment: Experiment, line_ups: Sequence[LineUp], failed: Collection[int] = (), jobs: int = 0) -> list[Usage]:
    """The sample of each cell's first games, on `jobs` threads (0: one per core); an empty one of the failed cells."""
    actions = max(experiment.module.Action) + 1
    none = Usage(np.zeros((0, 2, actions), np.int64), np.zeros((actions, 2), np.int64), np.zeros(4, np.int64))
    samples = {cell: _Sample(experiment, cell, line_up) for cell, line_up in enumerate(line_ups) if cell not in failed}  # compiles, in this thread
    counted = Parallel(n_jobs=jobs or os.cpu_count(), backend="threading")(delayed(_count_cell)(sample) for sample in samples.values())
    found = dict(zip(samples, counted, strict=True))
    return [found.get(cell, none) for cell in range(len(line_ups))]


class _Sample:
    """A table at which the games of one cell's sample are played, watched, and played again under orders."""

    def __init__(self, experiment: Experiment, cell: int, line_up: LineUp) -> None:
        policies, parameters = line_up
        self.module = observe_game(experiment.module)
        self.actions = max(experiment.module.Action) + 1
        self.table = Table(self.module, experiment.cells[cell].rules, [policy.call for policy in policies], parameters, experiment.max_decisions)
        self.seats = len(policies)
        self.seed = experiment.seed
        self.ending = ending_field(experiment.module, len(policies))
        self.batches, self.games = split_sample(experiment.games)

    def play(self, games: Collection[int], **orders: int) -> dict[int, int]:
        """How each of these games ends; those in which a policy chooses an illegal action are missing."""
        endings: dict[int, int] = {}
        for first in sorted({game - game % self.games for game in games}):
            wanted = [first + n in games for n in range(self.games)]
            skipped = [int(not one) for one in wanted] + [1] * (BATCH_GAMES - self.games)
            self._order(skipped=skipped, **dict.fromkeys(ORDERS, 0) | orders)
            start, last = first, first + self.games
            while start < last:
                self._order(number=start - first - 1)
                try:
                    rows = self.table.play(self.seed, start, last - start)
                except PolicyError as error:  # the games before that one are lost with it
                    start, last = (start, error.index) if error.index > start else (start + 1, first + self.games)
                    continue
                endings |= {start + n: 0 if self.ending is None else int(row[self.ending]) for n, row in enumerate(rows) if wanted[start + n - first]}
                start, last = last + 1, first + self.games
        return endings

    def count(self, batch: int) -> dict[str, Any]:
        """Play one batch: how each game ends, and what was counted, by name."""
        zeros = {"times_legal": self.actions, "times_chosen": self.actions, "chosen": BATCH_GAMES, "out": BATCH_GAMES}
        self._order(**{name: [0] * length for name, length in zeros.items()})
        endings = self.play(range(batch * self.games, (batch + 1) * self.games))
        return {"endings": endings, **record_dict(self.table.states[0], self.module.STATE, list(zeros))}

    def _order(self, **values: Any) -> None:
        for name, value in values.items():
            set_field(self.table.states[0], name, value)


def _count_cell(sample: _Sample) -> Usage:
    counts = np.zeros((sample.batches, 2, sample.actions), np.int64)
    endings: dict[int, int] = {}
    chosen: list[int] = []  # actions and
    out: list[int] = []  # seats, as bit masks, of each game
    for batch in range(sample.batches):
        counted = sample.count(batch)
        endings |= counted["endings"]
        counts[batch] = counted["times_legal"], counted["times_chosen"]
        chosen += counted["chosen"][: sample.games]
        out += counted["out"][: sample.games]
    effects = [_try_without(sample, action, chosen, endings) for action in range(sample.actions)]
    deciding = out if sample.seats > 2 else []  # of two, the other wins
    return Usage(counts, np.array(effects), np.array([len(out), np.count_nonzero(out), *_try_by_lot(sample, deciding, endings)]))


def _try_without(sample: _Sample, action: int, chosen: Sequence[int], endings: dict[int, int]) -> tuple[int, int]:
    """Games that could be played again without an action, and those of them that ended otherwise."""
    games = [game for game, actions in enumerate(chosen) if actions >> action & 1][:WITHOUT]
    again = sample.play(games, forbidden=1 << action)
    again |= sample.play([game for game in games if game not in again], replaced=1 << action)
    return len(again), sum(ending != endings[game] for game, ending in again.items())


def _try_by_lot(sample: _Sample, out: Sequence[int], endings: dict[int, int]) -> tuple[int, int]:
    """Games that could be played again with the choices of seats out of the race drawn by lot, one seat at a time, and those that for one ended otherwise."""
    games = [game for game, seats in enumerate(out) if seats][:BY_LOT]
    again, changed = set(games), set()
    for seat in range(max(out, default=0).bit_length()):
        of_seat = [game for game in games if out[game] >> seat & 1]
        ended = sample.play(of_seat, by_lot=1 << seat)
        again -= set(of_seat) - ended.keys()
        changed |= {game for game, ending in ended.items() if ending != endings[game]}
    return len(again), len(changed & again)
