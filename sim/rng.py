"""Random streams: one per game and purpose, all a function of (seed, game, purpose) alone.

Generator: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
ACM TOMS 47, 2021), its four words filled by SplitMix64 from a hash of (seed, game, purpose).
Streams never depend on how many numbers another stream gave, so two configurations of the rules
meet the same dice: their difference is paired, game by game.
"""

from __future__ import annotations

import math

import numpy as np

from sim.jit import jit

STREAM = np.dtype([("a", np.uint64), ("b", np.uint64), ("c", np.uint64), ("d", np.uint64)])

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TO_UNIT = 2.0**-53
# Shifts must be uint64 too: numba turns uint64 with int64 into float64.
_S = tuple(np.uint64(n) for n in range(64))
_S11, _S17, _S19, _S23, _S27, _S30, _S31, _S32, _S41, _S45 = (_S[n] for n in (11, 17, 19, 23, 27, 30, 31, 32, 41, 45))


@jit
def _mix(x):
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit reaches every output bit."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@jit
def open_stream(stream, seed, game, purpose):
    """Set `stream` (one STREAM record) to the start of the stream of (seed, game, purpose), all integers."""
    x = _mix(_mix(_mix(np.uint64(seed) + _GOLDEN) ^ np.uint64(game)) + np.uint64(purpose) * _GOLDEN)
    x += _GOLDEN
    stream.a = _mix(x)
    x += _GOLDEN
    stream.b = _mix(x)
    x += _GOLDEN
    stream.c = _mix(x)
    x += _GOLDEN
    stream.d = _mix(x)


@jit
def next_word(stream):
    """The next 64 random bits (uint64)."""
    a, b, c, d = stream.a, stream.b, stream.c, stream.d
    total = a + d
    result = ((total << _S23) | (total >> _S41)) + a
    shifted = b << _S17
    c ^= a
    d ^= b
    stream.b = b ^ c
    stream.a = a ^ d
    stream.c = c ^ shifted
    stream.d = (d << _S45) | (d >> _S19)
    return result


@jit
def draw_below(stream, n):
    """Uniform integer (int64) in 0..n−1, 1 ≤ n < 2³¹, without bias (Lemire, ACM TOMACS 29, 2019)."""
    wide = np.uint64(n)
    product = (next_word(stream) >> _S32) * wide
    if (product & _LOW_32) < wide:
        least = (np.uint64(0x100000000) - wide) % wide
        while (product & _LOW_32) < least:
            product = (next_word(stream) >> _S32) * wide
    return np.int64(product >> _S32)


@jit
def draw_bit(stream, mask):
    """Index (int64) of a uniformly drawn set bit of `mask`, which must not be 0."""
    count = 0
    rest = mask
    while rest != 0:
        rest &= rest - 1
        count += 1
    skip = draw_below(stream, count)
    for _ in range(skip):
        mask &= mask - 1
    index = 0
    while (mask >> index) & 1 == 0:
        index += 1
    return index


@jit
def draw_unit(stream):
    """Uniform float64 in [0, 1), 53 bits."""
    return np.float64(next_word(stream) >> _S11) * _TO_UNIT


@jit
def draw_exponential(stream):
    """Exponential float64 of mean 1."""
    return -math.log(1.0 - draw_unit(stream))


@jit
def draw_normal(stream):
    """Standard normal float64 (Box and Muller, 1958; one of the pair)."""
    return math.sqrt(2.0 * draw_exponential(stream)) * math.cos(2.0 * math.pi * draw_unit(stream))


@jit
def draw_gamma(stream, shape):
    """Gamma float64 of shape ≥ 1 and scale 1 (Marsaglia and Tsang, ACM TOMS 26, 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = draw_normal(stream)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - draw_unit(stream)
        if u < 1.0 - 0.0331 * x * x * x * x:
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@jit
def draw_poisson(stream, mean):
    """Poisson int64 of mean ≥ 0: products of uniforms below 10, else Hörmann's PTRS (Insurance: Math. Econ. 12, 1993)."""
    if mean < 10.0:
        limit = math.exp(-mean)
        count = 0
        product = draw_unit(stream)
        while product > limit:
            count += 1
            product *= draw_unit(stream)
        return np.int64(count)
    log_mean = math.log(mean)
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = draw_unit(stream) - 0.5
        v = 1.0 - draw_unit(stream)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + mean + 0.43) if us > 0.0 else -1.0
        if us >= 0.07 and v <= v_r:
            return np.int64(k)
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= k * log_mean - mean - math.lgamma(k + 1.0):
            return np.int64(k)


@jit
def draw_trials(stream, log_miss):
    """Trials up to and with the first success (int64 ≥ 1, geometric); `log_miss` is ln(1 − chance of success)."""
    return np.int64(math.floor(math.log(1.0 - draw_unit(stream)) / log_miss)) + 1
