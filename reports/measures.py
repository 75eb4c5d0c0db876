"""Measures of balance that are no plain metric, each with its interval, and their paired differences; `docs/metrics.md` defines them.

Seats and endings are read off how many games ended how, and differences off how many ended how in one cell and how in the other: for
each game a number is told for both cells, and the mean of the difference is what is sought (the delta method, where a measure is no mean).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from reports.run import EFFECT, OF_RACE, OF_SEATS, UNFINISHED, USE, WIN, Run
from reports.statistics import (
    AT_95,
    NO_FIGURE,
    Confidence,
    Difference,
    Interval,
    average,
    difference_variances,
    exact_share,
    mean,
    paired_mean,
    paired_share,
    ratio_of,
    share,
    within_one,
)

Measured = tuple[Interval, int]
Array = np.ndarray[Any, np.dtype[Any]]


def has_measure(run: Run, cell: dict[str, Any], name: str) -> bool:
    """Does a run have this measure of a cell? Seats cannot be compared where there is one, nor made to win where there are two."""
    least = 3 if name == "kingmaking" else 2 if name in (*OF_SEATS, *OF_RACE) else 1
    return name in run.metrics and run.metrics[name]["column"] is None and cell["seats"] >= least


def measure_cell(run: Run, cell: dict[str, Any], sure: Confidence = AT_95) -> Iterator[tuple[str, Interval, int]]:
    """Every measure that a run has of a cell: name, interval (shares as fractions) and the games behind it."""
    for name in run.metrics:
        if has_measure(run, cell, name):
            yield name, *measure(run, cell, name, sure)


def measure(run: Run, cell: dict[str, Any], name: str, sure: Confidence = AT_95) -> Measured:
    """One measure of a cell. Those of a sample of games have one interval, whatever play stopped at: the sample is fixed beforehand."""
    number = cell["cell"]
    if name.startswith((USE, EFFECT)):
        action = run.actions.index(name.removeprefix(USE).removeprefix(EFFECT))
        return measure_use(run, number, action) if name.startswith(USE) else measure_effect(run, number, action, AT_95)
    if name in OF_RACE:
        return measure_race(run, number, name, AT_95)
    if name == "ideal_duration":
        off = run.off_ideal(number)
        return _from_ideal(mean(off, sure, run.ideal_length)), off.n
    counts = run.endings(number)
    if name == "seat_gap":
        return gap_of_seats(counts, cell["seats"], sure), int(counts.sum())
    if name == "first_seat_advantage":
        return advantage_of_first(counts, cell["seats"], sure), int(counts.sum())
    left_out = _left_out(run, cell)
    return evenness_of_endings(counts, left_out, sure), int(counts.sum() - counts[left_out].sum())


def measure_differences(run: Run, number: int, sure: Confidence = AT_95) -> Iterator[tuple[str, Difference]]:
    """The difference of every measure that both cells of a pair have, by the pair's number."""
    both = [run.played[run.manifest["pairs"][number][which]] for which in ("cell", "reference")]
    for name in run.metrics:
        if all(has_measure(run, cell, name) for cell in both):
            yield name, measure_difference(run, number, name, sure)


def measure_difference(run: Run, number: int, name: str, sure: Confidence = AT_95) -> Difference:
    """A measure of a pair's cell minus that of its reference, over the games both played (of uses: both samples)."""
    cell, reference = (run.played[run.manifest["pairs"][number][which]] for which in ("cell", "reference"))
    if cell is reference:
        games = measure(run, cell, name, sure)[1]
        return Difference(Interval(0.0, 0.0, 0.0), games, math.inf, True)
    if name.startswith(EFFECT) or name in OF_RACE:
        return difference_of_samples(run, cell["cell"], reference["cell"], name, sure)
    if name.startswith(USE):
        return difference_of_uses(run, cell["cell"], reference["cell"], run.actions.index(name.removeprefix(USE)))
    if name == "ideal_duration":
        sums = run.pair_off_ideal(number)
        games = min(sums.x.n, sums.y.n)
        value, low, high = paired_mean(sums, sure, run.ideal_length)
        apart, paired = difference_variances(sums.x, sums.y, sums.both) if games > 1 else (0, 0)
        return Difference(Interval(-value, -high, -low), games, ratio_of(float(apart), float(paired)), sums.same)
    joint = run.pair_endings(number)
    seats = (cell["seats"], reference["seats"])
    if name == "seat_gap":
        found = difference_of_gaps(joint, seats, sure)
    elif name == "first_seat_advantage":
        found = contrast(joint, _weigh_first(len(joint), seats[0]), _weigh_first(len(joint), seats[1]), sure)
    else:
        found = difference_of_evenness(joint, (_left_out(run, cell), _left_out(run, reference)), sure)
    same = seats[0] == seats[1] and 0 < int(joint.sum()) == int(np.trace(joint))
    return Difference(found.interval, int(joint.sum()), found.ratio, same)


