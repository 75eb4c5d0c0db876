"""Intervals (95%, if not said otherwise) of shares, means, quantiles and of paired differences.

Wilson and Newcombe are written here from scipy.special, because importing scipy.stats takes longer than
playing a small run; a test holds them against scipy.stats and statsmodels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from reports.run import GROUPS_EXACT, PairSums, Sums, least_values
from reports.sequences import factor, rank_limits, share_limits

DRAWS = 1000  # of the bootstrap


@dataclass(frozen=True)
class Confidence:
    """How an interval may err: it misses with chance `error`, at one number of games or (`anytime`) wherever play stops."""

    error: float = 0.05
    anytime: bool = False

    @property
    def z(self) -> float:
        """Half-width in standard errors of a normal figure, at one number of games."""
        return float(special.ndtri(1 - self.error / 2))

    def width(self, games: int) -> float:
        """Half-width in standard errors of a mean over so many games: Student's t, or the confidence sequence."""
        return factor(games, self.error) if self.anytime else float(special.stdtrit(games - 1, 1 - self.error / 2))


AT_95 = Confidence()


class Interval(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float


NO_FIGURE = Interval(math.nan, math.nan, math.nan)


class Difference(NamedTuple):
    """A figure of one cell minus that of another, over the games both played, and what pairing them gained.

    `ratio` is the variance as of independent games over the variance as paired (NaN if both are 0); `same`: it is the same in every game.
    """

    interval: Interval
    games: int
    ratio: float
    same: bool


def ratio_of(apart: float, paired: float) -> float:
    """A variance as of independent games over the variance as paired; NaN if both are 0."""
    return apart / paired if paired > 0 else math.inf if apart > 0 else math.nan


def share(count: int, n: int, sure: Confidence = AT_95) -> Interval:
    """Share count/n with Wilson's score interval (Wilson, JASA 22, 1927) or its confidence sequence; NaN for n = 0."""
    if n == 0:
        return NO_FIGURE
    p = count / n
    if sure.anytime:
        return Interval(p, *share_limits(count, n, sure.error))
    z = sure.z
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(p, 0.0 if count == 0 else centre - half, 1.0 if count == n else centre + half)


def exact_share(count: int, n: int, sure: Confidence = AT_95) -> Interval:
    """Share count/n with the exact interval, of one number of games (Clopper and Pearson, Biometrika 26, 1934); NaN for n = 0."""
    if n == 0:
        return NO_FIGURE
    tail = sure.error / 2
    low = 0.0 if count == 0 else float(special.betaincinv(count, n - count + 1, tail))
    return Interval(count / n, low, 1.0 if count == n else float(special.betaincinv(count + 1, n - count, 1 - tail)))


def average(values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], sure: Confidence = AT_95) -> Interval:
    """Mean of values that occur so many times, with Student's t interval or its confidence sequence (see `unseen`)."""
    n = int(counts.sum())
    if n == 0:
        return NO_FIGURE
    value = float(values @ counts) / n
    if n == 1:
        return Interval(value, math.nan, math.nan)
    half = sure.width(n) * math.sqrt(float(((values - value) ** 2) @ counts) / (n - 1) / n + unseen(float(np.ptp(values)), n))
    return Interval(value, max(value - half, float(values.min())), min(value + half, float(values.max())))


def unseen(reach: float, n: int) -> float:
    """What is added to the variance of a mean of n ≥ 2 games: two games more, one as far to either side as `reach`.

    Student's t and the sequence of means are asymptotic, and a value of one game in thousands may not have been seen, or once: without
    these a sequence covers 59% where 95% is promised (a difference in one game of 10,000, `tests/test_sequences.py`), and a mean that
    never varied would be certain. As n grows they vanish. For shares: Bonett and Price, see `paired_share`.
    """
    return 2 * reach**2 / (n - 1) / n


def mean(sums: Sums, sure: Confidence = AT_95, reach: int | None = None) -> Interval:
    """Mean with Student's t interval or its confidence sequence, in the column's unit; the interval is NaN for fewer than 2 games.

    `reach`: how far apart two games may lie, in the column's integers; if not said, as far as those seen.
    """
    if sums.n == 0:
        return NO_FIGURE
    value = float(sums.mean) * sums.scale
    if sums.n == 1:
        return Interval(value, math.nan, math.nan)
    half = sure.width(sums.n) * math.sqrt(float(sums.variance / (sums.n - 1)) + unseen(sums.reach if reach is None else reach, sums.n)) * sums.scale
    return Interval(value, value - half, value + half)


