"""The engine and a naive, independent twin play the same games: every legal set, every state, every outcome equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.games import scoundrel
from sim.outcomes import MISSING
from sim.replay import Playthrough, watch
from sim.stories.scoundrel import table_of
from tests.conformance.scoundrel import POLICIES, knobs
from tests.players import seat_table
from tests.twins.scoundrel import Twin, card


@settings(max_examples=2500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(knobs(), st.integers(0, 2**40), st.sampled_from(POLICIES))
def test_whole_games_equal_move_by_move(knobs: dict[str, Any], game: int, policy: str) -> None:
    follow(knobs, watch(seat_table(scoundrel, scoundrel.Rules.model_validate(knobs), [policy]), 99, game))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_game_by_the_sheet_equals_the_twin_game(policy: str) -> None:
    table = seat_table(scoundrel, scoundrel.Rules(), [policy])
    for game in range(200):
        follow({}, watch(table, 7, game))


def follow(knobs: dict[str, Any], play: Playthrough) -> None:
    """Give the twin the engine's deck and decisions, and compare after every step."""
    twin = Twin([card(name) for name in table_of(play.start)["dungeon"]], **knobs)
    assert set(twin.dungeon + twin.room) == set(twin.knobs.deck())
    for number, step in enumerate(play.steps):
        ours = table_of(step.after)
        if step.action is None:
            compare(twin, ours)
            continue
        assert twin.legal() == set(step.legal)
        put_under = [card(name) for name in ours["dungeon"][-step.before["room_cards"] :]]
        twin.act(step.action, put_under if step.action == "avoid" else None)
        deals_next = number + 1 < len(play.steps) and play.steps[number + 1].action is None
        if not deals_next:
            compare(twin, ours)
    assert twin.over
    assert play.outcome == {name: MISSING if value is None else value for name, value in twin.outcome().items()}


def compare(twin: Twin, ours: dict[str, Any]) -> None:
    """The table as the twin sees it and as the engine does."""
    assert ours["room"] == [str(one) for one in twin.room]
    assert ours["dungeon"] == [str(one) for one in twin.dungeon]
    assert ours["health"] == twin.health
    assert ours["weapon"] == (twin.weapon.card.value if twin.weapon else None)
    assert ours["limit"] == (twin.weapon.slain[-1].value if twin.weapon and twin.weapon.slain else None)
    assert ours["potions_this_turn"] == twin.drunk_this_turn
    assert ours["avoids_in_a_row"] == twin.avoids_since_faced
