"""A naive twin of Mint Tin Mini Apocalypse: one object per meeple, every roll rolled, nothing skipped.

Written from the rules document alone (shared/rules/mint_tin.md, "the document" below; its sections are
cited in the docstrings), to test the fast simulator against. Plainness over speed.

Readings chosen where the document leaves room:
 1. "Down" in stand_up, enter_shelter and lift_into_shelter is the place `down`; a lying member of a recon
    pair is not a down meeple.
 2. "Own pair has one down" and "opponent's pair has one standing" mean at least one of the two.
 3. The cover's holder is a standing single in every "own single stands", so a seat whose only standing
    single is on the cover can act, and cannot stand_up (unless `stand_any`).
 4. A pair broken by a sacrifice is no longer out: its box is free to fetch for either seat, and its seat
    may send another pair.
 5. A cover freed by its holder's entering, being knocked off or being given lies free with
    `cover_throws = "once"` as well; only throw_cover and pry_open take it out of play.
 6. `turn_on_activation` concerns turn_monster alone, not an activation by a box or by the cover.
 7. Meeples of the seat shut out that are inside stay inside during the pry window, and after it. They still
    count as inside after prying; while shut they are not eligible for a sacrifice.
 8. During an `until_monster` window the doubles of the seat shut out turn the die and wake the monster as
    ever. If it gives the holder of the cover, the game is not over at once: it goes on rolling (its action
    rolls allow only pass, its snake eyes ask it for what it still has) until the monster eats it.
 9. In a `one_roll` window the deciding roll does not touch the monster at all. Passing ends the game.
10. On snake eyes the two askings of the roller are separate: with an opponent who has nothing to give the
    roller is still asked twice. With the shelter shut, once.
11. While the shelter is shut the time to the next roll is exponential with the rate of the seat shut out
    alone, as the other one does not roll.
12. `max_rolls` goes before everything: the roll that would be one too many is not made, not even the
    deciding one of a pry window, and the game is unfinished. Its time is not counted.
13. "Its opponent rolls next" after prying is plain alternation: the seat that pried has just rolled.
14. The meeples of a seat that start down are `meeples` - 1. Points of the closer are taken when the game
    ends, but nothing of its own can change during a pry window.
15. Only the two kinds of settings the document names are refused as unclosable (with `shelter_capacity = 1`
    and a box needed nobody can close either, as a pair needs two inside, but that is played).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

STANDING, DOWN, INSIDE, SACRIFICED = "standing", "down", "inside", "sacrificed"
RECON_STANDING, RECON_DOWN = "recon standing", "recon down"  # the place "recon", on its feet or lying
PAIR = (RECON_STANDING, RECON_DOWN)

CHOICES = {
    "mode": ("uh-oh", "omg", "cra-cra"),
    "cover_throws": ("once", "unlimited"),
    "pry_window": ("until_monster", "one_roll", "none"),
    "wake": ("matching", "any"),
    "enter": ("walk", "lift", "either"),
    "rolling": ("simultaneous", "alternate"),
    "first_roller": ("random", 0, 1),
}


@dataclass
class Knobs:
    """Document, "Knobs and defaults"."""

    mode: str = "uh-oh"
    monster_die: int = 6
    manhole: bool = False
    cover_throws: str = "once"
    pry_window: str = "until_monster"
    holder_knockable: bool = True
    wake: str = "matching"
    enter: str = "walk"
    stand_any: bool = False
    recon_needs_helper: bool = False
    turn_on_activation: bool = False
    action_sums: list = field(default_factory=lambda: [7])
    rolling: str = "simultaneous"
    first_roller: str | int = "random"
    rolls_per_second: list = field(default_factory=lambda: [0.5, 0.5])
    meeples: int = 5
    shelter_capacity: int = 7
    meeples_to_close: int = 4
    boxes_to_close: int = 1
    supply_boxes: int = 2
    sacrifice: bool = True
    points: list = field(default_factory=lambda: [4, 3, 2, 1, 0])
    max_rolls: int = 20000

    def __post_init__(self):
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}")
        # The unclosable settings come first: their error names both knobs.
        for less, more in (("meeples_to_close", "shelter_capacity"), ("boxes_to_close", "supply_boxes")):
            if getattr(self, less) > getattr(self, more):
                raise ValueError(f"nobody can ever close: {less} is more than {more}")
        ranges = {
            "monster_die": (1, 6),
            "meeples": (2, 10),
            "shelter_capacity": (1, 20),
            "meeples_to_close": (1, self.meeples),
            "boxes_to_close": (0, self.supply_boxes),
            "supply_boxes": (1, 4),
        }
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be {low}..{high}")
        sums = list(self.action_sums)
        if len(set(sums)) != len(sums) or any(s not in (3, 5, 7, 9, 11) for s in sums):
            raise ValueError("action_sums must be odd, 3..11, distinct")
        if len(self.rolls_per_second) != 2 or min(self.rolls_per_second) <= 0:
            raise ValueError("rolls_per_second must be two numbers > 0")
        if len(self.points) != 5:
            raise ValueError("points must be five numbers")


class Meeple:
    """Document, "State": in exactly one place at any time."""

    def __init__(self, seat: int, place: str):
        self.seat = seat
        self.place = place


class Seat:
    """The meeples of one player; every count is a count of meeples."""

    def __init__(self, number: int, meeples: int):
        self.number = number
        self.meeples = [Meeple(number, DOWN) for _ in range(meeples)]
        self.meeples[0].place = STANDING

    def at(self, *places: str) -> list[Meeple]:
        return [meeple for meeple in self.meeples if meeple.place in places]

    def count(self, *places: str) -> int:
        return len(self.at(*places))

    def move(self, from_place: str, to_place: str, how_many: int = 1):
        for meeple in self.at(from_place)[:how_many]:
            meeple.place = to_place

    def has_pair(self) -> bool:
        return self.count(*PAIR) == 2


class Cover:
    """The manhole cover: absent, free, held (by a meeple standing on it) or out of play."""

    def __init__(self, in_play: bool, throws: str):
        self.state = "free" if in_play else "absent"
        self.holder: Meeple | None = None
        self.after_throw = "free" if throws == "unlimited" else "out"

    def held_by(self, seat: Seat) -> bool:
        return self.holder is not None and self.holder.seat == seat.number

    def take(self, meeple: Meeple):
        self.state, self.holder = "held", meeple

    def drop(self, meeple: Meeple):
        """Frees the cover if this meeple holds it."""
        if self.holder is meeple:
            self.state, self.holder = "free", None

    def throw(self):
        self.state, self.holder = self.after_throw, None

    def shown(self) -> str | int:
        return self.state if self.holder is None else self.holder.seat


class Monster:
    """Document, "The monster": the die and whether the monster is on its feet."""

    def __init__(self, face: int, active: bool, wake: str):
        self.face = face
        self.active = active
        self.down = False
        self.wake = wake

    def awake(self) -> bool:
        return self.active and not self.down

    def turn_down(self):
        self.face -= 1

    def answer(self, number: int) -> bool:
        """The answer to a double of that number; True for snake eyes."""
        matching = number == self.face
        if not self.active:
            return False
        if self.down:
            # Waking is all this double does, also at face 1.
            self.down = not (matching or self.wake == "any")
            return False
        if matching and self.face > 1:
            self.turn_down()
            return False
        return matching


class Action:
    """A row of the document's table "Actions": `legal` is its second column, `effect` its third."""

    name: str

    def legal(self, game: Twin, own: Seat, other: Seat) -> bool:
        raise NotImplementedError

    def effect(self, game: Twin, own: Seat, other: Seat):
        raise NotImplementedError


