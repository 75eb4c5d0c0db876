"""What every game must keep, whatever its rules: run on each game of sim.games.GAMES."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.loading import shipped_policies, usual_policy
from sim.engine import NO_TURN, load_game
from sim.games import GAMES
from sim.jit import int_columns, record_array, records_of, set_field
from sim.knobs import describe
from sim.replay import watch
from sim.tally import fields_of, figures_of
from tests.players import play_columns, seat_table

many_rules = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> tuple[ModuleType, ModuleType]:
    """A game's module, and what its conformance file tells of it."""
    module = load_game(request.param)
    return module, importlib.import_module(f"tests.conformance.{module.__name__.rpartition('.')[2]}")


@many_rules
@given(data=st.data())
def test_terminates_with_some_action_legal_and_everything_conserved(game: tuple[ModuleType, ModuleType], data: st.DataObject) -> None:
    module, facts = game
    rules = module.Rules.model_validate(data.draw(facts.knobs()))
    seats = data.draw(st.sampled_from(module.SEATS))
    table = seat_table(module, rules, [data.draw(st.sampled_from(facts.POLICIES)) for _ in range(seats)])
    play = watch(table, 5, data.draw(st.integers(0, 10**6)))
    assert play.mistake is None
    facts.check_state(play.start, rules)
    for step in play.steps:
        facts.check_state(step.after, rules)
        assert step.action is None or step.action in step.legal
    assert module.turn(table.states[0]) == NO_TURN


def test_a_hundred_thousand_games_of_every_policy_end(game: tuple[ModuleType, ModuleType]) -> None:
    module, facts = game
    for policy in facts.POLICIES:
        for seats in module.SEATS:
            rows = seat_table(module, module.Rules(), [policy] * seats).play(1, 0, 20_000)
            assert rows.shape == (20_000, len(fields_of(module, seats)))


def test_every_knob_is_listed_and_alive(game: tuple[ModuleType, ModuleType]) -> None:
    module, facts = game
    assert set(facts.ALIVE) == set(module.Rules.model_fields)
    wants = {row["knob"]: row["only_if"] for row in describe(module.Rules)}
    played: dict[str, np.ndarray[Any, Any]] = {}

    def play(settings: dict[str, Any]) -> np.ndarray[Any, Any]:
        if str(settings) not in played:
            tables = [seat_table(module, module.Rules(**settings), [policy] * max(module.SEATS)) for policy in facts.POLICIES]
            played[str(settings)] = np.vstack([table.play(3, 0, 1_000) for table in tables])
        return played[str(settings)]

    for knob, (base, value) in facts.ALIVE.items():
        assert not np.array_equal(play(base), play({**base, knob: value})), f"{knob} = {value} changes nothing"
        for name, wanted in wants[knob].items():
            assert base.get(name, getattr(module.Rules(), name)) == wanted
            without = {name: not wanted} if wanted is True else {}
            assert np.array_equal(play(without), play({**without, knob: value})), f"{knob} = {value} changes something without {name} = {wanted}"


def test_nothing_hidden_is_in_a_view(game: tuple[ModuleType, ModuleType]) -> None:
    module, facts = game
    seats = max(module.SEATS)
    table = seat_table(module, module.Rules(), ["random"] * seats)
    for index in range(50):
        play = watch(table, 11, index)
        state = table.states[0]
        for step in play.steps:
            for name, value in step.before.items():
                set_field(state, name, value)
            for seat in range(seats):
                module.look(state, table.rules[0], seat, table.views[0])
                seen = table.views.tobytes()
                for name in facts.HIDDEN:
                    kept = state[name].copy()
                    set_field(state, name, kept + 1)
                    module.look(state, table.rules[0], seat, table.views[0])
                    assert table.views.tobytes() == seen, f"the view shows {name}"
                    set_field(state, name, kept)


def test_a_game_depends_on_seed_and_index_alone(game: tuple[ModuleType, ModuleType]) -> None:
    module, facts = game
    for policy in facts.POLICIES:
        table = seat_table(module, module.Rules(), [policy] * module.SEATS[0])
        whole = table.play(8, 0, 400)
        assert np.array_equal(table.play(8, 150, 250), whole[150:])
        assert not np.array_equal(table.play(9, 0, 400), whole)
        play = watch(table, 8, 123)
        assert list(play.outcome.values()) == whole[123].tolist()


def test_columns_describe_the_outcome_record(game: tuple[ModuleType, ModuleType]) -> None:
    module, _ = game
    assert tuple(column.name for column in module.COLUMNS) == module.OUTCOME.names
    names = {column.name for column in module.COLUMNS}
    assert {metric.column for metric in module.METRICS} <= names
    assert set(module.HEADLINES) <= {metric.name for metric in module.METRICS}
    for column in module.COLUMNS:
        assert module.OUTCOME[column.name].shape == ((max(module.SEATS),) if column.per_seat else ())
    for seats in module.SEATS:
        columns = play_columns(seat_table(module, module.Rules(), ["random"] * seats), 1, 3_000)
        for column in module.COLUMNS:
            values = columns.get(column.name, columns.get(f"{column.name}[{seats - 1}]"))
            assert values is not None
            present = values[values > -(2**62)]
            assert (present >= column.low).all()
            assert not column.labels or (present < len(column.labels)).all()


def test_records_can_be_read_as_integer_columns(game: tuple[ModuleType, ModuleType]) -> None:
    module, _ = game
    rows = record_array(module.OUTCOME, 3)
    assert int_columns(rows, module.OUTCOME).shape == (3, module.OUTCOME.itemsize // 8)
    assert len(records_of(module.RULES, module.Rules().as_values(), 2)) == 2


def test_controls_and_usual_policy_name_what_the_game_has(game: tuple[ModuleType, ModuleType]) -> None:
    module, _ = game
    shipped = shipped_policies(module)
    usual = usual_policy(module)
    assert (usual["name"] if isinstance(usual, dict) else usual) in shipped
    assert module.is_symmetric(module.Rules()) in (True, False)
    for exact in module.EXACT:
        assert module.Rules(**exact.rules) and set(exact.policies) <= set(shipped)
        names = {f.metric.name if f.seat is None else f"{f.metric.name}[{f.seat}]" for f in figures_of(module, len(exact.policies))}
        assert set(exact.values) <= names
