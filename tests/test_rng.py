"""Streams: the generator against a plain-integer twin, the draws against scipy's laws (fixed seeds)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sim import rng
from sim.jit import jit, record_array

MASK = 2**64 - 1
FIVE_SIGMA = 5.7e-7
N = 100_000


def naive_words(seed: int, game: int, purpose: int, count: int) -> list[int]:
    """xoshiro256++ on Python integers, seeded by SplitMix64 as the module's docstring says."""
    golden = 0x9E3779B97F4A7C15

    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return x ^ (x >> 31)

    def rotate(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & MASK

    x = mix((mix(mix((seed + golden) & MASK) ^ game) + purpose * golden) & MASK)
    s = [mix((x + (k + 1) * golden) & MASK) for k in range(4)]
    words = []
    for _ in range(count):
        words.append((rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK)
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
    return words


@pytest.mark.parametrize(("seed", "game", "purpose"), [(0, 0, 0), (1, 2, 3), (2**63 - 1, 10**12, 9)])
def test_words_equal_the_plain_integer_twin(seed: int, game: int, purpose: int) -> None:
    streams = record_array(rng.STREAM, 1)
    rng.open_stream(streams[0], seed, game, purpose)
    assert [int(rng.next_word(streams[0])) for _ in range(50)] == naive_words(seed, game, purpose, 50)


@jit
def fill(draw, streams, games, out, argument):
    """One draw from the stream of each game."""
    for k in range(games):
        rng.open_stream(streams[0], 20_261_130, k, 1)
        out[k] = draw(streams[0], argument)


@jit
def fill_along(draw, streams, out, argument):
    """Draws along one stream."""
    rng.open_stream(streams[0], 77, 5, 2)
    for k in range(len(out)):
        out[k] = draw(streams[0], argument)


@jit
def unit(stream, argument):
    """A uniform number, with the argument list all draws share here."""
    return rng.draw_unit(stream)


@jit
def exponential(stream, argument):
    """An exponential number."""
    return rng.draw_exponential(stream)


@jit
def normal(stream, argument):
    """A normal number."""
    return rng.draw_normal(stream)


def samples(draw: Any, argument: Any) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """N draws over games, and N along one stream."""
    over, along = np.zeros(N), np.zeros(N)
    fill(draw, record_array(rng.STREAM, 1), N, over, argument)
    fill_along(draw, record_array(rng.STREAM, 1), along, argument)
    return [over, along]


@pytest.mark.parametrize(
    ("draw", "argument", "law"),
    [
        (unit, 0, stats.uniform()),
        (exponential, 0, stats.expon()),
        (normal, 0, stats.norm()),
        (rng.draw_gamma, 1.0, stats.gamma(1.0)),
        (rng.draw_gamma, 3.0, stats.gamma(3.0)),
        (rng.draw_gamma, 80.0, stats.gamma(80.0)),
    ],
)
def test_continuous_draws_follow_their_law(draw: Any, argument: float, law: Any) -> None:
    for sample in samples(draw, argument):
        assert stats.kstest(sample, law.cdf).pvalue > FIVE_SIGMA


@pytest.mark.parametrize(
    ("draw", "argument", "law"),
    [
        (rng.draw_below, 7, stats.randint(0, 7)),
        (rng.draw_below, 36, stats.randint(0, 36)),
        (rng.draw_poisson, 0.3, stats.poisson(0.3)),
        (rng.draw_poisson, 9.9, stats.poisson(9.9)),
        (rng.draw_poisson, 10.0, stats.poisson(10.0)),
        (rng.draw_poisson, 85.0, stats.poisson(85.0)),
        (rng.draw_poisson, 3000.0, stats.poisson(3000.0)),
        (rng.draw_trials, math.log1p(-7 / 36), stats.geom(7 / 36)),
    ],
)
def test_discrete_draws_follow_their_law(draw: Any, argument: float, law: Any) -> None:
    for sample in samples(draw, argument):
        assert chi_squared_p(sample, law.cdf) > FIVE_SIGMA


def chi_squared_p(sample: np.ndarray[Any, Any], cdf: Callable[[Any], Any]) -> float:
    """p of a chi² test, values pooled so that each class expects at least 20."""
    edges = [-1]
    for value in range(int(sample.max()) + 1):
        if N * (cdf(value) - cdf(edges[-1])) >= 20 and N * (1 - cdf(value)) >= 20:
            edges.append(value)
    bounds = np.array([*edges, np.inf])
    observed = np.histogram(sample, np.concatenate([bounds[:-1] + 0.5, [np.inf]]))[0]
    expected = N * np.diff([*(cdf(e) for e in bounds[:-1]), 1.0])
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def test_neighbouring_games_seeds_and_purposes_are_independent() -> None:
    """Top bytes of first words at neighbouring (seed, game, purpose): pairs fill a 16 × 16 table evenly."""
    streams = record_array(rng.STREAM, 1)

    def first(seed: int, game: int, purpose: int) -> int:
        rng.open_stream(streams[0], seed, game, purpose)
        return int(rng.next_word(streams[0])) >> 60

    base = [first(1, k, 0) for k in range(20_000)]
    for other in ([first(1, k + 1, 0) for k in range(20_000)], [first(2, k, 0) for k in range(20_000)], [first(1, k, 1) for k in range(20_000)]):
        table = np.histogram2d(base, other, bins=16, range=[[0, 16], [0, 16]])[0]
        assert stats.chisquare(table.ravel()).pvalue > FIVE_SIGMA
