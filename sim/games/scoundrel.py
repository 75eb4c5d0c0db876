"""Scoundrel, whole: knobs, deck, rooms, weapons and potions, outcome.

Source: the Italian rules sheet to the letter (`docs/games/scoundrel.md` lists every reading). One seat crosses a
Dungeon of cards, room by room, and must not run out of health.

A card is an int: suit × 16 + value, the suits in the order ♣ ♠ ♦ ♥ (monsters, monsters, weapons, potions), so that
a set of cards is one int64, bit `card` of it being that card. The face-down Dungeon is a ring in its one true order;
a view never shows it, only the set of unseen cards and what the player itself put at the bottom.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from sim.jit import jit
from sim.knobs import Rules as BaseRules
from sim.knobs import knob
from sim.outcomes import MISSING, Column, Highlight, Metric
from sim.rng import draw_below

TITLE = "Scoundrel"
VERSION = 1  # raised only when some outcome changes
SEATS = (1,)

# ---------------------------------------------------------------- knobs

RANKS = range(2, 15)
CARDS_MOST = 4 * len(RANKS)
ROOM_MOST = 6
_RANK_LIST: dict[str, Any] = {"max_length": len(RANKS), "allowed": "a list of distinct ranks, 2 to 14 (J 11, Q 12, K 13, A 14)"}


class Rules(BaseRules):
    """The house rules of Scoundrel; every default is the rules sheet's."""

    monster_ranks: tuple[int, ...] = knob(tuple(RANKS), "ranks of the monsters, each in ♣ and in ♠", "1. Preparazione: 13 di Fiori, 13 di Picche", **_RANK_LIST)
    weapon_ranks: tuple[int, ...] = knob(tuple(range(2, 11)), "ranks of the weapons, each in ♦", "1. Preparazione: 9 di Quadri", **_RANK_LIST)
    potion_ranks: tuple[int, ...] = knob(tuple(range(2, 11)), "ranks of the potions, each in ♥", "1. Preparazione: 9 di Cuori", **_RANK_LIST)
    health: int = knob(20, "health at the start", "1. Preparazione: la Salute iniziale è 20", unit="health", ge=1, le=100)
    max_health: int = knob(
        20, "health that potions cannot exceed; if `health` is more, that", "2. Pozioni: senza poter superare 20", unit="health", ge=1, le=100
    )
    room_size: int = knob(4, "cards of a full room", "3. La Stanza: quattro carte a faccia in su", unit="cards", ge=1, le=ROOM_MOST)
    cards_per_room: int = knob(3, "cards resolved when a room is faced", "3. Affrontare la Stanza: tre delle quattro carte", unit="cards", ge=1, le=ROOM_MOST)
    avoids_in_a_row: int = knob(1, "rooms that may be avoided one after the other", "3. Evitare la Stanza: non due consecutive", unit="rooms", ge=0, le=10)
    avoid_order: Literal["as_dealt", "reversed", "shuffled"] = knob("as_dealt", "how an avoided room goes under the Dungeon", "3. Evitare la Stanza (silent)")
    avoid_short_room: bool = knob(False, "may a room that could not be filled be avoided", "3. Evitare la Stanza: tutte e quattro le carte")
    last_room: Literal["resolve_all", "leave_one", "leave_short"] = knob(
        "resolve_all", "the end of the Dungeon: every card is resolved, one may be left, or a room that cannot be filled is not played", "8. l'intero Dungeon"
    )
    weapon_limit: Literal["strict", "at_most", "none"] = knob(
        "strict", "a weapon that has slain slays again: only lower values, lower or equal ones, or any", "4. valore strettamente inferiore"
    )
    bare_hands: Literal["always", "only_without_usable_weapon"] = knob("always", "when a monster may be fought bare-handed", "5. A mani nude: si può sempre")
    potions_per_turn: int = knob(1, "potions of a turn that heal", "2. Pozioni: soltanto la prima ha effetto", unit="potions", ge=0, le=ROOM_MOST)
    potion_optional: bool = knob(False, "may a potion be discarded without drinking it", "6. si può bere (silent)")
    potion_bonus: bool = knob(
        True, "does a potion resolved last, at full health, add its value to the score", "8. si aggiunge anche il valore di quella pozione"
    )
    death_score: Literal["dungeon", "dungeon_and_room", "life_minus_dungeon", "life_minus_dungeon_and_room"] = knob(
        "dungeon",
        "score of a lost game: minus the monsters face down, or also those face up; plus the health or not",
        "8. tutti i mostri ancora presenti nel Dungeon",
    )
    seconds_per_decision: int = knob(5, "playing time of one card resolved or room avoided", "not in the sheet", unit="s", assumed=True, ge=1, le=1000)

    @model_validator(mode="after")
    def check_together(self) -> Rules:
        """Refuse ranks out of range and settings that leave no game."""
        for name in ("monster_ranks", "weapon_ranks", "potion_ranks"):
            ranks = getattr(self, name)
            if len(set(ranks)) != len(ranks) or any(rank not in RANKS for rank in ranks):
                raise ValueError(f"rules.{name} = {list(ranks)}: allowed is a list of distinct ranks, 2 to 14")
        if self.cards_per_room > self.room_size:
            raise ValueError(f"rules.cards_per_room = {self.cards_per_room} with rules.room_size = {self.room_size}: allowed is 1 to room_size")
        cards = len(self.deck())
        if cards < max(self.room_size, 2):
            raise ValueError(f"rules.room_size = {self.room_size} with a deck of {cards} cards: the deck must fill a room and hold at least 2 cards")
        return self

    def deck(self) -> list[int]:
        """The cards of the deck, sorted."""
        suits = (self.monster_ranks, self.monster_ranks, self.weapon_ranks, self.potion_ranks)
        return sorted(suit * 16 + rank for suit, ranks in enumerate(suits) for rank in ranks)

    def derived(self) -> dict[str, Any]:
        """The deck as the compiled code reads it, and the health no potion exceeds."""
        deck = self.deck()
        return {
            "deck": deck + [0] * (CARDS_MOST - len(deck)),
            "cards": len(deck),
            "deck_set": sum(1 << card for card in deck),
            "full_health": max(self.health, self.max_health),
        }


