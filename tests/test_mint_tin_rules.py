"""Mint Tin's own rules, clause by clause, where the twin alone would not show them."""

from __future__ import annotations

from collections import deque
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sim.games import mint_tin
from sim.games.mint_tin import Action, Rules
from sim.jit import record_dict, set_field
from sim.outcomes import MISSING
from sim.replay import watch
from tests.conformance.mint_tin import knobs, mirror
from tests.players import play_columns, seat_table

NAMES = [name for name in mint_tin.STATE.names if name not in mint_tin.UNTOLD]
TIMED = ("rolls", "seconds", "untimed", "events")
OWN = ("stand_up", "enter_shelter", "lift_into_shelter", "toss_out", "send_recon", "stand_recon", "drag_box", "close_shelter")


def test_choices_in_compiled_code_follow_the_declaration() -> None:
    places = {
        "mode": {"omg": mint_tin.OMG, "cra-cra": mint_tin.CRA_CRA},
        "cover_throws": {"unlimited": mint_tin.UNLIMITED},
        "pry_window": {"one_roll": mint_tin.ONE_ROLL, "none": mint_tin.NO_WINDOW},
        "wake": {"any": mint_tin.ANY_DOUBLE},
        "enter": {"walk": mint_tin.WALK, "lift": mint_tin.LIFT},
        "rolling": {"alternate": mint_tin.ALTERNATE},
        "first_roller": {"random": mint_tin.RANDOM_FIRST},
    }
    for knob, words in places.items():
        allowed = get_args(Rules.model_fields[knob].annotation)
        for word, index in words.items():
            assert allowed[index] == word


def test_ten_action_rolls_are_needed_at_the_start() -> None:
    play = watch(seat_table(mint_tin, Rules(), ["racer", "racer"]), 1, 0)
    assert play.start["to_close"] == [10, 10]


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(knobs(), st.integers(0, 10**6), st.data())
def test_rolls_to_close_is_the_shortest_way_if_nobody_interferes(knobs: dict[str, Any], game: int, data: st.DataObject) -> None:
    rules = Rules.model_validate({**knobs, "manhole": False, "mode": "uh-oh"})
    table = seat_table(mint_tin, rules, ["random", "random"])
    play = watch(table, 2, game)
    reached = [play.start, *(step.after for step in play.steps if step.after["closed_by"] == mint_tin.NOBODY)]
    state = data.draw(st.sampled_from(reached))
    for seat in range(2):
        assert state["to_close"][seat] == shortest_way(table, state, seat)


def shortest_way(table: Any, start: dict[str, Any], seat: int) -> int:
    """Breadth-first search over the seat's own actions, the other seat doing nothing."""
    record, rules = table.states[0], table.rules[0]
    parts = ("standing", "down", "inside", "pair", "boxes")
    first = {**start, "phase": mint_tin.ACTING, "seat": seat, "asked": 0, "ending": mint_tin.UNFINISHED}
    queue, seen = deque([(first, 0)]), set()
    while queue:
        state, rolls = queue.popleft()
        key = str([state[name] for name in parts])
        if key in seen:
            continue
        seen.add(key)
        for name, value in state.items():
            set_field(record, name, value)
        legal = int(mint_tin.legal_actions(record, rules))
        if legal >> Action.CLOSE_SHELTER & 1:
            return rolls + 1
        for word in OWN:
            action = Action[word.upper()]
            if legal >> action & 1:
                for name, value in state.items():
                    set_field(record, name, value)
                mint_tin.act(record, rules, table.streams, action)
                queue.append(({**record_dict(record, mint_tin.STATE, NAMES), "phase": mint_tin.ACTING, "seat": seat}, rolls + 1))
    return int(mint_tin.UNREACHABLE)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(knobs(), st.integers(0, 10**6))
def test_seats_mirrored_give_mirrored_results(knobs: dict[str, Any], game: int) -> None:
    rules = Rules.model_validate(knobs)
    table = seat_table(mint_tin, rules, ["random", "random"])
    play = watch(table, 4, game)
    state, record = table.states[0], table.rules[0]
    for step in play.steps:
        if step.after["ending"] == mint_tin.UNFINISHED and step.after["phase"] == mint_tin.OVER:
            continue
        for name, value in mirror(step.before).items():
            set_field(state, name, value)
        if step.action is None:
            mint_tin.roll_dice(state, record, 1 - step.after["roller"], step.after["double"], step.after["action_roll"] == 1)
        else:
            assert mint_tin.turn(state) == 1 - (step.seat or 0)
            mint_tin.act(state, record, table.streams, Action[step.action.upper()])
        got, expected = record_dict(state, mint_tin.STATE, NAMES), mirror(step.after)
        for name in NAMES:
            if name not in TIMED and not (step.action is None and name == "next_roller"):
                assert got[name] == expected[name], name


