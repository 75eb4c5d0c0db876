"""Measures of balance on cases whose truth is known: hand-built outcomes, games counted again move by move, ratings with a closed form."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.loading import load_line_ups
from reports.findings import find
from reports.ladder import POINTS, Meeting, find_ladder, rate
from reports.report import build_report
from reports.results import Results
from reports.run import Run
from reports.statistics import average
from sim.errors import InputError
from sim.experiment import BASELINE, parse_experiment
from sim.games import mint_tin
from sim.outcomes import MISSING
from sim.replay import watch
from sim.store import write_run
from sim.usage import BATCHES, count_usage, split_sample
from sim.workers import play_experiment
from tests.players import seat_table
from tests.test_reports import Outcomes, play, store


def measure(folder: Path, name: str, cell: int = 0) -> Any:
    """One measure's row of metrics.csv, as the tables have it."""
    metrics = Results(Run(folder)).metrics
    return metrics[(metrics["metric"] == name) & (metrics["cell"] == cell)].iloc[0]


def outcomes_of(counts: list[int], seconds: int = 300, seats: int = 2) -> Outcomes:
    """So many games of each ending: seats, then nobody, then unfinished."""
    ending = np.repeat(np.arange(len(counts)), counts)
    return Outcomes(ending, np.full(len(ending), seconds), np.full(len(ending), MISSING), [np.zeros(len(ending), np.int64)] * seats)


# ---------------------------------------------------------------- measures of distributions


def test_seat_gap_and_first_seat_advantage_are_differences_of_win_rates(tmp_path: Path) -> None:
    folder = store(tmp_path, [({}, outcomes_of([300, 500, 200]))])
    gap, advantage = measure(folder, "seat_gap"), measure(folder, "first_seat_advantage")
    assert gap["value"] == pytest.approx(0.2)
    assert advantage["value"] == pytest.approx(-0.2)
    error = math.sqrt((0.8 - 0.2**2) / 1000)
    assert (advantage["high"] - advantage["low"]) / 2 == pytest.approx(1.96 * error, rel=0.01)
    assert (gap["low"], gap["high"]) == pytest.approx((-advantage["high"], -advantage["low"]))


def test_the_gap_of_even_seats_reaches_down_to_zero(tmp_path: Path) -> None:
    gap = measure(store(tmp_path, [({}, outcomes_of([500, 500, 0]))]), "seat_gap")
    assert (gap["value"], gap["low"]) == (0, 0)
    assert 0 < gap["high"] < 0.1


def test_with_four_seats_the_gap_is_the_largest_and_its_interval_holds_for_all(tmp_path: Path) -> None:
    folder = store(tmp_path, [({}, outcomes_of([100, 200, 300, 400, 0], seats=4))])
    gap, advantage = measure(folder, "seat_gap"), measure(folder, "first_seat_advantage")
    assert gap["value"] == pytest.approx(0.3)
    assert (gap["high"] - gap["low"]) / 2 > 1.96 * math.sqrt((0.5 - 0.3**2) / 1000)  # wider than for one pair alone
    assert advantage["value"] == pytest.approx(0.1 - 0.3)