def deviation(sums: Sums, sure: Confidence = AT_95) -> Interval:
    """Standard deviation (of n − 1), in the column's unit, with an interval right, as n grows, for any distribution with a fourth moment.

    The logarithm of the variance is about normal with variance (kurtosis − (n − 3)/(n − 1)) / n, the kurtosis taken from
    the bins (Bonett, Computational Statistics & Data Analysis 50, 2006). NaN for fewer than 4 games. Of games all alike, the
    upper limit is that of as many as may differ by one unit.
    """
    if sums.n < 4:
        return NO_FIGURE
    variance = float(sums.variance)
    value = math.sqrt(variance * sums.n / (sums.n - 1)) * sums.scale
    if variance == 0:
        differ = min(share(0, sums.n, sure).high, 0.5)
        return Interval(value, 0.0, math.sqrt(differ * (1 - differ)) * sums.scale)
    fourth = float(sums.bins @ (sums.values / sums.scale - float(sums.mean)) ** 4) / sums.n
    spread = max(fourth / variance**2 - (sums.n - 3) / (sums.n - 1), 0.0) / sums.n
    stretch = math.exp(sure.width(sums.n) * math.sqrt(spread) / 2)
    return Interval(value, value / stretch, value * stretch)


def quantile(sums: Sums, level: float, sure: Confidence = AT_95) -> Interval:
    """Smallest value that a share `level` of games does not exceed, with the distribution-free order-statistic interval.

    The ranks are binomial quantiles (Conover, Practical Nonparametric Statistics, 3.2); a limit that too few games
    leave open is NaN. Values to 1/2048. For a sequence, the ranks that a sequence of shares leaves.
    """
    if sums.n == 0:
        return NO_FIGURE
    reached = np.cumsum(sums.bins)
    low, high = rank_limits(level, sums.n, sure.error) if sure.anytime else _binomial_ranks(level, sums.n, sure.error / 2)
    ranks = (math.ceil(level * sums.n), low, high + 1)
    return Interval(*(float(sums.values[np.searchsorted(reached, rank)]) if 1 <= rank <= sums.n else math.nan for rank in ranks))


def _binomial_ranks(level: float, n: int, tail: float) -> tuple[int, int]:
    below = math.floor(special.bdtrik(tail, n, level)) if special.bdtr(0, n, level) <= tail else -1
    return below + 1, math.ceil(special.bdtrik(1 - tail, n, level))


def paired_mean(sums: PairSums, sure: Confidence = AT_95, reach: int = 1) -> Interval:
    """Difference of two means over the same games; `reach` as of `mean`.

    Var = Vx/nx + Vy/ny − 2·n·Cov/(nx·ny), exact in rationals, and what `unseen` adds: two games that differ as far as games lie, or, at
    a number of games fixed beforehand, as much as those seen to differ do (root mean square). Student's t or the sequence;
    NaN limits for fewer than 2 games.
    """
    x, y, games = sums.x, sums.y, min(sums.x.n, sums.y.n)
    if games == 0:
        return NO_FIGURE
    value = float(x.mean - y.mean) * x.scale
    if games < 2:
        return Interval(value, math.nan, math.nan)
    variance = max(float(difference_variances(x, y, sums.both)[1]), 0.0)
    squares = (variance * (games - 1) + float(x.mean - y.mean) ** 2) * games  # of the differences, about 0
    seen = math.sqrt(squares / sums.differ) if sums.differ and not sure.anytime else math.inf
    half = sure.width(games) * math.sqrt(variance + unseen(min(seen, reach), games)) * x.scale
    return Interval(value, value - half, value + half)


def difference_variances(x: Sums, y: Sums, both: tuple[int, int, int, int]) -> tuple[Fraction, Fraction]:
    """Variance of the difference of two means: as of independent games, and as paired; in the column's integers squared."""
    apart = x.variance / (x.n - 1) + y.variance / (y.n - 1)
    n, sum_x, sum_y, products = both
    return apart, apart - (2 * Fraction(n * products - sum_x * sum_y, n * (n - 1)) * n / (x.n * y.n) if n > 1 else 0)


