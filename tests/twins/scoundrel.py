"""A naive twin of Scoundrel: one object per card, every rule in the words of the document, nothing clever.

Written from the rules document alone ("the document" below: the model of Scoundrel), to test the fast simulator
against. It shares no code with sim/. Plainness over speed.

Readings chosen where the document leaves room:
 1. A room of which `cards_per_room` cards are resolved is over, also a short one; what is left waits for the next
    turn, even if nothing is left to deal ("a turn lasts from one deal to the next", a deal of no cards included).
 2. `max_health` below `health`: the most health is then `health`.
 3. The card that kills is resolved, and so are potions without effect or discarded: any of them may be "the last
    resolved card" of the bonus.
 4. `leave_one`: as soon as no card is face down and at most one lies face up, the Dungeon is crossed.
 5. With `avoid_order = "shuffled"` the new order is luck; the caller says what it became.
"""

from __future__ import annotations

from dataclasses import dataclass

RANKS = {11: "J", 12: "Q", 13: "K", 14: "A"}
DEFAULT_MONSTERS = tuple(range(2, 15))
DEFAULT_OTHERS = tuple(range(2, 11))


@dataclass(frozen=True)
class Card:
    """A card of the deck; its value is its rank."""

    suit: str
    value: int

    def __str__(self) -> str:
        return f"{RANKS.get(self.value, self.value)}{self.suit}"

    @property
    def kind(self) -> str:
        return {"♣": "monster", "♠": "monster", "♦": "weapon", "♥": "potion"}[self.suit]


def card(name: str) -> Card:
    """The card of a name: K♠, 10♥."""
    ranks = {word: value for value, word in RANKS.items()}
    return Card(name[-1], ranks[name[:-1]] if name[:-1] in ranks else int(name[:-1]))


@dataclass
class Knobs:
    """Document, "The game": the defaults are the sheet's."""

    monster_ranks: tuple[int, ...] = DEFAULT_MONSTERS
    weapon_ranks: tuple[int, ...] = DEFAULT_OTHERS
    potion_ranks: tuple[int, ...] = DEFAULT_OTHERS
    health: int = 20
    max_health: int = 20
    room_size: int = 4
    cards_per_room: int = 3
    avoids_in_a_row: int = 1
    avoid_order: str = "as_dealt"
    avoid_short_room: bool = False
    last_room: str = "resolve_all"
    weapon_limit: str = "strict"
    bare_hands: str = "always"
    potions_per_turn: int = 1
    potion_optional: bool = False
    potion_bonus: bool = True
    death_score: str = "dungeon"
    seconds_per_decision: int = 5

    def deck(self) -> list[Card]:
        """Every card of the deck, in no order that matters."""
        monsters = [Card(suit, value) for suit in "♣♠" for value in self.monster_ranks]
        return monsters + [Card("♦", value) for value in self.weapon_ranks] + [Card("♥", value) for value in self.potion_ranks]


