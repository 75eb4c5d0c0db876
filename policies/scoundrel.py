"""Policies of Scoundrel. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random` and `first` are the model's reference policies, exactly. `planner` and `counter` look through every way to
play the room and take the one whose outcome they value most; `searcher` tries the ways out on sampled Dungeons.

The worth of an outcome, in points of health at the start, is `bend`ed health, plus what the weapon can still keep off
(see `_weapon_worth`), plus or minus the cards left lying. Parameters were tuned by bench/tune_scoundrel.py.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from policies.tools import can, policy
from sim.games.scoundrel import (
    AVOIDED,
    DECK,
    FRESH,
    LEAVE_ONE,
    LEAVE_SHORT,
    PURPOSES,
    RING,
    ROOM_MOST,
    SHUFFLED,
    STATE,
    Action,
    act,
    can_avoid,
    chance,
    is_monster,
    is_potion,
    reach_of,
    shuffle,
    value_of,
)
from sim.jit import allocator, jit
from sim.rng import STREAM, draw_below, next_word, open_stream

USUAL = "planner"  # who plays if nobody is named


@policy
def random(view, legal, rules, stream):
    """Avoids with probability ½; else a uniformly chosen card, a monster with the weapon, if usable, with probability ½."""
    if can(legal, Action.AVOID) and draw_below(stream, 2) == 0:
        return Action.AVOID
    card = draw_below(stream, view.room_cards)
    armed = can(legal, Action.FIGHT_1 + card)
    if armed and (not can(legal, Action.TAKE_1 + card) or draw_below(stream, 2) == 0):
        return Action.FIGHT_1 + card
    return Action.TAKE_1 + card


@policy
def first(view, legal, rules, stream):
    """Never avoids, always takes the first card, uses the weapon whenever usable."""
    return Action.FIGHT_1 if can(legal, Action.FIGHT_1) else Action.TAKE_1


# ---------------------------------------------------------------- ways to play a room

large = partial(jit, inline=False)
COUNTED = (0.747, 0.567, 0.856, 0.429, 0.540, 0.500, 0.550, 0.831, 11.67, 0.76)  # the parameters of `counter`, by which games are played out too
WAYS_MOST = 64
STACK = 2 * ROOM_MOST * ROOM_MOST  # at most two moments for each card at each depth
NO_WAY = -1
DEAD, WON = -1e6, 1e6
START, EQUIPPED, DRANK, FOUGHT_ARMED, FOUGHT_BARE = 0, 1, 2, 3, 4

# Work space: the weights, what is ahead, and the ways to play the room found so far.
PLAN = np.dtype(
    [
        ("bend", np.float64),
        ("weapon", np.float64),
        ("next_weapon", np.float64),
        ("fade", np.float64),
        ("armed_left", np.float64),
        ("bare_left", np.float64),
        ("potion_left", np.float64),
        ("weapon_left", np.float64),
        ("avoid", np.float64),
        ("avoid_early", np.float64),
        ("weapons_ahead", np.float64),
        ("monsters_below", np.float64, (FRESH + 2,)),  # monsters ahead of value below n: how many, and their sum
        ("sum_below", np.float64, (FRESH + 2,)),
        ("keep_all", np.int64),  # keep every way that no other beats in everything, or the best one alone
        ("ways", np.int64),
        ("best", np.int64),
        ("worth", np.float64, (WAYS_MOST,)),
        ("action", np.int64, (WAYS_MOST,)),  # its first action
        ("health", np.int64, (WAYS_MOST,)),  # how it leaves things
        ("arm", np.int64, (WAYS_MOST,)),
        ("limit", np.int64, (WAYS_MOST,)),
        ("left", np.int64, (WAYS_MOST,)),  # bit n: card n still lies
        *((f"s_{name}", np.int64, (STACK,)) for name in ("lying", "health", "weapon", "limit", "drunk", "resolved", "before", "before_n", "action")),
    ],
    align=True,
)


@jit
def _weigh(plan, bend, weapon, next_weapon, fade, armed_left, bare_left, potion_left, weapon_left, avoid, avoid_early):
    """Take up a policy's parameters."""
    plan.bend = bend
    plan.weapon = weapon
    plan.next_weapon = next_weapon
    plan.fade = fade
    plan.armed_left = armed_left
    plan.bare_left = bare_left
    plan.potion_left = potion_left
    plan.weapon_left = weapon_left
    plan.avoid = avoid
    plan.avoid_early = avoid_early


