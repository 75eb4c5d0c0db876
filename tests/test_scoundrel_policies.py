"""Scoundrel's figures: reference values, decks solved exactly, the shuffle, and what policies may know."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sim.experiment import PolicyChoice
from sim.games import scoundrel
from sim.jit import record_array, records_of, set_field
from sim.replay import watch
from sim.rng import STREAM, open_stream
from tests.players import play_columns, seat_table
from tests.twins.scoundrel import Card, Twin

SHIPPED = ("random", "first", "planner", "counter", PolicyChoice("searcher", (("budget", 30.0),)))

# ---------------------------------------------------------------- reference values

REFERENCE = [  # policy, death score, mean, its half-width (95%, 3 million games), standard deviation of one game
    ("random", "dungeon_and_room", -175.79, 0.02, 10.6),
    ("random", "dungeon", -166.49, 0.02, None),
    ("random", "life_minus_dungeon_and_room", -179.84, 0.02, None),
    ("first", "dungeon_and_room", -171.55, 0.03, 14.6),
]


@pytest.mark.parametrize(("policy", "death_score", "mean", "half", "deviation"), REFERENCE)
def test_reference_values(policy: str, death_score: str, mean: float, half: float, deviation: float | None) -> None:
    games = 400_000
    columns = play_columns(seat_table(scoundrel, scoundrel.Rules(death_score=death_score), [policy]), 31, games)
    scores = columns["score"]
    error = math.hypot(scores.std() / math.sqrt(games), half / 1.96)
    assert abs(scores.mean() - mean) < 4 * error
    assert columns["won"].sum() == 0
    if deviation is not None:
        assert abs(scores.std() - deviation) < 0.05 + 4 * deviation / math.sqrt(games)


def test_scores_lie_within_their_bounds() -> None:
    for death_score in ("dungeon", "dungeon_and_room"):
        columns = play_columns(seat_table(scoundrel, scoundrel.Rules(death_score=death_score), ["counter"]), 32, 20_000)
        won = columns["won"] == 1
        assert set(columns["score"][won]) <= {*range(1, 21), *range(22, 31)}
        assert columns["score"][~won].min() >= -188
        assert columns["score"][~won].max() <= 0


# ---------------------------------------------------------------- small decks, exactly

SMALL: list[dict[str, Any]] = [
    {"monster_ranks": (4, 9), "weapon_ranks": (5,), "potion_ranks": (3,), "health": 11},  # 6 cards
    {"monster_ranks": (3, 8), "weapon_ranks": (2, 6), "potion_ranks": (4,), "health": 9, "max_health": 9, "death_score": "dungeon_and_room"},  # 7
    {"monster_ranks": (5, 6), "weapon_ranks": (4,), "potion_ranks": (2,), "health": 8, "room_size": 3, "cards_per_room": 2, "last_room": "leave_one"},
    {"monster_ranks": (2, 5, 7), "weapon_ranks": (3,), "potion_ranks": (6,), "health": 10, "weapon_limit": "at_most", "avoid_order": "reversed"},  # 8
]


def expected(knobs: dict[str, Any], policy: str) -> tuple[Fraction, Fraction, Fraction]:
    """Exact mean score, mean squared score and win rate over every order of the deck and every coin of the policy."""
    suits = zip("♣♠♦♥", (knobs["monster_ranks"], knobs["monster_ranks"], knobs["weapon_ranks"], knobs["potion_ranks"]), strict=True)
    orders = list(permutations(Card(suit, rank) for suit, ranks in suits for rank in ranks))
    known: dict[Any, tuple[Fraction, Fraction, Fraction]] = {}
    ends = [from_here(Twin(list(order), **knobs), policy, known) for order in orders]
    score, square, won = (sum(column, Fraction(0)) / len(orders) for column in zip(*ends, strict=True))
    return score, square, won


def from_here(twin: Twin, policy: str, known: dict[Any, tuple[Fraction, Fraction, Fraction]]) -> tuple[Fraction, Fraction, Fraction]:
    """Expected score, its square and the chance to win; `known` remembers positions met before. Plays `twin` on."""
    while not twin.over and len(choices(twin, policy)) == 1:
        twin.act(choices(twin, policy)[0][0])
    if twin.over:
        score = twin.score()
        return Fraction(score), Fraction(score * score), Fraction(twin.won)
    weapon = (twin.weapon.card, tuple(twin.weapon.slain[-1:])) if twin.weapon else None
    counts = (twin.health, twin.avoids_since_faced, twin.resolved_this_room, twin.drunk_this_turn)
    position = (tuple(twin.room), tuple(twin.dungeon), twin.full, weapon, counts)
    if position not in known:
        totals = [Fraction(0)] * 3
        for action, chance in choices(twin, policy):
            after = copy_of(twin)
            after.act(action)
            totals = [a + chance * b for a, b in zip(totals, from_here(after, policy, known), strict=True)]
        known[position] = (totals[0], totals[1], totals[2])
    return known[position]


def copy_of(twin: Twin) -> Twin:
    """A twin that can be played on alone; cards never change."""
    other = copy.copy(twin)
    other.dungeon, other.room, other.resolved = list(twin.dungeon), list(twin.room), list(twin.resolved)
    other.weapon = copy.copy(twin.weapon)
    if other.weapon:
        other.weapon.slain = list(other.weapon.slain)
    return other


def choices(twin: Twin, policy: str) -> list[tuple[str, Fraction]]:
    """What the reference policies do, with which chance, in the document's words."""
    legal = twin.legal()
    if policy == "first":
        return [("fight_1" if "fight_1" in legal else "take_1", Fraction(1))]
    half = Fraction(1, 2)
    ways = [("avoid", half)] if "avoid" in legal else []
    each = (half if ways else Fraction(1)) / len(twin.room)
    for number in range(1, len(twin.room) + 1):
        if f"fight_{number}" in legal:
            ways += [(f"fight_{number}", each / 2), (f"take_{number}", each / 2)]
        else:
            ways.append((f"take_{number}", each))
    return ways


