"""Scoundrel clause by clause, on the simulator and on its naive twin; each of the model's fourteen pitfalls by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sim.games.scoundrel import Rules
from tests.scoundrel_table import Engine
from tests.twins.scoundrel import Twin, card


class TwinTable(Twin):
    """The twin with its cards as names."""

    def __init__(self, deck: list[str], **knobs: Any) -> None:
        super().__init__([card(name) for name in deck], **knobs)


class Table:
    """A game by hand: cards are taken by name."""

    def __init__(self, make: Callable[..., Any], deck: str, **knobs: Any) -> None:
        self.game = make(deck.split(), **knobs)

    def room(self) -> list[str]:
        return [str(one) for one in self.game.room]

    def dungeon(self) -> list[str]:
        return [str(one) for one in self.game.dungeon]

    def can(self, how: str, name: str) -> bool:
        return f"{how}_{self.room().index(name) + 1}" in self.game.legal()

    def can_avoid(self) -> bool:
        return "avoid" in self.game.legal()

    def avoid(self) -> None:
        self.game.act("avoid")

    def do(self, how: str, *names: str) -> None:
        for name in names:
            self.game.act(f"{how}_{self.room().index(name) + 1}")

    def take(self, *names: str) -> None:
        self.do("take", *names)

    def fight(self, *names: str) -> None:
        self.do("fight", *names)

    def weapon(self) -> tuple[int, int | None] | None:
        """Value and limit of the weapon."""
        held = self.game.weapon
        if held is None:
            return None
        if isinstance(held, int):
            return held, self.game.limit
        return held.card.value, held.slain[-1].value if held.slain else None

    @property
    def health(self) -> int:
        return self.game.health

    @property
    def over(self) -> bool:
        return self.game.over

    def score(self) -> int:
        assert self.over
        return self.game.outcome()["score"]

    def won(self) -> bool:
        assert self.over
        return self.game.outcome()["won"] == 1


@pytest.fixture(params=["engine", "twin"])
def table(request: pytest.FixtureRequest) -> Callable[..., Table]:
    """Lays out a game from a deck, on the simulator or on the twin."""
    make = Engine if request.param == "engine" else TwinTable
    return lambda deck, **knobs: Table(make, deck, **knobs)


# ---------------------------------------------------------------- the pitfalls


def test_pitfall_1_death_is_at_once_whatever_potion_lies_there(table):
    game = table("5♠ 9♥ 2♦ 3♦ 4♦ 5♦", health=5)
    game.take("5♠")
    assert game.over
    assert not game.won()


def test_pitfall_2_a_win_scores_health_and_nothing_is_subtracted(table):
    game = table("3♠ 2♠ 2♦ 3♦ K♠", health=12, last_room="leave_one", cards_per_room=4)
    game.take("3♠", "2♠", "2♦", "3♦")
    assert game.room() == ["K♠"]
    assert game.won()
    assert game.score() == 7


@pytest.mark.parametrize(
    ("death_score", "score"), [("dungeon", -15), ("dungeon_and_room", -28), ("life_minus_dungeon", -16), ("life_minus_dungeon_and_room", -29)]
)
def test_pitfall_3_death_counts_the_monsters_left(table, death_score, score):
    game = table("4♠ K♠ 2♦ 3♥ 5♣ 10♣ 2♥", health=3, death_score=death_score)
    game.take("4♠")
    assert game.score() == score


def test_pitfall_4_the_last_potion_counts_at_full_health(table):
    game = table("2♦ 3♦ 4♦ 7♥", cards_per_room=4)
    game.take("2♦", "3♦", "4♦", "7♥")
    assert game.score() == 27
    game = table("2♦ 3♦ 4♦ 7♥", cards_per_room=4)
    game.take("7♥", "2♦", "3♦", "4♦")
    assert game.score() == 20
    game = table("2♦ 3♦ 4♦ 7♥", cards_per_room=4, potion_bonus=False)
    game.take("2♦", "3♦", "4♦", "7♥")
    assert game.score() == 20


def test_pitfall_5_dying_on_the_last_cards_is_no_win(table):
    game = table("2♦ 3♥ 2♥ 10♠ 10♣", health=3, max_health=3)
    game.take("2♦", "3♥", "2♥")
    assert game.room() == ["10♠", "10♣"]
    game.take("10♠")
    assert not game.won()


@pytest.mark.parametrize(("order", "health"), [(("5♥", "6♥"), 10), (("6♥", "5♥"), 11)])
def test_pitfall_6_the_last_room_is_one_turn_and_one_potion_heals(table, order, health):
    game = table("2♦ 3♦ 4♦ 5♥ 6♥", health=5)
    game.take("2♦", "3♦", "4♦")
    game.take(*order)
    assert game.score() == health


def test_pitfall_7_dying_of_the_last_monster_is_lost_with_score_0(table):
    game = table("2♦ 3♦ 4♦ 3♠", health=3, cards_per_room=4, max_health=3)
    game.take("2♦", "3♦", "4♦")
    game.take("3♠")
    assert not game.won()
    assert game.score() == 0


def test_pitfall_8_a_weapon_slays_only_lower_and_lower_values(table):
    game = table("5♦ Q♠ 6♠ 7♠ 6♣ 5♠ 2♠", room_size=6, cards_per_room=6, health=60)
    game.take("5♦")
    game.fight("Q♠", "6♠")
    assert game.weapon() == (5, 6)
    assert not game.can("fight", "7♠")
    assert not game.can("fight", "6♣")
    assert game.can("fight", "5♠")
    game.take("7♠")
    assert game.weapon() == (5, 6)


def test_pitfall_9_a_new_weapon_has_no_limit(table):
    game = table("9♦ 3♠ 2♦ A♠ 4♦ 5♦")
    game.take("9♦")
    game.fight("3♠")
    assert game.weapon() == (9, 3)
    game.take("2♦")
    assert game.weapon() == (2, None)
    assert game.can("fight", "A♠")


def test_pitfall_10_no_two_avoids_in_a_row_and_none_within_a_room(table):
    game = table("2♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ 10♦ 2♥ 3♥ 4♥")
    assert game.can_avoid()
    game.avoid()
    assert not game.can_avoid()
    game.take("6♦")
    assert not game.can_avoid()
    game.take("7♦", "8♦")
    assert game.can_avoid()
    game.take("9♦")
    assert not game.can_avoid()


def test_pitfall_11_avoiding_leaves_the_unseen_order_and_the_cards_come_back(table):
    game = table("2♠ 3♠ 4♠ 5♠ 2♦ 3♦ 4♦ 5♦ 2♥ 3♥")
    game.avoid()
    assert game.room() == ["2♦", "3♦", "4♦", "5♦"]
    assert game.dungeon() == ["2♥", "3♥", "2♠", "3♠", "4♠", "5♠"]


def test_pitfall_12_the_next_room_is_the_last_card_and_three_avoided(table):
    game = table("2♠ 3♠ 4♠ 5♠ 2♦")
    game.avoid()
    assert game.room() == ["2♦", "2♠", "3♠", "4♠"]
    assert game.dungeon() == ["5♠"]


def test_pitfall_13_of_two_equal_monsters_the_other_stays(table):
    game = table("7♠ 7♣ 2♦ 3♦ 4♦")
    game.take("7♠")
    assert game.room() == ["7♣", "2♦", "3♦"]


def test_pitfall_14_a_stronger_weapon_takes_no_damage(table):
    game = table("5♦ 3♠ 4♦ 6♦ 2♦")
    game.take("5♦")
    game.fight("3♠")
    assert game.health == 20
    assert game.weapon() == (5, 3)


# ---------------------------------------------------------------- the knobs


def test_reversed_avoid(table):
    game = table("2♠ 3♠ 4♠ 5♠ 2♦", avoid_order="reversed")
    game.avoid()
    assert game.room() == ["2♦", "5♠", "4♠", "3♠"]


def test_avoids_in_a_row(table):
    game = table("2♦ 3♦ 4♦ 5♦", avoids_in_a_row=2)
    game.avoid()
    game.avoid()
    assert not game.can_avoid()
    assert not table("2♦ 3♦ 4♦ 5♦", avoids_in_a_row=0).can_avoid()


def test_short_room(table):
    for allowed in (False, True):
        game = table("2♦ 3♦ 4♦ 5♦ 6♦", avoid_short_room=allowed)
        game.take("2♦", "3♦", "4♦")
        assert game.room() == ["5♦", "6♦"]
        assert game.can_avoid() == allowed


@pytest.mark.parametrize(("last_room", "plays"), [("resolve_all", 2), ("leave_one", 1), ("leave_short", 0)])
def test_last_room(table, last_room, plays):
    game = table("2♦ 3♦ 4♦ 5♦ 6♦", last_room=last_room)
    game.take("2♦", "3♦", "4♦")
    for _ in range(plays):
        assert not game.over
        game.take(game.room()[0])
    assert game.won()
    assert game.score() == 20


@pytest.mark.parametrize(("limit", "same", "higher"), [("strict", False, False), ("at_most", True, False), ("none", True, True)])
def test_weapon_limit(table, limit, same, higher):
    game = table("5♦ 6♠ 6♣ 7♠", weapon_limit=limit)
    game.take("5♦")
    game.fight("6♠")
    assert (game.can("fight", "6♣"), game.can("fight", "7♠")) == (same, higher)


def test_bare_hands_only_without_usable_weapon(table):
    game = table("5♦ 6♠ 6♣ 7♠ 2♥", bare_hands="only_without_usable_weapon")
    assert game.can("take", "6♠")
    game.take("5♦")
    assert not game.can("take", "6♠")
    game.fight("6♠")
    assert game.can("take", "6♣")


@pytest.mark.parametrize(("potions", "health"), [(0, 5), (1, 7), (2, 10)])
def test_potions_per_turn(table, potions, health):
    game = table("2♥ 3♥ 4♦ 5♦", potions_per_turn=potions, health=5)
    game.take("2♥", "3♥")
    assert game.health == health


def test_discarded_potion_spends_nothing(table):
    game = table("2♥ 3♥ 4♦ 5♦", potion_optional=True, health=5)
    game.do("discard", "2♥")
    game.take("3♥")
    assert game.health == 8
    assert not table("2♥ 3♥ 4♦ 5♦").can("discard", "2♥")


def test_health_above_max_health_is_kept(table):
    game = table("2♥ 3♠ 4♦ 5♦", health=30)
    game.take("3♠", "2♥")
    assert game.health == 29


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("knobs", "word"),
    [
        ({"monster_ranks": (2, 2)}, "monster_ranks"),
        ({"weapon_ranks": (1,)}, "weapon_ranks"),
        ({"potion_ranks": (15,)}, "potion_ranks"),
        ({"cards_per_room": 5}, "cards_per_room"),
        ({"monster_ranks": (2,), "weapon_ranks": (), "potion_ranks": ()}, "deck"),
    ],
)
def test_refused(knobs, word):
    with pytest.raises(ValueError, match=word):
        Rules(**knobs)
