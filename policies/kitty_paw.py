"""Policies of Kitty Paw. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random`, `plain`, `quick` and `greedy` are the model's reference policies, exactly; `bluffer` always bluffs;
`adaptive` plays well.
"""

from __future__ import annotations

import math

import numpy as np

from policies.tools import can, policy
from sim.games.kitty_paw import (
    ALL_CARDS,
    ALL_OTHERS,
    BLUFF,
    CALLER,
    CAT_IN_BOX_CARDS,
    FACE_UP,
    LAST,
    NO_CARD,
    NOBODY,
    NORMAL,
    RUSH,
    SEATS_MOST,
    TEMPOS,
    Action,
    build_seconds,
    wrong_chance,
)
from sim.jit import jit
from sim.rng import draw_below

USUAL = {"name": "adaptive", "bluffs": 0}  # who plays if nobody is named: people at a table, who shout what they have


@jit
def is_there(view, slot):
    """Is the card at `slot` of the row still to be grabbed?"""
    return view.level[slot] > 0 and view.taken_by[slot] == NOBODY


@policy
def random(view, legal, rules, stream):
    """Any card at any tempo but bluff, all alike; shouts or checks with even chances, at most one check."""
    if not view.drafting:
        return Action.CHECK if can(legal, Action.CHECK) and view.checks == 0 and draw_below(stream, 2) == 1 else Action.SHOUT
    count = 0
    for slot in range(FACE_UP):
        count += 1 if is_there(view, slot) else 0
    skip = draw_below(stream, count)
    for slot in range(FACE_UP):
        if is_there(view, slot):
            if skip == 0:
                return TEMPOS * slot + draw_below(stream, 3)
            skip -= 1
    return -1


@policy
def plain(view, legal, rules, stream):
    """The first card there, at normal tempo; shouts at once."""
    if not view.drafting:
        return Action.SHOUT
    for slot in range(FACE_UP):
        if is_there(view, slot):
            return TEMPOS * slot + NORMAL
    return -1


@policy
def quick(view, legal, rules, stream):
    """The card with the fewest kittens and boxes, in a rush; shouts at once."""
    if not view.drafting:
        return Action.SHOUT
    best = -1
    for slot in range(FACE_UP):
        if is_there(view, slot) and (best < 0 or view.kittens[slot] + view.boxes[slot] < view.kittens[best] + view.boxes[best]):
            best = slot
    return TEMPOS * best + RUSH


@policy
def greedy(view, legal, rules, stream):
    """The card worth most, at normal tempo; checks once, then shouts."""
    if not view.drafting:
        return Action.CHECK if can(legal, Action.CHECK) and view.checks == 0 else Action.SHOUT
    best = -1
    for slot in range(FACE_UP):
        if is_there(view, slot) and (best < 0 or view.kittens[slot] > view.kittens[best]):
            best = slot
    return TEMPOS * best + NORMAL


@policy
def bluffer(view, legal, rules, stream):
    """The first card there, and a bluff: always shouts too soon."""
    for slot in range(FACE_UP):
        if is_there(view, slot):
            return TEMPOS * slot + BLUFF
    return -1


# ---------------------------------------------------------------- adaptive

ROUNDS_PER_CARD = 2.5  # rounds until whoever has most cards gets one more


@policy
def adaptive(view, legal, rules, stream, spread=5.0, their_tempo=2.0, bluffs=1.0):
    """Weighs card and tempo by the chance to win: its speed, the others' likely finish, penalties at stake, the score.

    `spread` is about how many points a lead moves in a round, `their_tempo` the tempo it expects of the others
    (0 careful, 1 normal, 2 rush). It bluffs where the score kept as it is serves it best; never with `bluffs` 0.
    """
    tempo = int(their_tempo)
    if not view.drafting:
        return Action.CHECK if can(legal, Action.CHECK) and _checking_pays(view, rules, spread, tempo) else Action.SHOUT
    best, best_value = -1, -1.0
    for slot in range(FACE_UP):
        if is_there(view, slot):
            own_tempo, value = _best_tempo(view, rules, slot, spread, tempo)
            if bluffs > 0.0 and not view.tie_break:
                bluff = _value_of_call(view, rules, view.seat, 0, view.kittens[slot], view.level[slot], spread)
                if bluff > value:
                    own_tempo, value = BLUFF, bluff
            if value > best_value:
                best, best_value = TEMPOS * slot + own_tempo, value
    return best