def test_points_of_each_ending() -> None:
    """Humanity's Hope 4, Survivor 3, Selfless Hero 2, plain loser 1, both eaten 0."""
    seen = set()
    for policies in (("hero", "racer"), ("racer", "brawler"), ("hero", "hero")):
        for rules in (Rules(mode="omg"), Rules(mode="omg", meeples=4), Rules(monster_die=1)):
            columns = play_columns(seat_table(mint_tin, rules, policies), 6, 4_000)
            for seat in range(2):
                gave = columns[f"sacrifices[{seat}]"] > 0
                won, eaten = columns["ending"] == seat, columns["ending"] == mint_tin.BOTH_EATEN
                points = columns[f"points[{seat}]"]
                assert (points[eaten] == 0).all()
                assert (points[won & gave] == 4).all()
                assert np.isin(points[won & ~gave], (4,) if rules.meeples == 4 else (3, 4)).all()  # 4 with all inside
                assert (points[~won & ~eaten] == np.where(gave, 2, 1)[~won & ~eaten]).all()
                seen |= set(points.tolist())
    assert seen == {0, 1, 2, 3, 4}


def test_an_unfinished_game_has_a_column_of_its_own_and_no_figures() -> None:
    columns = play_columns(seat_table(mint_tin, Rules(max_rolls=60), ["racer", "racer"]), 1, 2_000)
    stopped = columns["finished"] == 0
    assert 0 < stopped.sum() < 2_000
    assert (columns["ending"][stopped] == mint_tin.UNFINISHED).all()
    for name in ("rolls", "seconds", "points[0]", "points[1]", "winner_led_at_half"):
        assert (columns[name][stopped] == MISSING).all()
    assert columns["rolls"][~stopped].max() <= 60


def test_two_racers_with_a_capacity_of_four_finish_about_one_per_cent() -> None:
    """The model: "two racers with a capacity of 4 finish 1% of games"."""
    columns = play_columns(seat_table(mint_tin, Rules(shelter_capacity=4), ["racer", "racer"]), 1, 20_000)
    assert 0.005 < columns["finished"].mean() < 0.02


def test_rolls_drawn_in_bulk_and_one_by_one_have_the_same_law() -> None:
    """`max_rolls` decides whether idle rolls are drawn in bulk; below the limit it must not show."""
    bulk = play_columns(seat_table(mint_tin, Rules(max_rolls=20_000), ["racer", "racer"]), 1, 100_000)
    single = play_columns(seat_table(mint_tin, Rules(max_rolls=510), ["racer", "racer"]), 2, 100_000)
    assert Rules(max_rolls=510).derived()["events_in_bulk"] == 0
    assert (single["finished"] == 1).all()
    for name in ("rolls", "seconds"):
        a, b = bulk[name].astype(float), single[name].astype(float)
        assert abs(a.mean() - b.mean()) < 5 * np.hypot(a.std(), b.std()) / np.sqrt(100_000)
        assert abs(np.log(a.std() / b.std())) < 5 / np.sqrt(100_000) * 1.5


def test_alternate_rolling_takes_each_seats_own_time() -> None:
    """Time per roll is 1/rate of that seat: with equal rates seconds are rolls / rate exactly."""
    columns = play_columns(seat_table(mint_tin, Rules(rolling="alternate", rolls_per_second=(0.25, 0.25)), ["racer", "racer"]), 1, 2_000)
    assert (columns["seconds"] == columns["rolls"] * 400).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shelter_capacity": 3}, ("shelter_capacity", "meeples_to_close")),
        ({"boxes_to_close": 3}, ("boxes_to_close", "supply_boxes")),
        ({"shelter_capacity": 1, "meeples_to_close": 1}, ("shelter_capacity", "boxes_to_close")),
        ({"meeples": 3}, ("meeples_to_close", "meeples")),
        ({"action_sums": (8,)}, ("action_sums", "odd")),
        ({"rolls_per_second": (0.0, 1.0)}, ("rolls_per_second", "above 0")),
    ],
)
def test_settings_in_which_nobody_can_close_are_refused_naming_the_knobs(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Rules(**settings)
    for word in words:
        assert word in str(caught.value)
