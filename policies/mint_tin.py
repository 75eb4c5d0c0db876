"""Policies of Mint Tin Mini Apocalypse. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random`, `racer`, `hero` and `brawler` are the model's reference policies, exactly; `strategist` plays well.
"""

from __future__ import annotations

from policies.tools import can, draw_legal, policy
from sim.games.mint_tin import Action


@policy
def random(view, legal, rules, stream):
    """Uniform over the legal actions other than pass; at snake eyes uniform over declining and each eligible place."""
    return draw_legal(stream, legal & ~(1 << Action.PASS))


@policy
def racer(view, legal, rules, stream):
    """Takes the shortest way in and out with a box, hinders nobody, never sacrifices, pries when it can."""
    if can(legal, Action.DECLINE):
        return Action.DECLINE
    if can(legal, Action.PRY_OPEN):
        return Action.PRY_OPEN
    if can(legal, Action.CLOSE_SHELTER):
        return Action.CLOSE_SHELTER
    if can(legal, Action.DRAG_BOX):
        return Action.DRAG_BOX
    if can(legal, Action.STAND_RECON):
        return Action.STAND_RECON
    if can(legal, Action.SEND_RECON) and view.boxes < rules.boxes_to_close and view.inside >= rules.meeples_to_close:
        return Action.SEND_RECON
    if can(legal, Action.ENTER_SHELTER):
        return Action.ENTER_SHELTER
    if can(legal, Action.LIFT_INTO_SHELTER):
        return Action.LIFT_INTO_SHELTER
    if can(legal, Action.STAND_UP):
        return Action.STAND_UP
    return Action.PASS


@policy
def hero(view, legal, rules, stream):
    """As racer, but always sacrifices: outside first, then inside, then recon."""
    if can(legal, Action.SACRIFICE_OUTSIDE):
        return Action.SACRIFICE_OUTSIDE
    if can(legal, Action.SACRIFICE_INSIDE):
        return Action.SACRIFICE_INSIDE
    if can(legal, Action.SACRIFICE_RECON):
        return Action.SACRIFICE_RECON
    return racer(view, legal, rules, stream)


@policy
def brawler(view, legal, rules, stream):
    """As racer, but before sending out or entering it tosses out and knocks down whomever it can."""
    if can(legal, Action.CLOSE_SHELTER) or can(legal, Action.DRAG_BOX) or can(legal, Action.STAND_RECON):
        return racer(view, legal, rules, stream)
    if can(legal, Action.TOSS_OUT):
        return Action.TOSS_OUT
    if can(legal, Action.KNOCK_RECON):
        return Action.KNOCK_RECON
    if can(legal, Action.KNOCK_DOWN):
        return Action.KNOCK_DOWN
    return racer(view, legal, rules, stream)