RULES = Rules.dtype()

# ---------------------------------------------------------------- words


class Action(IntEnum):
    """What the player may do; cards are numbered as they lie in the room."""

    AVOID = 0
    TAKE_1 = 1  # equip, drink or fight bare-handed
    TAKE_2 = 2
    TAKE_3 = 3
    TAKE_4 = 4
    TAKE_5 = 5
    TAKE_6 = 6
    FIGHT_1 = 7  # with the weapon
    FIGHT_2 = 8
    FIGHT_3 = 9
    FIGHT_4 = 10
    FIGHT_5 = 11
    FIGHT_6 = 12
    DISCARD_1 = 13  # a potion, without drinking it
    DISCARD_2 = 14
    DISCARD_3 = 15
    DISCARD_4 = 16
    DISCARD_5 = 17
    DISCARD_6 = 18


# The choices of the knobs as the compiled code sees them: their index in the declaration above.
REVERSED, SHUFFLED = 1, 2
LEAVE_ONE, LEAVE_SHORT = 1, 2
NO_LIMIT = 2
ONLY_WITHOUT_USABLE_WEAPON = 1
DUNGEON_AND_ROOM, LIFE_MINUS_DUNGEON, LIFE_MINUS_DUNGEON_AND_ROOM = 1, 2, 3

WEAPONS_FROM, POTIONS_FROM = 32, 48  # cards below the first are monsters, from the second on potions
NO_WEAPON = 0
FRESH = 15  # the limit of a weapon that has slain nothing: above every monster
RING = 64  # places of the ring that holds the Dungeon, a power of 2
DEALING, DECIDING, OVER = 0, 1, 2
CHANCE, NO_TURN = -1, -2  # what `turn` says besides a seat
DECK, AVOIDED = 0, 1  # purposes of random streams
PURPOSES = 2

# ---------------------------------------------------------------- state, view, outcome