# ---------------------------------------------------------------- from how many games ended how


class Contrast(NamedTuple):
    """A mean difference over games, and its variance as of independent games over that as paired."""

    interval: Interval
    ratio: float


def contrast(joint: Array, ours: Array, theirs: Array, sure: Confidence = AT_95) -> Contrast:
    """Mean over games of ours[i] − theirs[j], of games that ended as i in the cell and as j in the reference; `joint` counts them.

    The limits are not beyond the least and the greatest difference there is.

    To the squares two games are added, one of the greatest difference each way: without them few unlike games, or none, would
    seem certain (Bonett and Price, Journal of Educational and Behavioral Statistics 37, 2012, for a difference of two shares).
    """
    n = int(joint.sum())
    if n < 2:
        return Contrast(NO_FIGURE, math.nan)
    each = ours[:, None] - theirs[None, :]
    value = float((each * joint).sum()) / n
    squares = float(((each - value) ** 2 * joint).sum())
    most = float(np.abs(each).max())
    half = sure.width(n) * math.sqrt((squares + 2 * most**2) / (n - 1) / n)
    apart = sum(float(counts @ (values - counts @ values / n) ** 2) for counts, values in ((joint.sum(axis=1), ours), (joint.sum(axis=0), theirs)))
    return Contrast(Interval(value, max(value - half, float(each.min())), min(value + half, float(each.max()))), ratio_of(apart, squares))


def gap_of_seats(counts: Array, seats: int, sure: Confidence = AT_95) -> Interval:
    """Largest difference of the win rates of two seats. Intervals of all pairs hold at once (Bonferroni), so that of the largest does."""
    n = int(counts.sum())
    if n == 0:
        return NO_FIGURE
    pairs = list(combinations([int(count) for count in counts[:seats]], 2))
    each = Confidence(sure.error / len(pairs), sure.anytime)
    gaps = [paired_share((x, n), (y, n), (n, x, y, 0), each) for x, y in pairs]
    low = max(max(gap.low, -gap.high, 0.0) for gap in gaps)
    return Interval(max(abs(gap.value) for gap in gaps), low, max(max(-gap.low, gap.high) for gap in gaps))


def difference_of_gaps(joint: Array, seats: tuple[int, int], sure: Confidence = AT_95) -> Contrast:
    """Difference of the largest gaps of two cells, by simultaneous intervals, since which seats are furthest apart is not known.

    For a gap u between two seats of one cell and v of the other, |u| − |v| is u − v or u + v, whichever is nearer to 0, its sign turned
    if the other is below 0. Both have an interval, and |u| − |v| is least and greatest at their ends. Of all pairs of seats at once
    (Bonferroni), the difference sought is max over u of min over v.
    """
    kinds = len(joint)
    ours, theirs = ([_weigh_pair(kinds, *pair) for pair in combinations(range(n), 2)] for n in seats)
    each = Confidence(sure.error / (2 * len(ours) * len(theirs)), sure.anytime)
    table = [[_compare_gaps(joint, u, v, each) for v in theirs] for u in ours]
    values = [[one.interval.value for one in row] for row in table]
    u = max(range(len(ours)), key=lambda k: min(values[k]))
    v = values[u].index(min(values[u]))
    return Contrast(Interval(*(max(min(one.interval[k] for one in row) for row in table) for k in range(3))), table[u][v].ratio)


def _compare_gaps(joint: Array, ours: Array, theirs: Array, sure: Confidence) -> Contrast:
    apart, together = contrast(joint, ours, theirs, sure), contrast(joint, ours, -theirs, sure)

    def without_signs(minus: float, plus: float) -> float:
        return math.copysign(min(abs(minus), abs(plus)), minus * plus)

    ends = [without_signs(*pair) for pair in product(apart.interval[1:], together.interval[1:])]
    value = without_signs(apart.interval.value, together.interval.value)
    nearer = apart if abs(apart.interval.value) <= abs(together.interval.value) else together
    return Contrast(Interval(value, min(ends), max(ends)), nearer.ratio)


