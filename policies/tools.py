"""What a policy's author needs: `policy` marks a function as one, the rest help to write it."""

from __future__ import annotations

from sim.jit import jit
from sim.rng import draw_bit

policy = jit


@jit
def can(legal, action):
    """Is `action` (an Action) among the legal ones (bit mask)?"""
    return (legal >> action) & 1 == 1


@jit
def draw_legal(stream, legal):
    """A uniformly drawn action (int64) of the bit mask `legal`, which must not be 0."""
    return draw_bit(stream, legal)