@pytest.mark.parametrize("policy", ["first", "random"])
@pytest.mark.parametrize("knobs", SMALL, ids=["6 cards", "7 cards", "6 cards in threes", "8 cards"])
def test_small_decks_solved_exactly(knobs: dict[str, Any], policy: str) -> None:
    if policy == "random" and len(knobs["monster_ranks"]) == 3:
        pytest.skip("every coin of every order of 8 cards takes long; `first` covers them")
    score, square, won = expected(knobs, policy)
    games = 400_000
    columns = play_columns(seat_table(scoundrel, scoundrel.Rules(**knobs), [policy]), 33, games)
    assert abs(columns["score"].mean() - score) < 4 * math.sqrt((square - score**2) / games) + 1e-12
    assert abs(columns["won"].mean() - won) < 4 * math.sqrt(won * (1 - won) / games) + 1e-12


# ---------------------------------------------------------------- the shuffle


def shuffled(seed: int, games: int, cards: int, **knobs: Any) -> np.ndarray[Any, Any]:
    """The Dungeon at the start of some games, (games, cards) int64."""
    rules = records_of(scoundrel.RULES, scoundrel.Rules(**knobs).as_values(), 1)[0]
    state = record_array(scoundrel.STATE, 1)[0]
    streams = tuple(record_array(STREAM, scoundrel.PURPOSES))
    rows = np.zeros((games, cards), dtype=np.int64)
    for game in range(games):
        for purpose, stream in enumerate(streams):
            open_stream(stream, seed, game, purpose)
        scoundrel.set_up(state, rules, streams)
        rows[game] = state["dungeon"][:cards]
    return rows


