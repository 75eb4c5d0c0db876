"""Verdicts, comparisons, stopping and controls, where the truth is known."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from policies.loading import load_line_ups
from reports.answers import CONTROL_FAILED, FAILED, UNDECIDED, answer, tell_comparison
from reports.controls import control
from reports.findings import find
from reports.measures import measure
from reports.report import build_report
from reports.results import Results
from reports.run import FORMAT, Run, least_values
from reports.statistics import Confidence, Interval, draw_quantiles, paired_draws, share
from reports.tables import difference_of, differences_table
from reports.verdicts import Measure, Verdict, align, compare, find_imprecise, find_open, judge, tell_agreement
from sim.batch import Block, Player, Tallies, looks
from sim.experiment import Experiment, parse_comparison, parse_experiment
from sim.games import mint_tin
from sim.outcomes import MISSING
from sim.store import build_arrays, build_manifest, fill_manifest
from sim.tally import figures_of
from sim.usage import count_usage
from sim.workers import play_experiment
from tests.test_reports import play, store

STOP = {"both_lose_rate": 0.002, "delta.mean_minutes": 0.01}


def target(name: str, at_least: float | None = None, at_most: float | None = None) -> dict[str, Any]:
    """A target as the manifest holds it."""
    metric, _, seat = name.removeprefix("delta.").rstrip("]").partition("[")
    quantity = {"name": name, "metric": metric, "seat": int(seat) if seat else None, "delta": name.startswith("delta.")}
    return {"quantity": quantity, "at_least": at_least, "at_most": at_most}


def experiment_of(**changes: Any) -> Experiment:
    """Two racers; the monster die on 6, 4 and 2."""
    data = {"game": "mint-tin", "policies": ["racer"], "sweep": {"rules.monster_die": [6, 4, 2]}, **changes}
    return parse_experiment(data, Path("small.toml"))


def baselines_of(experiment: Experiment) -> list[int]:
    """What each cell is compared with."""
    return [cell.baseline for cell in experiment.cells]


def run_of(experiment: Experiment, tallies: Tallies) -> Run:
    """What was played, as the reports read it."""
    return Run((fill_manifest(build_manifest(experiment, ""), tallies), build_arrays(tallies)))


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "word"),
    [
        (0.1, 0.2, 0.1, 0.2, "PASS"),
        (0.1, 0.2, None, 0.2, "PASS"),
        (0.1, 0.2, None, 0.19, "UNDECIDED"),
        (0.1, 0.2, None, 0.05, "FAIL"),
        (0.1, 0.2, 0.3, None, "FAIL"),
        (0.1, 0.2, 0.12, 0.15, "UNDECIDED"),
        (0.0, 0.0, 0.0, None, "PASS"),
        (math.nan, math.nan, 0.0, 1.0, "UNDECIDED"),
    ],
)
def test_a_verdict_needs_the_whole_interval_on_one_side(low: float, high: float, at_least: float, at_most: float, word: str) -> None:
    assert Verdict(Measure("x", 0, Interval(0.15, low, high), 9), at_least, at_most).word == word


def test_every_seat_and_cell_is_a_line_and_all_share_the_error(tmp_path: Path) -> None:
    cells = [({"rules.die": die}, play(3000, draws=die / 20)) for die in (6, 5, 4)]
    targets = [target("draw_rate", at_most=0.28), target("win_rate", 0.3), target("delta.draw_rate", at_most=-0.01), target("seat_gap", at_most=0.1)]
    run = Run(store(tmp_path, cells, targets=targets))
    verdicts = judge(run)
    names = ["draw_rate"] * 3 + ["win_rate[0]", "win_rate[1]"] * 3 + ["delta.draw_rate"] * 2 + ["seat_gap"] * 3
    assert [v.measure.name for v in verdicts] == names
    draws = int((cells[1][1].ending == 2).sum())
    assert verdicts[1].measure.interval == share(draws, 3000, Confidence(0.05 / len(names)))
    assert [v.word for v in verdicts[9:11]] == ["PASS", "PASS"]
    assert verdicts[0].word == "UNDECIDED" and verdicts[2].word == "PASS"


def test_not_one_verdict_of_many_is_wrong_in_nineteen_families_of_twenty(tmp_path: Path) -> None:
    """The truth lies just beyond each bound, so every PASS is wrong: the hardest case."""
    beyond = 1e-9
    targets = [target("draw_rate", at_most=0.1 - beyond), target("draw_rate", at_least=0.1 + beyond)]
    targets += [target("win_rate[0]", at_most=0.45 - beyond), target("win_rate[1]", at_least=0.45 + beyond)]
    families, wrong = 300, 0
    for seed in range(families):
        cells = [({"rules.die": die}, play(400, seed=1000 * seed + die)) for die in (6, 5, 4)]
        wrong += any(verdict.word == "PASS" for verdict in judge(Run(store(tmp_path, cells, targets=targets))))
    assert wrong / families < 0.05 + 5 * math.sqrt(0.05 * 0.95 / families)


def test_the_gap_of_seats_is_the_largest_of_all_pairs(tmp_path: Path) -> None:
    outcomes = play(9000, seats=3)
    outcomes.ending = np.where((outcomes.ending == 2) & (np.arange(9000) % 2 == 0), 0, outcomes.ending)
    run = Run(store(tmp_path, [({}, outcomes)]))
    gap, _ = measure(run, run.cells[0], "seat_gap")
    wins = [(outcomes.ending == seat).mean() for seat in range(3)]
    assert gap.value == pytest.approx(max(wins) - min(wins), abs=1e-12)
    assert gap.low < gap.value < gap.high


# ---------------------------------------------------------------- comparisons


def test_the_variance_ratio_and_the_differences_are_those_of_the_columns() -> None:
    experiment = experiment_of(games=3000)
    player = Player(experiment, load_line_ups(experiment))
    run = run_of(experiment, player.play(Block(0, 3000, frozenset(range(3)))).tallies)
    x, y = (player.tables()[cell].play(experiment.seed, 0, 3000)[:, 3].astype(float) for cell in (2, 0))  # rolls
    row = differences_table(run).query("cell == 2 and metric == 'mean_rolls'").iloc[0]
    assert row["value"] == pytest.approx((x - y).mean(), abs=1e-9)
    assert row["variance_ratio"] == pytest.approx((x.var() + y.var()) / (x - y).var(), rel=1e-9)
    assert row["low"] == pytest.approx((x - y).mean() - 1.96076 * math.sqrt((x - y).var(ddof=1) / 3000 * (1 + 2 / (x != y).sum())), rel=1e-4)


def test_a_rule_compared_with_itself_differs_by_exactly_0() -> None:
    experiment = parse_comparison("mint-tin", ["rules.monster_die=4"], ["rules.monster_die=4"], ["racer"], games=500)
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    assert {line.difference.interval for line in compare(run)} == {Interval(0.0, 0.0, 0.0)}
    assert {line.word for line in compare(run)} == {"EQUAL"}
    assert (differences_table(run)[["value", "low", "high"]] == 0).all().all()


def test_the_baseline_is_the_rulebook_or_what_the_file_says() -> None:
    assert baselines_of(experiment_of()) == [0, 0, 0]
    house = experiment_of(rules={"manhole": True})
    assert baselines_of(house) == [3, 3, 3, 3]
    assert (house.cells[3].purpose, house.cells[3].rules.monster_die) == ("baseline", 6)
    assert {(p.cell, p.reference) for p in house.pairs} == {(1, 0), (2, 0), (0, 3), (1, 3), (2, 3)}
    assert baselines_of(experiment_of(baseline={"rules": {"monster_die": 2}})) == [2, 2, 2]
    assert experiment_of(baseline={"policies": ["hero"]}).cells[3].policies[1].name == "hero"


def test_every_line_up_has_a_baseline_of_its_own() -> None:
    """Else a fixed house rule would seem to change what only the players change."""
    line_ups = [["racer"], ["hero"], ["brawler", "racer"]]
    house = {"rules": {"manhole": True, "monster_die": 4}, "sweep": {}, "robust": {"line_ups": line_ups}, "games": 300}
    experiment = experiment_of(**house)
    for cell in experiment.cells[:3]:
        baseline = experiment.cells[cell.baseline]
        assert (baseline.purpose, baseline.policies, baseline.rules) == ("baseline", cell.policies, mint_tin.Rules())
    assert len({cell.baseline for cell in experiment.cells[:3]}) == 3
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    assert {c.start for c in Results(run).changes} == {"monster_die 6 and manhole false"}
    told = [finding.text for finding in find(Results(run)) if finding.subject.startswith("house rules from monster_die 6 and manhole false to ")]
    assert len(told) == 1
    swept = experiment_of(sweep={"policies": line_ups}, rules=house["rules"])
    assert [swept.cells[cell.baseline].policies for cell in swept.cells[:3]] == [cell.policies for cell in swept.cells[:3]]
    named = experiment_of(**house, baseline={"policies": ["hero"]})
    assert set(baselines_of(named)[:3]) == {3}


def test_a_comparison_says_in_short_what_changed_and_whether_it_is_fair() -> None:
    experiment = parse_comparison("mint-tin", ["rules.monster_die=4"], [], ["racer"], games=20_000)
    lines = tell_comparison(run_of(experiment, play_experiment(experiment, load_line_ups(experiment))))
    assert lines[0] == "monster_die 6 → monster_die 4, played by racer, seed 1"
    (short,) = [line for line in lines if line.startswith("in short: up: both_lose_rate")]
    assert "no change seen: " in short and "seat_gap" in short.partition("no change seen: ")[2]
    assert any(re.match(r"fair\? \d.* percentage points .* between the seats' win rates; no change seen: ", line) for line in lines)
    uneven = parse_comparison("mint-tin", ["rules.monster_die=4"], [], ["racer", "random"], games=500)
    assert not any(line.startswith("fair?") for line in tell_comparison(run_of(uneven, play_experiment(uneven, load_line_ups(uneven)))))


def test_targets_say_whether_they_hold_whoever_plays() -> None:
    """Racers need 1.7 minutes on average, brawlers more than five; neither needs an hour."""
    targets = {"mean_minutes": {"at_most": 4}, "minutes_q90": {"at_most": 60}}
    experiment = experiment_of(sweep={"rules.monster_die": [6, 4]}, robust={"line_ups": [["racer"], ["brawler"]]}, targets=targets, games=2000)
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    assert tell_agreement(run, judge(run)) == [
        *(f"mean_minutes (wanted: at most 4 min), monster_die {die} turns with who plays: PASS with racer; FAIL with brawler." for die in (6, 4)),
        *(f"minutes_q90 (wanted: at most 60 min), monster_die {die}: PASS whoever plays." for die in (6, 4)),
    ]


def test_a_rule_that_nobody_uses_is_told_as_such() -> None:
    """Racers never claim the cover of the manhole."""
    experiment = parse_comparison("mint-tin", ["rules.manhole=true"], [], ["racer"], games=2000)
    line_ups = load_line_ups(experiment)
    tallies = play_experiment(experiment, line_ups)
    run = Run((fill_manifest(build_manifest(experiment, ""), tallies), build_arrays(tallies, count_usage(experiment, line_ups))))
    said = "not one game came out differently. It allows claim cover, which nobody who plays here chose in 2,000 games; other policies may."
    assert said in tell_comparison(run)
    (told,) = [finding.text for finding in find(Results(run)) if finding.subject == "house rules from manhole false to manhole true:"]
    assert "claim cover" in told


def test_lines_without_room_are_broken_after_the_verdict() -> None:
    rows = [("PASS", "seat_gap", "rules as given", "0.1", "wanted: at most 2", "9 games"), ("FAIL", "x", "y", "2", "", "9 games")]
    assert align(rows, 80) == align(rows)
    assert align(rows, 40) == [
        "PASS  seat_gap  rules as given",
        "    0.1, wanted: at most 2, 9 games",
        "FAIL  x         y",
        "    2, 9 games",
    ]


def test_a_rule_for_players_is_compared_with_the_usual_ones() -> None:
    """`compare --set policies=…`: what those players change, not they against themselves."""
    one = parse_comparison("mint-tin", ["policies=racer"], [], ["strategist"], games=500)
    assert [[choice.name for choice in cell.policies] for cell in one.cells] == [["racer"] * 2, ["strategist"] * 2]
    assert one.cells[0].baseline == 1
    seat = parse_comparison("mint-tin", ["policies[0]=racer"], [], ["strategist"], games=500)
    assert [[choice.name for choice in cell.policies] for cell in seat.cells[:2]] == [["racer", "strategist"], ["strategist"] * 2]


def test_what_is_decided_of_quantiles_is_not_lost_while_the_baseline_plays_on() -> None:
    """Of two cells with one baseline the farther is decided first; both go on, since a quantile's difference is of all games of both."""
    targets = {"delta.minutes_q90": {"at_most": -0.05}}
    experiment = experiment_of(stop={"until": "decided", "max_games": 60_000}, targets=targets, sweep={"rules.monster_die": [6, 5, 2]})
    run = run_of(experiment, play_to_precision(experiment))
    assert len({cell["games"] for cell in run.cells}) == 1