class Pass(Action):
    name = "pass"

    def legal(self, game, own, other):
        return True

    def effect(self, game, own, other):
        pass


class StandUp(Action):
    name = "stand_up"

    def legal(self, game, own, other):
        return own.count(DOWN) > 0 and (own.count(STANDING) == 0 or game.knobs.stand_any)

    def effect(self, game, own, other):
        own.move(DOWN, STANDING)


class EnterShelter(Action):
    name = "enter_shelter"

    def legal(self, game, own, other):
        may_walk = game.knobs.enter in ("walk", "either") or own.count(DOWN) == 0
        return own.count(STANDING) > 0 and game.room_for(1) and may_walk

    def effect(self, game, own, other):
        game.remove_single(own, INSIDE)


class LiftIntoShelter(Action):
    name = "lift_into_shelter"

    def legal(self, game, own, other):
        return game.knobs.enter in ("lift", "either") and own.count(STANDING) > 0 and own.count(DOWN) > 0 and game.room_for(1)

    def effect(self, game, own, other):
        own.move(DOWN, INSIDE)


class KnockDown(Action):
    name = "knock_down"

    def legal(self, game, own, other):
        return own.count(STANDING) > 0 and other.count(STANDING) > game.cover.held_by(other)

    def effect(self, game, own, other):
        game.single_holder_last(other).place = DOWN