def test_the_gap_covers_the_truth_of_even_seats(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    inside = 0
    for trial in range(200):
        counts = [int(n) for n in rng.multinomial(400, [0.45, 0.45, 0.1])]
        row = measure(store(tmp_path / str(trial), [({}, outcomes_of(counts))]), "first_seat_advantage")
        inside += row["low"] <= 0 <= row["high"]
    assert inside / 200 > 0.95 - 5 * math.sqrt(0.95 * 0.05 / 200)


@pytest.mark.parametrize(("counts", "evenness"), [([500, 500, 500], 1.0), ([900, 0, 0], 0.0), ([500, 500, 0], math.log(2) / math.log(3))])
def test_ending_evenness_is_entropy_over_its_greatest(tmp_path: Path, counts: list[int], evenness: float) -> None:
    row = measure(store(tmp_path, [({}, outcomes_of([*counts, 77]))]), "ending_evenness")  # 77 unfinished games do not count
    assert row["value"] == pytest.approx(evenness)
    assert row["games"] == sum(counts)
    assert row["low"] <= evenness <= row["high"]


@pytest.mark.parametrize(("minutes", "score"), [(10, 1.0), (5, 0.5), (15, 0.5), (25, 0.0)])
def test_ideal_duration_falls_linearly_from_the_ideal(tmp_path: Path, minutes: int, score: float) -> None:
    folder = store(tmp_path, [({}, outcomes_of([50, 50, 0], seconds=minutes * 60 * 2))], ideal_minutes=10)
    assert measure(folder, "ideal_duration")["value"] == pytest.approx(score)


def test_average_is_the_mean_with_students_interval_and_two_games_more() -> None:
    interval = average(np.array([0.0, 1.0]), np.array([20, 20]))
    assert interval.value == 0.5
    assert interval.high - interval.value == pytest.approx(2.022691 * math.sqrt(10 / 39 / 40 + 2 / 39 / 40), rel=1e-6)
    assert average(np.array([0.0, 1.0]), np.array([2, 2])) == (0.5, 0.0, 1.0)  # nothing beyond


# ---------------------------------------------------------------- drama, counted again move by move


def lead_of(state: dict[str, Any]) -> int:
    """Action rolls seat 0 is ahead; the seat that has closed is out of reach."""
    if state["closed_by"] != mint_tin.NOBODY:
        return 1000 if state["closed_by"] == 0 else -1000
    return int(state["to_close"][1] - state["to_close"][0])


@pytest.mark.parametrize("knobs", [{}, {"manhole": True, "cover_throws": "unlimited"}, {"mode": "omg"}])
def test_drama_decisive_moment_and_leaders_are_those_of_the_moves(knobs: dict[str, Any]) -> None:
    table = seat_table(mint_tin, mint_tin.Rules(**knobs), ["brawler", "random"])
    for game in range(60):
        played = watch(table, 4, game)
        leads = [lead_of(step.before) for step in played.steps if step.action is None]
        winner = played.outcome["ending"]
        for tenth in (1, 2, 3, 4, 6, 7, 8, 9):
            lead = leads[len(leads) * tenth // 10]
            leader = None if lead == 0 else int(lead < 0)
            assert played.outcome[f"leader_at_{10 * tenth}_won"] == (MISSING if leader is None else int(leader == winner))
        told = [played.outcome[name] for name in ("winner_behind_mean", "winner_behind_most", "decisive_moment")]
        if winner > 1:
            assert told == [MISSING] * 3
            continue
        behind = [min(max(-lead if winner == 0 else lead, 0), mint_tin.DISTANT) for lead in leads]
        ahead = [lead > 0 if winner == 0 else lead < 0 for lead in leads]
        settled = max((n + 1 for n, one in enumerate(ahead) if not one), default=0)
        assert told == [math.floor(100 * sum(behind) / len(leads) + 0.5), max(behind), math.floor(1000 * settled / len(leads) + 0.5)]


# ---------------------------------------------------------------- use of actions


def experiment_of(games: int = 300, **changes: Any) -> Any:
    return parse_experiment({"game": "mint-tin", "policies": ["brawler", "racer"], "games": games, **changes}, Path("made_up.toml"))


def test_actions_are_counted_as_a_replay_shows_them() -> None:
    experiment = experiment_of(40)
    (counts, _, _), *_ = count_usage(experiment, load_line_ups(experiment))
    legal: Counter[str] = Counter()
    chosen: Counter[str] = Counter()
    table = seat_table(mint_tin, mint_tin.Rules(), ["brawler", "racer"])
    for game in range(40):
        for step in watch(table, experiment.seed, game).steps:
            if step.action is not None and len(step.legal) > 1:
                legal.update(step.legal)
                chosen[step.action] += 1
    assert counts.shape == (BATCHES, 2, len(mint_tin.Action))
    for action in mint_tin.Action:
        name = action.name.lower()
        assert counts[:, :, action].sum(axis=0).tolist() == [legal[name], chosen[name]]


@pytest.mark.parametrize(("games", "split"), [(1, (1, 1)), (19, (19, 1)), (50, (20, 2)), (10**6, (20, 100))])
def test_the_sample_is_split_in_batches(games: int, split: tuple[int, int]) -> None:
    assert split_sample(games) == split


def test_a_dead_action_has_use_0_and_is_named(tmp_path: Path) -> None:
    experiment = experiment_of(policies=["racer"])
    line_ups = load_line_ups(experiment)
    write_run(tmp_path, experiment, play_experiment(experiment, line_ups), "command", count_usage(experiment, line_ups))
    row = measure(tmp_path, "use_knock_down")
    assert (row["value"], row["low"]) == (0, 0)
    assert 0 < row["high"] < 0.01
    assert pd.isna(measure(tmp_path, "use_throw_cover")["value"])  # never legal without the manhole
    told = {finding.subject: finding.text for finding in find(Results(Run(tmp_path)))}
    assert "knock down" in told["Unused actions:"]
    assert "enter shelter" not in told["Unused actions:"]


# ---------------------------------------------------------------- the ladder


def meetings_of(strengths: list[float], advantage: float, games: int) -> list[Meeting]:
    """Results in exactly the shares the model gives."""
    count = len(strengths)
    pairs = [(a, b) for a in range(count) for b in range(count)]
    wins = [round(games / (1 + math.exp(-(strengths[a] - strengths[b] + advantage)))) for a, b in pairs]
    return [Meeting(a, b, won, games - won, games) for (a, b), won in zip(pairs, wins, strict=True)]


def test_ratings_are_those_the_results_were_made_from() -> None:
    strengths = [0.0, 1.2, -0.7, 0.3]
    ladder = rate(list("abcd"), meetings_of(strengths, 0.25, 10**9))
    centred = {name: POINTS * (s - np.mean(strengths)) for name, s in zip("abcd", strengths, strict=True)}
    assert {name: rating.value for name, rating in ladder.ratings} == pytest.approx(centred, abs=1e-3)
    assert [name for name, _ in ladder.ratings] == ["b", "d", "a", "c"]
    assert ladder.advantage.value == pytest.approx(POINTS * 0.25, abs=1e-3)


def test_two_policies_have_the_closed_form() -> None:
    ladder = rate(["a", "b"], [Meeting(0, 1, 750_000, 250_000, 10**6), Meeting(1, 0, 250_000, 750_000, 10**6)])
    (_, best), (_, worst) = ladder.ratings
    assert best.value - worst.value == pytest.approx(POINTS * math.log(3), abs=0.01)
    assert ladder.better_wins.value == pytest.approx(75)
    assert ladder.advantage.value == pytest.approx(0, abs=0.01)


def test_games_nobody_wins_are_half_a_win_and_a_clean_sweep_stays_finite() -> None:
    drawn = rate(["a", "b"], [Meeting(0, 1, 0, 0, 1000), Meeting(1, 0, 0, 0, 1000)])
    assert [rating.value for _, rating in drawn.ratings] == pytest.approx([0, 0])
    assert drawn.better_wins.value == 50
    swept = rate(["a", "b"], [Meeting(0, 1, 1000, 0, 1000), Meeting(1, 0, 0, 1000, 1000)])
    assert 500 < swept.ratings[0][1].value < 1000
    assert swept.ratings[0][1].low < swept.ratings[0][1].value
    assert swept.better_wins.value == 100


def test_intervals_of_ratings_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    strengths, games, inside = [0.5, 0.0, -0.5], 400, 0
    for _ in range(300):
        meetings = [Meeting(m.first, m.second, won := int(rng.binomial(games, m.wins / games)), games - won, games) for m in meetings_of(strengths, 0.1, games)]
        rating = dict(rate(list("abc"), meetings).ratings)["a"]
        inside += rating.low <= POINTS * 0.5 <= rating.high
    assert inside / 300 > 0.95 - 5 * math.sqrt(0.95 * 0.05 / 300)


def test_a_run_of_each_against_each_has_a_ladder(tmp_path: Path) -> None:
    sweep = {"policies[0]": ["random", "racer"], "policies[1]": ["random", "racer"]}
    experiment = experiment_of(sweep=sweep)
    line_ups = load_line_ups(experiment)
    write_run(tmp_path, experiment, play_experiment(experiment, line_ups), "command", count_usage(experiment, line_ups))
    ladder = find_ladder(Run(tmp_path))
    assert ladder is not None
    assert [name for name, _ in ladder.ratings] == ["racer", "random"]
    build_report(tmp_path)
    assert (tmp_path / "plots" / "ladder.png").exists()
    assert "## Skill ladder" in (tmp_path / "report.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- robust over play


def robust_file(**changes: Any) -> dict[str, Any]:
    return {"game": "mint-tin", "games": 50, "sweep": {"rules.monster_die": [6, 4]}, "robust": {"line_ups": [["racer"], ["brawler", "racer"]]}} | changes


def test_every_cell_is_played_under_each_line_up_and_compared_within_it() -> None:
    experiment = parse_experiment(robust_file(), Path("made_up.toml"))
    assert [[p.name for p in cell.policies] for cell in experiment.cells if not cell.purpose] == [["racer", "racer"], ["brawler", "racer"]] * 2
    pairs = [(pair.cell, pair.reference, pair.setting) for pair in experiment.pairs if pair.setting != BASELINE]
    assert pairs == [(2, 0, "rules.monster_die"), (3, 1, "rules.monster_die")]
    assert experiment.sweep[-1][0] == "line_up"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"robust": {"line_ups": [["racer"], ["racer"]]}}, "robust.line_ups .* a line-up stands there twice"),
        ({"sweep": {"policies[0]": ["racer"]}}, "robust.line_ups with sweep.policies"),
        ({"robust": {"line_ups": [["racer"]]}}, "robust"),
        ({"robust": {"lineups": []}}, "robust"),
    ],
)
def test_mistakes_in_robust_are_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_experiment(robust_file(policies=["racer"], **changes), Path("made_up.toml"))


