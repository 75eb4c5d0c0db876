"""A skill ladder from a sweep of each policy against each on both seats: a rating with its interval, and how much skill decides.

Bradley and Terry (Biometrika 39, 1952) with an advantage of the first seat (Davidson and Beaver, Biometrics 33, 1977): the odds that a
policy on seat 0 beats another are exp(rating − other rating + advantage). A game nobody wins counts as half a win for each.
Maximum likelihood; Hunter (Annals of Statistics 32, 2004) gives the condition for there to be a maximum, which half a win added to
either side of every cell ensures. Ratings are in the points of Elo, 400 / ln 10 to a unit of log odds, and their mean is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.run import WIN, Run
from reports.statistics import AT_95, Confidence, Interval
from reports.tables import confidence_of

SEATS = ("policies[0]", "policies[1]")
POINTS = 400 / math.log(10)


@dataclass(frozen=True)
class Meeting:
    """Games of policy `first` on seat 0 against `second` on seat 1: won by either, and all."""

    first: int
    second: int
    wins: int
    losses: int
    games: int

    @property
    def score(self) -> float:
        """Wins of seat 0, games nobody won counting half."""
        return self.wins + (self.games - self.wins - self.losses) / 2

    @property
    def spread(self) -> float:
        """Standard deviation of the score, half a win added to either side."""
        mean = (self.score + 0.5) / (self.games + 1)
        squares = (self.wins + (self.games - self.wins - self.losses) / 4 + 0.5) / (self.games + 1)
        return math.sqrt(self.games * (squares - mean**2))


@dataclass(frozen=True)
class Ladder:
    """Policies with their ratings, best first; what the first seat is worth; the share of games that the better policy wins."""

    ratings: list[tuple[str, Interval]]
    advantage: Interval
    better_wins: Interval


def find_ladder(run: Run) -> Ladder | None:
    """The ladder of a run that sweeps the policies of both of two seats, and nothing else; None for others, and where some have not met."""
    if set(run.swept) != set(SEATS) or run.manifest["sweep_mode"] != "grid" or any(cell["seats"] != 2 for cell in run.cells):
        return None
    names = list(dict.fromkeys(cell["policies"][seat]["label"] for seat in range(2) for cell in run.cells))
    meetings = []
    for cell in run.cells:
        wins = [f for f in run.figures(cell) if f["metric"] == WIN]
        if len(wins) != 2:
            return None
        won, lost = (run.sums(cell["cell"], f["field"]).count_of(f["equals"]) for f in wins)
        first, second = (names.index(policy["label"]) for policy in cell["policies"])
        meetings.append(Meeting(first, second, won, lost, run.sums(cell["cell"], wins[0]["field"]).n))
    return rate(names, meetings, confidence_of(run)) if len(names) > 1 and all(m.games for m in meetings) else None


def rate(names: Sequence[str], meetings: Sequence[Meeting], sure: Confidence = AT_95) -> Ladder:
    """Fit ratings to meetings by Newton's method.

    Cells share their dice, so their results are not independent: intervals hold for any correlation of the cells, as the errors that
    each cell brings are added without cancelling.
    """
    count = len(names)
    design = np.zeros((len(meetings), count + 1))
    for row, meeting in enumerate(meetings):
        design[row, meeting.first] += 1
        design[row, meeting.second] -= 1
        design[row, count] = 1
    games = np.array([m.games + 1.0 for m in meetings])
    scores = np.array([m.score + 0.5 for m in meetings])
    anchor = np.outer(*[np.append(np.ones(count), 0.0)] * 2)  # holds the sum of the ratings at 0, and touches nothing else
    strengths = np.zeros(count + 1)
    for _ in range(100):
        chances = 1 / (1 + np.exp(-design @ strengths))
        inverse = np.linalg.inv(design.T @ ((games * chances * (1 - chances))[:, None] * design) + anchor)
        step = inverse @ (design.T @ (scores - games * chances) - anchor @ strengths)
        strengths += np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-12:
            break
    errors = np.abs(inverse @ design.T) @ np.array([m.spread for m in meetings])
    z = sure.width(min(m.games for m in meetings)) if sure.anytime else sure.z
    intervals = [Interval(*(POINTS * x for x in (s, s - z * e, s + z * e))) for s, e in zip(strengths, errors, strict=True)]
    ratings = sorted(zip(names, intervals[:count], strict=True), key=lambda pair: -pair[1].value)
    return Ladder(ratings, intervals[count], _count_better(strengths, meetings, z))


def _count_better(strengths: np.ndarray[tuple[int], np.dtype[np.float64]], meetings: Sequence[Meeting], z: float) -> Interval:
    """Mean over meetings of two unlike policies of the share that the better one wins."""
    unlike = [m for m in meetings if m.first != m.second]
    shares = [m.score / m.games if strengths[m.first] > strengths[m.second] else 1 - m.score / m.games for m in unlike]
    half = z * sum(m.spread / m.games for m in unlike) / len(unlike)
    value = sum(shares) / len(unlike)
    return Interval(*(100 * x for x in (value, max(value - half, 0.0), min(value + half, 1.0))))