def advantage_of_first(counts: Array, seats: int, sure: Confidence = AT_95) -> Interval:
    """Win rate of seat 0 minus the mean win rate of the other seats."""
    n = int(counts.sum())
    first, *others = (int(count) for count in counts[:seats])
    if len(others) == 1:
        return paired_share((first, n), (others[0], n), (n, first, others[0], 0), sure)
    return average(_weigh_first(len(counts), seats), counts, sure)


def _weigh_pair(kinds: int, first: int, other: int) -> Array:
    """What a game tells of the win rate of one seat minus that of another, by how it ended."""
    weights = np.zeros(kinds)
    weights[first], weights[other] = 1.0, -1.0
    return weights


def _weigh_first(kinds: int, seats: int) -> Array:
    """What a game tells of the advantage of seat 0, by how it ended."""
    weights = np.zeros(kinds)
    weights[:seats] = -1 / (seats - 1)
    weights[0] = 1.0
    return weights


RARE = 25  # an ending of fewer games is bounded by itself: so near 0, entropy is no straight line, and an ending not yet seen adds to it


class Evenness(NamedTuple):
    """Entropy of the endings that count, as a part of the greatest there could be; what a game adds to it by its ending, where that is not rare;
    how much lower or higher it may be for rare endings and for bias."""

    value: float
    weights: Array
    below: float
    above: float


def weigh_endings(counts: Array, left_out: Sequence[int], sure: Confidence) -> Evenness | None:
    """The evenness of endings (Shannon 1948) and its first-order terms: delta method, and a bias of (kinds − 1) / 2n (Miller 1955).

    As chances sum to 1, entropy is a sum over endings of p (1 − ln p − h) up to a constant, for any h; with the entropy found for h its
    slopes are those of the delta method. A rare ending's term is taken at its least and greatest between the limits of its share, which err as
    `sure` says.
    """
    kept = [ending for ending in range(len(counts)) if ending not in left_out]
    n, games, most = int(counts[kept].sum()), int(counts.sum()), math.log(max(len(kept), 1))
    if n < 2 or len(kept) < 2:
        return None
    entropy = -sum(count / n * math.log(count / n) for count in counts[kept].tolist() if count)

    def term(p: float) -> float:
        return p * (1 - math.log(p) - entropy) if p > 0 else 0.0

    weights = np.zeros(len(counts))
    below = above = (len(kept) - 1) / (2 * n)
    for ending in kept:
        count = int(counts[ending])
        if count >= RARE:
            weights[ending] = (-math.log(count / n) - entropy) * games / n
        else:
            p, low, high = share(count, n, sure)
            highest = min(max(math.exp(-entropy), low), high)  # where the term is greatest between the limits
            below += term(p) - min(term(low), term(high))
            above += term(highest) - term(p)
    return Evenness(entropy / most, weights / most, below / most, above / most)


def evenness_of_endings(counts: Array, left_out: Sequence[int], sure: Confidence = AT_95) -> Interval:
    """How evenly games end, with an interval for rare endings, too."""
    each = _part(sure, (counts, left_out))
    found = weigh_endings(counts, left_out, each)
    if found is None:
        return NO_FIGURE
    spread = average(found.weights, counts, each)
    below, above = spread.value - spread.low + found.below, spread.high - spread.value + found.above
    return Interval(found.value, max(found.value - below, 0.0), min(found.value + above, 1.0))


def difference_of_evenness(joint: Array, left_out: tuple[Sequence[int], Sequence[int]], sure: Confidence = AT_95) -> Contrast:
    """Difference of the evenness of endings of two cells; the interval is wider by what is rare in either."""
    both = ((joint.sum(axis=1), left_out[0]), (joint.sum(axis=0), left_out[1]))
    each = _part(sure, *both)
    ours, theirs = (weigh_endings(*one, each) for one in both)
    if ours is None or theirs is None:
        return Contrast(NO_FIGURE, math.nan)
    found = contrast(joint, ours.weights, theirs.weights, each)
    below, above = found.interval.value - found.interval.low + ours.below + theirs.above, found.interval.high - found.interval.value + ours.above + theirs.below
    value = ours.value - theirs.value
    return Contrast(within_one(Interval(value, value - below, value + above)), found.ratio)


def _part(sure: Confidence, *cells: tuple[Array, Sequence[int]]) -> Confidence:
    """The error is shared by the rare endings, of which each has an interval of its own, and all the others together."""
    rare = sum(int(count) < RARE for counts, left_out in cells for ending, count in enumerate(counts) if ending not in left_out)
    return Confidence(sure.error / (1 + rare), sure.anytime)