def test_where_line_ups_agree_and_where_the_direction_turns(tmp_path: Path) -> None:
    draws = {("a", 6): 0.1, ("a", 5): 0.3, ("b", 6): 0.1, ("b", 5): 0.2, ("c", 6): 0.1, ("c", 5): 0.15}
    cells = [({"rules.die": die, "line_up": who}, play(20_000, draws=draws[who, die])) for die in (6, 5) for who in "abc"]
    agreed = told_of(store(tmp_path / "agreed", cells))["die from 6 to 5, under each line-up:"]
    assert agreed.startswith("with every line-up draw rate up by 5.")
    assert "turns" not in agreed
    draws["c", 5] = 0.02
    cells = [({"rules.die": die, "line_up": who}, play(20_000, draws=draws[who, die])) for die in (6, 5) for who in "abc"]
    turned = told_of(store(tmp_path / "turned", cells))["die from 6 to 5, under each line-up:"]
    assert "The direction turns with who plays: draw rate up with a and b and down with c" in turned
    build_report(tmp_path / "turned")
    assert "What each setting changes under each line-up" in (tmp_path / "turned" / "report.md").read_text(encoding="utf-8")


def told_of(folder: Path) -> dict[str, str]:
    return {finding.subject: finding.text for finding in find(Results(Run(folder)))}
