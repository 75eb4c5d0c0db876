"""The interval of a standard deviation holds what it promises, also far from the normal distribution."""

from __future__ import annotations

import numpy as np
import pytest

from reports.run import Sums
from reports.statistics import deviation, share


def sums_of(values: np.ndarray) -> Sums:
    """The stored sums of some whole numbers from −5 up, in halves of a unit."""
    return Sums(len(values), int(values.sum()), int((values**2).sum()), np.bincount(values + 5), -5, 0.5)


def test_value_is_the_sample_deviation() -> None:
    values = np.array([-5, 0, 3, 3, 9])
    assert deviation(sums_of(values)).value == pytest.approx(values.std(ddof=1) * 0.5)
    value, low, high = deviation(sums_of(np.full(9, 4)))
    p = share(0, 9).high  # so many may lie one unit, a half, off
    assert (value, low, high) == (0, 0, pytest.approx(0.5 * np.sqrt(p * (1 - p))))
    assert np.isnan(deviation(sums_of(values[:3])).value)


@pytest.mark.parametrize("chance", [0.02, 0.3])
def test_interval_covers_the_true_value_nineteen_times_in_twenty(chance: float) -> None:
    luck, true = np.random.default_rng(8), 0.5 * np.sqrt(1 - chance) / chance  # geometric: a long tail
    intervals = [deviation(sums_of(luck.geometric(chance, 4_000))) for _ in range(600)]
    covered = np.mean([interval.low <= true <= interval.high for interval in intervals])
    assert 0.92 < covered < 0.98