STATE = np.dtype(
    [
        ("phase", np.int64),
        ("health", np.int64),
        ("weapon", np.int64),  # its value, or NO_WEAPON
        ("limit", np.int64),  # value of the last monster it slew, or FRESH
        ("room_cards", np.int64),
        ("room", np.int64, (ROOM_MOST,)),
        ("room_full", np.int64),  # was the room full when dealt
        ("resolved_here", np.int64),  # cards of this room resolved so far
        ("potions_here", np.int64),  # potions drunk this turn
        ("avoids", np.int64),  # rooms avoided since one was faced
        ("top", np.int64),  # the next card is dungeon[top % RING]
        ("face_down", np.int64),
        ("never_seen", np.int64),  # the first of the face-down cards, which nobody has seen
        ("unseen", np.int64),  # the set of those
        ("last_card", np.int64),  # resolved last
        ("killer", np.int64),
        ("faced", np.int64),
        ("avoided", np.int64),
        ("resolved", np.int64),
        ("damage_bare", np.int64),
        ("damage_armed", np.int64),
        ("absorbed", np.int64),
        ("healed", np.int64),
        ("wasted", np.int64),
        ("dungeon", np.int64, (RING,)),
        ("put_under", np.int64, (RING,)),  # by place of the ring: in which avoid the card came there
    ],
    align=True,
)

UNTOLD = ("put_under",)

VIEW = np.dtype(
    [
        ("health", np.int64),
        ("weapon", np.int64),  # value, 0 for none
        ("limit", np.int64),  # value of the last monster the weapon slew, 15 for none
        ("room_cards", np.int64),
        ("room", np.int64, (ROOM_MOST,)),  # the cards that lie face up, then 0
        ("room_full", np.int64),
        ("resolved_here", np.int64),
        ("potions_here", np.int64),
        ("avoids", np.int64),  # rooms avoided since one was faced
        ("face_down", np.int64),  # cards in the Dungeon: never seen ones first, then those put under it
        ("unseen", np.int64),  # the set of cards never seen
        ("unders", np.int64),
        ("under", np.int64, (CARDS_MOST,)),  # cards put under the Dungeon, first to be drawn first
        ("under_batch", np.int64, (CARDS_MOST,)),  # cards of one batch lie in an unknown order, and are given sorted
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("won", np.int64),
        ("score", np.int64),
        ("health", np.int64),
        ("health_won", np.int64),
        ("rooms", np.int64),
        ("faced", np.int64),
        ("avoided", np.int64),
        ("avoided_share", np.int64),
        ("resolved", np.int64),
        ("crossed", np.int64),
        ("damage_bare", np.int64),
        ("damage_armed", np.int64),
        ("absorbed", np.int64),
        ("healed", np.int64),
        ("wasted", np.int64),
        ("monsters_left", np.int64),
        ("killer", np.int64),
        ("died_at", np.int64),
        ("seconds", np.int64),
    ],
    align=True,
)

_LEAST = -256  # below every score and health

COLUMNS = (
    Column("won", "was the Dungeon crossed alive", labels=("lost", "won")),
    Column("score", "score of the game", "points", low=_LEAST),
    Column("health", "health at the end", "health", low=_LEAST),
    Column("health_won", "health at the end; none if lost", "health"),
    Column("rooms", "rooms dealt: turns of the game", "rooms"),
    Column("faced", "rooms faced", "rooms"),
    Column("avoided", "rooms avoided", "rooms"),
    Column("avoided_share", "share of the rooms dealt that were avoided", "%", scale=0.01),
    Column("resolved", "cards resolved, the one that killed included", "cards"),
    Column("crossed", "share of the deck resolved", "%", scale=0.01),
    Column("damage_bare", "damage taken bare-handed", "health"),
    Column("damage_armed", "damage taken when fighting with a weapon", "health"),
    Column("absorbed", "damage that weapons kept off", "health"),
    Column("healed", "potion points that became health", "health"),
    Column("wasted", "points of resolved potions that did not", "health"),
    Column("monsters_left", "monsters neither slain nor the killer, face up or down", "monsters"),
    Column("killer", "value of the monster that killed; none if won", "value"),
    Column("died_at", "number of the card that killed, from 1; none if won", "card"),
    Column("seconds", "playing time", "s"),
)


def _quantile(percent: int) -> Metric:
    return Metric(f"score_q{percent:02}", f"{percent} of 100 games score no more", "score", "quantile", level=percent / 100, unit="points")


