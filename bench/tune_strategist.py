"""Tune the strategist's parameters of Mint Tin by coordinate search. Run by hand: python bench/tune_strategist.py [games]

One parameter at a time is tried at other values; a value is kept if it scores better by more than two standard errors. Every
set meets the same dice (paired), on tuning seeds that no shipped report uses. The score of a set is its mean points plus its
lead in wins over each opponent, the shipped strategist among them, on both seats and at two monster dice.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import Policy, load_policy
from sim.engine import Table
from sim.experiment import PolicyChoice
from sim.games import mint_tin

TUNING_SEED = 7_000_000_000  # the reports use small seeds; each round has a seed of its own
OPPONENTS = (("random", 1), ("racer", 2), ("hero", 1), ("brawler", 3), ("strategist", 3))  # with their weights
MONSTER_DICE = (6, 4)
ROUNDS = 3
STEPS = {
    "blocking": (0, 1, 2, 3),
    "foothold": (1, 2, 3),
    "alarm": (0, 1, 2, 3),
    "gather": (-2, 0, 1),
    "safety": (0, 5, 6, 7, 8, 9),
    "patience": (2, 3, 4, 5, 6),
    "generosity": (0, 1, 2),
}


def load(name: str) -> Policy:
    """A shipped policy, compiled."""
    return load_policy(mint_tin, PolicyChoice(name), "tune_strategist", Path())


class Tuner:
    """Plays sets of parameters against the opponents and compares them game by game."""

    def __init__(self, games: int) -> None:
        self.games = games
        self.opponents = [(load(name), weight) for name, weight in OPPONENTS]
        self.strategist = load("strategist")
        fields = [f"{column.name}[{seat}]" for column in mint_tin.COLUMNS for seat in (range(2) if column.per_seat else range(1))]
        self.ending, self.points = fields.index("ending[0]"), fields.index("points[0]")

    def score(self, parameters: dict[str, float], seed: int) -> np.ndarray:
        """Score of the set in every game index; an unfinished game counts nothing."""
        total = np.zeros(self.games)
        share = sum(weight for _, weight in self.opponents) * len(MONSTER_DICE) * 2
        for die in MONSTER_DICE:
            rules = mint_tin.Rules(monster_die=die)
            for opponent, weight in self.opponents:
                line_up = [(self.strategist.call, self.strategist.values(tuple(parameters.items()))), (opponent.call, opponent.values(()))]
                for seat in range(2):
                    seated = line_up if seat == 0 else line_up[::-1]
                    rows = Table(mint_tin, rules, [call for call, _ in seated], [values for _, values in seated]).play(seed, 0, self.games)
                    ending = rows[:, self.ending]
                    worth = rows[:, self.points + seat] + (ending == seat) - (ending == 1 - seat)
                    total += weight / share * np.where(ending == mint_tin.UNFINISHED, 0, worth)
        return total

    def search(self, rounds: int) -> dict[str, float]:
        """The best set found, from the shipped one."""
        best = dict(self.strategist.defaults)
        for number in range(rounds):
            seed = TUNING_SEED + number
            reference = self.score(best, seed)
            print(f"round {number + 1}: {reference.mean():.4f} with {best}", flush=True)
            kept = False
            for name, values in STEPS.items():
                for value in values:
                    if value == best[name]:
                        continue
                    tried = self.score({**best, name: value}, seed)
                    gain = tried - reference
                    error = gain.std() / np.sqrt(self.games)
                    print(f"  {name} = {value}: {gain.mean():+.4f} ± {error:.4f}", flush=True)
                    if gain.mean() > 2 * error:
                        best, reference, kept = {**best, name: float(value)}, tried, True
            if not kept:
                break
        return best


if __name__ == "__main__":
    print("best:", Tuner(games=int(sys.argv[1]) if len(sys.argv) > 1 else 20_000).search(ROUNDS))