class KnockOffCover(Action):
    name = "knock_off_cover"

    def legal(self, game, own, other):
        return own.count(STANDING) > 0 and game.cover.held_by(other) and game.knobs.holder_knockable

    def effect(self, game, own, other):
        holder = game.cover.holder
        game.cover.drop(holder)
        holder.place = DOWN


class TossOut(Action):
    name = "toss_out"

    def legal(self, game, own, other):
        return own.count(INSIDE) >= 1 and other.count(INSIDE) >= 1

    def effect(self, game, own, other):
        other.move(INSIDE, STANDING)


class SendRecon(Action):
    name = "send_recon"

    def legal(self, game, own, other):
        spoken_for = game.boxes + other.has_pair()
        return own.count(INSIDE) >= 2 and not own.has_pair() and spoken_for < game.knobs.supply_boxes

    def effect(self, game, own, other):
        own.move(INSIDE, RECON_STANDING, 2)


class StandRecon(Action):
    name = "stand_recon"

    def legal(self, game, own, other):
        helped = own.count(STANDING) > 0 or not game.knobs.recon_needs_helper
        return own.count(RECON_DOWN) > 0 and helped

    def effect(self, game, own, other):
        own.move(RECON_DOWN, RECON_STANDING)


class KnockRecon(Action):
    name = "knock_recon"

    def legal(self, game, own, other):
        return own.count(STANDING) > 0 and other.count(RECON_STANDING) > 0

    def effect(self, game, own, other):
        other.move(RECON_STANDING, RECON_DOWN)


class DragBox(Action):
    name = "drag_box"

    def legal(self, game, own, other):
        return own.count(RECON_STANDING) == 2 and game.room_for(2)

    def effect(self, game, own, other):
        own.move(RECON_STANDING, INSIDE, 2)
        game.boxes += 1
        game.monster.active = True


class CloseShelter(Action):
    name = "close_shelter"

    def legal(self, game, own, other):
        return own.count(INSIDE) >= game.knobs.meeples_to_close and game.boxes >= game.knobs.boxes_to_close

    def effect(self, game, own, other):
        game.close(own, other)


class TurnMonster(Action):
    name = "turn_monster"

    def legal(self, game, own, other):
        monster = game.monster
        return game.knobs.mode == "cra-cra" and (not monster.active or (monster.face > 1 and monster.awake()))

    def effect(self, game, own, other):
        monster = game.monster
        turns = monster.active or (game.knobs.turn_on_activation and monster.face > 1)
        monster.active = True
        if turns:
            monster.turn_down()


class ClaimCover(Action):
    name = "claim_cover"

    def legal(self, game, own, other):
        return game.cover.state == "free" and own.count(STANDING) > 0

    def effect(self, game, own, other):
        game.cover.take(own.at(STANDING)[0])
        game.monster.active = True


