"""Tunes the parameters of a Scoundrel policy: python bench/tune_scoundrel.py counter [generations]

Cross-entropy method (Rubinstein, 1999): each generation draws parameters around the last best ones, plays them all on
the same games, and keeps the best quarter. Seeds are TUNING_SEED + generation, used for nothing else: every figure
reported comes from seeds below it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import load_policy
from sim.engine import Table
from sim.experiment import PolicyChoice
from sim.games import scoundrel

TUNING_SEED = 900_000_000
POPULATION, KEPT = 32, 8
GAMES = 8_000
LEAST_SPREAD = 0.03  # of a parameter's size
WON, CROSSED = (next(n for n, c in enumerate(scoundrel.COLUMNS) if c.name == name) for name in ("won", "crossed"))


def fitness(policy: object, values: np.ndarray, seed: int, games: int) -> float:
    """Win rate, and a hundredth of the share crossed, which tells losing policies apart."""
    table = Table(scoundrel, scoundrel.Rules(), [policy.call], [values])
    rows = table.play(seed, 0, games)
    return float(rows[:, WON].mean() + 0.01 * rows[:, CROSSED].mean() / 10_000)


def main() -> None:
    """Tune from the policy's present defaults; print the best of each generation, and at last the mean parameters."""
    name, generations = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    policy = load_policy(scoundrel, PolicyChoice(name), "tuning", Path())
    names, centre = [key for key, _ in policy.defaults], np.array([value for _, value in policy.defaults])
    rng = np.random.default_rng(TUNING_SEED)
    spread = 0.4 * np.maximum(np.abs(centre), 1.0)
    for generation in range(generations):
        drawn = centre + spread * rng.standard_normal((POPULATION, len(centre)))
        drawn[:, :4] = np.maximum(drawn[:, :4], 0.02)  # denominators, and scales that cannot be negative
        drawn[0] = centre
        values = [fitness(policy, one, TUNING_SEED + generation, GAMES) for one in drawn]
        best = drawn[np.argsort(values)[-KEPT:]]
        centre, spread = best.mean(axis=0), np.maximum(best.std(axis=0), LEAST_SPREAD * np.abs(centre))
        print(
            f"{generation}: best {max(values):.4f}, last centre {values[0]:.4f}: " + ", ".join(f"{k}={v:.3f}" for k, v in zip(names, centre, strict=True)),
            flush=True,
        )


if __name__ == "__main__":
    main()