def test_quantile_differences_of_whole_numbers_cover_the_truth() -> None:
    """Scores of few values whose medians are alike, paired by luck; and nothing is certain where no game differed."""
    rng = np.random.default_rng(12)
    held, runs, n = 0, 200, 2000
    for _ in range(runs):
        luck = rng.random(n)
        x = np.minimum((luck * 6).astype(int), 5)
        y = np.where(rng.random(n) < 0.1, rng.integers(0, 6, n), x)
        draws = [draw_quantiles(np.array([np.bincount(v[g::32], minlength=6) for g in range(32)]), 0.5) for v in (x, y)]
        value = float(np.sort(x)[n // 2 - 1] - np.sort(y)[n // 2 - 1])
        interval = paired_draws(value, *draws, 32, n)
        held += interval.low <= 0 <= interval.high
    assert held / runs > 0.95 - 5 * math.sqrt(0.05 * 0.95 / runs)
    alike = parse_comparison("mint-tin", ["rules.manhole=true"], [], ["racer"], games=3000)
    rows = differences_table(run_of(alike, play_experiment(alike, load_line_ups(alike)))).set_index("metric")
    for name in ("minutes_q10", "minutes_q50", "minutes_q90"):
        assert rows.loc[name, "same"] and rows.loc[name, "low"] < 0 < rows.loc[name, "high"]


def test_quantile_differences_hold_where_the_step_is_at_the_level(tmp_path: Path) -> None:
    """0 or 1 by common luck, 1 in half of the games but for a hair: one median is 0, the other 1, and hardly any sample shows it."""
    held, runs, n = 0, 40, 2000
    for seed in range(runs):
        luck = np.random.default_rng(seed).random(n)
        cells = []
        for die, chance in ((6, 0.4999), (5, 0.5001)):
            outcomes = play(n)
            outcomes.seconds = (luck < chance).astype(np.int64)
            cells.append(({"rules.die": die}, outcomes))
        rows = differences_table(Run(store(tmp_path / str(seed), cells))).set_index("metric")
        step = 0.5 / 60  # minutes
        held += bool(rows.loc["minutes_q50", "low"] <= step <= rows.loc["minutes_q50", "high"])
    assert held / runs > 0.95 - 5 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("games", [1, 2, 20])
def test_few_games_leave_quantile_differences_open(games: int) -> None:
    experiment = parse_comparison("mint-tin", ["rules.monster_die=4"], [], ["strategist"], games=games)
    rows = differences_table(run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))).set_index("metric")
    for name in ("minutes_q10", "minutes_q50", "minutes_q90"):
        assert not rows.loc[name, "high"] - rows.loc[name, "low"] < 0.1


