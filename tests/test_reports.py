"""Statistics against scipy, statsmodels and simulation; findings where the truth is known; the report's files and how a browser shows them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from reports.findings import find
from reports.report import build_report, escape_markdown, render, write_replay
from reports.results import Results, write_interval, write_number
from reports.run import FORMAT, PairSums, Run, RunError, Sums, least_values
from reports.statistics import Interval, mean, paired_mean, paired_share, quantile, share

MISSING = -(2**62)
HOSTILE = '<script>alert(1)</script> & "x"'
COLUMNS = [
    {"name": "ending", "meaning": "who won; a remark", "unit": "", "scale": 1.0, "low": 0, "per_seat": False, "labels": []},
    {"name": "seconds", "meaning": "playing time; none if unfinished", "unit": "s", "scale": 0.5, "low": 0, "per_seat": False, "labels": []},
    {"name": "led", "meaning": "did the winner lead at half", "unit": "", "scale": 1.0, "low": 0, "per_seat": False, "labels": []},
    {"name": "score", "meaning": "score", "unit": "coins", "scale": 1.0, "low": -5, "per_seat": True, "labels": []},
]
METRICS = [
    ("win_rate", "share of games this seat wins", "ending", "share", None, "%", 1.0, True),
    ("draw_rate", "share of games nobody wins", "ending", "share", "nobody", "%", 1.0, False),
    ("unfinished_rate", "share of games stopped early", "ending", "share", "unfinished", "%", 1.0, False),
    ("mean_minutes", "mean playing time", "seconds", "mean", None, "min", 1 / 60, False),
    ("minutes_q50", "half are no longer", "seconds", "quantile", 0.5, "min", 1 / 60, False),
    ("minutes_q90", "nine tenths are no longer", "seconds", "quantile", 0.9, "min", 1 / 60, False),
    ("winner_led_at_half", "of games won, share in which the winner led at half", "led", "share", 1, "%", 1.0, False),
    ("mean_score", "mean score", "score", "mean", None, "coins", 1.0, True),
]
HEADLINES = ["draw_rate", "win_rate", "mean_minutes", "mean_score", "unfinished_rate"]


@dataclasses.dataclass
class Outcomes:
    """What the games of one cell came to: ending (seat, then nobody, then unfinished), seconds, led, and score by seat."""

    ending: Any
    seconds: Any
    led: Any
    score: Sequence[Any]

    def fields(self) -> list[Any]:
        return [self.ending, self.seconds, self.led, *self.score]


def play(games: int, seats: int = 2, seed: int = 1, draws: float = 0.1, pace: float = 300.0, unfinished: float = 0.0) -> Outcomes:
    """Games of known chances; the same seed gives the same luck, whatever the chances."""
    rng = np.random.default_rng(seed)
    luck = rng.random((games, 4))
    ending = np.where(luck[:, 0] < draws, seats, (luck[:, 1] * seats).astype(np.int64))
    ending = np.where(luck[:, 3] < unfinished, seats + 1, ending)
    seconds = np.where(ending > seats, MISSING, (2 * pace * -np.log1p(-luck[:, 2])).astype(np.int64))
    led = np.where(ending < seats, (luck[:, 2] < 0.7).astype(np.int64), MISSING)
    return Outcomes(ending, seconds, led, [np.where(ending == seat, 3, -1) for seat in range(seats)])


def store(
    folder: Path,
    cells: Sequence[tuple[dict[str, Any], Outcomes]],
    mode: str = "grid",
    policies: Sequence[str] = (),
    assumed: Sequence[str] = (),
    **changes: Any,
) -> Path:
    """Write a stored run by the plainest means: cells are (swept settings, outcomes)."""
    seats = len(cells[0][1].score)
    games = len(cells[0][1].ending)
    swept = list(cells[0][0])
    labels = [*(f"seat {n} wins" for n in range(seats)), "nobody wins", "unfinished"]
    numbers = {"nobody": seats, "unfinished": seats + 1}
    fields = [{"column": c["name"], "seat": seat} for c in COLUMNS for seat in (range(seats) if c["per_seat"] else [None])]
    metrics = [
        {
            "name": name,
            "meaning": meaning,
            "column": column,
            "kind": kind,
            "equals": numbers.get(extra, extra) if kind == "share" else None,
            "level": extra if kind == "quantile" else 0.5,
            "unit": unit,
            "scale": scale,
            "per_seat": per_seat,
            "assumed": False,
        }
        for name, meaning, column, kind, extra, unit, scale, per_seat in METRICS
    ]
    figures = [
        {
            "metric": m["name"],
            "seat": seat,
            "field": next(n for n, f in enumerate(fields) if f["column"] == m["column"] and f["seat"] in (seat, None)),
            "equals": seat if m["kind"] == "share" and m["equals"] is None else m["equals"],
        }
        for m in metrics
        for seat in (range(seats) if m["per_seat"] else [None])
    ]
    pairs = [
        {"cell": x, "reference": y, "setting": setting, "knob": setting.removeprefix("rules.")}
        for x, y, setting in itertools.product(range(len(cells)), range(len(cells)), swept)
        if cells[x][0] | {setting: None} == cells[y][0] | {setting: None} and cells[x][0] != cells[y][0] and cells[y][0][setting] == cells[0][0][setting]
    ]
    line_up = [{"name": p, "label": p, "parameters": {}} for p in (policies or ["plain"] * seats)]
    rules = {"die": 6, "mode": "calm", "lid": True}
    manifest = {
        "format": FORMAT,
        "finished": True,
        "name": "made_up",
        "title": "",
        "question": "",
        "command": "housecarlo run made_up.toml",
        "experiment_path": "made_up.toml",
        "experiment": 'game = "made-up"\n',
        "game": "made-up",
        "game_title": "Made Up",
        "game_version": 3,
        "games": games,
        "seed": 7,
        "versions": {"python": "3.11.7"},
        "source_digest": "0123456789abcdef",
        "sweep_mode": mode,
        "sweep": {s: list(dict.fromkeys(c[s] for c, _ in cells)) for s in swept},
        "knobs": [
            {"knob": k, "type": "", "allowed": "", "default": v, "unit": "", "meaning": f"the {k}", "clause": f"clause {k}", "assumed": k in assumed}
            for k, v in rules.items()
        ],
        "cells": [
            {
                "cell": n,
                "baseline": 0,
                "label": "",
                "swept": levels,
                "rules": rules | {s.removeprefix("rules."): v for s, v in levels.items() if s.startswith("rules.")},
                "symmetric": True,
                "seats": seats,
                "policies": line_up,
                "games": len(outcomes.ending),
            }
            for n, (levels, outcomes) in enumerate(cells)
        ],
        "extra_cells": [],
        "precision": [],
        "until_decided": False,
        "tells_out": False,
        "seats_most": seats,
        "targets": [],
        "exact": [],
        "grouped": {str(seats): [next(n for n, f in enumerate(fields) if f["column"] == "seconds")]},
        "pairs": pairs,
        "columns": [c | {"labels": labels if c["name"] == "ending" else []} for c in COLUMNS],
        "metrics": metrics,
        "headlines": HEADLINES,
        "distributions": ["ending"],
        "assumptions": ["Dice are fair."],
        "fields": {str(seats): fields},
        "figures": {str(seats): figures},
        "highlights": [{"cell": 0, "name": "longest", "meaning": "the most seconds", "game": 5, "values": {"seconds": 240}}],
    } | changes
    arrays: dict[str, Any] = {}
    lows = [next(c["low"] for c in COLUMNS if c["name"] == f["column"]) for f in fields]
    has_ideal = manifest.get("ideal_minutes") is not None
    for n, (_, outcomes) in enumerate(cells):
        sums = [sum_up(x, low) for x, low in zip(outcomes.fields(), lows, strict=True)]
        arrays[f"cell{n}_sums"] = np.array([[str(s.n), str(s.total), str(s.squares)] for s in sums])
        arrays[f"cell{n}_bins"] = np.concatenate([s.bins for s in sums])
        arrays[f"cell{n}_lengths"] = np.array([len(s.bins) for s in sums])
        arrays[f"cell{n}_groups0"] = group(outcomes.seconds)
        off = off_ideal(outcomes.seconds, manifest.get("ideal_minutes"))
        arrays[f"cell{n}_off_ideal"] = np.array(pair_row(off, off)[: 3 * has_ideal])
    for n, pair in enumerate(pairs):
        rows = []
        for f in figures:
            metric = next(m for m in metrics if m["name"] == f["metric"])
            both_played = min(len(cells[pair[which]][1].ending) for which in ("cell", "reference"))
            x, y = (cells[pair[which]][1].fields()[f["field"]][:both_played] for which in ("cell", "reference"))
            has_x, has_y = x != MISSING, y != MISSING
            x, y = (np.where(v == f["equals"], 1, 0) if metric["kind"] == "share" else v for v in (x, y))
            rows.append(pair_row(np.where(has_x, x, MISSING), np.where(has_y, y, MISSING)))
        arrays[f"pair{n}_sums"] = np.array(rows)
        x, y = (cells[pair[which]][1] for which in ("cell", "reference"))
        both_played = min(len(x.ending), len(y.ending))
        distances = pair_row(*(off_ideal(one.seconds[:both_played], manifest.get("ideal_minutes")) for one in (x, y)))
        arrays[f"pair{n}_off_ideal"] = np.array(distances[: 11 * has_ideal])
        ours, theirs = x.ending[:both_played], y.ending[:both_played]
        arrays[f"pair{n}_endings"] = np.array([[int(((ours == i) & (theirs == j)).sum()) for j in range(len(labels))] for i in range(len(labels))])
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "tallies.npz", **arrays)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def off_ideal(seconds: Any, minutes: float | None) -> Any:
    """How far each game is from the ideal length, in the column's units (half seconds); at most as far as none at all."""
    length = round(120 * (minutes or 1))
    return np.where(seconds == MISSING, MISSING, np.minimum(np.abs(seconds - length), length))


