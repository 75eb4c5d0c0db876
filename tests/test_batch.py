"""Batches: the same tallies for any number of workers and any block size; exact sums; a longer run continues a shorter one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.loading import load_line_ups
from reports.run import Sums
from reports.tables import build_tables
from sim.batch import Block, Player
from sim.experiment import Experiment, parse_experiment
from sim.outcomes import MISSING
from sim.replay import explain
from sim.store import write_run
from sim.tally import CellTally, Counter, figures_of
from sim.workers import play_experiment

SWEEP = {"rules.mode": ["uh-oh", "omg"], "rules.monster_die": [6, 3]}


def experiment_of(games: int, folder: Path = Path(), **changes: Any) -> Experiment:
    """A small experiment of four cells."""
    return parse_experiment({"game": "mint-tin", "policies": ["hero", "brawler"], "games": games, "sweep": dict(SWEEP), **changes}, folder / "small.toml")


def store(experiment: Experiment, folder: Path, **options: Any) -> tuple[bytes, bytes]:
    """Play and store an experiment; its metrics and differences files."""
    line_ups = load_line_ups(experiment)
    write_run(folder, experiment, play_experiment(experiment, line_ups, **options), "housecarlo run")
    build_tables(folder)
    return (folder / "metrics.csv").read_bytes(), (folder / "differences.csv").read_bytes()


def test_metrics_are_identical_for_any_jobs_and_block_size(tmp_path: Path) -> None:
    experiment = experiment_of(5_000)
    files = {
        store(experiment, tmp_path / f"{jobs}-{block}", jobs=jobs, block_games=block) for jobs, block in ((1, 5_000), (2, 5_000), (1, 777), (2, 1_000), (2, 31))
    }
    assert len(files) == 1


def test_a_longer_run_begins_with_the_games_of_a_shorter_one() -> None:
    short, long = experiment_of(1_000), experiment_of(3_000)
    line_ups = load_line_ups(long)
    whole, rest = play_experiment(long, line_ups), Player(long, line_ups).play(Block(1_000, 3_000, frozenset(range(4)))).tallies
    joined = play_experiment(short, line_ups)
    joined.add(rest)
    assert_equal(joined.cells[1], whole.cells[1])
    assert [p.sums for p in joined.pairs] == [p.sums for p in whole.pairs]


def assert_equal(a: CellTally, b: CellTally) -> None:
    """Two tallies alike in everything."""
    assert (a.counts, a.totals, a.squares, a.highlights) == (b.counts, b.totals, b.squares, b.highlights)
    assert all(np.array_equal(x, y) for x, y in zip(a.bins, b.bins, strict=True))


def test_tallies_are_the_plain_sums_of_the_columns() -> None:
    experiment = experiment_of(2_000)
    line_ups = load_line_ups(experiment)
    player = Player(experiment, line_ups)
    tallies = play_experiment(experiment, line_ups)
    rows = [table.play(experiment.seed, 0, 2_000) for table in player.tables()]
    for cell, data in zip(tallies.cells, rows, strict=True):
        for n in range(data.shape[1]):
            present = [int(x) for x in data[:, n] if x != MISSING]
            assert (cell.counts[n], cell.totals[n], cell.squares[n]) == (len(present), sum(present), sum(x * x for x in present))
            assert cell.bins[n].sum() == len(present)
    paired = figures_of(experiment.module, 2)
    for pair, tally in zip(experiment.pairs, tallies.pairs, strict=True):
        for figure, sums in zip(paired, tally.sums, strict=True):
            x, y = rows[pair.cell][:, figure.index], rows[pair.reference][:, figure.index]
            has_x, has_y = x != MISSING, y != MISSING
            both = has_x & has_y
            if figure.metric.kind == "share":
                x, y = x == figure.equals, y == figure.equals
            x, y = x.astype(object), y.astype(object)
            own = [int(s) for v, has in ((x, has_x), (y, has_y)) for s in (has.sum(), v[has].sum(), (v[has] ** 2).sum())]
            differ = int(((has_x != has_y) | (both & (x != y))).sum())
            assert sums == [*own, int(both.sum()), int(x[both].sum()), int(y[both].sum()), int((x * y)[both].sum()), differ]


def test_highlights_are_the_first_of_the_extreme_games() -> None:
    experiment = experiment_of(4_000)
    line_ups = load_line_ups(experiment)
    rolls = Player(experiment, line_ups).tables()[0].play(experiment.seed, 0, 4_000)[:, 3]
    longest, shortest, _ = play_experiment(experiment, line_ups, jobs=2, block_games=300).cells[0].highlights
    assert longest is not None
    assert shortest is not None
    present = np.where(rolls == MISSING, -1, rolls)
    assert longest[1] == int(np.argmax(present))
    assert shortest[1] == int(np.argmin(np.where(rolls == MISSING, 2**40, rolls)))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=60))
def test_bins_hold_each_value_within_a_2048th(values: list[int]) -> None:
    experiment = experiment_of(1)
    counter = Counter(experiment.module, 2)
    rows = np.full((len(values), len(counter.fields)), MISSING, dtype=np.int64)
    rows[:, 3] = values
    tally = counter.tally(rows, 0)
    bins = tally.bins[3]
    edges = Sums(0, 0, 0, np.zeros(len(bins) + 1, dtype=np.int64), 0, 1.0).values  # the reports' reading of the bins
    expected = np.searchsorted(edges, sorted(values), side="right") - 1
    assert np.array_equal(np.bincount(expected, minlength=len(bins)), bins)
    assert (np.diff(edges) <= np.maximum(edges[:-1] / 2048, 1)).all()
    assert tally.squares[3] == sum(v * v for v in values)


def test_an_illegal_action_names_policy_game_seed_and_replay(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def cheat(view, legal, rules, stream):\n    return 11 if view.inside == 1 else 2 if view.standing else 1\n")
    experiment = experiment_of(500, tmp_path, policies=["racer", "own.py:cheat"])
    line_ups = load_line_ups(experiment)
    failed = play_experiment(experiment, line_ups).failed
    assert set(failed) == {cell.number for cell in experiment.cells}
    told = r"own\.py:cheat \(.*own\.py, line 1\) chose an illegal action, .*, where legal were: .*; as seat 1 in game \d+ of cell 0 .*, seed 1$"
    assert re.search(told, explain(experiment, line_ups, 0, failed[0]))


def test_nothing_a_policy_writes_to_its_view_or_rules_reaches_the_game(tmp_path: Path) -> None:
    racing = "    action = racer(view, legal, rules, stream)\n"
    body = "from policies.mint_tin import racer\n\n\ndef {name}(view, legal, rules, stream):\n" + racing + "{write}    return action\n"
    write = "    view.inside = 5\n    view.die = 1\n    rules.meeples_to_close = 1\n    rules.monster_die = 1\n    rules.meeples_to_close = 4\n"
    (tmp_path / "own.py").write_text(body.format(name="honest", write=""))
    (tmp_path / "cheat.py").write_text(body.format(name="cheat", write=write))
    rows = []
    for name in ("own.py:honest", "cheat.py:cheat"):
        experiment = experiment_of(500, tmp_path, policies=[name])
        rows.append(Player(experiment, load_line_ups(experiment)).tables()[0].play(1, 0, 500))
    assert np.array_equal(*rows)