def test_quantile_differences_cover_the_truth() -> None:
    """Two paired exponential times, one a tenth longer."""
    rng = np.random.default_rng(11)
    edges = least_values(2000, 512)
    truth = math.log(10) * (330 - 300)
    repeats, covered = 150, 0
    for _ in range(repeats):
        luck = rng.exponential(size=4000)
        times = [(300 * luck).astype(int), (330 * np.where(rng.random(4000) < 0.8, luck, rng.exponential(size=4000))).astype(int)]
        draws = []
        for values in times:
            counts = np.zeros((32, 2000), dtype=np.int64)
            np.add.at(counts, (np.arange(4000) % 32, np.searchsorted(edges, values, side="right") - 1), 1)
            draws.append(draw_quantiles(counts, 0.9))
        low_value, high_value = (np.sort(values)[3599] for values in times)
        interval = paired_draws(float(high_value - low_value), draws[1], draws[0], 32, 4000)
        covered += interval.low <= truth <= interval.high
    assert abs(covered / repeats - 0.95) < 5 * math.sqrt(0.95 * 0.05 / repeats)


# ---------------------------------------------------------------- precision


def play_to_precision(experiment: Experiment, **options: Any) -> Tallies:
    return play_experiment(experiment, load_line_ups(experiment), find_open=lambda tallies: find_open(run_of(experiment, tallies)), **options)