def pair_row(x: Any, y: Any) -> list[str]:
    """Exact sums of a figure over the games of both cells, as sim/tally.py has them."""
    has_x, has_y = x != MISSING, y != MISSING
    both = has_x & has_y
    own = [total for v, has in ((x, has_x), (y, has_y)) for total in (has.sum(), v[has].sum(), (v[has] ** 2).sum())]
    return [str(int(total)) for total in (*own, both.sum(), x[both].sum(), y[both].sum(), (x[both] * y[both]).sum(), (x != y).sum())]


def sum_up(values: Any, low: int = 0, scale: float = 1.0) -> Sums:
    """Exact sums of integers near enough to `low` for exact bins, as sim/tally.py has them."""
    values = np.asarray(values, dtype=np.int64)
    values = values[values != MISSING]
    assert values.size == 0 or values.max() - low < 4096 * 4
    spots = values - low
    octaves = np.where(spots < 4096, 0, np.where(spots < 8192, 1, 2))
    return Sums(len(values), int(values.sum()), int((values * values).sum()), np.bincount(octaves * 2048 + (spots >> octaves)), low, scale)


def group(values: Any) -> Any:
    """Counts by game index modulo 32 and coarse bin, as sim/tally.py has them."""
    edges = least_values(6000, 512)
    spots = np.searchsorted(edges, values, side="right") - 1
    counts = np.zeros((32, spots.max(initial=-1) + 1), dtype=np.int64)
    present = values != MISSING
    np.add.at(counts, (np.arange(len(values))[present] % 32, spots[present]), 1)
    return counts