@jit
def _phi(x):
    """About the standard normal distribution function (logistic, off by at most 0.01)."""
    return 1.0 / (1.0 + math.exp(-1.702 * x))


@jit
def _count_playing(view):
    """Seats in this round."""
    return view.playing[0] + view.playing[1] + view.playing[2] + view.playing[3]


@jit
def _mean_flips(boxes):
    """Cat-in-box cards turned over on average to find `boxes` of them."""
    return boxes * (2 * CAT_IN_BOX_CARDS + 3 - boxes) / 4.0


@jit
def _seconds(view, rules, seat, slot, tempo):
    """About when in the round `seat` is done with the card at `slot` (median)."""
    level, kittens, boxes = view.level[slot], view.kittens[slot], view.boxes[slot]
    return view.start[seat] + build_seconds(rules, seat, level, kittens, boxes, _mean_flips(boxes), tempo) + 1e-6


@jit
def _log_spread(view, rules, slot):
    """Standard deviation of the logarithm of a building time: noise, and the luck of the flips."""
    flips = 5.25 * view.boxes[slot] * rules.flip_seconds**2  # the variance of 1 to 8
    work = (view.kittens[slot] - view.boxes[slot]) * rules.kitten_seconds + _mean_flips(view.boxes[slot]) * rules.flip_seconds + 1e-6
    return math.sqrt(rules.noise_sigma**2 + flips / work**2) + 1e-3


@jit
def _likely_slot(view, rules, seat, used, tempo):
    """The card of `seat`: the one it took, or the quickest of those neither taken nor in the bit mask `used`."""
    if view.slot[seat] != NO_CARD:
        return view.slot[seat]
    best, least = 0, math.inf
    for slot in range(FACE_UP):
        if is_there(view, slot) and (used >> slot) & 1 == 0:
            seconds = _seconds(view, rules, seat, slot, tempo)
            if seconds < least:
                best, least = slot, seconds
    return best


@jit
def _best_tempo(view, rules, slot, spread, their_tempo):
    """The tempo (bluff aside) with the best chance to win the game with the card at `slot`, and about that chance."""
    me, playing = view.seat, _count_playing(view)
    # The events "before seat j" all hang on one's own time: for seats alike this power makes their product 1 / seats.
    power = math.log(playing) / ((playing - 1) * math.log(2.0))
    first = np.ones(BLUFF)  # by own tempo: chance that nobody is done before,
    before_me = np.zeros(BLUFF)  # the same of each other seat, summed,
    lost = np.zeros(BLUFF)  # of those the calls that are right,
    calls = np.zeros(BLUFF)  # and what their calls leave
    width = _log_spread(view, rules, slot)
    used = 1 << slot
    for seat in range(SEATS_MOST):
        if seat != me and view.playing[seat]:
            theirs = _likely_slot(view, rules, seat, used, their_tempo)
            used |= 1 << theirs
            median = math.log(_seconds(view, rules, seat, theirs, their_tempo))
            both = math.hypot(width, _log_spread(view, rules, theirs))
            wrong = wrong_chance(rules, seat, view.kittens[theirs], view.boxes[theirs], their_tempo)
            value = (1.0 - wrong) * _value_of_call(view, rules, seat, 1, view.kittens[theirs], view.level[slot], spread)
            value += wrong * _value_of_call(view, rules, seat, 0, view.kittens[theirs], view.level[slot], spread)
            for tempo in range(BLUFF):
                before = _phi((median - math.log(_seconds(view, rules, me, slot, tempo))) / both)
                first[tempo] *= before**power
                before_me[tempo] += 1.0 - before
                lost[tempo] += (1.0 - before) * (1.0 - wrong)
                calls[tempo] += (1.0 - before) * value
    right_value = _value_of_call(view, rules, me, 1, view.kittens[slot], view.level[slot], spread)
    wrong_value = _value_of_call(view, rules, me, 0, view.kittens[slot], view.level[slot], spread)
    best, best_value = NORMAL, -1.0
    for tempo in range(BLUFF):
        wrong = wrong_chance(rules, me, view.kittens[slot], view.boxes[slot], tempo)
        rest = (1.0 - first[tempo]) / max(before_me[tempo], 1e-9)
        if view.tie_break:  # a wrong call only means another round
            value = first[tempo] * (1.0 - wrong) / (first[tempo] * (1.0 - wrong) + rest * lost[tempo] + 1e-9)
        else:
            value = first[tempo] * ((1.0 - wrong) * right_value + wrong * wrong_value) + rest * calls[tempo]
        if value > best_value:
            best, best_value = tempo, value
    return best, best_value