class Weapon:
    """An equipped weapon and the monsters lying on it."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.slain: list[Card] = []

    def usable_on(self, monster: Card, rule: str) -> bool:
        """Document, "Weapon"."""
        if not self.slain or rule == "none":
            return True
        last = self.slain[-1].value
        return monster.value < last or (rule == "at_most" and monster.value == last)


class Twin:
    """One game, from a given order of the deck (first to be dealt first)."""

    def __init__(self, deck: list[Card], **knobs: object) -> None:
        self.knobs = Knobs(**knobs)
        self.dungeon = list(deck)
        self.cards = len(deck)
        self.room: list[Card] = []
        self.full = False
        self.health = self.knobs.health
        self.most_health = max(self.knobs.health, self.knobs.max_health)
        self.weapon: Weapon | None = None
        self.avoids_since_faced = 0
        self.resolved_this_room = 0
        self.drunk_this_turn = 0
        self.resolved: list[Card] = []
        self.over = False
        self.killer: Card | None = None
        self.faced = self.avoided = 0
        self.damage_bare = self.damage_armed = self.absorbed = self.healed = self.wasted = 0
        self._begin_turn()

    # -- turns

    def _begin_turn(self) -> None:
        """Draw until `room_size` cards lie face up."""
        while len(self.room) < self.knobs.room_size and self.dungeon:
            self.room.append(self.dungeon.pop(0))
        self.full = len(self.room) == self.knobs.room_size
        self.resolved_this_room = 0
        self.drunk_this_turn = 0
        if self._crossed() or (self.knobs.last_room == "leave_short" and not self.full):
            self.over = True

    def _crossed(self) -> bool:
        may_stay = 1 if self.knobs.last_room == "leave_one" else 0
        return not self.dungeon and len(self.room) <= may_stay

    def legal(self) -> set[str]:
        """Document, "Decisions": avoid, take_i, fight_i, discard_i, cards counted from 1."""
        actions = set()
        fresh = self.resolved_this_room == 0
        if fresh and self.avoids_since_faced < self.knobs.avoids_in_a_row and (self.full or self.knobs.avoid_short_room):
            actions.add("avoid")
        for number, lying in enumerate(self.room, 1):
            armed = lying.kind == "monster" and self.weapon is not None and self.weapon.usable_on(lying, self.knobs.weapon_limit)
            if armed:
                actions.add(f"fight_{number}")
            if not (armed and self.knobs.bare_hands == "only_without_usable_weapon"):
                actions.add(f"take_{number}")
            if lying.kind == "potion" and self.knobs.potion_optional:
                actions.add(f"discard_{number}")
        return actions

    def act(self, action: str, shuffled: list[Card] | None = None) -> None:
        """Take one legal action; `shuffled` is the order luck gave the cards of an avoided room."""
        assert not self.over
        assert action in self.legal(), (action, self.legal())
        if action == "avoid":
            self._avoid(shuffled)
            return
        how, _, number = action.partition("_")
        chosen = self.room.pop(int(number) - 1)
        if self.resolved_this_room == 0:
            self.faced += 1
            self.avoids_since_faced = 0
        self.resolved_this_room += 1
        self.resolved.append(chosen)
        if chosen.kind == "monster":
            self._fight(chosen, how == "fight")
            if self.health <= 0:
                self.killer = chosen
                self.over = True
                return
        elif chosen.kind == "weapon":
            self.weapon = Weapon(chosen)
        elif how == "discard":
            self.wasted += chosen.value
        else:
            self._drink(chosen)
        if self._crossed():
            self.over = True
        elif self.resolved_this_room == self.knobs.cards_per_room or not self.room:
            self._begin_turn()

    def _avoid(self, shuffled: list[Card] | None) -> None:
        """All its cards go under the Dungeon."""
        under = list(self.room)
        if self.knobs.avoid_order == "reversed":
            under.reverse()
        elif self.knobs.avoid_order == "shuffled":
            assert shuffled is not None
            assert set(shuffled) == set(under)
            under = shuffled
        self.dungeon += under
        self.room = []
        self.avoids_since_faced += 1
        self.avoided += 1
        self._begin_turn()

    def _fight(self, monster: Card, armed: bool) -> None:
        if not armed:
            self.health -= monster.value
            self.damage_bare += monster.value
            return
        assert self.weapon is not None
        damage = max(0, monster.value - self.weapon.card.value)
        self.weapon.slain.append(monster)
        self.health -= damage
        self.damage_armed += damage
        self.absorbed += monster.value - damage

    def _drink(self, potion: Card) -> None:
        self.drunk_this_turn += 1
        before = self.health
        if self.drunk_this_turn <= self.knobs.potions_per_turn:
            self.health = min(self.health + potion.value, self.most_health)
        self.healed += self.health - before
        self.wasted += potion.value - (self.health - before)

    # -- end

    @property
    def won(self) -> bool:
        return self.over and self.health > 0

    def score(self) -> int:
        """Document, "Score"."""
        if self.won:
            last = self.resolved[-1] if self.resolved else None
            bonus = self.knobs.potion_bonus and last is not None and last.kind == "potion" and self.health == self.most_health
            return self.health + (last.value if bonus and last else 0)
        face_down = sum(c.value for c in self.dungeon if c.kind == "monster")
        face_up = sum(c.value for c in self.room if c.kind == "monster")
        return {
            "dungeon": -face_down,
            "dungeon_and_room": -face_down - face_up,
            "life_minus_dungeon": self.health - face_down,
            "life_minus_dungeon_and_room": self.health - face_down - face_up,
        }[self.knobs.death_score]

    def outcome(self) -> dict[str, int | None]:
        """Everything the simulator reports of a game; None where there is nothing to report."""
        rooms = self.faced + self.avoided
        return {
            "won": int(self.won),
            "score": self.score(),
            "health": self.health,
            "health_won": self.health if self.won else None,
            "rooms": rooms,
            "faced": self.faced,
            "avoided": self.avoided,
            "avoided_share": _ten_thousandths(self.avoided, rooms),
            "resolved": len(self.resolved),
            "crossed": _ten_thousandths(len(self.resolved), self.cards),
            "damage_bare": self.damage_bare,
            "damage_armed": self.damage_armed,
            "absorbed": self.absorbed,
            "healed": self.healed,
            "wasted": self.wasted,
            "monsters_left": sum(c.kind == "monster" for c in self.dungeon + self.room),
            "killer": None if self.won or self.killer is None else self.killer.value,
            "died_at": None if self.won else len(self.resolved),
            "seconds": (len(self.resolved) + self.avoided) * self.knobs.seconds_per_decision,
        }


def _ten_thousandths(part: int, whole: int) -> int:
    """Rounded half up."""
    return int(part * 10_000 / whole + 0.5)