def findings_of(folder: Path) -> dict[str, str]:
    return {finding.subject: finding.text for finding in find(Results(Run(folder)))}


# ---------------------------------------------------------------- statistics


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (3, 10), (1, 1), (271, 1000), (999_999, 1_000_000), (1, 10**12)])
def test_share_is_wilsons_interval(count: int, n: int) -> None:
    ours = share(count, n)
    theirs = stats.binomtest(count, n).proportion_ci(0.95, method="wilson") if n <= 10**6 else None
    low, high = proportion_confint(count, n, method="wilson")
    assert ours == pytest.approx((count / n, low, high), rel=1e-9, abs=1e-12)
    if theirs:
        assert ours[1:] == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


@pytest.mark.parametrize("n", [2, 3, 30, 4000])
def test_mean_is_students_interval_with_two_games_more(n: int) -> None:
    values = np.random.default_rng(n).geometric(0.01, n)
    error = math.hypot(stats.sem(values), math.sqrt(2 / (n - 1) / n) * np.ptp(values))
    low, high = stats.t.interval(0.95, n - 1, values.mean(), error)
    assert mean(sum_up(values, scale=0.25)) == pytest.approx((values.mean() / 4, low / 4, high / 4), rel=1e-12)


@pytest.mark.parametrize(("x", "y", "n"), [(30, 50, 100), (3, 5, 10), (400, 100, 1000)])
def test_uncorrelated_pairs_have_newcombes_interval_for_independent_shares(x: int, y: int, n: int) -> None:
    low, high = confint_proportions_2indep(x, n, y, n, method="newcomb", compare="diff")
    many = 10**9  # so many that two unlike games more do not count
    ours = paired_share((x, n), (y, n), (n * n * many, x * n * many, y * n * many, x * y * many))  # a covariance of exactly 0
    assert ours == pytest.approx(((x - y) / n, low, high), abs=1e-12)


def test_no_games_no_figure() -> None:
    nothing = sum_up([])
    for interval in (share(0, 0), mean(nothing), quantile(nothing, 0.5), paired_mean(PairSums(nothing, nothing, (0, 0, 0, 0), 0))):
        assert all(math.isnan(x) for x in interval)


def test_identical_columns_differ_by_no_more_than_two_games_could() -> None:
    x = sum_up(np.random.default_rng(1).geometric(0.01, 999), scale=1 / 120)
    value, low, high = paired_mean(PairSums(x, x, (x.n, x.total, x.total, x.squares), 0), reach=x.reach)
    assert (value, low, high) == (0, -high, pytest.approx(1.962344 * math.sqrt(2 / 998 / 999) * x.reach / 120, rel=1e-6))