class PushOffCover(Action):
    name = "push_off_cover"

    def legal(self, game, own, other):
        return game.cover.held_by(other) and own.count(STANDING) > 0

    def effect(self, game, own, other):
        # The pushed meeple needs no move: it was standing and stays so.
        game.cover.take(own.at(STANDING)[0])


class ThrowCover(Action):
    name = "throw_cover"

    def legal(self, game, own, other):
        return game.cover.held_by(own) and game.monster.awake()

    def effect(self, game, own, other):
        game.monster.down = True
        game.cover.throw()


class PryOpen(Action):
    name = "pry_open"

    def legal(self, game, own, other):
        return game.closed_by == other.number and game.cover.held_by(own)

    def effect(self, game, own, other):
        game.closed_by = None
        game.pried += 1
        game.cover.throw()


ACTIONS = {action.name: action() for action in Action.__subclasses__()}
WHILE_SHUT = ("pass", "pry_open")  # document, "The end": the one action of the seat shut out


class Twin:
    """One game. Dice and choices come from outside; this only keeps the rules."""

    def __init__(self, **knobs):
        self.knobs = Knobs(**knobs)
        self.seats = [Seat(number, self.knobs.meeples) for number in (0, 1)]
        self.boxes = 0
        self.monster = Monster(self.knobs.monster_die, self.knobs.mode == "omg", self.knobs.wake)
        self.cover = Cover(self.knobs.manhole, self.knobs.cover_throws)
        self.closed_by: int | None = None
        self.pried = 0
        self.rolls = 0
        self._ending: int | str | None = None
        self._pending: tuple[int, frozenset[str]] | None = None
        self._still_to_ask: list[int] = []
        self._snake_eyes = False  # is the pending decision about a sacrifice?
        # None: either seat may make the next roll (of alternate rolling).
        first = self.knobs.first_roller
        self._turn: int | None = None if first == "random" else first

    # -- rolling --------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        return self._ending is not None

    def may_roll(self) -> set[int]:
        """Document, "Time and dice", and "The end" for the seat shut out."""
        if self.over or self._pending is not None:
            return set()
        if self.closed_by is not None:
            return {1 - self.closed_by}
        if self.knobs.rolling == "simultaneous" or self._turn is None:
            return {0, 1}
        return {self._turn}

    def roll(self, seat: int, die1: int, die2: int):
        """Document, "Time and dice": an action sum, a double, or nothing."""
        if seat not in self.may_roll():
            raise ValueError(f"seat {seat} may not roll now")
        if not {die1, die2} <= {1, 2, 3, 4, 5, 6}:
            raise ValueError("dice show 1..6")
        if self.rolls >= self.knobs.max_rolls:
            self._ending = "unfinished"
            return
        self.rolls += 1
        self._turn = 1 - seat
        if die1 + die2 in self.knobs.action_sums:
            self._ask(seat, self._legal_actions(seat))
        elif self._one_roll_decides():
            self._ending = self.closed_by
        elif die1 == die2 and self.monster.answer(die1):
            self._snake_eyes_rolled(seat)

    def _one_roll_decides(self) -> bool:
        """Document, "The end", `pry_window = "one_roll"`: anything but prying ends the game."""
        return self.closed_by is not None and self.knobs.pry_window == "one_roll"

    # -- deciding -------------------------------------------------------------------------------------

    def decision(self) -> tuple[int, frozenset[str]] | None:
        return self._pending

    def act(self, action: str):
        if self._pending is None or action not in self._pending[1]:
            raise ValueError(f"{action} is not legal now")
        seat = self._pending[0]
        self._pending = None
        if self._snake_eyes:
            self._answer_snake_eyes(seat, action)
            return
        decided = self._one_roll_decides()
        ACTIONS[action].effect(self, self.seats[seat], self.seats[1 - seat])
        # Still shut after the deciding roll: it was not used to pry.
        if decided and self.closed_by is not None:
            self._ending = self.closed_by

    def _ask(self, seat: int, answers, snake_eyes: bool = False):
        self._pending = (seat, frozenset(answers))
        self._snake_eyes = snake_eyes

    def _legal_actions(self, seat: int) -> list[str]:
        own, other = self.seats[seat], self.seats[1 - seat]
        names = ACTIONS if self.closed_by is None else WHILE_SHUT
        return [name for name in names if ACTIONS[name].legal(self, own, other)]

    # -- what the actions need ------------------------------------------------------------------------

    def room_for(self, entering: int) -> bool:
        """Document, "Actions", Room."""
        inside = sum(seat.count(INSIDE) for seat in self.seats)
        return inside + entering <= self.knobs.shelter_capacity

    def single_holder_last(self, seat: Seat) -> Meeple:
        """A standing single of the seat, the one on the cover only if there is no other."""
        return min(seat.at(STANDING), key=lambda meeple: meeple is self.cover.holder)

    def remove_single(self, seat: Seat, to_place: str):
        """A standing single leaves, the cover's holder last, and its going frees the cover."""
        meeple = self.single_holder_last(seat)
        self.cover.drop(meeple)
        meeple.place = to_place

    def close(self, own: Seat, other: Seat):
        """Document, "The end": closing ends the game at once, unless the other seat may pry."""
        self.closed_by = own.number
        window = (
            self.knobs.manhole and self.cover.held_by(other) and self.knobs.pry_window != "none" and (self.pried == 0 or self.knobs.cover_throws == "unlimited")
        )
        if not window:
            self._ending = own.number

    # -- snake eyes -----------------------------------------------------------------------------------

    def _snake_eyes_rolled(self, roller: int):
        """Document, "Snake eyes": roller, opponent, roller a last time; shut out, only that seat, once."""
        if not self.knobs.sacrifice:
            self._still_to_ask = []
        elif self.closed_by is not None:
            self._still_to_ask = [roller]
        else:
            self._still_to_ask = [roller, 1 - roller, roller]
        self._ask_for_sacrifice()

    def _ask_for_sacrifice(self):
        while self._still_to_ask:
            seat = self._still_to_ask.pop(0)
            eligible = self._eligible(self.seats[seat])
            if eligible:
                self._ask(seat, ["decline", *eligible], snake_eyes=True)
                return
        # Nobody gives one: everyone outside a closed shelter is eaten, with it open both lose.
        self._ending = "both_eaten" if self.closed_by is None else self.closed_by

    def _eligible(self, seat: Seat) -> list[str]:
        """Document, "Snake eyes", Eligible; "The end": while shut, not for meeples inside."""
        eligible = []
        if seat.count(STANDING):
            eligible.append("sacrifice_outside")
        if seat.count(INSIDE) and self.closed_by is None:
            eligible.append("sacrifice_inside")
        if seat.count(RECON_STANDING):
            eligible.append("sacrifice_recon")
        return eligible

    def _answer_snake_eyes(self, seat: int, answer: str):
        own = self.seats[seat]
        if answer == "decline":
            self._ask_for_sacrifice()
        elif answer == "sacrifice_outside":
            self.remove_single(own, SACRIFICED)
        elif answer == "sacrifice_inside":
            own.move(INSIDE, SACRIFICED)
        else:
            own.move(RECON_STANDING, SACRIFICED)
            # The partner becomes a single, as it was; there is at most one.
            own.move(RECON_STANDING, STANDING)
            own.move(RECON_DOWN, DOWN)

    # -- showing --------------------------------------------------------------------------------------

    def snapshot(self) -> dict:
        return {
            "seats": [
                {
                    "standing": seat.count(STANDING),
                    "down": seat.count(DOWN),
                    "inside": seat.count(INSIDE),
                    "recon": seat.count(RECON_STANDING) if seat.has_pair() else None,
                    "sacrificed": seat.count(SACRIFICED),
                }
                for seat in self.seats
            ],
            "boxes": self.boxes,
            "die": self.monster.face,
            "active": self.monster.active,
            "monster_down": self.monster.down,
            "cover": self.cover.shown(),
            "closed_by": self.closed_by,
            "rolls": self.rolls,
        }

    def outcome(self) -> dict:
        if not self.over:
            raise ValueError("the game is not over")
        return {
            "ending": self._ending,
            "points": self._points(),
            "rolls": self.rolls,
            "sacrifices": [seat.count(SACRIFICED) for seat in self.seats],
            "pried": self.pried,
        }

    def _points(self) -> list | None:
        """Document, "The end", Points."""
        hope, survivor, hero, loser, eaten = self.knobs.points
        if self._ending == "unfinished":
            return None
        if self._ending == "both_eaten":
            return [eaten, eaten]
        points = []
        for seat in self.seats:
            gave = seat.count(SACRIFICED) > 0
            if seat.number == self._ending:
                points.append(hope if gave or seat.count(INSIDE) == len(seat.meeples) else survivor)
            else:
                points.append(hero if gave else loser)
        return points