METRICS = (
    Metric("win_rate", "share of games in which the Dungeon is crossed alive", "won", "share", equals=1, unit="%"),
    Metric("mean_score", "mean score", "score", "mean", unit="points"),
    Metric("sd_score", "standard deviation of one game's score", "score", "sd", unit="points"),
    *(_quantile(percent) for percent in (1, 10, 50, 90, 99)),
    Metric("mean_cards_resolved", "mean cards resolved", "resolved", "mean", unit="cards"),
    Metric("mean_crossed", "mean share of the deck resolved", "crossed", "mean", unit="%"),
    Metric("avoid_rate", "mean share of a game's rooms that are avoided", "avoided_share", "mean", unit="%"),
    Metric("mean_minutes", "mean playing time", "seconds", "mean", unit="min", scale=1 / 60, assumed=True),
    Metric("mean_rooms", "mean rooms dealt", "rooms", "mean", unit="rooms"),
    Metric("mean_health_won", "mean health of won games at the end", "health_won", "mean", unit="health"),
    Metric("mean_died_at", "mean number of the card that killed", "died_at", "mean", unit="card"),
    Metric("mean_killer", "mean value of the monster that killed", "killer", "mean", unit="value"),
    Metric("mean_monsters_left", "mean monsters left", "monsters_left", "mean", unit="monsters"),
    Metric("mean_damage_bare", "mean damage taken bare-handed", "damage_bare", "mean", unit="health"),
    Metric("mean_damage_armed", "mean damage taken when fighting with a weapon", "damage_armed", "mean", unit="health"),
    Metric("mean_absorbed", "mean damage that weapons kept off", "absorbed", "mean", unit="health"),
    Metric("mean_healed", "mean potion points that became health", "healed", "mean", unit="health"),
    Metric("mean_wasted", "mean points of resolved potions that did not", "wasted", "mean", unit="health"),
)

HIGHLIGHTS = (
    Highlight("best", "the highest score, then the most damage kept off", (("score", -1), ("absorbed", -1))),
    Highlight("narrowest", "won with the least health", (("health_won", 1), ("rooms", -1))),
    Highlight("nearest", "lost, but with the most cards resolved, then the most health missing", (("died_at", -1), ("health", -1))),
)

HEADLINES = ("win_rate", "mean_score", "sd_score", "mean_crossed", "avoid_rate", "mean_minutes")

DISTRIBUTIONS = ("died_at", "killer")

ASSUMPTIONS = (
    "Every card resolved and every room avoided takes seconds_per_decision (default 5 s); playing time in minutes rests on it, nothing else does.",
    "The player remembers every card gone by and the order of those it put under the Dungeon, as far as that order is known to a player.",
    "Play is the policy's: a finding holds for the policies named, and should be tried with others.",
    "The rules sheet is played to the letter; where it is silent, the reading chosen and every common other one is a knob (`housecarlo rules scoundrel`).",
)

EXACT = ()


def is_symmetric(rules):
    """There is but one seat."""
    return True


# ---------------------------------------------------------------- cards


@jit
def value_of(card):
    """Value of a card (2..14)."""
    return card & 15


@jit
def is_monster(card):
    """Is the card a monster (♣ or ♠)?"""
    return card < WEAPONS_FROM


@jit
def is_potion(card):
    """Is the card a potion (♥)?"""
    return card >= POTIONS_FROM


# ---------------------------------------------------------------- set-up and turns


@jit
def set_up(state, rules, streams):
    """Shuffle the deck face down (1. Preparazione; inside-out Fisher and Yates)."""
    for n in range(rules.cards):
        place = draw_below(streams[DECK], n + 1)
        state.dungeon[n] = state.dungeon[place]
        state.dungeon[place] = rules.deck[n]
    state.phase = DEALING
    state.health = rules.health
    state.weapon = NO_WEAPON
    state.limit = FRESH
    state.room_cards = 0
    state.room_full = 0
    state.resolved_here = 0
    state.potions_here = 0
    state.avoids = 0
    state.top = 0
    state.face_down = rules.cards
    state.never_seen = rules.cards
    state.unseen = rules.deck_set
    state.last_card = 0
    state.killer = 0
    state.faced = 0
    state.avoided = 0
    state.resolved = 0
    state.damage_bare = 0
    state.damage_armed = 0
    state.absorbed = 0
    state.healed = 0
    state.wasted = 0


@jit
def turn(state):
    """Whose decision it is: seat 0, CHANCE (cards are drawn) or NO_TURN (the game is over)."""
    if state.phase == DECIDING:
        return 0
    return CHANCE if state.phase == DEALING else NO_TURN