@pytest.mark.parametrize("differing", [0.5, 1, 3, 8, 50])
def test_means_and_differences_of_few_unlike_games_hold(differing: float) -> None:
    """On average so many games of 2,000 are unlike the others, by one unit. Student's t alone holds in 40% to 94%."""
    rng = np.random.default_rng(6)
    n, repeats = 2000, 2000
    same = sum_up(np.full(n, 5))
    held = [0, 0, 0]
    for k in rng.poisson(differing, repeats).tolist():
        unlike = Sums(n, 5 * n + k, 25 * n + 11 * k, np.bincount(np.repeat([5, 6], [n - k, k])), 0, 1.0)
        paired = PairSums(unlike, same, (n, unlike.total, same.total, 5 * unlike.total), k)
        found = (mean(unlike), paired_mean(paired, reach=9))
        error = math.sqrt(float(unlike.variance) / (n - 1))
        found += (Interval(k / n, k / n - 1.9611 * error, k / n + 1.9611 * error),)
        for which, (truth, interval) in enumerate(zip((5 + differing / n, differing / n, differing / n), found, strict=True)):
            held[which] += interval.low <= truth <= interval.high
    least = 0.95 - 5 * math.sqrt(0.95 * 0.05 / repeats)
    assert held[0] / repeats > least
    assert held[1] / repeats > least
    assert held[2] / repeats < 0.95


@pytest.mark.parametrize("n", [2, 5, 20, 400])
def test_a_difference_alike_in_most_games_is_not_certain(n: int) -> None:
    """30 in 97% of the games, else 0."""
    rng = np.random.default_rng(8)
    repeats, held = 2000, 0
    for k in rng.binomial(n, 0.97, repeats).tolist():
        x, y = (
            Sums(n, total, squares, np.zeros(0, dtype=np.int64), 0, 1.0)
            for total, squares in ((100 * n + 30 * k, 130**2 * k + 100**2 * (n - k)), (100 * n, 100**2 * n))
        )
        interval = paired_mean(PairSums(x, y, (n, x.total, y.total, 100 * x.total), k), reach=60)
        assert interval.low < interval.high
        held += interval.low <= 0.97 * 30 <= interval.high
    assert held / repeats > 0.95 - 5 * math.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_quantile_is_the_order_statistic_and_covers_the_truth(level: float) -> None:
    rng = np.random.default_rng(3)
    truth = math.ceil(math.log1p(-level) / math.log1p(-0.01))  # of the geometric distribution
    repeats, n = 2000, 150
    covered = 0
    for _ in range(repeats):
        values = rng.geometric(0.01, n)
        interval = quantile(sum_up(values), level)
        assert interval.value == np.sort(values)[math.ceil(level * n) - 1]
        assert interval.low <= interval.value <= interval.high
        covered += interval.low <= truth <= interval.high
    assert covered / repeats > 0.95 - 5 * math.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize("n", [5, 400])
def test_paired_mean_covers_the_truth(n: int) -> None:
    rng = np.random.default_rng(4)
    repeats, covered = 2000, 0
    for _ in range(repeats):
        luck = rng.geometric(0.05, n)
        x, y = luck + rng.integers(0, 5, n), luck + rng.integers(0, 7, n)
        both = (n, int(x.sum()), int(y.sum()), int((x * y).sum()))
        interval = paired_mean(PairSums(sum_up(x), sum_up(y), both, int((x != y).sum())), reach=int(np.ptp(np.concatenate([x, y]))))
        covered += interval.low <= -1 <= interval.high
    too_wide = 0.05 if n < 100 else 0.003  # two games more count where there are five
    assert -5 * math.sqrt(0.95 * 0.05 / repeats) < covered / repeats - 0.95 < too_wide + 5 * math.sqrt(0.95 * 0.05 / repeats)


@pytest.mark.parametrize(("n", "level"), [(1, 0.5), (5, 0.1), (5, 0.9), (20, 0.9)])
def test_a_limit_that_too_few_games_leave_open_is_not_given(n: int, level: float) -> None:
    interval = quantile(sum_up(list(range(n))), level)
    assert math.isnan(interval.low) == (stats.binom.cdf(0, n, level) > 0.025)
    assert math.isnan(interval.high) == (stats.binom.cdf(n - 1, n, level) < 0.975)


def test_paired_share_covers_the_truth() -> None:
    rng = np.random.default_rng(5)
    repeats, n, covered = 2000, 400, 0
    for _ in range(repeats):
        luck = rng.random(n)
        x, y = luck < 0.3, np.where(rng.random(n) < 0.8, luck, rng.random(n)) < 0.35
        interval = paired_share((int(x.sum()), n), (int(y.sum()), n), (n, int(x.sum()), int(y.sum()), int((x & y).sum())))
        covered += interval.low <= -0.05 <= interval.high
    assert abs(covered / repeats - 0.95) < 5 * math.sqrt(0.95 * 0.05 / repeats)