# -- reference policies -------------------------------------------------------------------------------

# Prying is first: when it is legal there is only passing beside it.
RACER = ("pry_open", "close_shelter", "drag_box", "stand_recon", "send_recon", "enter_shelter", "lift_into_shelter", "stand_up", "pass")
BRAWLER = (
    "pry_open",
    "close_shelter",
    "drag_box",
    "stand_recon",
    "toss_out",
    "knock_recon",
    "knock_down",
    "send_recon",
    "enter_shelter",
    "lift_into_shelter",
    "stand_up",
    "pass",
)
NO_SACRIFICE = ("decline",)
HERO_SACRIFICE = ("sacrifice_outside", "sacrifice_inside", "sacrifice_recon", "decline")


def random_policy(twin: Twin, seat: int, legal: frozenset[str], rng: random.Random) -> str:
    """Document, "Reference policies", random. Sorted, so that a seed gives one game."""
    return rng.choice(sorted(legal - {"pass"}) or ["pass"])


def by_list(actions: tuple[str, ...], answers: tuple[str, ...]):
    """Document, "Reference policies": a policy that takes the first legal entry of its list."""

    def policy(twin: Twin, seat: int, legal: frozenset[str], rng: random.Random) -> str:
        if twin.boxes >= twin.knobs.boxes_to_close or twin.seats[seat].count(INSIDE) < twin.knobs.meeples_to_close:
            legal = legal - {"send_recon"}
        return next(name for name in answers + actions if name in legal)

    return policy


