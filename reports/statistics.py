"""Intervals (95%) of shares, means, quantiles and of paired differences.

Wilson and Newcombe are written here from scipy.special, because importing scipy.stats takes longer than
playing a small run; a test holds them against scipy.stats and statsmodels.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import special

from reports.run import Sums

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
Z = float(special.ndtri(1 - TAIL))


class Interval(NamedTuple):
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float


NO_FIGURE = Interval(math.nan, math.nan, math.nan)


def share(count: int, n: int) -> Interval:
    """Share count/n with Wilson's score interval (Wilson, JASA 22, 1927); NaN for n = 0."""
    if n == 0:
        return NO_FIGURE
    p = count / n
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return Interval(p, 0.0 if count == 0 else centre - half, 1.0 if count == n else centre + half)


def mean(sums: Sums) -> Interval:
    """Mean with Student's t interval, in the column's unit; the interval is NaN for fewer than 2 games."""
    if sums.n == 0:
        return NO_FIGURE
    value = float(sums.mean) * sums.scale
    if sums.n == 1:
        return Interval(value, math.nan, math.nan)
    half = float(special.stdtrit(sums.n - 1, 1 - TAIL)) * math.sqrt(float(sums.variance / (sums.n - 1))) * sums.scale
    return Interval(value, value - half, value + half)


def quantile(sums: Sums, level: float) -> Interval:
    """Smallest value that a share `level` of games does not exceed, with the distribution-free order-statistic interval.

    The ranks are binomial quantiles (Conover, Practical Nonparametric Statistics, 3.2); values to 1/2048.
    """
    if sums.n == 0:
        return NO_FIGURE
    reached = np.cumsum(sums.bins)
    ranks = [
        math.ceil(level * sums.n),
        max(math.floor(special.bdtrik(TAIL, sums.n, level)), 1),
        min(math.ceil(special.bdtrik(1 - TAIL, sums.n, level)) + 1, sums.n),
    ]
    return Interval(*(float(sums.values[np.searchsorted(reached, rank)]) for rank in ranks))


def paired_mean(x: Sums, y: Sums, both: tuple[int, int, int, int]) -> Interval:
    """Difference of two means over the same games; `both` is n, Σx, Σy, Σxy of the games where neither is missing.

    Var = Vx/nx + Vy/ny − 2·n·Cov/(nx·ny), exact in rationals: a cell against itself gives 0 with no width.
    """
    if min(x.n, y.n) == 0:
        return NO_FIGURE
    value = float(x.mean - y.mean) * x.scale
    variance = x.variance / x.n + y.variance / y.n
    n, sum_x, sum_y, products = both
    if n:
        variance -= 2 * Fraction(n * products - sum_x * sum_y, n * n) * n / (x.n * y.n)
    half = Z * math.sqrt(max(float(variance), 0.0)) * x.scale
    return Interval(value, value - half, value + half)


def paired_share(x: Interval, y: Interval, both: tuple[int, int, int, int]) -> Interval:
    """Difference of two shares over the same games, from their Wilson limits and the correlation of the pairs.

    Newcombe's hybrid score interval for paired data (Statistics in Medicine 17, 1998, method 10).
    """
    n, sum_x, sum_y, products = both
    if math.isnan(x.value) or math.isnan(y.value):
        return NO_FIGURE
    spread = sum_x * (n - sum_x) * sum_y * (n - sum_y)
    correlation = (n * products - sum_x * sum_y) / math.sqrt(spread) if spread else 0.0
    value = x.value - y.value
    below = _hypotenuse(x.value - x.low, y.high - y.value, correlation)
    above = _hypotenuse(x.high - x.value, y.value - y.low, correlation)
    return Interval(value, value - below, value + above)


def _hypotenuse(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0))