def test_difference_of_shares_over_partly_different_games(tmp_path: Path) -> None:
    games = 20_000
    rng = np.random.default_rng(6)
    before, after = play(games), play(games)
    for outcomes, chance in ((before, 0.5), (after, 0.5)):
        outcomes.led = np.where(rng.random(games) < chance, outcomes.led, MISSING)
    cells = [({"rules.die": 6}, before), ({"rules.die": 5}, after)]
    table = Results(Run(store(tmp_path, cells))).differences
    row = table[table["metric"] == "winner_led_at_half"].iloc[0]
    x, y = (np.where(o.led == MISSING, np.nan, o.led) for o in (after, before))
    both = ~np.isnan(x) & ~np.isnan(y)
    covariance = np.cov(x[both], y[both])[0, 1] * both.sum() / (np.sum(~np.isnan(x)) * np.sum(~np.isnan(y)))
    error = math.sqrt(np.nanvar(x) / np.sum(~np.isnan(x)) + np.nanvar(y) / np.sum(~np.isnan(y)) - 2 * covariance)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * error, rel=0.02)


# ---------------------------------------------------------------- findings


def test_an_effect_is_told_with_its_interval_and_its_range(tmp_path: Path) -> None:
    levels = itertools.product(["calm", "wild"], [6, 5])
    draws = {("calm", 6): 0.10, ("calm", 5): 0.20, ("wild", 6): 0.15, ("wild", 5): 0.45}
    cells = [({"rules.mode": mode, "rules.die": die}, play(20_000, draws=draws[mode, die])) for mode, die in levels]
    told = findings_of(store(tmp_path, cells))["die:"]
    found = re.match(r"draw rate at ([\d.]+)% \([^)]*\) with 6, up by ([\d.]+) percentage points \(([\d.]+) to ([\d.]+)\) with 5 \(mode calm\)\.", told)
    assert found, told
    before, value, low, high = map(float, found.groups())
    assert low <= 10 <= high
    assert low < value < high
    assert before == pytest.approx(10, abs=1)
    assert re.search(r"Over the 2 levels of mode, the change with 5 goes from \+[\d.]+ percentage points \([^)]*\) with mode calm to .* with mode wild\.", told)


def test_no_effect_is_said_with_its_bound(tmp_path: Path) -> None:
    cells = [
        ({"rules.die": 6, "rules.lid": True}, play(5000)),
        ({"rules.die": 5, "rules.lid": True}, play(5000)),
        ({"rules.die": 6, "rules.lid": False}, play(5000, seed=2)),
    ]
    told = findings_of(store(tmp_path, cells, mode="one-at-a-time"))
    assert told["die from 6 to 5:"] == "no effect; not one of the 5,000 games came out differently."
    assert re.match(
        r"no effect seen at this number of games: none larger than ±[\d.]+ percentage points, ±[\d.]+ min and ±[\d.]+ coins", told["lid from true to false:"]
    )


def test_the_most_moved_setting_comes_first_and_comparisons_are_counted(tmp_path: Path) -> None:
    cells = [
        ({"rules.die": d, "rules.mode": m}, play(5000, draws=0.1 + 0.1 * (d == 5) + 0.4 * (m == "wild"))) for d, m in ((6, "calm"), (5, "calm"), (6, "wild"))
    ]
    findings = find(Results(Run(store(tmp_path, cells, mode="one-at-a-time"))))
    assert [f.subject for f in findings[:2]] == ["mode:", "die:"]
    assert findings[-1].kind == "note"
    assert findings[-1].subject == "16 differences are shown,"


def test_unfinished_games_are_a_warning(tmp_path: Path) -> None:
    first = find(Results(Run(store(tmp_path, [({}, play(1000, unfinished=0.05))]))))[0]
    assert first.kind == "warning"
    assert re.match(r"\d\.\d% \(\d\.\d to \d\.\d\) \(share of games stopped early\)\.", first.text)


def test_a_single_cell_tells_endings_balance_lead_and_length(tmp_path: Path) -> None:
    told = findings_of(store(tmp_path, [({}, play(20_000))]))
    assert re.search(r"\(who won\): seat 0 wins 4\d\.\d% \(.*nobody wins 1?\d\.\d% \(", told["How games end"])
    assert "no difference between seats is seen" in told["Seat balance:"]
    assert re.search(r"led at half-time: (69|70|71)\.\d% \(", told["Lead:"])
    median = float(re.search(r"median ([\d.]+) min \(", told["Playing time:"])[1])
    assert median == pytest.approx(5 * math.log(2), rel=0.05)


def test_a_gap_between_seats_is_seen(tmp_path: Path) -> None:
    outcomes = play(20_000)
    outcomes.ending = np.where((outcomes.ending == 1) & (np.arange(20_000) % 5 == 0), 0, outcomes.ending)  # seat 0 takes a fifth of seat 1's wins
    told = findings_of(store(tmp_path, [({}, outcomes)]))["Seat balance:"]
    value, low, high = map(float, re.search(r"\+([\d.]+) percentage points \(\+([\d.]+) to \+([\d.]+)\)", told).groups())
    assert low < 18 < high
    assert "a gap is seen" in told
    assert value == pytest.approx(18, abs=2)