def _left_out(run: Run, cell: dict[str, Any]) -> list[int]:
    """The endings that are none: a game stopped at the limit, and wins of seats nobody sits at."""
    assert run.ending is not None
    unfinished, win = run.metrics.get(UNFINISHED, {}), run.metrics.get(WIN, {})
    empty = range(cell["seats"], run.manifest["seats_most"]) if win.get("column") == run.ending["name"] and win["per_seat"] else ()
    return [*empty, *([unfinished["equals"]] if unfinished.get("column") == run.ending["name"] else [])]


def _from_ideal(off: Interval) -> Interval:
    """How near games come to the ideal length, from how far off they are as a part of it (after Browne 2008)."""
    return Interval(1 - off.value, 1 - off.high, 1 - off.low)


# ---------------------------------------------------------------- from a sample of games


def measure_use(run: Run, cell: int, action: int) -> Measured:
    """Share of the decisions with a choice, among those where the action is legal, in which it is chosen.

    A ratio over batches of games (Cochran, Sampling Techniques, 6.3), Student's t; at least as wide as Wilson's interval.
    """
    legal, chosen = run.usage(cell)[:, :, action].T
    total, games = int(legal.sum()), int(run.manifest["usage_games"])
    if total == 0:
        return NO_FIGURE, games
    ratio = float(chosen.sum() / total)
    plain = share(int(chosen.sum()), total)
    if len(legal) < 2:
        return plain, games
    half = AT_95.width(len(legal)) * _spread(_residuals(legal, chosen))
    return Interval(ratio, max(min(ratio - half, plain.low), 0.0), min(max(ratio + half, plain.high), 1.0)), games


def difference_of_uses(run: Run, cell: int, reference: int, action: int) -> Difference:
    """Difference of two such shares: batches are of the same games in both cells. Two decisions are added, one each way, as in `contrast`."""
    (x_legal, x_chosen), (y_legal, y_chosen) = (run.usage(number)[:, :, action].T for number in (cell, reference))
    x_total, y_total, games = int(x_legal.sum()), int(y_legal.sum()), int(run.manifest["usage_games"])
    if min(x_total, y_total) == 0 or len(x_legal) < 2:
        return Difference(NO_FIGURE, games, math.nan, False)
    value = float(x_chosen.sum() / x_total - y_chosen.sum() / y_total)
    x, y = _residuals(x_legal, x_chosen), _residuals(y_legal, y_chosen)
    half = AT_95.width(len(x)) * math.sqrt(_spread(x - y) ** 2 + 1 / x_total**2 + 1 / y_total**2)
    interval = within_one(Interval(value, value - half, value + half))
    same = bool((x_legal == y_legal).all() and (x_chosen == y_chosen).all())
    return Difference(interval, games, ratio_of(_spread(x) ** 2 + _spread(y) ** 2, _spread(x - y) ** 2), same)


def _residuals(legal: Array, chosen: Array) -> Array:
    """What each batch adds to the error of the share of choices (chosen / legal)."""
    total = legal.sum()
    residuals: Array = (chosen - chosen.sum() / total * legal) / total
    return residuals


def _spread(residuals: Array) -> float:
    """Standard error of a sum of independent residuals whose mean is 0."""
    return math.sqrt(len(residuals) / (len(residuals) - 1) * float(np.sum(residuals**2)))


def measure_effect(run: Run, cell: int, action: int, sure: Confidence) -> Measured:
    """Of the games in which an action was chosen, played again without it, share that ended otherwise: exact binomial."""
    again, changed = (int(n) for n in run.effects(cell)[action])
    return exact_share(changed, again, sure), again


def measure_race(run: Run, cell: int, name: str, sure: Confidence) -> Measured:
    """Share of games with a seat out of the race that still has choices, or of those in which such choices change who wins."""
    games, out, again, changed = (int(n) for n in run.race(cell))
    return (exact_share(out, games, sure), games) if name == "out_of_race" else (exact_share(changed, again, sure), again)


def difference_of_samples(run: Run, cell: int, reference: int, name: str, sure: Confidence) -> Difference:
    """Difference of two such shares. The games played again are partly the same: the limits of both, each at half the error, allow for any correlation."""
    each = Confidence(sure.error / 2)
    if name in OF_RACE:
        (x, games), (y, others) = (measure_race(run, number, name, each) for number in (cell, reference))
    else:
        action = run.actions.index(name.removeprefix(EFFECT))
        (x, games), (y, others) = (measure_effect(run, number, action, each) for number in (cell, reference))
    return Difference(Interval(x.value - y.value, x.low - y.high, x.high - y.low), min(games, others), math.nan, False)