@jit
def chance(state, rules, streams):
    """Draw cards until the room is full or the Dungeon empty: a turn begins (3. La Stanza)."""
    while state.room_cards < rules.room_size and state.face_down > 0:
        card = state.dungeon[state.top & (RING - 1)]
        state.room[state.room_cards] = card
        state.room_cards += 1
        state.top += 1
        state.face_down -= 1
        if state.never_seen > 0:
            state.never_seen -= 1
            state.unseen &= ~(1 << card)
    state.room_full = 1 if state.room_cards == rules.room_size else 0
    state.resolved_here = 0
    state.potions_here = 0
    state.phase = OVER if is_crossed(state, rules) or (rules.last_room == LEAVE_SHORT and not state.room_full) else DECIDING


@jit
def is_crossed(state, rules):
    """Is the whole Dungeon crossed, with nothing left to resolve?"""
    return state.face_down == 0 and state.room_cards <= (1 if rules.last_room == LEAVE_ONE else 0)


@jit
def look(state, rules, seat, view):
    """Fill `view` with what the player sees and remembers; the order of the unseen cards is not among it."""
    view.health = state.health
    view.weapon = state.weapon
    view.limit = state.limit
    view.room_cards = state.room_cards
    for n in range(ROOM_MOST):
        view.room[n] = state.room[n] if n < state.room_cards else 0
    view.room_full = state.room_full
    view.resolved_here = state.resolved_here
    view.potions_here = state.potions_here
    view.avoids = state.avoids
    view.face_down = state.face_down
    view.unseen = state.unseen
    view.unders = state.face_down - state.never_seen
    first = state.top + state.never_seen
    for n in range(view.unders):
        card = state.dungeon[(first + n) & (RING - 1)]
        batch = state.put_under[(first + n) & (RING - 1)] if rules.avoid_order == SHUFFLED else n
        place = n
        while place > 0 and view.under_batch[place - 1] == batch and view.under[place - 1] > card:
            view.under[place] = view.under[place - 1]
            place -= 1
        view.under[place] = card
        view.under_batch[n] = batch


@jit
def reach_of(rules, weapon, limit):
    """The weapon may be used on monsters of value below this (4. Impugnare un'arma)."""
    if weapon == NO_WEAPON:
        return 0
    return FRESH if rules.weapon_limit == NO_LIMIT else limit + rules.weapon_limit  # one more where "at_most" is the rule


@jit
def can_avoid(state, rules):
    """May the room be avoided now (3. Evitare la Stanza)? Takes a state or a view."""
    return state.resolved_here == 0 and state.avoids < rules.avoids_in_a_row and (state.room_full == 1 or rules.avoid_short_room == 1)


@jit
def legal_actions(state, rules):
    """Bit mask of the legal actions. Takes a state or a view."""
    reach = reach_of(rules, state.weapon, state.limit)
    fights = potions = 0  # bit n: the n-th card; without branches, which chance would mispredict
    for n in range(state.room_cards):
        card = state.room[n]
        fights |= (is_monster(card) & (value_of(card) < reach)) << n
        potions |= is_potion(card) << n
    takes = (1 << state.room_cards) - 1
    if rules.bare_hands == ONLY_WITHOUT_USABLE_WEAPON:
        takes &= ~fights
    mask = np.int64(can_avoid(state, rules)) | takes << Action.TAKE_1 | fights << Action.FIGHT_1
    return mask | potions << Action.DISCARD_1 if rules.potion_optional else mask


@jit
def act(state, rules, streams, action):
    """Let the player take one legal action."""
    if action == Action.AVOID:
        _avoid(state, rules, streams)
        return
    n = (action - Action.TAKE_1) % ROOM_MOST
    card = state.room[n]
    state.room_cards -= 1
    for place in range(ROOM_MOST - 1):  # close the gap; a loop of one length is never mispredicted
        state.room[place] = state.room[place + (place >= n)]
    if state.resolved_here == 0:
        state.faced += 1
        state.avoids = 0
    state.resolved_here += 1
    state.resolved += 1
    state.last_card = card
    value = value_of(card)
    if is_monster(card):
        _fight(state, value, action >= Action.FIGHT_1)
        if state.health <= 0:
            state.killer = value
            state.phase = OVER
            return
    elif is_potion(card):
        _resolve_potion(state, rules, value, action < Action.DISCARD_1)
    else:
        state.weapon = value
        state.limit = FRESH
    if is_crossed(state, rules):
        state.phase = OVER
    elif state.resolved_here == rules.cards_per_room or state.room_cards == 0:
        state.phase = DEALING