def test_policies_of_seats_lead_with_their_own_wins(tmp_path: Path) -> None:
    cells = []
    for name, stolen in (("meek", 0.0), ("bold", 0.5)):
        outcomes = play(5000)
        outcomes.ending = np.where((outcomes.ending == 1) & (np.random.default_rng(1).random(5000) < stolen), 0, outcomes.ending)
        cells.append(({"policies[0]": name}, outcomes))
    told = findings_of(store(tmp_path, cells, policies=["meek", "plain"]))
    assert re.match(r"win rate of seat 0 at [\d.]+% \([^)]*\) with “meek”, up by .* with “bold”\.", told["policy of seat 0:"])
    assert "seat 0 (meek) minus seat 1 (plain)" in told["Policies against each other:"]


def test_assumed_figures_that_turn_who_wins_are_named(tmp_path: Path) -> None:
    stolen = play(5000)
    stolen.ending = np.where((stolen.ending == 1) & (np.random.default_rng(1).random(5000) < 0.5), 0, stolen.ending)
    cells = [
        ({"rules.die": 6, "rules.mode": "calm"}, play(5000)),
        ({"rules.die": 6, "rules.mode": "wild"}, play(5000)),
        ({"rules.die": 5, "rules.mode": "calm"}, stolen),
    ]
    told = findings_of(store(tmp_path, cells, mode="one-at-a-time", assumed=["die", "mode"]))
    assert "Of 2 other values of assumed figures, 1 change whether it is above, below or not told from 0: die 5: +" in told["What is assumed:"]
    assert "What is assumed:" not in findings_of(store(tmp_path, cells, mode="one-at-a-time"))


def test_one_seat_has_no_balance_and_no_seat_in_names(tmp_path: Path) -> None:
    told = findings_of(store(tmp_path, [({}, play(500, seats=1))]))
    assert "Seat balance:" not in told
    assert "mean score 2" in told["Headline figures:"]


@pytest.mark.parametrize(
    ("interval", "unit", "text"),
    [
        (Interval(3.14, 2.94, 3.34), "%", "3.1% (2.9 to 3.3)"),
        (Interval(-0.271, -0.291, -0.251), "min", "−0.27 min (−0.29 to −0.25)"),
        (Interval(0.0, 0.0, 0.0), "", "0.0 (0.0 to 0.0)"),
        (Interval(1234.5, 1200.0, 1270.0), "rolls", "1,234 rolls (1,200 to 1,270)"),
        (Interval(7.0, math.nan, math.nan), "min", "7.0 min (too few games for an interval)"),
        (Interval(math.nan, math.nan, math.nan), "min", "no figure: too few games"),
    ],
)
def test_intervals_are_written_with_one_digit_of_their_width(interval: Interval, unit: str, text: str) -> None:
    assert write_interval(interval, unit) == text


def test_numbers_have_a_true_minus_and_no_signed_zero() -> None:
    assert [write_number(x, 1, signed=True) for x in (-0.04, 0.04, 0.06, -1234.56)] == ["0.0", "0.0", "+0.1", "−1,234.6"]


# ---------------------------------------------------------------- report


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose every text of the user's is hostile to HTML and Markdown."""
    levels = itertools.product([HOSTILE, "*calm* | `wild`"], [6, 5, 4])
    cells = [({"rules.mode": mode, "rules.die": die}, play(2000, draws=die / 20)) for mode, die in levels]
    experiment = f'title = "{HOSTILE}"\n```\n$x_1$\n'
    folder = tmp_path_factory.mktemp("hostile")
    store(folder, cells, title=HOSTILE, question=f"{HOSTILE}?", experiment=experiment, experiment_path="my file $1.toml")
    build_report(folder)
    return folder


