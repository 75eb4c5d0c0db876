"""Shipped policies: the reference ones take the first legal entry of their list; the strategist beats each of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sim.games import mint_tin
from sim.games.mint_tin import Rules
from sim.outcomes import MISSING
from sim.replay import watch
from tests.players import play_columns, seat_table

GAMES = 60_000
RACER = ("pry_open", "close_shelter", "drag_box", "stand_recon", "send_recon", "enter_shelter", "lift_into_shelter", "stand_up", "pass", "decline")
HERO = ("sacrifice_outside", "sacrifice_inside", "sacrifice_recon", *RACER)
BRAWLER = ("pry_open", "close_shelter", "drag_box", "stand_recon", "toss_out", "knock_recon", "knock_down", *RACER[4:])


@pytest.mark.parametrize(("policy", "order"), [("racer", RACER), ("hero", HERO), ("brawler", BRAWLER)])
@pytest.mark.parametrize("knobs", [{}, {"manhole": True, "mode": "omg", "enter": "either", "monster_die": 2}])
def test_reference_policies_take_the_first_legal_entry_of_their_list(policy: str, order: tuple[str, ...], knobs: dict[str, Any]) -> None:
    rules = Rules(**knobs)
    table = seat_table(mint_tin, rules, [policy, "random"])
    taken = set()
    for game in range(120):
        for step in watch(table, 13, game).steps:
            if step.action and step.seat == 0:
                legal = set(step.legal)
                if step.before["boxes"] >= rules.boxes_to_close or step.before["inside"][0] < rules.meeples_to_close:
                    legal.discard("send_recon")
                assert step.action == next(name for name in order if name in legal)
                taken.add(step.action)
    assert len(taken) > 5


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("monster_die", [6, 4])
@pytest.mark.parametrize("other", ["random", "racer", "hero", "brawler"])
def test_strategist_beats_each_other_policy_on_both_seats(other: str, monster_die: int, seat: int) -> None:
    """More wins and more points, by five standard errors, in UH-OH."""
    line_up = ["strategist", other] if seat == 0 else [other, "strategist"]
    columns = play_columns(seat_table(mint_tin, Rules(monster_die=monster_die), line_up), 90_211, GAMES)
    finished = columns["points[0]"] != MISSING
    wins = (columns["ending"] == seat).astype(float) - (columns["ending"] == 1 - seat)
    points = (columns[f"points[{seat}]"] - columns[f"points[{1 - seat}]"])[finished].astype(float)
    for difference in (wins, points):
        assert difference.mean() > 5 * difference.std() / np.sqrt(len(difference))
