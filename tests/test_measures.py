"""Measures of balance compared game by game, where the truth is known: laws of endings with exact values, games played again by other means."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from policies.loading import load_line_ups
from reports.findings import find
from reports.measures import (
    advantage_of_first,
    contrast,
    difference_of_evenness,
    difference_of_gaps,
    difference_of_uses,
    evenness_of_endings,
    gap_of_seats,
    measure,
    measure_difference,
)
from reports.results import Results
from reports.run import Run
from reports.statistics import AT_95, Confidence, Interval, exact_share
from reports.tables import differences_table
from reports.verdicts import compare, judge
from sim.batch import looks
from sim.experiment import Experiment, parse_comparison, parse_experiment
from sim.games import kitty_paw, mint_tin
from sim.replay import watch
from sim.rng import draw_bit
from sim.store import write_run
from sim.usage import WITHOUT, Usage, _Sample, count_usage
from sim.workers import play_experiment
from tests.players import seat_table
from tests.test_reports import off_ideal, play, store
from tests.test_verdicts import run_of, target

ANYTIME = Confidence(0.05, anytime=True)
UNFINISHED = 3  # endings of the laws below: seat 0, seat 1, nobody, unfinished


def law(agree: float, ours: list[float], theirs: list[float]) -> np.ndarray[Any, Any]:
    """Chances of (ending in the cell, ending in the reference): with chance `agree` both are the same luck, drawn from the common part."""
    x, y = np.array(ours), np.array(theirs)
    same = np.minimum(x, y) * agree
    rest = 1 - same.sum()
    joint = np.diag(same)
    return joint + np.outer(x - same, y - same) / rest if rest > 1e-12 else joint


def gap(shares: Any) -> float:
    return max(abs(a - b) for a, b in combinations(shares[:2], 2))


def evenness(shares: Any) -> float:
    kept = np.array(shares[:UNFINISHED]) / sum(shares[:UNFINISHED])
    return float(-(kept[kept > 0] * np.log(kept[kept > 0])).sum() / math.log(UNFINISHED))


LAWS = {
    "even and even": law(0.9, [0.45, 0.45, 0.1, 0.0], [0.4, 0.4, 0.2, 0.0]),
    "even and uneven": law(0.8, [0.45, 0.45, 0.09, 0.01], [0.5, 0.4, 0.1, 0.0]),
    "uneven both ways": law(0.9, [0.3, 0.6, 0.1, 0.0], [0.55, 0.35, 0.1, 0.0]),
    "all endings alike": law(0.5, [1 / 3, 1 / 3, 1 / 3, 0.0], [1 / 3, 1 / 3, 1 / 3, 0.0]),
    "hardly a difference": law(0.9999, [0.5001, 0.3999, 0.1, 0.0], [0.5, 0.4, 0.1, 0.0]),
    "an ending known from few games": law(0.9, [0.486, 0.5, 0.014, 0.0], [0.49, 0.5, 0.01, 0.0]),
    "a rare ending": law(0.99, [0.4995, 0.5, 0.0005, 0.0], [0.4999, 0.5, 0.0001, 0.0]),
}
Found = Callable[[np.ndarray[Any, Any], Confidence], Interval]
FIRST = np.array([1.0, -1.0, 0.0, 0.0])
MEASURED: dict[str, tuple[Found, Callable[[Any, Any], float]]] = {
    "seat_gap": (lambda joint, sure: gap_of_seats(joint.sum(axis=1), 2, sure), lambda x, _: gap(x)),
    "first_seat_advantage": (lambda joint, sure: advantage_of_first(joint.sum(axis=1), 2, sure), lambda x, _: x[0] - x[1]),
    "ending_evenness": (lambda joint, sure: evenness_of_endings(joint.sum(axis=1), [UNFINISHED], sure), lambda x, _: evenness(x)),
    "delta.seat_gap": (lambda joint, sure: difference_of_gaps(joint, (2, 2), sure).interval, lambda x, y: gap(x) - gap(y)),
    "delta.first_seat_advantage": (lambda joint, sure: contrast(joint, FIRST, FIRST, sure).interval, lambda x, y: x[0] - x[1] - y[0] + y[1]),
    "delta.ending_evenness": (
        lambda joint, sure: difference_of_evenness(joint, ([UNFINISHED], [UNFINISHED]), sure).interval,
        lambda x, y: evenness(x) - evenness(y),
    ),
}


def cover(joint: np.ndarray[Any, Any], name: str, games: list[int], sure: Confidence, runs: int) -> float:
    """Share of runs whose interval holds the truth at every one of these numbers of games."""
    found, truth_of = MEASURED[name]
    truth = truth_of(joint.sum(axis=1), joint.sum(axis=0))
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(runs):
        steps = [rng.multinomial(n, joint.ravel()) for n in np.diff([0, *games])]
        intervals = [found(counts.reshape(joint.shape), sure) for counts in np.cumsum(steps, axis=0)]
        held += all(i.low - 1e-12 <= truth <= i.high + 1e-12 for i in intervals)
    return held / runs


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("which", LAWS)
def test_intervals_cover_the_truth_after_games_fixed_beforehand(name: str, which: str) -> None:
    assert cover(LAWS[which], name, [2000], AT_95, 400) >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / 400)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("which", LAWS)
def test_sequences_hold_at_every_look_of_whole_runs(name: str, which: str) -> None:
    assert cover(LAWS[which], name, looks(200_000), ANYTIME, 200) >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / 200)


def test_three_seats_may_be_apart_in_any_pair() -> None:
    """Cells of two and three seats too: the largest gap of each, whichever seats it is between."""
    rng = np.random.default_rng(4)
    ours, theirs = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.35, 0.65, 0.0, 0.0])
    joint = law(0.7, list(ours), list(theirs))
    truth, runs, held = 0.3 - 0.3, 200, 0
    for _ in range(runs):
        interval = difference_of_gaps(rng.multinomial(3000, joint.ravel()).reshape(4, 4), (3, 2)).interval
        assert interval.low <= interval.value <= interval.high
        held += interval.low <= truth <= interval.high
    assert held / runs >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / runs)


# ---------------------------------------------------------------- of stored runs


def two_cells(folder: Path) -> Run:
    cells = [({"rules.die": die}, play(4000, draws=die / 20, pace=200 + 20 * die)) for die in (6, 4)]
    return Run(store(folder, cells, ideal_minutes=8))


@pytest.mark.parametrize("n", [5, 20, 50, 200])
@pytest.mark.parametrize("chances", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2), (0.25, 0.25, 0.25, 0.25)])
def test_evenness_of_few_games_covers_the_truth_and_holds_its_value(chances: tuple[float, ...], n: int) -> None:
    rng = np.random.default_rng(n)
    truth = -sum(p * math.log(p) for p in chances) / math.log(len(chances))
    repeats, held = 400, 0
    for counts in rng.multinomial(n, chances, repeats):
        found = evenness_of_endings(counts, ())
        assert found.low <= found.value <= found.high
        held += found.low <= truth <= found.high
    assert held / repeats > 0.95 - 5 * math.sqrt(0.95 * 0.05 / repeats)


def test_differences_are_those_of_the_figures_and_of_the_games(tmp_path: Path) -> None:
    run = two_cells(tmp_path)
    rows = differences_table(run).set_index("metric")
    for name in ("seat_gap", "first_seat_advantage", "ending_evenness", "ideal_duration"):
        apart = [measure(run, cell, name)[0].value for cell in run.cells]
        assert rows.loc[name, "value"] == pytest.approx(apart[1] - apart[0], abs=1e-12)
        assert rows.loc[name, "games"] == 4000
    x, y = (1 - off_ideal(play(4000, draws=die / 20, pace=200 + 20 * die).seconds, 8) / 960 for die in (4, 6))
    assert rows.loc["ideal_duration", "value"] == pytest.approx((x - y).mean(), abs=1e-12)
    half = (rows.loc["ideal_duration", "high"] - rows.loc["ideal_duration", "low"]) / 2
    variance = (x - y).var(ddof=1) / 4000
    assert half == pytest.approx(1.96055 * math.sqrt(variance * (1 + 2 / (x != y).sum())), rel=1e-4)
    assert rows.loc["ideal_duration", "variance_ratio"] == pytest.approx((x.var() + y.var()) / (x - y).var(), rel=1e-9)


def test_the_ideal_duration_is_the_mean_of_the_games_exactly() -> None:
    experiment = parse_experiment({"game": "mint-tin", "policies": ["racer"], "games": 3000, "ideal_minutes": 1.5}, Path("x.toml"))
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    seconds = seat_table(mint_tin, mint_tin.Rules(), ["racer", "racer"]).play(1, 0, 3000)[:, 4]
    scores = np.maximum(1 - np.abs(seconds - 9000) / 9000, 0)
    found, games = measure(run, run.cells[0], "ideal_duration")
    assert (found.value, games) == (pytest.approx(scores.mean(), abs=1e-12), 3000)


def test_a_measure_compared_with_itself_differs_by_exactly_0() -> None:
    experiment = parse_comparison("mint-tin", ["rules.monster_die=4"], ["rules.monster_die=4"], ["racer"], games=500)
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    lines = {line.name: line for line in compare(run)}
    for name in ("seat_gap", "first_seat_advantage", "ending_evenness", "ideal_duration"):
        assert (lines[name].difference.interval, lines[name].word) == (Interval(0.0, 0.0, 0.0), "EQUAL")


def test_measures_can_be_targets_as_they_are_and_as_differences(tmp_path: Path) -> None:
    names = ("seat_gap", "first_seat_advantage", "ending_evenness", "ideal_duration")
    targets = [target(prefix + name, at_most=0.9) for prefix in ("", "delta.") for name in names]
    cells = [({"rules.die": die}, play(3000, draws=die / 20)) for die in (6, 5)]
    run = Run(store(tmp_path, cells, targets=targets, ideal_minutes=10))
    verdicts = judge(run)
    assert [v.measure.name for v in verdicts] == [n for name in names for n in (name, name)] + [f"delta.{name}" for name in names]
    sure = Confidence(0.05 / len(verdicts))
    assert verdicts[0].measure.interval == measure(run, run.cells[0], "seat_gap", sure)[0]
    assert verdicts[-4].measure.interval == measure_difference(run, 0, "seat_gap", sure).interval


def test_evenness_is_of_the_endings_that_the_seats_at_the_table_can_have() -> None:
    """Two even seats of a game for up to four: of three endings, a win of either or a shared one."""
    experiment = parse_experiment({"game": "kitty-paw", "policies": ["quick"], "games": 4000, "sweep": {"seats": [2, 3]}}, Path("x.toml"))
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    for cell in run.cells:
        counts = run.endings(cell["cell"])[[*range(cell["seats"]), kitty_paw.NOBODY]]
        shares = counts[counts > 0] / counts.sum()
        found, games = measure(run, cell, "ending_evenness")
        assert (found.value, games) == (pytest.approx(-(shares * np.log(shares)).sum() / math.log(cell["seats"] + 1)), 4000)
    difference = measure_difference(run, 0, "ending_evenness")
    apart = [measure(run, cell, "ending_evenness")[0].value for cell in run.cells]
    assert difference.interval.value == pytest.approx(apart[1] - apart[0])


# ---------------------------------------------------------------- uses


def test_differences_of_uses_cover_the_truth() -> None:
    """Batches with a mood of their own, the same in both cells."""
    rng = np.random.default_rng(6)
    runs, held = 400, 0
    for _ in range(runs):
        mood = rng.beta(20, 20, 20)
        legal = rng.poisson(300, (2, 20))
        chosen = [rng.binomial(legal[0], mood), rng.binomial(legal[1], 0.8 * mood)]
        arrays = [np.array([[legal[n], chosen[n]]]).transpose(2, 1, 0) for n in range(2)]
        stub: Any = SimpleNamespace(usage=arrays.__getitem__, manifest={"usage_games": 2000})
        difference = difference_of_uses(stub, 0, 1, 0)
        held += difference.interval.low <= 0.1 <= difference.interval.high
        assert difference.ratio > 1
    assert held / runs >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / runs)


# ---------------------------------------------------------------- actions tried without, and seats out of the race


def experiment_of(game: str, policies: list[str], **changes: Any) -> Experiment:
    return parse_experiment({"game": game, "policies": policies, "games": 300, **changes}, Path("made_up.toml"))


def sample_of(experiment: Experiment) -> Usage:
    return count_usage(experiment, load_line_ups(experiment))[0]


def ending_without(game: int, action: int) -> int:
    """How a game of these two ends without an action: the loop uncompiled, with another `legal_actions`; another `act` if they insist."""
    table = seat_table(mint_tin, mint_tin.Rules(), ["racer", "brawler"])
    state, rules = table.states[0], table.rules[0]

    def allowed(_state: Any, _rules: Any) -> int:
        legal = int(mint_tin.legal_actions(state, rules))
        return legal & ~(1 << action) or legal

    def act(_state: Any, _rules: Any, streams: Any, chosen: int) -> None:
        others = int(mint_tin.legal_actions(state, rules)) & ~(1 << action)
        by_lot = chosen == action and others
        mint_tin.act(state, rules, streams, int(draw_bit(streams[mint_tin.PURPOSES + int(mint_tin.turn(state))], others)) if by_lot else chosen)

    for changed in ({"legal_actions": allowed}, {"act": act}):
        table.module = SimpleNamespace(**{**vars(mint_tin), **changed})
        outcome = watch(table, 1, game).outcome
        if outcome:
            return int(outcome["ending"])
    raise AssertionError


def test_games_played_again_are_those_a_replay_without_the_action_shows() -> None:
    sample = sample_of(experiment_of("mint-tin", ["racer", "brawler"], games=40))
    table = seat_table(mint_tin, mint_tin.Rules(), ["racer", "brawler"])
    plays = [watch(table, 1, game) for game in range(40)]
    for action in (mint_tin.Action.KNOCK_DOWN, mint_tin.Action.TOSS_OUT, mint_tin.Action.PASS):
        name = action.name.lower()
        games = [g for g, one in enumerate(plays) if any(s.action == name and len(s.legal) > 1 for s in one.steps)]
        changed = sum(ending_without(g, action) != plays[g].outcome["ending"] for g in games)
        assert sample.effects[action].tolist() == [len(games), changed]


def test_an_action_that_does_nothing_changes_nothing_and_is_named(tmp_path: Path) -> None:
    """A check that takes no time and notices nothing."""
    rules = {"check_seconds": 0.0, "check_hit_rate": 0.0}
    experiment = experiment_of("kitty-paw", ["greedy"], rules=rules, baseline={"rules": rules})
    line_ups = load_line_ups(experiment)
    usage = count_usage(experiment, line_ups)
    assert usage[0].effects[kitty_paw.Action.CHECK].tolist() == [WITHOUT, 0]
    assert usage[0].effects[kitty_paw.Action.SHOUT][0] == WITHOUT
    write_run(tmp_path, experiment, play_experiment(experiment, line_ups), "command", usage)
    run = Run(tmp_path)
    assert measure(run, run.cells[0], "effect_check") == (exact_share(0, WITHOUT), WITHOUT)
    told = {finding.subject: finding.text for finding in find(Results(run))}
    assert "check (0 of 100 games; 3.7% of the games at most)" in told["Actions without effect:"]


def test_an_action_that_all_hangs_on_changes_every_game() -> None:
    sample = sample_of(experiment_of("mint-tin", ["racer"]))
    assert sample.effects[mint_tin.Action.CLOSE_SHELTER].tolist() == [WITHOUT, WITHOUT]
    assert sample.race.tolist() == [300, 0, 0, 0]  # nobody is ever known to be out of that race


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("rules", [{}, {"five_counts": "all"}, {"wrong_call": "last", "last_to_touch": "all_others", "penalty_points": [3, 3, 3]}])
def test_a_seat_called_out_never_wins_whatever_it_and_others_do(seats: int, rules: dict[str, Any]) -> None:
    experiment = experiment_of("kitty-paw", ["random"] * (seats - 1) + ["quick"], games=2000, rules=rules)
    sample = _Sample(experiment, 0, load_line_ups(experiment)[0])
    seen = 0
    for batch in range(sample.batches):
        counted = sample.count(batch)
        out = dict(zip(counted["endings"], counted["out"], strict=True))
        assert not any(out[game] >> winner & 1 for game, winner in counted["endings"].items() if winner < seats)
        for seat in range(seats):
            of_seat = [game for game, mask in out.items() if mask >> seat & 1]
            assert seat not in sample.play(of_seat, by_lot=1 << seat).values()
        seen += sum(mask > 0 for mask in out.values())
    assert seen > 50


def test_kingmaking_is_what_a_replay_by_lot_shows() -> None:
    experiment = experiment_of("kitty-paw", ["plain"], seats=3, games=60)
    sample = sample_of(experiment)
    table = seat_table(kitty_paw, kitty_paw.Rules(), ["plain"] * 3)
    state, rules = table.states[0], table.rules[0]
    asked: set[int] = set()

    def play_again(game: int, by_lot: int | None) -> int:
        def act(_state: Any, _rules: Any, streams: Any, action: int) -> None:
            seat, legal = int(kitty_paw.turn(state)), int(kitty_paw.legal_actions(state, rules))
            if legal & (legal - 1) and kitty_paw.is_out(state, rules, seat):
                asked.add(seat)
                action = int(draw_bit(streams[kitty_paw.PURPOSES + seat], legal)) if seat == by_lot else action
            kitty_paw.act(state, rules, streams, action)

        asked.clear()
        table.module = SimpleNamespace(**{**vars(kitty_paw), "act": act})
        return int(watch(table, experiment.seed, game).outcome["winner"])

    out = changed = 0
    for game in range(60):
        winner = play_again(game, None)
        seats = sorted(asked)
        out += bool(seats)
        changed += any(play_again(game, seat) != winner for seat in seats)
    assert sample.race.tolist() == [60, out, out, changed]
    assert 0 < changed < out


def test_the_exact_interval_is_that_of_clopper_and_pearson() -> None:
    assert exact_share(0, 100) == pytest.approx((0, 0, 1 - 0.025**0.01), abs=1e-12)
    assert exact_share(100, 100) == pytest.approx((1, 0.025**0.01, 1), abs=1e-12)
    assert exact_share(3, 10) == pytest.approx((0.3, 0.0667395, 0.6524529), abs=1e-6)
