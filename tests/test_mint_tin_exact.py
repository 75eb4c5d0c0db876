"""Exact values of the model (Markov chains, see the rules page): every figure within 4 standard errors at 4 million games."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from sim.games import mint_tin
from sim.games.mint_tin import Rules
from tests.players import play_columns, seat_table

GAMES = 4_000_000
BLOCK = 50_000

# policies, rules, P(seat 0 wins), P(seat 1 wins), P(both eaten), mean points 0, mean points 1, mean rolls
EXACT: list[tuple[tuple[str, str], dict[str, Any], tuple[float, ...]]] = [
    (("racer", "racer"), {}, (0.499878, 0.499878, 0.000244, 2.017509, 2.017509, 104.1295)),
    (("racer", "racer"), {"monster_die": 4}, (0.498047, 0.498047, 0.003906, 2.010119, 2.010119, 104.0856)),
    (("hero", "hero"), {"mode": "omg"}, (0.495170, 0.495170, 0.009660, 2.051813, 2.051813, 107.1097)),
    (("racer", "brawler"), {}, (0.454152, 0.434538, 0.111310, 1.796994, 1.757765, 337.8535)),
    (("racer", "brawler"), {"mode": "omg"}, (0.164540, 0.132046, 0.703414, 0.625667, 0.560677, 186.9523)),
    (("racer", "racer"), {"enter": "lift"}, (0.499878, 0.499878, 0.000244, 2.043934, 2.043934, 73.0049)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("policies", "settings", "exact"), EXACT)
def test_exact_values_at_four_million_games(policies: tuple[str, str], settings: dict[str, Any], exact: tuple[float, ...]) -> None:
    sums, squares = play_sums(policies, Rules(**settings))
    means = sums / GAMES
    errors = np.sqrt((squares / GAMES - means**2) / GAMES)
    rounding = np.array([5e-7] * 5 + [5e-5])  # the last digit shown
    assert (np.abs(means - np.array(exact)) <= 4 * errors + rounding).all(), (means, exact, (means - np.array(exact)) / errors)


def play_sums(policies: tuple[str, str], rules: Rules) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Sums and sums of squares of the six figures over GAMES games, on two threads."""
    parts: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def work(half: int) -> None:
        table = seat_table(mint_tin, rules, policies)
        total, squares = np.zeros(6), np.zeros(6)
        for first in range(half * GAMES // 2, (half + 1) * GAMES // 2, BLOCK):
            columns = play_columns(table, 20_261_130, BLOCK, first)
            ending = columns["ending"]
            figures = np.array([ending == 0, ending == 1, ending == 2, columns["points[0]"], columns["points[1]"], columns["rolls"]], dtype=float)
            total += figures.sum(axis=1)
            squares += (figures**2).sum(axis=1)
        parts.append((total, squares))

    threads = [threading.Thread(target=work, args=(half,)) for half in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(parts) == 2
    return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
