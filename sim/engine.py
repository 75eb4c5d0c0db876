"""The one play loop, compiled for each game, and what a game module must provide.

A game is a plain module with

    TITLE, VERSION, SEATS         title; raised when outcomes change; seat counts allowed
    Rules, RULES                  the knobs (sim.knobs.Rules) and their record dtype
    Action                        IntEnum of all actions, 0..62
    STATE, VIEW, OUTCOME          record dtypes: all of the game; what a seat sees; what is reported of a game
    COLUMNS, METRICS, HIGHLIGHTS  what the outcome fields mean (sim.outcomes)
    HEADLINES, ASSUMPTIONS        metrics a report leads with; what the figures rest on, in sentences
    DISTRIBUTIONS                 columns of few values whose distributions a report draws
    EXACT                         figures known exactly (sim.outcomes.Exact), which every run is held against
    is_symmetric(rules) -> bool   do these rules treat all seats alike
    IDEAL_MINUTES                 (optional) how long a game should last
    is_out(state, rules, seat)    (optional) is it sure that this seat, whose decision it is, can no longer win; once true, true to the end
    UNTOLD                        STATE fields that a replay leaves out
    PURPOSES                      number of random streams the game itself uses
    set_up(state, rules, streams)
    turn(state) -> seat, CHANCE or NO_TURN
    chance(state, rules, streams)             one step of luck
    legal_actions(state, rules) -> bit mask   of the seat to decide, never 0
    look(state, rules, seat, view)            fill what that seat sees
    act(state, rules, streams, action)        take one legal action
    score(state, rules, streams, row)         write the finished game's outcome

and, under the same name in sim/stories/, `tell`, which tells a game in the rulebook's words.
`rules` is the record of the knobs, with `rules.seats`, the number of seats at the table. Fields of one value per seat,
in any record, are as long as the most seats of SEATS.
A policy is a plain function (view, legal, rules, stream, **parameters) -> action; see policies/.
Game `i` of a cell is a function of (seed, i), the rules and the policies alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numba import types

from sim.games import GAMES
from sim.jit import array_type, bind, int_columns, jit, record_array, record_type, records_of, set_field, tuple_type
from sim.rng import STREAM, open_stream

CHANCE, NO_TURN = -1, -2
ALL_WELL, NO_END = -1, -2
DECISIONS_MOST = 10_000_000  # of a game, if the experiment says nothing: more than any shipped game can have
PARAMETERS_MOST = 12
PARAMETERS = np.dtype([(f"p{n}", np.float64) for n in range(PARAMETERS_MOST)])

game: Any = None  # filled in by `bind`: the game module the loop is compiled for
play_one: Any = None


def load_game(name: str) -> ModuleType:
    """The module of the game of that name; KeyError if there is none."""
    return importlib.import_module(GAMES[name])


def play_game(state, rules, streams, view, shown_rules, policies, parameters, most):
    """Play one game to its end in `state`; return ALL_WELL, the seat whose policy chose an illegal action, or NO_END after `most` decisions.

    A choice of one is no choice: a seat with a single legal action is not asked. Policies are handed
    copies (the view, `shown_rules`), so that nothing they write there reaches the game.
    """
    game.set_up(state, rules, streams)
    left = most
    while True:
        seat = game.turn(state)
        if seat == CHANCE:
            game.chance(state, rules, streams)
        elif seat == NO_TURN:
            return ALL_WELL
        else:
            if left == 0:
                return NO_END
            left -= 1
            legal = game.legal_actions(state, rules)
            if legal & (legal - 1) == 0:
                action = _only(legal)
            else:
                game.look(state, rules, seat, view)
                action = policies[seat](view, legal, shown_rules, parameters[seat], streams[game.PURPOSES + seat])
                if action < 0 or action > 62 or (legal >> action) & 1 == 0:
                    return seat
            game.act(state, rules, streams, action)


@jit
def _only(legal):
    """The action of a mask with one bit set."""
    action = 0
    while legal > 1:
        legal >>= 1
        action += 1
    return action


def play_block(seed, first, rules, states, streams, views, policies, parameters, most, rows):
    """Play games first, first + 1, … into `rows` (OUTCOME records); return ALL_WELL, the row of an illegal action, or NO_END − the row of a game without end.

    `rules` holds two equal records: the game's and the one shown to policies.
    """
    for k in range(len(rows)):
        for purpose in range(len(streams)):
            open_stream(streams[purpose], seed, first + k, purpose)
        erred = play_one(states[0], rules[0], streams, views[0], rules[1], policies, parameters, most)
        if erred != ALL_WELL:
            return NO_END - k if erred == NO_END else k
        game.score(states[0], rules[0], streams, rows[k])
    return ALL_WELL


@cache
def policy_signature(module: ModuleType) -> Any:
    """numba's signature of every policy of a game: (view, legal, rules, parameters, stream) → int64."""
    return types.int64(record_type(module.VIEW), types.int64, record_type(module.RULES), record_type(PARAMETERS), record_type(STREAM))


