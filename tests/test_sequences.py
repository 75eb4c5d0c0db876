"""Sequences hold wherever play stops: exact sums where there are any, and whole sequential runs against the exact values of Mint Tin."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from policies.loading import load_line_ups
from reports.run import Sums
from reports.sequences import _log_mixture, factor, rank_limits, share_limits
from reports.statistics import AT_95, Confidence, Interval, mean, quantile, share
from sim import batch
from sim.batch import Tallies
from sim.experiment import parse_experiment
from sim.games import mint_tin
from sim.tally import CellTally, Figure, figures_of
from sim.workers import play_experiment

ANYTIME = Confidence(0.05, anytime=True)


@pytest.mark.parametrize("p", [1e-4, 0.03, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 7, 300])
def test_the_mixture_is_a_fair_bet_at_every_number_of_games(p: float, n: int) -> None:
    counts = np.arange(n + 1)
    logarithms = stats.binom.logpmf(counts, n, p) + [_log_mixture(int(k), n, p, 0.05) for k in counts]
    assert float(np.exp(logarithms).sum()) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("p", "error"), [(0.5, 0.05), (0.1, 0.2), (0.003, 0.2)])
def test_the_chance_of_ever_missing_is_below_the_error(p: float, error: float) -> None:
    """Exact, by the law of the count while it has never been missed, looking after every one of 3,000 games."""
    games = 3000
    law = np.zeros(games + 1)
    law[0] = 1.0
    for n in range(1, games + 1):
        law[1:] = law[1:] * (1 - p) + law[:-1] * p
        law[0] *= 1 - p
        low, high = rank_limits(p, n, error)
        law[:low] = 0
        law[high + 1 :] = 0
    assert 1 - law.sum() <= error


@pytest.mark.parametrize(("count", "n"), [(0, 50_000), (1, 50_000), (37, 50_000), (25_000, 50_000), (50_000, 50_000), (3, 10**9), (10**9, 10**9)])
def test_limits_are_where_the_mixture_pays_one_over_the_error(count: int, n: int) -> None:
    low, high = share_limits(count, n, 0.05)
    assert 0 <= low <= count / n <= high <= 1
    for limit in (low, high):
        if 0 < limit < 1:
            assert _log_mixture(count, n, limit, 0.05) == pytest.approx(-math.log(0.05), abs=1e-4)
    assert share_limits(n - count, n, 0.05) == pytest.approx((1 - high, 1 - low), abs=1e-15)


def test_shares_and_means_are_as_many_standard_errors_wide() -> None:
    for n in (20_000, 100_000, 10**7):
        low, high = share_limits(n // 4, n, 0.05)
        assert (high - low) / 2 == pytest.approx(factor(n, 0.05) * math.sqrt(0.25 * 0.75 / n), rel=0.01)


@pytest.mark.slow
def test_whole_sequential_runs_cover_the_exact_values_and_peeking_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that looks 18 times must hold the truth at every look: then it holds wherever it stops. Fixed intervals do not."""
    monkeypatch.setattr(batch, "FIRST_LOOK", 250)
    runs, games = 300, 10_000
    solved = next(exact for exact in mint_tin.EXACT if exact.rules == {"monster_die": 4})
    truth = {name: value for name, (value, _) in solved.values.items()}
    figures = [figure for figure in figures_of(mint_tin, 2) if name_of(figure) in truth]
    data = {"game": "mint-tin", "policies": ["racer"], "rules": {"monster_die": 4}, "baseline": {"rules": {"monster_die": 4}}, "games": games}
    line_ups = load_line_ups(parse_experiment(dict(data), Path("exact.toml")))
    always = {which: dict.fromkeys(truth, 0) for which in (AT_95, ANYTIME)}
    for seed in range(runs):
        looked: list[CellTally] = []

        def look(tallies: Tallies, looked: list[CellTally] = looked) -> set[int]:
            looked.append(copy.copy(tallies.cells[0]))
            return {0}

        play_experiment(parse_experiment({**data, "seed": seed}, Path("exact.toml")), line_ups, jobs=1, find_open=look)
        for which, held in always.items():
            for figure in figures:
                name = name_of(figure)
                intervals = [interval_of(cell, figure, which) for cell in looked]
                held[name] += all(i.low <= truth[name] <= i.high for i in intervals)
    error = 5 * math.sqrt(0.95 * 0.05 / runs)
    for name in truth:
        assert always[ANYTIME][name] / runs >= 0.95 - error, name
    naive = np.mean([always[AT_95][name] / runs for name in ("win_rate[0]", "win_rate[1]", "mean_rolls")])
    assert naive < 0.95 - error


def test_quantile_sequences_hold_at_every_look() -> None:
    rng = np.random.default_rng(8)
    truth = math.ceil(math.log1p(-0.9) / math.log1p(-0.05))  # of the geometric distribution
    runs, held = 200, 0
    for _ in range(runs):
        values = np.minimum(rng.geometric(0.05, 20_000), 4000)
        found = [quantile(sums_of(values[:n]), 0.9, ANYTIME) for n in (500, 2000, 8000, 20_000)]
        held += all(not (i.low > truth or i.high < truth) for i in found)  # an open limit is NaN
    assert held / runs >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / runs)


def name_of(figure: Figure) -> str:
    return figure.metric.name if figure.seat is None else f"{figure.metric.name}[{figure.seat}]"


def interval_of(cell: CellTally, figure: Figure, which: Confidence) -> Interval:
    n = figure.index
    sums = Sums(cell.counts[n], cell.totals[n], cell.squares[n], cell.bins[n], 0, 1.0)
    return share(sums.count_of(figure.equals or 0), sums.n, which) if figure.metric.kind == "share" else mean(sums, which)


def sums_of(values: np.ndarray) -> Sums:
    """Exact sums of small integers."""
    return Sums(len(values), int(values.sum()), int((values * values).sum()), np.bincount(values), 0, 1.0)
