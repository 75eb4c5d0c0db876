"""One game again, step by step: the same loop, uncompiled, with its steps observed."""

from __future__ import annotations

import importlib
import shlex
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sim.batch import Failure, LineUp, set_table
from sim.engine import ALL_WELL, NO_END, Table, outcome_columns, play_game
from sim.errors import one_line
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
class Mistake:
    """What stopped a game: the seat whose policy went wrong (None: it went on for too long), and what it did, in words."""

    seat: int | None
    text: str

    def __str__(self) -> str:
        return f"{'' if self.seat is None else f'Seat {self.seat} '}{self.text}; the game stops here."


@dataclass(frozen=True)
class Playthrough:
    """A whole game: its start, its steps, and its outcome columns (`points[0]`, …) or the mistake that stopped it."""

    start: dict[str, Any]
    steps: list[Step]
    outcome: dict[str, int]
    mistake: Mistake | None = None

    @property
    def end(self) -> dict[str, Any]:
        """The end as a JSON object."""
        return {"event": "end", "mistake": str(self.mistake)} if self.mistake else {"event": "end", "outcome": self.outcome}


class _Stopped(Exception):
    """Ends the observed loop: a policy raised, or there is too much to tell."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake)
        self.mistake = mistake


STEPS_MOST = 200_000  # of a game told: gigabytes of states


def replay_game(experiment: Experiment, line_ups: Sequence[LineUp], cell: int, game: int) -> Playthrough:
    """Play game `game` of a cell again and keep every step."""
    return watch(set_table(experiment, cell, line_ups[cell]), experiment.seed, game)


def watch(table: Table, seed: int, game: int) -> Playthrough:
    """Play one game at `table` and keep every step."""
    module, state, rules = table.module, table.states[0], table.rules[0]
    names = [name for name in module.STATE.names if name not in module.UNTOLD]
    steps: list[Step] = []
    start: dict[str, Any] = {}
    answer = 0

    def now() -> dict[str, Any]:
        return record_dict(state, module.STATE, names)

    def note(step: Step) -> None:
        steps.append(step)
        if len(steps) == STEPS_MOST:
            raise _Stopped(Mistake(None, f"no end after {STEPS_MOST:,} steps"))

    def observe(seat: int, policy: Any) -> Any:
        def ask(*arguments: Any) -> int:
            nonlocal answer
            try:
                answer = int(policy(*arguments))
            except Exception as error:
                raise _Stopped(Mistake(seat, f"raises {_say_error(error)}")) from error
            return answer

        return ask

    def set_up(*arguments: Any) -> None:
        module.set_up(*arguments)
        start.update(now())

    def chance(*arguments: Any) -> None:
        before = now()
        module.chance(*arguments)
        note(Step(None, None, (), before, now()))

    def act(_state: Any, _rules: Any, streams: Any, action: int) -> None:
        before = now()
        seat = int(module.turn(state))
        legal = action_names(module, int(module.legal_actions(state, rules)))
        module.act(state, rules, streams, action)
        note(Step(seat, module.Action(action).name.lower(), legal, before, now()))

    observed = SimpleNamespace(**{**vars(module), "set_up": set_up, "chance": chance, "act": act})
    for purpose in range(len(table.streams)):
        open_stream(table.streams[purpose], seed, game, purpose)
    loop = bind(play_game, "observed", game=observed)
    policies = [observe(seat, policy) for seat, policy in enumerate(table.policies)]
    try:
        erring = int(loop(state, rules, table.streams, table.views[0], table.rules[1], policies, table.parameters, table.max_decisions))
    except _Stopped as stopped:
        return Playthrough(start, steps, {}, stopped.mistake)
    if erring == NO_END:
        return Playthrough(start, steps, {}, Mistake(None, _say_endless(table.max_decisions)))
    if erring != ALL_WELL:
        legal = ", ".join(action_names(module, int(module.legal_actions(state, rules))))
        return Playthrough(start, steps, {}, Mistake(erring, f"chose an illegal action, {_name_action(module, answer)}, where legal were: {legal}"))
    rows = record_array(module.OUTCOME, 1)
    module.score(state, rules, table.streams, rows[0])
    seats = len(table.policies)
    fields = fields_of(module, seats)
    labels = [field.label for field in fields]
    return Playthrough(start, steps, dict(zip(labels, map(int, outcome_columns(module, rows, seats)[0]), strict=True)))


def explain(experiment: Experiment, line_ups: Sequence[LineUp], number: int, failure: Failure) -> str:
    """The failure of a cell's policy in one line: which policy of which file, in which game, what it did, what was legal, and how to see it again."""
    cell = experiment.cells[number]
    if failure.fault == "endless":  # not played again: it would be told decision by decision
        mistake = Mistake(None, _say_endless(experiment.max_decisions))
    else:
        found = replay_game(experiment, line_ups, number, failure.game).mistake
        mistake = found or Mistake(None, "a policy went wrong, but not when the game was played again: it must not keep anything from game to game")
    if mistake.seat is None:
        who = f"{' / '.join(dict.fromkeys(choice.label() for choice in cell.policies))}: {mistake.text}"
    else:
        who = f"{cell.policies[mistake.seat].label()} ({line_ups[number][0][mistake.seat].place}) {mistake.text}; as seat {mistake.seat}"
    text = f"{experiment.path}: policies: {who} in game {failure.game} of cell {number} ({cell.label()}), seed {experiment.seed}"
    if not experiment.path.is_file():  # a comparison has none
        return one_line(text)
    settings = [part for override in experiment.overrides for part in ("--set", override)]
    words = ["housecarlo", "replay", str(experiment.path), "--game", str(failure.game), "--cell", str(number), "--seed", str(experiment.seed), *settings]
    return one_line(f"{text}; see it with: {shlex.join(words)}")


def _say_endless(decisions: int) -> str:
    return f"no end after {decisions:,} decisions (max_decisions)"


def _say_error(error: Exception) -> str:
    """An exception of compiled code in words, with the line that raised it where numba tells it: not for indices and divisions."""
    line = traceback.extract_tb(error.__traceback__)[-1]
    place = "" if line.filename == __file__ else f" in line {line.lineno} of {line.filename}"
    return f"{type(error).__name__}{f' ({one_line(str(error), 200)})' if str(error) else ''}{place}"


def _name_action(module: Any, action: int) -> str:
    return next((each.name.lower() for each in module.Action if each == action), str(action))


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