def test_play_goes_on_where_figures_are_not_known_well_enough() -> None:
    experiment = experiment_of(stop={"precision": STOP, "max_games": 200_000})
    run = run_of(experiment, play_to_precision(experiment))
    games = [cell["games"] for cell in run.cells]
    assert set(games) <= set(looks(200_000))
    assert games[1] < games[2] == games[0]  # the baseline goes on for the last to be compared
    assert not find_imprecise(run)
    (pair,) = (n for n, p in enumerate(run.manifest["pairs"]) if (p["cell"], p["reference"]) == (1, 0))
    assert run.pair_sums(pair)[0].x.n == run.pair_sums(pair)[0].y.n == games[1]


def test_what_is_played_depends_on_neither_threads_nor_blocks() -> None:
    experiment = experiment_of(stop={"precision": STOP, "max_games": 40_000})
    first, *others = (build_arrays(play_to_precision(experiment, jobs=jobs, block_games=block)) for jobs, block in ((1, None), (2, 1234)))
    for other in others:
        assert first.keys() == other.keys()
        assert all(np.array_equal(first[name], other[name]) for name in first)


def test_the_most_games_end_play_and_what_is_not_known_is_said() -> None:
    experiment = experiment_of(stop={"precision": {"win_rate": 0.001}, "max_games": 12_000})
    run = run_of(experiment, play_to_precision(experiment))
    assert [cell["games"] for cell in run.cells] == [12_000] * 3
    assert len(find_imprecise(run)) == 6
    assert any(line.startswith("not as precise as asked: win_rate[0] of monster_die 6 is ") for line in answer(run)[0])