@jit
def _value_of_call(view, rules, caller, right, worth, level, spread):
    """About the chance to win after `caller` calls, right or wrong, with a card worth `worth`; all cards of `level`."""
    me = view.seat
    penalty = rules.penalty_points[level - 1] + 0.0
    last = 1.0 if rules.last_to_touch == ALL_OTHERS else 1.0 / (_count_playing(view) - 1)  # chance of each to turn its card over
    last = 0.0 if not right and rules.wrong_call == CALLER else last
    most = 0.0
    for seat in range(rules.seats):
        cards = view.completed[seat] + (1.0 if right and seat == caller else 0.0)
        if rules.five_counts == ALL_CARDS:
            cards += view.penalty_cards[seat] + _turned(rules, seat, caller, right, last)
        most = max(most, cards)
    left = min(view.cards_left / FACE_UP, ROUNDS_PER_CARD * max(rules.cards_to_win - most, 0.0))
    scale = spread * math.sqrt(left + 0.02)
    ahead = view.points[me] - _turned(rules, me, caller, right, last) * penalty + (worth if right and me == caller else 0.0)
    total = 0.0
    for seat in range(rules.seats):
        points = view.points[seat] - _turned(rules, seat, caller, right, last) * penalty + (worth if right and seat == caller else 0.0)
        total += math.exp(min((points - ahead) / scale, 50.0))
    return 1.0 / total


@jit
def _turned(rules, seat, caller, right, last):
    """Chance that `seat` turns its card over after a call; `last` is that of each seat that does not call."""
    if not rules.penalties[seat]:
        return 0.0
    if seat == caller:
        return 0.0 if right or rules.wrong_call == LAST else 1.0
    return last


@jit
def _checking_pays(view, rules, spread, their_tempo):
    """Does a check raise the chance to win, given how likely an error is and how soon the others may be done?"""
    me = view.seat
    slot = view.slot[me]
    worth, level = view.kittens[slot], view.level[slot]
    if view.mended or view.tempo == BLUFF:
        return False
    wrong = wrong_chance(rules, me, worth, view.boxes[slot], view.tempo)
    for _ in range(view.checks):  # checks that found nothing
        wrong *= (1.0 - rules.check_hit_rate) / (1.0 - wrong * rules.check_hit_rate)
    right_value = 1.0 if view.tie_break else _value_of_call(view, rules, me, 1, worth, level, spread)
    wrong_value = 0.5 if view.tie_break else _value_of_call(view, rules, me, 0, worth, level, spread)
    alone, overtaken, count = 1.0, 0.0, 0
    for seat in range(SEATS_MOST):
        if seat != me and view.playing[seat]:
            theirs = view.slot[seat]
            width = _log_spread(view, rules, theirs)
            median = math.log(_seconds(view, rules, seat, theirs, their_tempo))
            not_yet = 1.0 - _phi((math.log(view.now + 1e-6) - median) / width)
            not_then = 1.0 - _phi((math.log(view.now + rules.check_seconds + 1e-6) - median) / width)
            alone *= not_then / max(not_yet, 1e-9)
            overtaken += 0.0 if view.tie_break else _value_of_call(view, rules, seat, 1, view.kittens[theirs], level, spread)
            count += 1
    missed = wrong * (1.0 - rules.check_hit_rate)
    checked = alone * ((1.0 - missed) * right_value + missed * wrong_value) + (1.0 - alone) * overtaken / count
    return checked > (1.0 - wrong) * right_value + wrong * wrong_value