@jit
def _count(plan, ahead):
    """Count the monsters and weapons of the set `ahead`."""
    many = total = weapons = 0
    for value in range(FRESH + 1):
        plan.monsters_below[value] = many
        plan.sum_below[value] = total
        here = ((ahead >> value) & 1) + ((ahead >> (16 + value)) & 1)
        many += here
        total += here * value
        weapons += (ahead >> (32 + value)) & 1
    plan.monsters_below[FRESH + 1] = many  # a fresh weapon reaches so far where equal values are allowed
    plan.sum_below[FRESH + 1] = total
    plan.weapons_ahead = weapons


@jit
def _weapon_worth(plan, weapon, reach):
    """What the weapon would keep off all monsters ahead within its reach, over how soon it is spent or replaced."""
    small = min(weapon, reach)
    below = plan.monsters_below[reach]
    kept_off = plan.sum_below[small] + weapon * (below - plan.monsters_below[small])
    return plan.weapon * kept_off / (plan.weapons_ahead + plan.next_weapon + plan.fade * below)


@jit
def _worth_now(plan, rules, health, weapon, limit):
    """Worth of health and weapon."""
    full = rules.full_health
    return full * health * (1.0 + plan.bend) / (health + full * plan.bend) + _weapon_worth(plan, weapon, reach_of(rules, weapon, limit))


@jit
def _worth_left(plan, rules, card, weapon, reach):
    """Worth of a card left lying."""
    value = value_of(card)
    if is_monster(card):
        return -plan.armed_left * max(value - weapon, 0) if value < reach else -plan.bare_left * value
    return plan.potion_left * value if is_potion(card) else plan.weapon_left * value


@large
def _note(plan, worth, action, health, arm, limit, left):
    """Keep a way to play the room, unless another is at least as good."""
    if not plan.keep_all:
        if plan.ways > 0 and worth <= plan.worth[0]:
            return
        way = 0
        plan.ways = 1
    else:
        way = plan.ways
        for n in range(plan.ways):
            if plan.left[n] == left:
                if plan.health[n] >= health and plan.arm[n] >= arm and plan.limit[n] >= limit:
                    return
                if health >= plan.health[n] and arm >= plan.arm[n] and limit >= plan.limit[n]:
                    way = n
                    break
        if way == WAYS_MOST:
            return
        plan.ways = max(plan.ways, way + 1)
    plan.worth[way] = worth
    plan.action[way] = action
    plan.health[way] = health
    plan.arm[way] = arm
    plan.limit[way] = limit
    plan.left[way] = left


@jit
def _push(plan, top, lying, health, weapon, limit, drunk, resolved, before, before_n, action):
    """Put a moment of the room on the stack: it is to be played on from there. Returns the new height."""
    plan.s_lying[top] = lying
    plan.s_health[top] = health
    plan.s_weapon[top] = weapon
    plan.s_limit[top] = limit
    plan.s_drunk[top] = drunk
    plan.s_resolved[top] = resolved
    plan.s_before[top] = before
    plan.s_before_n[top] = before_n
    plan.s_action[top] = action
    return top + 1


@jit
def _note_end(plan, table, rules, cards, lying, health, weapon, limit, resolved, action):
    """Note the end of a way to play the room if this is one; is it?"""
    crossed = table.face_down == 0 and cards <= (1 if rules.last_room == LEAVE_ONE else 0)
    if health <= 0:
        worth = DEAD + resolved
    elif crossed or (rules.last_room == LEAVE_SHORT and cards + table.face_down < rules.room_size):
        worth = WON + health
    elif cards == 0 or resolved == rules.cards_per_room:
        worth = _worth_now(plan, rules, health, weapon, limit)
        reach = reach_of(rules, weapon, limit)
        for n in range(table.room_cards):
            if (lying >> n) & 1:
                worth += _worth_left(plan, rules, table.room[n], weapon, reach)
    else:
        return False
    _note(plan, worth, action, health, weapon, limit, lying)
    return True