def test_differences_of_cells_that_stopped_apart_are_over_their_common_games() -> None:
    experiment = experiment_of(games=3000)
    player = Player(experiment, load_line_ups(experiment))
    tallies = player.play(Block(0, 1000, frozenset(range(3)))).tallies
    tallies.add(player.play(Block(1000, 3000, frozenset({0, 2}))).tallies)
    run = run_of(experiment, tallies)
    rows = [table.play(experiment.seed, 0, 1000) for table in player.tables()]
    for figure, found, sums in zip(run.figures(run.cells[1]), figures_of(experiment.module, 2), run.pair_sums(0), strict=True):
        if found.metric.kind == "mean":
            x, y = (r[:, found.index] for r in rows[1::-1])
            expected = (x[x != MISSING].mean() - y[y != MISSING].mean()) * found.metric.scale * sums.x.scale
            difference = difference_of(run, run.manifest["pairs"][0], figure, sums)
            assert difference.interval.value == pytest.approx(expected, abs=1e-9)
            assert difference.games <= 1000


def test_play_goes_on_until_every_target_is_decided() -> None:
    """The monster's die on 6, 4 and 2: far from the bound is decided at the first look, near to it later, and nothing is left open."""
    targets = {"both_lose_rate": {"at_most": 0.065}, "delta.ending_evenness": {"at_least": 0.05}, "seat_gap": {"at_most": 0.1}}
    experiment = experiment_of(stop={"until": "decided", "max_games": 400_000}, targets=targets)
    run = run_of(experiment, play_to_precision(experiment))
    verdicts = judge(run)
    assert run.anytime
    assert {verdict.word for verdict in verdicts} == {"PASS", "FAIL"}
    assert not find_open(run)
    games = [cell["games"] for cell in run.cells]
    assert set(games) <= set(looks(400_000)) and max(games) < 400_000
    assert games[1] < games[2] == games[0]  # the baseline


def test_a_bound_at_the_truth_is_left_undecided_at_the_most_games() -> None:
    experiment = experiment_of(sweep={}, stop={"until": "decided", "max_games": 15_000}, targets={"first_seat_advantage": {"at_most": 0.0}})
    run = run_of(experiment, play_to_precision(experiment))
    assert [verdict.word for verdict in judge(run)] == ["UNDECIDED"]
    assert [cell["games"] for cell in run.cells] == [15_000]
    assert answer(run)[1] == UNDECIDED


@pytest.mark.slow
def test_targets_decided_by_looking_are_wrong_in_one_family_of_twenty_at_most(tmp_path: Path) -> None:
    """The truth lies just beyond each bound: whatever is decided as PASS, at whatever look, is wrong."""
    beyond, families, wrong = 1e-9, 120, 0
    targets = [target("draw_rate", at_most=0.1 - beyond), target("win_rate[0]", at_least=0.45 + beyond), target("first_seat_advantage", at_least=beyond)]
    targets += [target("mean_score", at_least=3 * 0.45 - 0.55 + beyond)]
    for seed in range(families):
        whole = play(20_000, seed=seed)
        for games in looks(20_000):
            cells = [
                ({}, dataclasses.replace(whole, **{f: getattr(whole, f)[:games] for f in ("ending", "seconds", "led")}, score=[s[:games] for s in whole.score]))
            ]
            verdicts = judge(Run(store(tmp_path, cells, targets=targets, until_decided=True)))
            if any(verdict.word == "PASS" for verdict in verdicts):
                wrong += 1
                break
    assert wrong / families < 0.05 + 5 * math.sqrt(0.05 * 0.95 / families)


