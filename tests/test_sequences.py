"""Sequences hold wherever play stops: exact sums where there are any, and whole sequential runs against the exact values of Mint Tin."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from policies.loading import load_line_ups
from reports.run import PairSums, Sums, least_values
from reports.sequences import _log_mixture, factor, rank_limits, share_limits
from reports.statistics import AT_95, Confidence, Interval, draw_quantiles, mean, paired_draws, paired_mean, paired_share, quantile, share
from sim import batch
from sim.batch import Tallies, looks
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


LOOKS = looks(100_000)
RARE = 1e-4  # one game in 10,000: of a run's first look, a third has none


def share_of_games(rng: np.random.Generator, chance: float) -> np.ndarray:
    return (rng.random(LOOKS[-1]) < chance).astype(np.int64)


MEANS: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], float]] = {
    "long games": (lambda rng: np.minimum(rng.geometric(0.05, LOOKS[-1]), 4000), 20.0),
    "a point in few games": (lambda rng: share_of_games(rng, RARE), RARE),
    "points in some games": (lambda rng: 3 * share_of_games(rng, 0.01), 0.03),
}


def held_throughout(intervals: Iterable[Interval], truth: float) -> bool:
    return all(i.low <= truth <= i.high for i in intervals)


def check_coverage(held: int, runs: int) -> None:
    assert held / runs >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / runs), held


@pytest.mark.slow
@pytest.mark.parametrize("which", MEANS)
def test_sequences_of_means_hold_at_every_look(which: str) -> None:
    draw, truth = MEANS[which]
    rng = np.random.default_rng(9)
    held = sum(held_throughout((mean(sums_of(x[:n]), ANYTIME) for n in LOOKS), truth) for x in (draw(rng) for _ in range(200)))
    check_coverage(held, 200)


@pytest.mark.slow
@pytest.mark.parametrize("chance", [RARE, 0.05])
def test_sequences_of_paired_differences_hold_at_every_look(chance: float) -> None:
    """Two rules under which few games differ, nine of ten one way: as shares, and as means of points."""
    rng = np.random.default_rng(10)
    held = [0, 0]
    for _ in range(200):
        x = rng.random(LOOKS[-1]) < 0.4
        differs = rng.random(len(x)) < chance
        y = np.where(differs, rng.random(len(x)) < 0.9, x)  # y is 1 in nine of ten of those, x in two of five
        truth = chance * (0.4 - 0.9)
        found = []
        for n in LOOKS:
            a, b, both = int(x[:n].sum()), int(y[:n].sum()), int((x[:n] & y[:n].astype(bool)).sum())
            sums = (sums_of(x[:n].astype(np.int64)), sums_of(y[:n].astype(np.int64)))
            paired = PairSums(*sums, (n, a, b, both), int((x[:n] != y[:n]).sum()))
            found.append((paired_share((a, n), (b, n), paired.both, ANYTIME), paired_mean(paired, ANYTIME)))
        for k in range(2):
            held[k] += held_throughout((pair[k] for pair in found), truth)
    for one in held:
        check_coverage(one, 200)


@pytest.mark.slow
def test_sequences_of_quantile_differences_hold_where_one_cell_stopped_before_the_other() -> None:
    """The same luck, a tenth longer in one cell; that cell's games are fewer, and the groups they fall in are the same."""
    rng = np.random.default_rng(11)
    edges = least_values(2000, 512)
    truth = math.log(10) * (330 - 300)
    runs, held = 100, dict.fromkeys((AT_95, ANYTIME), 0)
    for _ in range(runs):
        luck = rng.exponential(size=20_000)
        found: dict[Confidence, list[Interval]] = {which: [] for which in held}
        for games in (3000, 6000, 10_000):
            draws, values = [], []
            for pace, n in ((330, games), (300, 2 * games)):
                times = (pace * luck[:n]).astype(int)
                counts = np.zeros((32, 2000), dtype=np.int64)
                np.add.at(counts, (np.arange(n) % 32, np.searchsorted(edges, times, side="right") - 1), 1)
                draws.append(draw_quantiles(counts, 0.9))
                values.append(float(np.sort(times)[math.ceil(0.9 * n) - 1]))
            for which, intervals in found.items():
                intervals.append(paired_draws(values[0] - values[1], *draws, 32, games, which))
        held[ANYTIME] += held_throughout(found[ANYTIME], truth)
        held[AT_95] += held_throughout(found[AT_95][-1:], truth)
    for one in held.values():
        check_coverage(one, runs)


def name_of(figure: Figure) -> str:
    return figure.metric.name if figure.seat is None else f"{figure.metric.name}[{figure.seat}]"


def interval_of(cell: CellTally, figure: Figure, which: Confidence) -> Interval:
    n = figure.index
    sums = Sums(cell.counts[n], cell.totals[n], cell.squares[n], cell.bins[n], 0, 1.0)
    return share(sums.count_of(figure.equals or 0), sums.n, which) if figure.metric.kind == "share" else mean(sums, which)


def sums_of(values: np.ndarray) -> Sums:
    """Exact sums of small integers."""
    return Sums(len(values), int(values.sum()), int((values * values).sum()), np.bincount(values), 0, 1.0)