@cache
def compiled_kernel(module: ModuleType, seats: int) -> Callable[..., int]:
    """`play_block` compiled for one game and number of seats, the same for all policies."""
    name = f"{module.__name__},{seats}"
    loop = jit(bind(play_game, name, game=module))
    signature = types.int64(
        types.uint64,
        types.int64,
        array_type(module.RULES),
        array_type(module.STATE),
        tuple_type(record_type(STREAM), module.PURPOSES + seats),
        array_type(module.VIEW),
        tuple_type(types.FunctionType(policy_signature(module)), seats),
        array_type(PARAMETERS),
        types.int64,
        array_type(module.OUTCOME),
    )
    kernel: Callable[..., int] = jit(bind(play_block, name, game=module, play_one=loop), signature)
    return kernel


Fault = Literal["illegal", "endless", "raised"]  # an illegal action; no end after so many decisions; an exception in a policy


class PolicyError(Exception):
    """A policy went wrong in game `index`."""

    def __init__(self, index: int, fault: Fault) -> None:
        super().__init__(index, fault)
        self.index = index
        self.fault = fault


class Table:
    """Everything needed to play games of one cell on one thread: rules, policies and work space."""

    def __init__(
        self, module: ModuleType, rules: Any, policies: Sequence[Any], parameters: Sequence[Sequence[float]], max_decisions: int = DECISIONS_MOST
    ) -> None:
        seats = len(policies)
        self.max_decisions = max_decisions
        self.module = module
        self.rules = records_of(module.RULES, rules.as_values(seats), 2)  # the game's, and the one shown to policies
        self.policies = tuple(policies)
        self.parameters = record_array(PARAMETERS, seats)
        for seat, values in enumerate(parameters):
            for n, value in enumerate(values):
                set_field(self.parameters[seat], f"p{n}", value)
        self.states = record_array(module.STATE, 1)
        self.views = record_array(module.VIEW, 1)
        self.streams = tuple(record_array(STREAM, module.PURPOSES + seats))  # an array would be reference-counted at every call
        self.kernel = compiled_kernel(module, seats)

    def play(self, seed: int, first: int, games: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Outcome columns (games, fields) int64 of games first … first + games − 1. Raises PolicyError."""
        rows = record_array(self.module.OUTCOME, games)
        try:
            erred = self._play_into(rows, seed, first)
        except Exception as error:  # ours raises nothing: it is the policy's
            raise PolicyError(self._find_raising(seed, first, games), "raised") from error
        if erred != ALL_WELL:
            raise PolicyError(first + erred, "illegal") if erred >= 0 else PolicyError(first + NO_END - erred, "endless")
        return outcome_columns(self.module, rows, len(self.policies))

    def _play_into(self, rows: Any, seed: int, first: int) -> int:
        work = (self.rules, self.states, self.streams, self.views, self.policies, self.parameters, self.max_decisions)
        return int(self.kernel(np.uint64(seed), first, *work, rows))

    def _find_raising(self, seed: int, first: int, games: int) -> int:
        """The game whose policy raises: the kernel that it left does not say which."""
        rows = record_array(self.module.OUTCOME, 1)
        for index in range(first, first + games):
            try:
                self._play_into(rows, seed, index)
            except Exception:
                return index
        return first


def outcome_columns(module: ModuleType, rows: Any, seats: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """OUTCOME records as columns (games, fields) int64, without those of seats nobody sits at."""
    columns = int_columns(rows, module.OUTCOME)
    most = max(module.SEATS)
    if seats == most:
        return columns
    kept = [seat < seats for column in module.COLUMNS for seat in range(most if column.per_seat else 1)]
    return np.compress(kept, columns, axis=1)