POLICIES = {
    "random": random_policy,
    "racer": by_list(RACER, NO_SACRIFICE),
    "hero": by_list(RACER, HERO_SACRIFICE),
    "brawler": by_list(BRAWLER, NO_SACRIFICE),
}


def next_roller(twin: Twin, rng: random.Random) -> tuple[int, float]:
    """Document, "Time and dice": who rolls next, and after how many seconds."""
    rates = twin.knobs.rolls_per_second
    rolling = sorted(twin.may_roll())
    if twin.knobs.rolling == "alternate":
        seat = rng.choice(rolling)
        return seat, 1 / rates[seat]
    rates_now = [rates[seat] for seat in rolling]
    return rng.choices(rolling, rates_now)[0], rng.expovariate(sum(rates_now))


def play(policy0, policy1, rng: random.Random, **knobs) -> dict:
    """One whole game with real dice; the policies are functions as in POLICIES."""
    twin = Twin(**knobs)
    policies = (policy0, policy1)
    seconds = 0.0
    while not twin.over:
        seat, waited = next_roller(twin, rng)
        rolls_before = twin.rolls
        twin.roll(seat, rng.randint(1, 6), rng.randint(1, 6))
        # The roll beyond max_rolls is not made and takes no time.
        if twin.rolls > rolls_before:
            seconds += waited
        while (pending := twin.decision()) is not None:
            asked, legal = pending
            twin.act(policies[asked](twin, asked, legal, rng))
    return twin.outcome() | {"seconds": seconds}