class Reader(HTMLParser):
    """Collects tags, the addresses they name, and the text shown."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "poster", "action")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_shows_what_was_typed_and_asks_no_host(hostile: Path) -> None:
    html = (hostile / "report.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(html)
    assert reader.tags.count("script") == 1  # the one that sorts tables
    assert "link" not in reader.tags
    assert reader.text.count(HOSTILE) >= 4  # title, heading, question, experiment
    assert reader.addresses
    assert all(address.startswith("data:image/") for address in reader.addresses)
    assert not re.search(r"https?://|url\(|@import", html)


def test_markdown_shows_what_was_typed(hostile: Path) -> None:
    text = (hostile / "report.md").read_text(encoding="utf-8")
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in html
    assert f"<h1>{'&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;'}</h1>" in html
    assert "<td>mode *calm* | `wild`, die 4</td>" in html
    assert "```\n$x_1$" in html
    for link in re.findall(r"!\[.*\]\((.*)\)", text):
        assert (hostile / link).is_file()


@pytest.mark.parametrize("text", ["a_b", "_a_", "*a*", "1. a", "- a", "# a", "a | b", "`a`", "[a](b)", "a ~~b~~", "&amp;", "<b>", "a\\*b", "1) x", "+ y"])
def test_markdown_is_escaped(text: str) -> None:
    expected = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert MarkdownIt("commonmark").enable("strikethrough").render(escape_markdown(text)) == f"<p>{expected}</p>\n"


def test_the_same_run_gives_the_same_bytes(hostile: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    for name in ("manifest.json", "tallies.npz"):
        shutil.copy(hostile / name, again / name)
    written = build_report(again)
    assert written == build_report(again)
    assert sorted(path.relative_to(again) for path in again.rglob("*.*")) == sorted(path.relative_to(hostile) for path in hostile.rglob("*.*"))
    for path in written:
        assert path.read_bytes() == (hostile / path.relative_to(again)).read_bytes(), path


def test_plots_of_an_earlier_report_go(tmp_path: Path) -> None:
    folder = store(tmp_path, [({"rules.die": d}, play(200, draws=d / 10)) for d in (6, 5)])
    build_report(folder)
    assert (folder / "plots" / "effects.png").exists()
    store(folder, [({}, play(200))])
    written = build_report(folder)
    assert not (folder / "plots" / "effects.png").exists()
    assert {path.name for path in (folder / "plots").iterdir()} == {path.name for path in written if path.parent.name == "plots"}
    assert not list(folder.glob(".report*"))


def test_tables_hold_every_figure(hostile: Path) -> None:
    metrics = pd.read_csv(hostile / "metrics.csv")
    assert len(metrics) == 6 * (len(METRICS) + 2 + 3)  # two of them by seat; and seat_gap, first_seat_advantage, ending_evenness
    assert len(pd.read_parquet(hostile / "metrics.parquet")) == len(metrics)
    assert len(pd.read_csv(hostile / "cells.csv")) == 6


def test_the_report_names_rules_marks_and_reproduction(tmp_path: Path) -> None:
    folder = store(tmp_path, [({"rules.die": d}, play(200)) for d in (6, 5)])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for cell in manifest["cells"]:
        cell["rules"]["lid"] = False
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    build_report(folder)
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "| die | 6 \\| 5 **swept** | 6 | the die | clause die |" in text
    assert "| lid | false **changed** | true | the lid | clause lid |" in text
    assert "| mode | calm | calm | the mode | clause mode |" in text
    assert "housecarlo replay made_up.toml --game 5 --cell 0 --seed 7" in text
    for part in ("0123456789abcdef", "housecarlo run made_up.toml", 'game = "made-up"', "Seed: 7", "Games per cell: 200"):
        assert part in text


def test_replay_repeats_the_overrides() -> None:
    manifest = {"experiment_path": "a b.toml", "seed": 3, "overrides": ["rules.die=4"]}
    assert write_replay(manifest, 2, 9) == "housecarlo replay 'a b.toml' --game 9 --cell 2 --seed 3 --set rules.die=4"


def test_levels_are_short_and_still_unlike(tmp_path: Path) -> None:
    long = [f"{'a' * 30}{middle}{'z' * 30}" for middle in "bcd"]
    ranks = ["2 / 3 / 4 / 5 / 6", "2 / 3 / 4 / 5 / 6 / 14", "14 / 2 / 3"]  # as tables write lists
    cells = [({"rules.file": name, "rules.ranks": some}, play(50)) for name, some in zip(long, ranks, strict=True)]
    labels = Results(Run(store(tmp_path, cells))).labels
    assert labels == [f"file {name}, ranks {shown}" for name, shown in zip(long, ("2–6", "2–6 / 14", "14 / 2 / 3"), strict=True)]
    alone = [({"rules.file": name}, play(50)) for name in (long[0], "short")]
    assert Results(Run(store(tmp_path / "alone", alone))).labels == [f"file {'a' * 19} … {'z' * 19}", "file short"]


def test_numbers_and_texts_may_be_levels_of_one_setting(tmp_path: Path) -> None:
    build_report(store(tmp_path, [({"rules.pace": pace}, play(50)) for pace in (1.0, "0.9 / 1.0")]))
    assert list(pd.read_parquet(tmp_path / "metrics.parquet")["rules.pace"].unique()) == ["1.0", "0.9 / 1.0"]
    assert Results(Run(tmp_path)).labels == ["pace 1", "pace 0.9 / 1.0"]


def test_a_mean_that_never_varied_claims_no_interval(tmp_path: Path) -> None:
    cells = []
    for die in (6, 5):
        outcomes = play(200)
        outcomes.score = [np.full(200, die), *outcomes.score[1:]]
        cells.append(({"rules.die": die}, outcomes))
    results = Results(Run(store(tmp_path, cells)))
    assert results.write(0, ("mean_score", 0)) == "6.000 coins (never varied in 200 games)"
    assert "never" not in results.write(0, ("mean_score", 1)) + results.write(0, ("minutes_q50", None))
    build_report(tmp_path)
    assert "| 6.000 (never varied in 200 games) |" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_extremes_that_look_alike_are_told_once(tmp_path: Path) -> None:
    same = findings_of(store(tmp_path, [({"rules.die": die}, play(50)) for die in (6, 5)]))
    assert same["Lead:"].endswith(" in every cell.")
    assert " to " in same["Lead:"] and "with die" not in same["Lead:"]


@pytest.mark.parametrize("games", [1, 2, 3])
@pytest.mark.parametrize("seats", [1, 2, 4])
def test_few_games_and_any_number_of_seats(tmp_path: Path, games: int, seats: int) -> None:
    build_report(store(tmp_path, [({"rules.die": d}, play(games, seats, draws=d / 10)) for d in (6, 5)]))
    assert "nan" not in re.sub(r"data:image\S+", "", (tmp_path / "report.html").read_text(encoding="utf-8"))


def test_games_that_never_end(tmp_path: Path) -> None:
    folder = store(tmp_path, [({"rules.die": d}, play(300, unfinished=1.0)) for d in (6, 5)])
    build_report(folder)
    assert "no figure" not in findings_of(folder)["Unfinished games:"]


def test_many_cells_are_split_or_limited_with_a_note(tmp_path: Path) -> None:
    levels = itertools.product([6, 5, 4, 3], ["calm", "wild", "mad", "odd"], [True, False], ["a", "b"])
    cells = [({"rules.die": d, "rules.mode": m, "rules.lid": lid, "policies[0]": p}, play(100, draws=d / 20)) for d, m, lid, p in levels]
    written = {path.name for path in build_report(store(tmp_path, cells))}
    assert {"endings.png", "endings_2.png", "lengths_2.png", "seats_2.svg", "heat_draw_rate.png"} <= written
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Only 60 of 64 are drawn; the tables hold all." in html


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no stored run there"):
        build_report(tmp_path)


def test_templates_refuse_an_unknown_name() -> None:
    with pytest.raises(Exception, match="undefined"):
        render("report.html", {})


# ---------------------------------------------------------------- in a browser


def open_in_chromium(page: Path, profile: Path, *options: str) -> str:
    """The page's DOM after loading, from a browser that shares nothing with any other."""
    command = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert command, "the reports are checked in Chromium: install chromium"
    quiet = ["--disable-quic", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", *quiet, f"--user-data-dir={profile}", *options, "--dump-dom", page.as_uri()]
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True, timeout=120).stdout