def paired_share(x: tuple[int, int], y: tuple[int, int], both: tuple[int, int, int, int], sure: Confidence = AT_95) -> Interval:
    """Difference of two shares (count, n) over the same games, from their Wilson limits and the correlation of the two.

    Newcombe's hybrid score interval for paired data (Statistics in Medicine 17, 1998). Games that only one of the two
    counts make the shares less correlated than the games both count (n, Σx, Σy, Σxy). A sequence's limits in place of
    Wilson's make it a sequence: both are so many standard errors wide as the asymptotic one of means. Two games that differ, one each
    way, are added, so that few or none among the games do not seem certain (Bonett and Price, Journal of Educational and Behavioral
    Statistics 37, 2012).
    """
    if min(x[1], y[1]) == 0:
        return NO_FIGURE
    share_x, share_y = share(*x, sure), share(*y, sure)
    n, sum_x, sum_y, products = both
    spread = sum_x * (n - sum_x) * sum_y * (n - sum_y)
    correlation = (n * products - sum_x * sum_y) / math.sqrt(spread) * n / math.sqrt(x[1] * y[1]) if spread else 0.0
    value = share_x.value - share_y.value
    added = sure.width(n) * math.sqrt(2) / n if n > 1 else 0.0
    below = _hypotenuse(share_x.value - share_x.low, share_y.high - share_y.value, correlation)
    above = _hypotenuse(share_x.high - share_x.value, share_y.value - share_y.low, correlation)
    return within_one(Interval(value, value - math.hypot(below, added), value + math.hypot(above, added)))


def within_one(difference: Interval) -> Interval:
    """A difference of shares with limits that it can have."""
    return Interval(difference.value, max(difference.low, -1.0), min(difference.high, 1.0))


def _hypotenuse(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0))


def draw_quantiles(groups: np.ndarray[Any, np.dtype[np.int64]], level: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Quantiles, in the column's integers above its low, of DRAWS runs made of groups of games drawn with replacement.

    The draws are the same for all cells, so differences between cells are paired (blocks bootstrap: Künsch, Annals of
    Statistics 17, 1989; here groups of independent games). Within a bin that holds several values they are spread evenly.
    """
    counted = _draw_counts(groups)
    reached = np.cumsum(counted, axis=1)
    rank = np.ceil(level * reached[:, -1])
    spot = (reached >= rank[:, None]).argmax(axis=1)
    edges = least_values(groups.shape[1] + 1, GROUPS_EXACT).astype(np.float64)
    within, row = counted[np.arange(DRAWS), spot], np.arange(DRAWS)
    part = (rank - (reached[row, spot] - within)) / np.maximum(within, 1)
    drawn: np.ndarray[Any, np.dtype[np.float64]] = edges[spot] + np.where(np.diff(edges)[spot] > 1, part * np.diff(edges)[spot], 0)
    return drawn


def draw_deviations(groups: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """As `draw_quantiles`: standard deviations, each value in the middle of its bin."""
    counted = _draw_counts(groups)
    edges = least_values(groups.shape[1] + 1, GROUPS_EXACT).astype(np.float64)
    values = edges[:-1] + (np.diff(edges) - 1) / 2
    n = np.maximum(counted.sum(axis=1), 1)
    means = counted @ values / n
    drawn: np.ndarray[Any, np.dtype[np.float64]] = np.sqrt(np.maximum(counted @ values**2 / n - means**2, 0))
    return drawn


def _draw_counts(groups: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    counts: np.ndarray[Any, np.dtype[np.float64]] = _group_draws(len(groups)) @ groups.astype(np.float64)
    return counts


@cache
def _group_draws(groups: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How often each group is drawn, (DRAWS, groups); the same in every report."""
    return np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), size=DRAWS).astype(np.float64)


def paired_draws(value: float, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], groups: int, games: int, sure: Confidence = AT_95) -> Interval:
    """Difference of two figures, `value`, from the draws of both: Student's t of the groups, or the confidence sequence, and at least their percentiles.

    The few groups make the standard error itself uncertain: a sequence is as many times wider as Student's t is than the normal there. A column
    of few values has draws of few values, and t alone would leave out the one next to the figure's.
    """
    drawn = x - y
    error = float(np.std(drawn)) * math.sqrt(groups / (groups - 1))
    tail = float(special.ndtr(-sure.width(games))) if sure.anytime else sure.error / 2
    half = -error * float(special.stdtrit(groups - 1, tail))
    low, high = float(np.quantile(drawn, tail, method="lower")), float(np.quantile(drawn, 1 - tail, method="higher"))
    return Interval(value, min(value - half, low), max(value + half, high))


def shift_quantile(sums: Sums, level: float, differ: float) -> tuple[float, float]:
    """How far down and up a quantile can go if so large a share of the games changes, whatever they become; in the column's unit."""
    reached = np.cumsum(sums.bins)
    held = np.flatnonzero(sums.bins)
    ranks = np.array([level, level - differ, level + differ]) * sums.n
    value, low, high = sums.values[np.clip(np.searchsorted(reached, np.ceil(ranks)), held[0], held[-1])].tolist()
    return low - value, high - value
