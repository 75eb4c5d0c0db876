"""A policy of one's own, complete: copy this file, change it, and name it in an experiment as `my_policy.py:cautious`.

A policy is a plain function. It is asked only when there is a choice, and is given

    view    what its seat sees, its own side first: view.standing, view.inside, view.their_inside,
            view.boxes, view.die, view.active, view.to_close (fewest action rolls it still needs), …
    legal   the actions that are legal now; ask with can(legal, Action.CLOSE_SHELTER)
    rules   the house rules in force: rules.boxes_to_close, rules.shelter_capacity, …
    stream  its own random numbers: draw_unit(stream), draw_below(stream, n)

and then its own parameters, numbers with a default. It returns one of the legal actions.
It is compiled, so it may use numbers, if, while, for, and functions marked with @policy's sibling @jit.
"""

from policies.mint_tin import racer
from policies.tools import can, policy
from sim.games.mint_tin import Action


@policy
def cautious(view, legal, rules, stream, caution=2.0):
    """Races, but tosses an opponent out once that one needs at most `caution` action rolls more, and always sacrifices."""
    if can(legal, Action.SACRIFICE_OUTSIDE):
        return Action.SACRIFICE_OUTSIDE
    if can(legal, Action.SACRIFICE_INSIDE):
        return Action.SACRIFICE_INSIDE
    if can(legal, Action.CLOSE_SHELTER):
        return Action.CLOSE_SHELTER
    if view.their_to_close <= caution and can(legal, Action.TOSS_OUT):
        return Action.TOSS_OUT
    return racer(view, legal, rules, stream)
