"""Policies of Kitty Paw. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random`, `plain`, `quick` and `greedy` are the model's reference policies, exactly; `bluffer` always bluffs;
`adaptive` plays well.
"""

from __future__ import annotations

from policies.tools import can, policy
from sim.games.kitty_paw import BLUFF, FACE_UP, NOBODY, NORMAL, RUSH, TEMPOS, Action
from sim.jit import jit
from sim.rng import draw_below


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
