"""The engine and a naive, independent twin play the same games of Kitty Paw: every state and every outcome equal."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.games import kitty_paw
from sim.outcomes import MISSING
from sim.replay import Playthrough, watch
from tests.conformance.kitty_paw import POLICIES, knobs
from tests.players import seat_table
from tests.twins.kitty_paw import Card, Twin

TEMPO_NAMES = ("careful", "normal", "rush", "bluff")


@settings(max_examples=800, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(knobs(), st.integers(0, 2**40), st.lists(st.sampled_from(POLICIES), min_size=2, max_size=4))
def test_whole_games_equal_round_by_round(knobs: dict[str, Any], game: int, policies: list[str]) -> None:
    rules = kitty_paw.Rules.model_validate(knobs)
    follow(watch(seat_table(kitty_paw, rules, policies), 99, game), rules, len(policies))


def follow(play: Playthrough, rules: kitty_paw.Rules, seats: int) -> None:
    """Give the twin the engine's draws and decisions, and compare after every step."""
    values = rules.model_dump()
    for name in ("penalties", "head_start_seconds", "spared_kittens", "speed", "error_factor", "reaction_factor"):
        values[name] = [*values[name], *values[name][-1:] * seats][:seats]
    cards = [Card(number, card.level, "AB"[card.colour], card.kittens, card.boxes) for number, card in enumerate(rules._cards)]
    twin = Twin(seats, cards, **values)
    for step in play.steps:
        state, among = step.after, [player.seat for player in twin.in_round]
        if step.before["phase"] == kitty_paw.DEALING:
            twin.deal([cards[card] for card in state["row"] if card >= 0], {seat: state["grab"][seat] for seat in among})
        elif step.before["phase"] == kitty_paw.DRAFTING:
            assert step.seat is not None
            assert len(step.legal) == 4 * len(twin.there())
            place, tempo = divmod(int(kitty_paw.Action[str(step.action).upper()]), 4)
            twin.grab(step.seat, place, TEMPO_NAMES[tempo])
        elif step.before["phase"] == kitty_paw.BUILDING:
            twin.build(*({seat: state[name][seat] for seat in among} for name in ("flips", "noise", "error_draw")))
        elif step.before["phase"] == kitty_paw.DECIDING:
            assert step.seat in twin.next_to_decide()
            assert set(step.legal) == twin.legal(step.seat)
        elif step.before["phase"] == kitty_paw.CHECKING:
            twin.check(step.before["seat"], state["check_draw"])
        else:
            reactions, reaches = ({seat: state[name][seat] for seat in among} for name in ("reaction", "reach"))
            twin.shout(state["caller"], state["last"], reactions, reaches)
        compare(twin, state)
    assert twin.over
    compare_outcome(twin, play.outcome)


def compare(twin: Twin, state: dict[str, Any]) -> None:
    """The table as the twin sees it and as the engine does."""
    assert twin.rounds == state["rounds"]
    assert twin.close <= state["close_rounds"] <= twin.close + twin.hardly_close
    assert state["tie_breaks"] == twin.extra
    assert state["deck_size"] - state["dealt"] == twin.left
    assert state["removed_size"] == len(twin.removed)
    assert state["seconds"] == pytest.approx(twin.clock, rel=1e-9)
    for player in twin.players:
        seat = player.seat
        assert state["points"][seat] == twin.points(player)
        assert (state["completed"][seat], state["penalty_cards"][seat]) == (len(player.completed), len(player.penalties))
        assert (state["right_calls"][seat], state["wrong_calls"][seat], state["last_touches"][seat]) == (player.right, player.wrong, player.last)
        assert (player in twin.in_round) == bool(state["playing"][seat])
        if player in twin.in_round and twin.stage in ("draft", "build", "decide"):
            assert state["start"][seat] == pytest.approx(player.clock, rel=1e-9)
        if player in twin.in_round and twin.stage == "decide":
            assert state["wrong"][seat] == (not player.composition_right)
            assert state["checks"][seat] == player.checks + (state["phase"] == kitty_paw.CHECKING and state["seat"] == seat)
            assert state["ready"][seat] == pytest.approx(player.done, rel=1e-9)


def compare_outcome(twin: Twin, outcome: dict[str, int]) -> None:
    """The outcome columns as the twin works them out."""
    points = [twin.points(player) for player in twin.players]
    half = twin.leaders[(twin.rounds - twin.extra) // 2]
    expected = {
        "winner": kitty_paw.NOBODY if twin.winner is None else twin.winner,
        "wrong_call_share": round(1e6 * sum(player.wrong for player in twin.players) / twin.rounds),
        "rounds": twin.rounds,
        "tied": twin.leaders[-1] is None,
        "tie_breaks": twin.extra,
        "lead_changes": twin.lead_changes(),
        "leader_at_half": kitty_paw.NOBODY if half is None else half,
        "leader_at_half_won": MISSING if half is None else half == twin.winner,
        "winner_led_at_half": MISSING if twin.winner is None else half == twin.winner,
        "margin": MISSING if twin.winner is None else points[twin.winner] - max(p for seat, p in enumerate(points) if seat != twin.winner),
    }
    for tenth in kitty_paw.TENTHS:
        leader = twin.leaders[(twin.rounds - twin.extra) * tenth // 10]
        expected[f"leader_at_{10 * tenth}_won"] = MISSING if leader is None else leader == twin.winner
    drama = ("winner_behind_mean", "winner_behind_most", "decisive_moment")
    if twin.winner is None:
        expected |= dict.fromkeys(drama, MISSING)
    else:
        behind = twin.behind()
        told = (100 * sum(behind) / len(behind), max(behind), 1000 * twin.decided() / len(behind))
        expected |= {name: math.floor(value + 0.5) for name, value in zip(drama, told, strict=True)}
    for player in twin.players:
        counts = (points[player.seat], len(player.completed), len(player.penalties), player.right, player.wrong, player.last)
        names = ("points", "completed", "penalty_cards", "right_calls", "wrong_calls", "last_touches")
        expected |= {f"{name}[{player.seat}]": count for name, count in zip(names, counts, strict=True)}
    assert abs(outcome["seconds"] - 100 * twin.clock) <= 0.5 + 1e-6
    assert {name: value for name, value in outcome.items() if name not in ("seconds", "close_rounds")} == expected