@large
def _find_ways(plan, table, rules):
    """Fill `plan` with the ways to play the room on; return the number of the one of most worth.

    `table` is a state or view. Of neighbouring actions whose order does not matter one order alone is tried.
    """
    plan.ways = 0
    lying = (1 << table.room_cards) - 1
    top = _push(plan, 0, lying, table.health, table.weapon, table.limit, table.potions_here, table.resolved_here, START, 0, NO_WAY)
    while top > 0:
        top -= 1
        lying = plan.s_lying[top]
        health = plan.s_health[top]
        weapon = plan.s_weapon[top]
        limit = plan.s_limit[top]
        drunk = plan.s_drunk[top]
        resolved = plan.s_resolved[top]
        before = plan.s_before[top]
        before_n = plan.s_before_n[top]
        action = plan.s_action[top]
        cards = table.room_cards - resolved + table.resolved_here
        if resolved > table.resolved_here and _note_end(plan, table, rules, cards, lying, health, weapon, limit, resolved, action):
            continue
        reach = reach_of(rules, weapon, limit)
        for n in range(table.room_cards):
            if not (lying >> n) & 1:
                continue
            card = table.room[n]
            value = value_of(card)
            rest = lying & ~(1 << n)
            take = Action.TAKE_1 + n if action == NO_WAY else action
            if is_monster(card):
                if value < reach and before != FOUGHT_BARE:
                    fight = Action.FIGHT_1 + n if action == NO_WAY else action
                    top = _push(plan, top, rest, health - max(value - weapon, 0), weapon, value, drunk, resolved + 1, FOUGHT_ARMED, n, fight)
                if (value >= reach or not rules.bare_hands) and (before != FOUGHT_BARE or n > before_n):
                    top = _push(plan, top, rest, health - value, weapon, limit, drunk, resolved + 1, FOUGHT_BARE, n, take)
            elif is_potion(card):
                healed = min(health + value, rules.full_health) if drunk < rules.potions_per_turn else health
                top = _push(plan, top, rest, healed, weapon, limit, drunk + 1, resolved + 1, DRANK, n, take)
                if rules.potion_optional:
                    discard = Action.DISCARD_1 + n if action == NO_WAY else action
                    top = _push(plan, top, rest, health, weapon, limit, drunk, resolved + 1, DRANK, n, discard)
            elif before != FOUGHT_BARE and before != DRANK:
                top = _push(plan, top, rest, health, value, FRESH, drunk, resolved + 1, EQUIPPED, n, take)
    best = 0
    for n in range(plan.ways):
        if plan.worth[n] > plan.worth[best]:
            best = n
    return best


@jit
def _worth_avoided(plan, table, rules):
    """Worth of avoiding the room; the longer the way ahead, the more `avoid_early` counts."""
    return _worth_now(plan, rules, table.health, table.weapon, table.limit) - plan.avoid - plan.avoid_early * table.face_down / rules.cards


@jit
def _choose(plan, view, rules):
    """The first action of the way to play the room that is worth most, avoiding it among them."""
    best = _find_ways(plan, view, rules)
    if can_avoid(view, rules) and _worth_avoided(plan, view, rules) > plan.worth[best]:
        return np.int64(Action.AVOID)
    return plan.action[best]


_new_plan = allocator(PLAN, 1, "scoundrel plan")


@policy
def planner(
    view, legal, rules, stream,
    bend=0.870, weapon=0.551, next_weapon=1.192, fade=0.258, armed_left=0.599, bare_left=0.500, potion_left=0.616, weapon_left=0.900,
    avoid=12.97, avoid_early=0.71,
):  # fmt: skip
    """Looks through every way to play the room; does not count cards."""
    plan = _new_plan()[0]
    _weigh(plan, bend, weapon, next_weapon, fade, armed_left, bare_left, potion_left, weapon_left, avoid, avoid_early)
    _count(plan, rules.deck_set)
    return _choose(plan, view, rules)