@jit
def _fight(state, monster, armed):
    """Fight a monster of that value (5. Combattere i Mostri)."""
    if armed:
        kept_off = min(state.weapon, monster)
        state.limit = monster
        state.absorbed += kept_off
        state.damage_armed += monster - kept_off
        state.health -= monster - kept_off
    else:
        state.damage_bare += monster
        state.health -= monster


@jit
def _resolve_potion(state, rules, value, drunk):
    """Drink a potion, or discard it (6. Usare le Pozioni): the first ones drunk in a turn heal."""
    gained = 0
    if drunk and state.potions_here < rules.potions_per_turn:
        gained = min(value, rules.full_health - state.health)
    if drunk:
        state.potions_here += 1
    state.health += gained
    state.healed += gained
    state.wasted += value - gained


@jit
def _avoid(state, rules, streams):
    """Put the whole room under the Dungeon (3. Evitare la Stanza)."""
    if rules.avoid_order == SHUFFLED:
        shuffle(state.room, 0, state.room_cards, streams[AVOIDED])
    state.avoids += 1
    state.avoided += 1
    bottom = state.top + state.face_down
    for n in range(state.room_cards):
        place = (bottom + n) & (RING - 1)
        state.dungeon[place] = state.room[state.room_cards - 1 - n if rules.avoid_order == REVERSED else n]
        state.put_under[place] = state.avoided
    state.face_down += state.room_cards
    state.room_cards = 0
    state.phase = DEALING


@jit
def shuffle(cards, first, after, stream):
    """Put cards[first:after] in a uniformly random order (Fisher and Yates)."""
    for n in range(after - 1, first, -1):
        place = first + draw_below(stream, n - first + 1)
        cards[n], cards[place] = cards[place], cards[n]


# ---------------------------------------------------------------- outcome


@jit
def score(state, rules, streams, row):
    """Write the finished game's outcome to `row` (one OUTCOME record). 8. Fine della partita e punteggio."""
    won = state.health > 0
    below = 0
    left = 0
    for n in range(state.face_down):
        card = state.dungeon[(state.top + n) & (RING - 1)]
        below += is_monster(card) * value_of(card)
        left += is_monster(card)
    lying = 0
    for n in range(state.room_cards):
        lying += is_monster(state.room[n]) * value_of(state.room[n])
        left += is_monster(state.room[n])
    row.won = 1 if won else 0
    row.score = won_score(state, rules) if won else lost_score(state, rules, below, lying)
    row.health = state.health
    row.health_won = state.health if won else MISSING
    row.rooms = state.faced + state.avoided
    row.faced = state.faced
    row.avoided = state.avoided
    row.avoided_share = _in_10000(state.avoided, row.rooms)
    row.resolved = state.resolved
    row.crossed = _in_10000(state.resolved, rules.cards)
    row.damage_bare = state.damage_bare
    row.damage_armed = state.damage_armed
    row.absorbed = state.absorbed
    row.healed = state.healed
    row.wasted = state.wasted
    row.monsters_left = left
    row.killer = MISSING if won else state.killer
    row.died_at = MISSING if won else state.resolved
    row.seconds = (state.resolved + state.avoided) * rules.seconds_per_decision


@jit
def won_score(state, rules):
    """Health, plus the potion resolved last if health is full."""
    bonus = rules.potion_bonus and is_potion(state.last_card) and state.health == rules.full_health
    return state.health + (value_of(state.last_card) if bonus else 0)


@jit
def lost_score(state, rules, below, lying):
    """Minus the monsters face down (`below`, summed), and, as `death_score` says, those face up, and plus the health."""
    total = -below
    if rules.death_score == DUNGEON_AND_ROOM or rules.death_score == LIFE_MINUS_DUNGEON_AND_ROOM:
        total -= lying
    if rules.death_score == LIFE_MINUS_DUNGEON or rules.death_score == LIFE_MINUS_DUNGEON_AND_ROOM:
        total += state.health
    return total


@jit
def _in_10000(part, whole):
    """part / whole in ten-thousandths, rounded."""
    return (20_000 * part + whole) // (2 * whole)
