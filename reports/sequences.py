"""Intervals that hold at whatever number of games play stops, so that looking often breaks no promise.

Shares: beta-binomial mixture (Robbins, Annals of Mathematical Statistics 41, 1970; Howard, Ramdas, McAuliffe and
Sekhon, Annals of Statistics 49, 2021). For each p, the likelihood of the games mixed over Beta(rp, r(1 − p)), divided by their
likelihood at p, is a martingale that exceeds 1/error at any time with chance at most `error` (Ville). Exact.
Quantiles: the same on the share of games not beyond the quantile. Exact.
Means and paired differences: asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
Annals of Statistics 52, 2024), the standard error times a factor that grows with the number of games.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy import optimize, special

TUNED_GAMES = 100_000  # where the intervals are tightest; they hold everywhere
TINY = 1e-15  # shares nearer to 0 or 1 are not told from them


def factor(games: int, error: float) -> float:
    """Half-width of the sequence in standard errors after so many games; `games` ≥ 1."""
    spread = games / _concentration(error)
    return math.sqrt((spread + 1) / spread * (math.log1p(spread) - 2 * math.log(error)))


def share_limits(count: int, n: int, error: float) -> tuple[float, float]:
    """Limits of a share of which count of n ≥ 1 games were seen."""
    return _least_share(count, n, error), 1.0 - _least_share(n - count, n, error)


def _least_share(count: int, n: int, error: float) -> float:
    def excess(p: float) -> float:
        return _log_mixture(count, n, p, error) + math.log(error)

    if count == 0 or excess(TINY) <= 0:
        return 0.0
    return float(optimize.brentq(excess, TINY, min(count / n, 1 - TINY), xtol=TINY, rtol=1e-12))


def rank_limits(level: float, n: int, error: float) -> tuple[int, int]:
    """Least and greatest number of n games not beyond the true quantile `level` (0 < level < 1) that are still believed."""

    def inside(count: int) -> bool:
        return _log_mixture(count, n, level, error) < -math.log(error)

    likeliest = round(level * n)  # inside, always: there the games speak least against the level
    return _first(inside, 0, likeliest), _last(inside, likeliest, n)


def _first(inside: Callable[[int], bool], low: int, high: int) -> int:
    """The least integer inside, of low … high where `high` is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if inside(middle) else (middle + 1, high)
    return low


def _last(inside: Callable[[int], bool], low: int, high: int) -> int:
    """The greatest integer inside, of low … high where `low` is."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if inside(middle) else (low, middle - 1)
    return low


def _concentration(error: float) -> float:
    """1/ρ² of the mixture that is tightest at TUNED_GAMES (Waudby-Smith et al., appendix on ρ)."""
    depth = -2 * math.log(error)
    return TUNED_GAMES / (depth + math.log(depth + 1))


def _log_mixture(count: int, n: int, p: float, error: float) -> float:
    """Logarithm of the mixed likelihood over the likelihood at p."""
    r = _concentration(error)
    a, b = r * p, r * (1 - p)
    mixed = special.betaln(a + count, b + (n - count)) - special.betaln(a, b)
    return float(mixed - special.xlogy(count, p) - special.xlog1py(n - count, -p))
