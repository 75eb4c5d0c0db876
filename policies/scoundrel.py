"""Policies of Scoundrel. Each is a plain function (view, legal, rules, stream, **parameters) -> action.

`random` and `first` are the model's reference policies, exactly.
"""

from __future__ import annotations

from policies.tools import can, policy
from sim.games.scoundrel import Action
from sim.rng import draw_below


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
