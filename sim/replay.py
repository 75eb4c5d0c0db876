"""One game again, step by step: the same loop, uncompiled, with its steps observed."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sim.batch import CellError, LineUp
from sim.engine import ALL_WELL, Table, outcome_columns, play_game
from sim.errors import InputError
from sim.experiment import Experiment
from sim.jit import bind, record_array, record_dict
from sim.outcomes import MISSING
from sim.rng import open_stream
from sim.tally import fields_of


@dataclass(frozen=True)
class Step:
    """One step of a game: chance (seat and action None) or a seat's action; the state before and after, by field."""

    seat: int | None
    action: str | None
    legal: tuple[str, ...]
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class Playthrough:
    """A whole game: its start, its steps, and its outcome columns (`points[0]`, …) or the seat whose policy erred."""

    start: dict[str, Any]
    steps: list[Step]
    outcome: dict[str, int]
    erring_seat: int | None


def replay_game(experiment: Experiment, line_ups: Sequence[LineUp], cell: int, game: int) -> Playthrough:
    """Play game `game` of a cell again and keep every step."""
    policies, parameters = line_ups[cell]
    table = Table(experiment.module, experiment.cells[cell].rules, [policy.call for policy in policies], parameters)
    return watch(table, experiment.seed, game)


def watch(table: Table, seed: int, game: int) -> Playthrough:
    """Play one game at `table` and keep every step."""
    module, state, rules = table.module, table.states[0], table.rules[0]
    names = [name for name in module.STATE.names if name not in module.UNTOLD]
    steps: list[Step] = []
    start: dict[str, Any] = {}

    def now() -> dict[str, Any]:
        return record_dict(state, module.STATE, names)

    def set_up(*arguments: Any) -> None:
        module.set_up(*arguments)
        start.update(now())

    def chance(*arguments: Any) -> None:
        before = now()
        module.chance(*arguments)
        steps.append(Step(None, None, (), before, now()))

    def act(_state: Any, _rules: Any, streams: Any, action: int) -> None:
        before = now()
        seat = int(module.turn(state))
        legal = action_names(module, int(module.legal_actions(state, rules)))
        module.act(state, rules, streams, action)
        steps.append(Step(seat, module.Action(action).name.lower(), legal, before, now()))

    observed = SimpleNamespace(**{**vars(module), "set_up": set_up, "chance": chance, "act": act})
    for purpose in range(len(table.streams)):
        open_stream(table.streams[purpose], seed, game, purpose)
    loop = bind(play_game, "observed", game=observed)
    erring = int(loop(state, rules, table.streams, table.views[0], table.rules[1], table.policies, table.parameters))
    if erring != ALL_WELL:
        return Playthrough(start, steps, {}, erring)
    rows = record_array(module.OUTCOME, 1)
    module.score(state, rules, table.streams, rows[0])
    seats = len(table.policies)
    fields = fields_of(module, seats)
    labels = [f.column.name if f.seat is None else f"{f.column.name}[{f.seat}]" for f in fields]
    return Playthrough(start, steps, dict(zip(labels, map(int, outcome_columns(module, rows, seats)[0]), strict=True)), None)


@contextmanager
def explain_illegal(experiment: Experiment, line_ups: Sequence[LineUp]) -> Iterator[None]:
    """Turn a policy's illegal action into one line: which policy, where, what was legal, and how to see it again."""
    try:
        yield
    except CellError as error:
        play = replay_game(experiment, line_ups, error.cell, error.game)
        seat = play.erring_seat
        name = experiment.cells[error.cell].policies[seat].label() if seat is not None else "?"
        raise InputError(
            f"{experiment.path}: policies: {name} chose an illegal action as seat {seat} in game {error.game} of cell {error.cell}, seed {experiment.seed}; "
            f"see it with: housecarlo replay {experiment.path} --game {error.game} --cell {error.cell} --seed {experiment.seed}"
        ) from None


def action_names(module: Any, legal: int) -> tuple[str, ...]:
    """The names of the actions of a bit mask."""
    return tuple(action.name.lower() for action in module.Action if legal >> action & 1)


def tell(experiment: Experiment, cell: int, game: int, play: Playthrough) -> Iterator[tuple[dict[str, Any], str]]:
    """Each step of a playthrough as a JSON object and as a line in the rulebook's words."""
    story = importlib.import_module(f"sim.stories.{experiment.module.__name__.rpartition('.')[2]}")
    for line, text in story.tell(play, experiment.cells[cell].rules, (experiment.seed, game)):
        yield (line | {"outcome": name_outcome(experiment.module, line["outcome"])} if "outcome" in line else line), text


def name_outcome(module: Any, outcome: dict[str, int]) -> dict[str, Any]:
    """Outcome columns in their units, labels by name; None for a value that the game has not."""
    columns = {column.name: column for column in module.COLUMNS}
    named: dict[str, Any] = {}
    for name, value in outcome.items():
        column = columns[name.partition("[")[0]]
        if value == MISSING:
            named[name] = None
        elif column.labels:
            named[name] = column.labels[value]
        else:
            named[name] = value if column.scale == 1 else round(value * column.scale, 6)
    return named