# ---------------------------------------------------------------- controls


def lean(outcomes: Any) -> Any:
    """Every fifth win of seat 1 goes to seat 0."""
    outcomes.ending = np.where((outcomes.ending == 1) & (np.arange(len(outcomes.ending)) % 5 == 0), 0, outcomes.ending)
    return outcomes


def controls_of(folder: Path) -> dict[str, bool]:
    return {one.name: one.passed for one in control(Run(folder))}


def test_even_players_pass_and_uneven_ones_mark_the_report_red(tmp_path: Path) -> None:
    assert controls_of(store(tmp_path, [({}, play(20_000))])) == {"mirror line-up": True, "unfinished games": True}
    folder = store(tmp_path, [({}, lean(play(20_000)))], targets=[target("draw_rate", at_most=0.01)])
    assert controls_of(folder)["mirror line-up"] is False
    assert answer(Run(folder))[1] == CONTROL_FAILED
    build_report(folder)
    assert '<section id="controls" class="failed"' in (folder / "report.html").read_text(encoding="utf-8")
    assert "⚠ FAILED" in (folder / "report.md").read_text(encoding="utf-8")


def test_many_unfinished_games_fail(tmp_path: Path) -> None:
    assert controls_of(store(tmp_path, [({}, play(20_000, unfinished=0.005))]))["unfinished games"] is True
    assert controls_of(store(tmp_path, [({}, play(20_000, unfinished=0.03))]))["unfinished games"] is False


@pytest.mark.parametrize("exact", [0.1, 0.2])
def test_exact_values_are_held_against_what_was_played(tmp_path: Path, exact: float) -> None:
    rules = {"die": 6, "mode": "calm", "lid": True}
    known = [{"policies": ["plain", "plain"], "rules": rules, "values": {"draw_rate": [exact, 0.0], "win_rate[1]": [0.45, 0.0]}}]
    assert controls_of(store(tmp_path, [({}, play(20_000))], exact=known))["exact value"] is (exact == 0.1)


def test_an_unlike_line_up_is_played_from_the_other_seats_too() -> None:
    experiment = parse_experiment({"game": "mint-tin", "policies": ["racer", "brawler"], "games": 20_000}, Path("swap.toml"))
    assert [(cell.purpose, [p.name for p in cell.policies]) for cell in experiment.cells] == [("", ["racer", "brawler"]), ("control", ["brawler", "racer"])]
    run = run_of(experiment, play_experiment(experiment, load_line_ups(experiment)))
    assert {one.name: one.passed for one in control(run)} == {"seat swap": True, "exact value": True, "unfinished games": True}
    slow = {"rolls_per_second": [0.5, 0.4]}
    slower = parse_experiment({"game": "mint-tin", "policies": ["racer", "hero"], "rules": slow, "baseline": {"rules": slow}}, Path("swap.toml"))
    assert all(cell.purpose != "control" for cell in slower.cells)


def test_exit_codes_are_the_gravest_finding(tmp_path: Path) -> None:
    cells = [({}, play(2000))]
    clear, narrow = target("draw_rate", at_most=0.5), target("draw_rate", 0.099, 0.101)
    wrong = target("draw_rate", at_least=0.5)
    for targets, code in (([clear], 0), ([clear, narrow], UNDECIDED), ([narrow, wrong], FAILED)):
        lines, found = answer(Run(store(tmp_path, cells, targets=targets)))
        assert found == code
        assert len([line for line in lines if line.startswith(("PASS", "FAIL", "UNDECIDED"))]) == len(targets)


def test_the_report_leads_with_the_verdicts(tmp_path: Path) -> None:
    cells = [({"rules.die": die}, play(3000, draws=die / 20)) for die in (6, 5)]
    folder = store(tmp_path, cells, targets=[target("draw_rate", at_most=0.9)])
    build_report(folder)
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert text.index("## Targets") < text.index("## Controls") < text.index("## Findings")
    assert "| **PASS** | draw_rate |" in text
    assert "paired ×" in text
    assert json.loads((folder / "manifest.json").read_text())["format"] == FORMAT