def watch_in_chromium(page: Path, folder: Path, measure: str, width: int = 1200) -> str:
    """What `measure`, a JavaScript expression about the document `shown`, comes to once the page has loaded."""
    outer = folder / "page.html"
    frame = f'<iframe style="width:{width}px; height:900px; border:0" src="{page.as_uri()}"></iframe>'
    script = f"onload = () => {{ const shown = document.querySelector('iframe').contentDocument; document.title = JSON.stringify({measure}) }}"
    outer.write_text(f"<title></title>{frame}<script>{script}</script>")
    dom = open_in_chromium(outer, folder / "profile", "--allow-file-access-from-files")
    return re.search("<title>(.*?)</title>", dom)[1]


def test_a_click_sorts_a_table_by_its_numbers(tmp_path: Path) -> None:
    cells = [({"rules.die": d}, play(2000, draws=share)) for d, share in ((6, 0.02), (5, 0.5), (4, 0.1))]
    build_report(store(tmp_path, cells), "it")
    click = "shown.querySelectorAll('#cells th')[2].click()"
    order = "[...shown.querySelectorAll('#cells tbody tr')].map(row => row.cells[0].textContent)"
    measure = f"({click}, [{order}, ({click}, {order}), shown.querySelectorAll('[aria-sort]').length, shown.documentElement.lang])"
    assert json.loads(watch_in_chromium(tmp_path / "report.html", tmp_path, measure)) == [["0", "2", "1"], ["1", "2", "0"], 1, "it"]


def test_the_console_stays_silent(hostile: Path, tmp_path: Path) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    command = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    loud = tmp_path / "loud.html"
    loud.write_text("<script>nothing.here()</script>")
    heard = [
        subprocess.run([command, *options, page.as_uri()], check=True, capture_output=True, text=True, timeout=120).stderr
        for page in (loud, hostile / "report.html")
    ]
    assert ["CONSOLE" in text for text in heard] == [True, False]


def test_chromium_loads_the_report(hostile: Path, tmp_path: Path) -> None:
    dom = open_in_chromium(hostile / "report.html", tmp_path / "profile")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in dom
    assert dom.count("<img ") == len(list((hostile / "plots").glob("*.svg")))


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_does_not_scroll_sideways(hostile: Path, tmp_path: Path, width: int) -> None:
    measure = "[shown.documentElement.scrollWidth, [...shown.images].every(image => image.naturalWidth > 99)]"
    assert watch_in_chromium(hostile / "report.html", tmp_path, measure, width) == f"[{width},true]"