@jit
def _ahead(view):
    """The set of cards still to come."""
    ahead = view.unseen
    for n in range(view.unders):
        ahead |= 1 << view.under[n]
    return ahead


# ---------------------------------------------------------------- search

_new_tables = allocator(STATE, 2, "scoundrel tables")
_new_streams = allocator(STREAM, PURPOSES, "scoundrel streams")
AVOIDED_WAY = WAYS_MOST  # the number of the way that avoids the room


@jit
def _lay_out(view, table):
    """Lay out what the player knows, the unseen cards in the order of the set."""
    table.health = view.health
    table.weapon = view.weapon
    table.limit = view.limit
    table.room_cards = view.room_cards
    for n in range(ROOM_MOST):
        table.room[n] = view.room[n]
    table.room_full = view.room_full
    table.resolved_here = view.resolved_here
    table.potions_here = view.potions_here
    table.avoids = view.avoids
    table.top = 0
    table.face_down = view.face_down
    table.never_seen = view.face_down - view.unders
    table.unseen = view.unseen
    place = 0
    for card in range(RING):
        if (view.unseen >> card) & 1:
            table.dungeon[place] = card
            place += 1
    for n in range(view.unders):
        table.dungeon[place + n] = view.under[n]


@jit
def _copy(source, target):
    """Copy what play goes on from."""
    target.health = source.health
    target.weapon = source.weapon
    target.limit = source.limit
    target.room_cards = source.room_cards
    for n in range(ROOM_MOST):
        target.room[n] = source.room[n]
    target.room_full = source.room_full
    target.resolved_here = source.resolved_here
    target.potions_here = source.potions_here
    target.avoids = source.avoids
    target.top = 0
    target.face_down = source.face_down
    target.never_seen = source.never_seen
    target.unseen = source.unseen
    for n in range(source.face_down):
        target.dungeon[n] = source.dungeon[n]


@jit
def _reorder(view, rules, table, stream):
    """Draw an order of the Dungeon uniformly from those the player has not excluded."""
    shuffle(table.dungeon, 0, table.never_seen, stream)
    if rules.avoid_order == SHUFFLED:
        start = 0
        for n in range(1, view.unders + 1):
            if n == view.unders or view.under_batch[n] != view.under_batch[start]:
                shuffle(table.dungeon, table.never_seen + start, table.never_seen + n, stream)
                start = n


@jit
def _settle(table, health, weapon, limit, left):
    """Leave the room as a way to play it does."""
    table.health = health
    table.weapon = weapon
    table.limit = limit
    cards = 0
    for n in range(table.room_cards):
        if (left >> n) & 1:
            table.room[cards] = table.room[n]
            cards += 1
    table.room_cards = cards
    table.avoids = 0


@large
def _play_out(plan, table, rules, streams, ahead):
    """Play on by the worth of things from a room just left; is the game won? `ahead` is the set of cards in the Dungeon."""
    while True:
        chance(table, rules, streams)
        if table.room_cards == 0 or (rules.last_room == LEAVE_SHORT and not table.room_full):
            return True
        for n in range(table.room_cards):
            ahead &= ~(1 << table.room[n])
        _count(plan, ahead)
        best = _find_ways(plan, table, rules)
        if plan.worth[best] >= WON:
            return True
        if can_avoid(table, rules) and _worth_avoided(plan, table, rules) > plan.worth[best]:
            for n in range(table.room_cards):
                ahead |= 1 << table.room[n]
            act(table, rules, streams, Action.AVOID)
        elif plan.health[best] <= 0:
            return False
        else:
            _settle(table, plan.health[best], plan.arm[best], plan.limit[best], plan.left[best])


