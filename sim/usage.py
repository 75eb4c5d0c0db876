"""How often each action is chosen where it is legal, counted in a sample of every cell's games.

The sample plays the same loop, bound to a game whose state has counters besides and whose `act` counts before it acts, so the
loop that plays millions of games carries no counters. Decisions with a single legal action are nobody's choice and not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from sim.batch import LineUp
from sim.engine import Table
from sim.experiment import Experiment
from sim.jit import bind, jit, record_dict

BATCHES = 20  # a batch is what the reports take as independent: the choices of one game are not
BATCH_GAMES = 100

game: Any = None  # filled in by `bind`
ACTIONS = 0


def count_and_act(state, rules, streams, action):
    """Count what was legal and what was chosen, then act."""
    legal = game.legal_actions(state, rules)
    if legal & (legal - 1) != 0:
        for each in range(ACTIONS):
            state.times_legal[each] += (legal >> each) & 1
        state.times_chosen[action] += 1
    game.act(state, rules, streams, action)


@cache
def observe_game(module: ModuleType) -> ModuleType:
    """The game with counters in its state."""
    actions = max(module.Action) + 1
    fields = [(name, module.STATE[name]) for name in module.STATE.names]
    observed = ModuleType(f"{module.__name__}.observed")
    vars(observed).update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    vars(observed)["STATE"] = np.dtype([*fields, ("times_legal", np.int64, (actions,)), ("times_chosen", np.int64, (actions,))], align=True)
    vars(observed)["act"] = jit(bind(count_and_act, module.__name__, game=module, ACTIONS=actions))
    return observed


def split_sample(games: int) -> tuple[int, int]:
    """Batches of the sample, and games of each, for cells of so many games."""
    batches = min(BATCHES, games)
    return batches, min(BATCH_GAMES, games // batches)


def count_usage(experiment: Experiment, line_ups: Sequence[LineUp], failed: Collection[int] = ()) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Per cell an int64 array (batches, 2, actions): times legal and times chosen in the cell's first games; nothing of the failed ones."""
    none = np.zeros((1, 2, max(experiment.module.Action) + 1), np.int64)
    return [none if cell in failed else _count_cell(experiment, cell, line_up) for cell, line_up in enumerate(line_ups)]


def _count_cell(experiment: Experiment, cell: int, line_up: LineUp) -> np.ndarray[Any, np.dtype[np.int64]]:
    observed = observe_game(experiment.module)
    policies, parameters = line_up
    table = Table(observed, experiment.cells[cell].rules, [policy.call for policy in policies], parameters, experiment.max_decisions)
    batches, games = split_sample(experiment.games)
    counts = [np.zeros((2, max(experiment.module.Action) + 1), np.int64)]
    for batch in range(batches):
        table.play(experiment.seed, batch * games, games)
        counts.append(np.array(list(record_dict(table.states[0], observed.STATE, ["times_legal", "times_chosen"]).values())))
    return np.diff(np.array(counts), axis=0)
