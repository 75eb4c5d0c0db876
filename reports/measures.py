"""Measures of balance that are read off a whole distribution of outcomes, each with its 95% interval; `docs/metrics.md` defines them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from reports.run import UNFINISHED, WIN, Run
from reports.statistics import AT_95, NO_FIGURE, Confidence, Interval, paired_share, share

Measured = tuple[str, Interval, int]


def measure_cell(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> Iterator[Measured]:
    """Every measure that a run has of a cell, with intervals as `sure` as asked: name, interval (shares as fractions) and the games behind it."""
    measures: dict[str, Callable[[Run, dict[str, Any]], tuple[Interval, int]]] = {
        "seat_gap": partial(measure_gap, sure=sure),
        "first_seat_advantage": partial(measure_advantage, sure=sure),
        "ending_evenness": partial(measure_evenness, sure=sure),
        "ideal_duration": partial(measure_duration, sure=sure),
        **{name: partial(measure_use, action=action) for action, name in enumerate(run.uses) if name},
    }
    for name, measure in measures.items():
        if name in run.metrics and (cell["seats"] > 1 or name not in ("seat_gap", "first_seat_advantage")):
            yield name, *measure(run, cell)


def measure_gap(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> tuple[Interval, int]:
    """Largest difference of the win rates of two seats. Intervals of all pairs hold at once (Bonferroni), so that of the largest does."""
    wins, n = _count_wins(run, cell)
    pairs = list(itertools.combinations(wins, 2))
    each = Confidence(sure.error / len(pairs), sure.anytime)
    gaps = [paired_share((x, n), (y, n), (n, x, y, 0), each) for x, y in pairs]
    low = max(max(gap.low, -gap.high, 0.0) for gap in gaps)
    return Interval(max(abs(gap.value) for gap in gaps), low, max(max(-gap.low, gap.high) for gap in gaps)), n


def measure_advantage(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> tuple[Interval, int]:
    """Win rate of seat 0 minus the mean win rate of the other seats."""
    (first, *others), n = _count_wins(run, cell)
    if len(others) == 1:
        return paired_share((first, n), (others[0], n), (n, first, others[0], 0), sure), n
    rest = sum(others)
    return average(np.array([1.0, -1.0 / len(others), 0.0]), np.array([first, rest, n - first - rest]), sure), n


def measure_evenness(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> tuple[Interval, int]:
    """Entropy of how finished games end, as a part of the greatest there could be (Shannon 1948).

    Delta method; the interval is wider by the first-order bias, (kinds − 1) / 2n (Miller 1955), which near even endings is what remains.
    """
    column = next(c for c in run.columns.values() if c["labels"] and not c["per_seat"])
    unfinished = run.metrics.get(UNFINISHED, {})
    left_out = unfinished.get("equals") if unfinished.get("column") == column["name"] else None
    sums = run.distribution(cell["cell"], column["name"])
    counts = np.array([sums.count_of(value) for value in range(len(column["labels"])) if value != left_out])
    n = int(counts.sum())
    if n < 2 or len(counts) < 2:
        return NO_FIGURE, n
    shares = counts[counts > 0] / n
    surprise = -np.log(shares)
    entropy = float(shares @ surprise)
    bias = (len(counts) - 1) / (2 * n)
    half = (sure.width(n) if sure.anytime else sure.z) * math.sqrt(max(float(shares @ surprise**2) - entropy**2, 0.0) / n) + bias
    most = math.log(len(counts))
    return Interval(entropy / most, max((entropy - half) / most, 0.0), min((entropy + half) / most, 1.0)), n


def measure_duration(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> tuple[Interval, int]:
    """Mean over finished games of 1 − |minutes − ideal| / ideal, and 0 for games of more than twice the ideal (after Browne 2008)."""
    sums = run.distribution(cell["cell"], "seconds")
    ideal = run.manifest["ideal_minutes"]
    return average(np.maximum(1 - np.abs(sums.values / 60 - ideal) / ideal, 0.0), sums.bins, sure), sums.n


def measure_use(run: Run, cell: dict[str, Any], action: int) -> tuple[Interval, int]:
    """Share of the decisions with a choice, among those where the action is legal, in which it is chosen.

    A ratio over batches of games (Cochran, Sampling Techniques, 6.3), Student's t; at least as wide as Wilson's interval.
    """
    legal, chosen = run.usage(cell["cell"])[:, :, action].T
    total = int(legal.sum())
    games = int(run.manifest["usage_games"])
    if total == 0:
        return NO_FIGURE, games
    ratio = float(chosen.sum() / total)
    plain = share(int(chosen.sum()), total)
    if len(legal) < 2:
        return plain, games
    spread = math.sqrt(len(legal) / (len(legal) - 1) * float(np.sum((chosen - ratio * legal) ** 2))) / total
    half = AT_95.width(len(legal)) * spread
    return Interval(ratio, max(min(ratio - half, plain.low), 0.0), min(max(ratio + half, plain.high), 1.0)), games


def average(values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], sure: Confidence = AT_95) -> Interval:
    """Mean of values that occur so many times, with Student's t interval or its confidence sequence."""
    n = int(counts.sum())
    if n == 0:
        return NO_FIGURE
    mean = float(values @ counts) / n
    if n == 1:
        return Interval(mean, math.nan, math.nan)
    half = sure.width(n) * math.sqrt(float(((values - mean) ** 2) @ counts) / (n - 1) / n)
    return Interval(mean, mean - half, mean + half)


def _count_wins(run: Run, cell: dict[str, Any]) -> tuple[list[int], int]:
    """Games each seat won, and all games."""
    figures = sorted((f for f in run.figures(cell) if f["metric"] == WIN), key=lambda f: f["seat"])
    sums = [run.sums(cell["cell"], f["field"]) for f in figures]
    return [s.count_of(f["equals"]) for s, f in zip(sums, figures, strict=True)], sums[0].n