@jit
def _try_way(ways, way, plan, table, rules, streams, ahead):
    """Play a game out from one way to play the room; is it won?"""
    if way == AVOIDED_WAY:
        for n in range(table.room_cards):
            ahead |= 1 << table.room[n]
        act(table, rules, streams, Action.AVOID)
    else:
        if ways.worth[way] >= WON:
            return True
        if ways.health[way] <= 0:
            return False
        _settle(table, ways.health[way], ways.arm[way], ways.limit[way], ways.left[way])
    return _play_out(plan, table, rules, streams, ahead)


_new_plans = allocator(PLAN, 2, "scoundrel plans")
_new_wins = allocator(np.dtype([("way", np.int64), ("wins", np.float64)]), WAYS_MOST + 1, "scoundrel wins")


@large
def _search(plans, view, rules, stream, games, trust):
    """The best action of those that win most of about `games` sampled games; both plans have their weights.

    The Dungeons are drawn from those the player cannot exclude, the same ones for every way to play the room; the worse half
    of the ways is given up again and again (sequential halving: Karnin, Koren and Somekh, ICML 2013). A point of worth
    counts as `trust` games won beforehand.
    """
    ways, plan = plans[0], plans[1]
    ahead = _ahead(view)
    _count(ways, ahead)
    ways.keep_all = 1
    best = _find_ways(ways, view, rules)
    tries = _new_wins()
    alive = ways.ways
    for n in range(alive):
        tries[n].way = n
        tries[n].wins = trust * ways.worth[n]
    if can_avoid(view, rules):
        tries[alive].way = AVOIDED_WAY
        tries[alive].wins = trust * _worth_avoided(ways, view, rules)
        alive += 1
    if alive == 1 or ways.worth[best] >= WON:
        return ways.action[best]
    tables, drawn = _new_tables(), _new_streams()
    for n in range(PURPOSES):
        open_stream(drawn[n], next_word(stream), 0, n)
    streams = (drawn[DECK], drawn[AVOIDED])
    _lay_out(view, tables[0])
    rounds = 0
    while (1 << rounds) < alive:
        rounds += 1
    for _ in range(rounds):
        for _ in range(max(int(games / (rounds * alive)), 1)):
            _reorder(view, rules, tables[0], streams[DECK])
            for n in range(alive):
                _copy(tables[0], tables[1])
                if _try_way(ways, tries[n].way, plan, tables[1], rules, streams, ahead):
                    tries[n].wins += 1.0
        for n in range(1, alive):  # most wins first
            way, wins = tries[n].way, tries[n].wins
            place = n
            while place > 0 and tries[place - 1].wins < wins:
                tries[place].way, tries[place].wins = tries[place - 1].way, tries[place - 1].wins
                place -= 1
            tries[place].way, tries[place].wins = way, wins
        alive = (alive + 1) // 2
    return np.int64(Action.AVOID) if tries[0].way == AVOIDED_WAY else ways.action[tries[0].way]


@policy
def counter(
    view, legal, rules, stream,
    bend=COUNTED[0], weapon=COUNTED[1], next_weapon=COUNTED[2], fade=COUNTED[3], armed_left=COUNTED[4], bare_left=COUNTED[5],
    potion_left=COUNTED[6], weapon_left=COUNTED[7], avoid=COUNTED[8], avoid_early=COUNTED[9],
):  # fmt: skip
    """The planner counting the cards still to come; once it knows the order of all, it plays each way out in its head."""
    plans = _new_plans()
    for n in range(2):
        _weigh(plans[n], bend, weapon, next_weapon, fade, armed_left, bare_left, potion_left, weapon_left, avoid, avoid_early)
    if view.unders == view.face_down and rules.avoid_order != SHUFFLED:
        return _search(plans, view, rules, stream, 1.0, 1e-4)
    _count(plans[0], _ahead(view))
    return _choose(plans[0], view, rules)


@policy
def searcher(view, legal, rules, stream, budget=200.0, trust=0.1):
    """Plays each way to play the room out on sampled Dungeons, about `budget` games a decision, and takes the one that wins most."""
    plans = _new_plans()
    for n in range(2):
        _weigh(plans[n], *COUNTED)
    return _search(plans, view, rules, stream, budget, trust)