def test_every_card_is_as_likely_at_every_place() -> None:
    games, deck = 20_000, scoundrel.Rules().deck()
    rows = shuffled(41, games, len(deck))
    counts = np.array([np.bincount(rows[:, place], minlength=64)[deck] for place in range(len(deck))])
    statistic = ((counts - games / 44) ** 2 / (games / 44)).sum() * 43 / 44
    assert 1e-6 < stats.chi2.sf(statistic, 43 * 43) < 1 - 1e-6


def test_every_order_is_as_likely() -> None:
    games = 48_000
    rows = shuffled(42, games, 4, monster_ranks=[2], weapon_ranks=[3], potion_ranks=[4])
    counts = np.unique(rows @ np.array([1, 64, 64**2, 64**3]), return_counts=True)[1]
    assert len(counts) == 24
    assert 1e-6 < stats.chisquare(counts).pvalue < 1 - 1e-6


# ---------------------------------------------------------------- what a policy may know


@pytest.mark.parametrize("avoid_order", ["as_dealt", "shuffled"])
def test_shuffling_the_unseen_cards_changes_no_view_and_no_decision(avoid_order: str) -> None:
    luck = np.random.default_rng(5)
    rules = scoundrel.Rules(avoid_order=avoid_order)
    for choice in SHIPPED:
        table = seat_table(scoundrel, rules, [choice])
        state = table.states[0]
        for game in range(8):
            for step in watch(table, 51, game).steps:
                if step.action is None:
                    continue
                decisions = set()
                for trial in range(4):
                    for name, value in step.before.items():
                        set_field(state, name, value)
                    if trial:
                        reorder(state, step.before, luck)
                    scoundrel.look(state, table.rules[0], 0, table.views[0])
                    open_stream(table.streams[-1], 1, 2, 3)
                    legal = scoundrel.legal_actions(state, table.rules[0])
                    action = table.policies[0](table.views[0], legal, table.rules[1], table.parameters[0], table.streams[-1])
                    decisions.add((int(action), table.views.tobytes()))
                assert len(decisions) == 1


def reorder(state: Any, before: dict[str, Any], luck: np.random.Generator) -> None:
    """Shuffle the cards nobody has seen."""
    dungeon = list(before["dungeon"])
    places = [(before["top"] + n) % scoundrel.RING for n in range(before["never_seen"])]
    for place, card in zip(places, luck.permutation([dungeon[place] for place in places]), strict=True):
        dungeon[place] = int(card)
    set_field(state, "dungeon", dungeon)


def test_what_was_put_under_is_known_in_order() -> None:
    table = seat_table(scoundrel, scoundrel.Rules(), ["random"])
    view, seen = table.views[0], 0
    for game in range(200):
        for step in watch(table, 52, game).steps:
            for name, value in step.after.items():
                set_field(table.states[0], name, value)
            scoundrel.look(table.states[0], table.rules[0], 0, view)
            dungeon = [step.after["dungeon"][(step.after["top"] + n) % scoundrel.RING] for n in range(step.after["face_down"])]
            assert list(view["under"][: view["unders"]]) == dungeon[step.after["never_seen"] :]
            seen += int(view["unders"])
    assert seen > 1000


# ---------------------------------------------------------------- strength


def test_counting_cards_beats_planning_and_planning_beats_chance() -> None:
    wins = {name: play_columns(seat_table(scoundrel, scoundrel.Rules(), [name]), 61, 20_000)["won"].sum() for name in ("planner", "counter")}
    assert wins["counter"] > wins["planner"] + 4 * math.sqrt(wins["counter"] + wins["planner"])
    assert wins["planner"] > 200


def test_searching_beats_counting() -> None:
    choice = PolicyChoice("searcher", (("budget", 100.0),))
    won = play_columns(seat_table(scoundrel, scoundrel.Rules(), [choice]), 62, 120)["won"].sum()
    assert stats.binom.sf(won - 1, 120, 0.13) < 1e-3
