"""Policies of Mint Tin Mini Apocalypse. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random`, `racer`, `hero` and `brawler` are the model's reference policies, exactly; `strategist` plays well.
"""

from __future__ import annotations

from policies.tools import can, draw_legal, policy
from sim.games.mint_tin import Action
from sim.jit import jit

USUAL = "strategist"  # who plays if nobody is named


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


@policy
def strategist(
    view, legal, rules, stream, blocking=2.0, alarm=2.0, foothold=2.0, gather=1.0, safety=7.0, patience=4.0, generosity=1.0, insurance=1.0, caution=1.0
):
    """Plays well: races while it is ahead, hinders once it is behind, and gives the monster what the points are worth.

    Distances are action rolls still needed to close (view.to_close), the lead is theirs minus ours.

    blocking    hinders when behind by more than this, with a foothold in the shelter
    alarm       hinders whenever behind and the opponent needs at most this
    foothold    meeples inside from which blocking pays
    gather      meeples brought in beyond those needed to close, before the recon pair goes
    safety      tosses out before sending the pair while the opponent needs fewer than this
    patience    closes with fewer than all meeples while the opponent needs fewer than this
    generosity  own sacrifices after which it leaves the next one to an opponent who rolled the snake eyes
    insurance   claims the manhole cover, to pry, when the opponent needs at most this and nothing hinders it
    caution     throws the cover at a monster whose die shows at most this
    """
    hopeless = rules.meeples - view.sacrificed < rules.meeples_to_close
    if can(legal, Action.DECLINE):
        asked_again = view.asked == 1 and not view.closed
        if asked_again or (view.asked == 2 and view.sacrificed >= generosity and not hopeless):
            return Action.DECLINE
        if can(legal, Action.SACRIFICE_OUTSIDE):
            return Action.SACRIFICE_OUTSIDE
        if can(legal, Action.SACRIFICE_INSIDE) and (view.pair <= 0 or view.inside > rules.meeples_to_close):
            return Action.SACRIFICE_INSIDE
        return Action.SACRIFICE_RECON
    if can(legal, Action.PRY_OPEN):
        return Action.PRY_OPEN
    if can(legal, Action.THROW_COVER) and view.die <= caution and view.their_to_close > alarm:
        return Action.THROW_COVER
    if hopeless:
        return Action.STAND_UP if can(legal, Action.STAND_UP) else Action.PASS
    if can(legal, Action.CLOSE_SHELTER):
        worth_more = view.sacrificed > 0 or view.inside == rules.meeples  # 4 points instead of 3
        if worth_more or view.their_to_close < patience + (0 if view.standing > 0 else 1):
            return Action.KNOCK_OFF_COVER if can(legal, Action.KNOCK_OFF_COVER) else Action.CLOSE_SHELTER
    lead = view.their_to_close - view.to_close
    if (lead < -blocking and view.inside >= foothold) or (lead < 0 and view.their_to_close <= alarm):
        hindrance = hinder(view, legal, rules)
        if hindrance != Action.PASS:
            return hindrance
    if can(legal, Action.CLAIM_COVER) and lead < 0 and view.their_to_close <= insurance:
        return Action.CLAIM_COVER
    if can(legal, Action.KNOCK_OFF_COVER):
        return Action.KNOCK_OFF_COVER
    if can(legal, Action.PUSH_OFF_COVER) and view.to_close <= alarm:
        return Action.PUSH_OFF_COVER
    return hurry(view, legal, rules, alarm, gather, safety)


@jit
def hinder(view, legal, rules):
    """What slows the opponent most now; PASS if nothing does."""
    if can(legal, Action.TOSS_OUT) and view.their_inside <= rules.meeples_to_close:
        return Action.TOSS_OUT
    if can(legal, Action.KNOCK_RECON) and (view.boxes < rules.boxes_to_close or view.their_inside < rules.meeples_to_close):
        return Action.KNOCK_RECON
    if can(legal, Action.KNOCK_DOWN) and view.their_inside + (2 if view.their_pair >= 0 else 0) < rules.meeples_to_close:
        return Action.KNOCK_DOWN
    return Action.TOSS_OUT if can(legal, Action.TOSS_OUT) else Action.PASS


@jit
def hurry(view, legal, rules, alarm, gather, safety):
    """The next step towards closing: gather inside, fetch a box, close; with nothing better to do, toss out."""
    toss = can(legal, Action.TOSS_OUT)
    box_needed = view.boxes < rules.boxes_to_close
    spare = gather if view.their_to_close > alarm else 0.0
    outside = 1 if box_needed and rules.recon_needs_helper else 0  # the pair's helper
    goal = min(rules.meeples_to_close + spare, rules.meeples - view.sacrificed - outside, rules.shelter_capacity)
    if view.inside + (2 if view.pair >= 0 else 0) < goal:
        if can(legal, Action.LIFT_INTO_SHELTER):
            return Action.LIFT_INTO_SHELTER
        if can(legal, Action.ENTER_SHELTER):
            return Action.ENTER_SHELTER
        if can(legal, Action.STAND_UP) and view.standing == 0:
            return Action.STAND_UP
    elif can(legal, Action.SEND_RECON) and box_needed:
        return Action.TOSS_OUT if toss and view.their_to_close < safety else Action.SEND_RECON
    if toss and view.their_inside == 1 and view.pair >= 0:
        return Action.TOSS_OUT
    if can(legal, Action.DRAG_BOX):
        return Action.DRAG_BOX
    if can(legal, Action.STAND_RECON):
        return Action.STAND_RECON
    if can(legal, Action.CLOSE_SHELTER):
        return Action.CLOSE_SHELTER
    if toss:
        return Action.TOSS_OUT
    if can(legal, Action.SEND_RECON) and box_needed:
        return Action.SEND_RECON
    if can(legal, Action.ENTER_SHELTER):
        return Action.ENTER_SHELTER
    return Action.STAND_UP if can(legal, Action.STAND_UP) else Action.PASS
