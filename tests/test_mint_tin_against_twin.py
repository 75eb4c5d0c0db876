"""The engine and a naive, independent twin play the same games: every legal set, every state, every outcome equal."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.games import mint_tin
from sim.outcomes import MISSING
from sim.replay import Playthrough, watch
from sim.stories.mint_tin import table_of
from tests.conformance.mint_tin import knobs
from tests.players import seat_table
from tests.twins.mint_tin import Twin

IDLE = (1, 3)  # neither a double nor an odd sum


@settings(max_examples=2500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(knobs(), st.integers(0, 2**40))
def test_whole_games_equal_move_by_move(knobs: dict[str, Any], game: int) -> None:
    rules = mint_tin.Rules.model_validate(knobs)
    table = seat_table(mint_tin, rules, ["random", "random"])
    play = watch(table, 99, game)
    follow(Twin(**{**knobs, "first_roller": first_roller(play, knobs)}), play, rules)


def test_a_game_of_each_reference_policy_pair_equals_the_twin_game() -> None:
    for mode, policies in product(("uh-oh", "omg", "cra-cra"), product(("racer", "hero", "brawler", "strategist"), repeat=2)):
        rules = mint_tin.Rules(mode=mode, manhole=True, max_rolls=500)
        for game in range(5):
            follow(Twin(mode=mode, manhole=True, max_rolls=500), watch(seat_table(mint_tin, rules, policies), 7, game), rules)


def first_roller(play: Playthrough, knobs: dict[str, Any]) -> Any:
    """Whom the draw let begin, for the twin to follow."""
    return play.start["next_roller"] if knobs["first_roller"] == "random" and knobs["rolling"] == "alternate" else knobs["first_roller"]


def follow(twin: Twin, play: Playthrough, rules: mint_tin.Rules) -> None:
    """Give the twin the engine's dice and decisions, and compare after every step."""
    counted = rules.rolling == "alternate" or rules.derived()["events_in_bulk"] == 0  # every roll, as it is rolled
    for step in play.steps:
        if step.action is None:
            for _ in range(step.after["rolls"] - step.before["rolls"] - 1 if counted else 0):
                twin.roll(min(twin.may_roll()), *IDLE)
                if twin.over:
                    break
            if not twin.over:
                twin.roll(step.after["roller"] if step.after["rolls"] <= rules.max_rolls else min(twin.may_roll()), *dice_of(step.after, rules))
        else:
            asked = twin.decision()
            assert asked is not None
            assert (asked[0], set(asked[1])) == (step.seat, set(step.legal))
            twin.act(step.action)
        compare(twin, step.after, counted)
    if not counted and play.outcome["ending"] == mint_tin.UNFINISHED:
        return
    assert twin.over
    outcome = twin.outcome()
    assert outcome["ending"] == {2: "both_eaten", 3: "unfinished"}.get(play.outcome["ending"], play.outcome["ending"])
    if outcome["ending"] == "unfinished":
        assert play.outcome["points[0]"] == play.outcome["rolls"] == MISSING
    else:
        assert outcome["points"] == [play.outcome["points[0]"], play.outcome["points[1]"]]
        assert outcome["rolls"] == play.outcome["rolls"] or not counted
    assert outcome["sacrifices"] == [play.outcome["sacrifices[0]"], play.outcome["sacrifices[1]"]]
    assert outcome["pried"] == play.outcome["pried"]


def dice_of(state: dict[str, Any], rules: mint_tin.Rules) -> tuple[int, int]:
    """Dice that show what the engine rolled."""
    if state["double"]:
        return state["double"], state["double"]
    if not state["action_roll"]:
        return IDLE
    total = rules.action_sums[0]
    return min(6, total - 1), total - min(6, total - 1)


def compare(twin: Twin, state: dict[str, Any], counted: bool) -> None:
    """The table as the twin sees it and as the engine does."""
    theirs, ours = twin.snapshot(), table_of(state)
    for seat in ours["seats"]:
        del seat["rolls_to_close"]
    theirs["cover"] = "out" if theirs["cover"] == "absent" else theirs["cover"]
    if state["ending"] == mint_tin.UNFINISHED and twin.over:
        return  # the engine counts the roll that was one too many
    rolls = theirs.pop("rolls")
    assert theirs == ours
    assert rolls == state["rolls"] or not counted
