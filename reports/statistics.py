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


def share(count: int, n: int, z: float = Z) -> Interval:
    """Share count/n with Wilson's score interval (Wilson, JASA 22, 1927) of `z` standard errors; NaN for n = 0."""
    if n == 0:
        return NO_FIGURE
    p = count / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
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

    The ranks are binomial quantiles (Conover, Practical Nonparametric Statistics, 3.2); a limit that too few games
    leave open is NaN. Values to 1/2048.
    """
    if sums.n == 0:
        return NO_FIGURE
    reached = np.cumsum(sums.bins)
    below = math.floor(special.bdtrik(TAIL, sums.n, level)) if special.bdtr(0, sums.n, level) <= TAIL else -1
    above = math.ceil(special.bdtrik(1 - TAIL, sums.n, level))
    ranks = (math.ceil(level * sums.n), below + 1, above + 1)
    return Interval(*(float(sums.values[np.searchsorted(reached, rank)]) if 1 <= rank <= sums.n else math.nan for rank in ranks))


def paired_mean(x: Sums, y: Sums, both: tuple[int, int, int, int]) -> Interval:
    """Difference of two means over the same games; `both` is n, Σx, Σy, Σxy of the games where neither is missing.

    Var = Vx/nx + Vy/ny − 2·n·Cov/(nx·ny), exact in rationals: a cell against itself gives 0 with no width. Student's t;
    NaN limits for fewer than 2 games.
    """
    if min(x.n, y.n) == 0:
        return NO_FIGURE
    value = float(x.mean - y.mean) * x.scale
    if min(x.n, y.n) < 2:
        return Interval(value, math.nan, math.nan)
    variance = x.variance / (x.n - 1) + y.variance / (y.n - 1)
    n, sum_x, sum_y, products = both
    if n > 1:
        variance -= 2 * Fraction(n * products - sum_x * sum_y, n * (n - 1)) * n / (x.n * y.n)
    half = float(special.stdtrit(min(x.n, y.n) - 1, 1 - TAIL)) * math.sqrt(max(float(variance), 0.0)) * x.scale
    return Interval(value, value - half, value + half)


def paired_share(x: tuple[int, int], y: tuple[int, int], both: tuple[int, int, int, int], z: float = Z) -> Interval:
    """Difference of two shares (count, n) over the same games, from their Wilson limits and the correlation of the two.

    Newcombe's hybrid score interval for paired data (Statistics in Medicine 17, 1998). Games that only one of the two
    counts make the shares less correlated than the games both count (n, Σx, Σy, Σxy).
    """
    if min(x[1], y[1]) == 0:
        return NO_FIGURE
    share_x, share_y = share(*x, z), share(*y, z)
    n, sum_x, sum_y, products = both
    spread = sum_x * (n - sum_x) * sum_y * (n - sum_y)
    correlation = (n * products - sum_x * sum_y) / math.sqrt(spread) * n / math.sqrt(x[1] * y[1]) if spread else 0.0
    value = share_x.value - share_y.value
    below = _hypotenuse(share_x.value - share_x.low, share_y.high - share_y.value, correlation)
    above = _hypotenuse(share_x.high - share_x.value, share_y.value - share_y.low, correlation)
    return Interval(value, value - below, value + above)


def _hypotenuse(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0))
