"""Exact values of the model (Markov chains, see the rules page): every figure within 4 standard errors at 4 million games."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from sim.games import mint_tin
from sim.games.mint_tin import Rules
from sim.outcomes import Exact
from tests.players import play_columns, seat_table

GAMES = 4_000_000
BLOCK = 50_000


@pytest.mark.slow
@pytest.mark.parametrize("solved", mint_tin.EXACT, ids=str)
def test_exact_values_at_four_million_games(solved: Exact) -> None:
    exact, rounding = np.array(list(solved.values.values())).T
    sums, squares = play_sums(solved.policies, Rules(**solved.rules))
    means = sums / GAMES
    errors = np.sqrt((squares / GAMES - means**2) / GAMES)
    assert (np.abs(means - exact) <= 4 * errors + rounding).all(), (means, exact, (means - exact) / errors)


def play_sums(policies: tuple[str, ...], rules: Rules) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
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
