"""Nothing lost: a run that is killed, stopped, refused or starved goes on where it was, and ends with the very bytes of one never disturbed."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.loading import carry_files, load_line_ups
from sim.batch import PAUSE, Block, Failure, Flow, Ledger, Played, Player, Tallies, join_blocks, play_on
from sim.blocks import FOLD_BLOCKS, StoredLedger, pack, read_stored, unpack
from sim.errors import InputError
from sim.experiment import parse_experiment
from sim.store import build_arrays, identify
from sim.tally import CellTally, PairTally, fields_of
from sim.workers import hire_threads, play_experiment

ROOT = Path(__file__).parent.parent
EXPERIMENT = """game = "mint-tin"
games = 60_000
policies = ["hero", "brawler"]

[sweep]
"rules.monster_die" = [6, 3]
"""
CHEAT = "\n\ndef cheat(view, legal, rules, stream):\n    return 11 if view.inside == 1 else 2 if view.standing else 1\n"
FOR_EVER = "\n\ndef ponder(view, legal, rules, stream):\n    count = 0\n    while count >= 0:\n        count = (count + legal) % 1000\n    return 1\n"


def start(*arguments: str, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "-m", "cli", *arguments], cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code and what it printed."""
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def housecarlo(*arguments: str, cwd: Path, **options: Any) -> tuple[int, str, str]:
    return finish(start(*arguments, cwd=cwd, **options))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the experiment and the run of it that nothing disturbed."""
    folder = tmp_path_factory.mktemp("resume")
    (folder / "small.toml").write_text(EXPERIMENT)
    code, _, err = housecarlo("run", "small.toml", "--out", "whole", cwd=folder)
    assert code == 0, err
    return folder


def wait_for_blocks(folder: Path) -> None:
    """Until a run has stored some games."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if read_stored(folder / "blocks.sqlite")[1]:
                return
        except InputError:
            pass
        time.sleep(0.02)
    raise AssertionError("nothing was stored")


# ---------------------------------------------------------------- kills


def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(home: Path) -> None:
    """Of every kind of moment: while it starts, plays, writes the run, draws the report."""
    rng = random.Random(7)
    kills = 0
    begun = time.monotonic()
    code, _, err = housecarlo("run", "small.toml", "--out", "killed", "--fresh", cwd=home)
    seconds = time.monotonic() - begun
    shutil.rmtree(home / "killed")
    for _ in range(6):
        process = start("run", "small.toml", "--out", "killed", cwd=home)
        time.sleep(rng.uniform(0.2, 1.1) * seconds)
        kills += process.poll() is None
        process.kill()
        process.communicate()
    assert kills >= 3
    code, _, err = housecarlo("run", "small.toml", "--out", "killed", cwd=home)
    assert code == 0, err
    assert contents(home / "killed") == contents(home / "whole")


def test_play_killed_again_and_again_loses_no_stored_block(home: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill_play", str(home / "small.toml"), str(tmp_path), "60"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    kills, lost, mismatches = map(int, done.stdout.split())
    assert (lost, mismatches) == (0, 0)
    assert kills >= 40


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_run_within_two_seconds_and_it_goes_on(home: Path, asked: signal.Signals) -> None:
    process = start("run", "small.toml", "--games", "100000000", "--out", f"stopped-{asked}", cwd=home)
    wait_for_blocks(home / f"stopped-{asked}")
    begun = time.monotonic()
    process.send_signal(asked)
    code, _, err = finish(process)
    assert time.monotonic() - begun < 2
    assert code == 128 + asked
    assert err.strip().splitlines()[-1].startswith(f"housecarlo: interrupted ({asked.name}); what `run` has finished is stored")
    assert "Traceback" not in err
    code, out, err = housecarlo("report", f"stopped-{asked}", "--no-plots", cwd=home)
    assert code == 0, err
    assert "unfinished" in out
    metrics = pd.read_csv(home / f"stopped-{asked}" / "metrics.csv")
    assert 0 < metrics["games"].max() < 100_000_000


def test_a_policy_that_never_returns_can_be_stopped(home: Path) -> None:
    (home / "slow.py").write_text(FOR_EVER)
    (home / "slow.toml").write_text('game = "mint-tin"\npolicies = ["slow.py:ponder"]\n')
    process = start("run", "slow.toml", cwd=home)
    assert process.stdout is not None
    assert "games of" in process.stdout.readline()
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    code, _, _ = finish(process)
    assert time.monotonic() - begun < 2
    assert code == 128 + signal.SIGTERM


# ---------------------------------------------------------------- one folder, one run


def test_a_finished_run_is_not_played_again(home: Path) -> None:
    before = contents(home / "whole")
    code, out, _ = housecarlo("run", "small.toml", "--out", "whole", cwd=home)
    assert code == 0
    assert "played" not in out
    assert contents(home / "whole") == before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (["--seed", "5"], "holds a run with another seed (1, not 5); --fresh drops it and starts over, --out names another folder"),
        (["--games", "70000"], "holds a run with another number of games (60000, not 70000); --fresh"),
        (["--set", "rules.manhole=true"], "holds a run with another setting given with --set; --fresh"),
        (["--keep-games"], "holds a run with another choice to keep games; --fresh"),
    ],
)
def test_another_run_in_the_folder_is_refused_and_left_alone(home: Path, changes: list[str], told: str) -> None:
    before = contents(home / "whole")
    code, _, err = housecarlo("run", "small.toml", "--out", "whole", *changes, cwd=home)
    assert code == 2
    assert told in err
    assert contents(home / "whole") == before


def test_another_source_of_a_policy_is_another_run(home: Path) -> None:
    (home / "own.py").write_text("def first(view, legal, rules, stream):\n    return 1\n")
    experiment = parse_experiment({"game": "mint-tin", "policies": ["own.py:first"]}, home / "own.toml")
    load_line_ups(experiment)
    one = identify(experiment, carry_files(experiment))
    (home / "own.py").write_text("def first(view, legal, rules, stream):\n    return 2\n")
    assert {name for name, value in identify(experiment, carry_files(experiment)).items() if one[name] != value} == {"policy file"}


def test_fresh_starts_over(home: Path) -> None:
    shutil.copytree(home / "whole", home / "again")
    code, out, err = housecarlo("run", "small.toml", "--out", "again", "--seed", "5", "--fresh", "--no-plots", cwd=home)
    assert code == 0, err
    assert "played" in out
    assert json.loads((home / "again" / "manifest.json").read_text())["seed"] == 5


def test_a_fresh_run_that_fails_leaves_a_folder_to_run_in_again(home: Path) -> None:
    shutil.copytree(home / "whole", home / "failing")
    (home / "cheat.py").write_text(CHEAT)
    (home / "all.toml").write_text('game = "mint-tin"\ngames = 500\npolicies = ["cheat.py:cheat"]\n')
    assert housecarlo("run", "all.toml", "--out", "failing", "--fresh", cwd=home)[0] == 2
    assert {path.name for path in (home / "failing").iterdir()} <= {".lock"}
    assert housecarlo("run", "small.toml", "--out", "failing", "--no-plots", cwd=home)[0] == 0


def test_a_second_run_in_the_same_folder_is_refused(home: Path) -> None:
    process = start("run", "small.toml", "--games", "100000000", "--out", "busy", cwd=home)
    wait_for_blocks(home / "busy")
    code, _, err = housecarlo("run", "small.toml", "--games", "100000000", "--out", "busy", cwd=home)
    process.kill()
    process.communicate()
    assert code == 2
    assert err.strip() == "housecarlo: busy: another run is being played there; let it end, or name another folder with --out"


# ---------------------------------------------------------------- no room


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_file_that_cannot_grow_is_said_and_the_run_goes_on_later(home: Path) -> None:
    code, _, err = housecarlo("run", "small.toml", "--out", "limited", cwd=home, preexec_fn=lambda: limit_files(120_000))
    assert code == 2
    assert "blocks stored before are good, and the same command goes on from them" in err.strip().splitlines()[-1]
    assert "Traceback" not in err
    code, _, err = housecarlo("run", "small.toml", "--out", "limited", cwd=home)
    assert code == 0, err
    assert contents(home / "limited") == contents(home / "whole")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_said_and_what_was_stored_stays_good(home: Path, small_disk: Path) -> None:
    code, _, err = housecarlo("run", "small.toml", "--out", str(small_disk / "run"), cwd=home)
    assert code == 2
    assert "the disk is full" in err.strip().splitlines()[-1]
    shutil.copytree(small_disk / "run", home / "moved")
    code, out, err = housecarlo("run", "small.toml", "--out", "moved", cwd=home)
    assert code == 0, err
    assert "going on from" in out
    assert contents(home / "moved") == contents(home / "whole")


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_played(home: Path) -> None:
    code, out, err = housecarlo("run", "small.toml", "--out", "small.toml/below", cwd=home)
    assert code == 2
    assert err.strip().splitlines()[-1].startswith("housecarlo: small.toml/below: cannot be written (")
    assert "played" not in out


def test_a_folder_deleted_meanwhile_is_said(home: Path) -> None:
    process = start("run", "small.toml", "--games", "100000000", "--out", "gone", cwd=home)
    wait_for_blocks(home / "gone")
    shutil.rmtree(home / "gone")
    code, _, err = finish(process)
    assert code == 2
    assert err.strip().splitlines()[-1].startswith("housecarlo: gone/blocks.sqlite: ")
    assert "Traceback" not in err


# ---------------------------------------------------------------- one bad cell


def test_a_policy_that_fails_costs_its_own_cells_only(home: Path) -> None:
    (home / "cheat.py").write_text(CHEAT)
    swept = EXPERIMENT.replace('"rules.monster_die" = [6, 3]', '"policies[1]" = ["brawler", "cheat.py:cheat"]').replace("60_000", "3_000")
    (home / "cheat.toml").write_text(swept)
    (home / "fair.toml").write_text(swept.replace(', "cheat.py:cheat"', ', "hero"'))
    code, _, err = housecarlo("run", "cheat.toml", cwd=home)
    assert code == 2
    (line,) = err.strip().splitlines()[-1:]
    assert "cheat.py:cheat (" in line and ") chose an illegal action, " in line and "; as seat 1 in game " in line
    assert housecarlo("run", "fair.toml", "--no-plots", cwd=home)[0] == 0
    cheated, fair = (pd.read_csv(home / "out" / name / "metrics.csv").query("cell == 0") for name in ("cheat", "fair"))
    figures = ["metric", "seat", "value", "low", "high", "games"]
    pd.testing.assert_frame_equal(cheated[figures], fair[figures])


def test_a_failure_in_a_lost_block_is_found_although_a_later_one_is_stored(home: Path) -> None:
    (home / "cheat.py").write_text(CHEAT)
    experiment = parse_experiment({"game": "mint-tin", "games": 600, "policies": ["brawler", "cheat.py:cheat"]}, home / "late.toml")
    line_ups = load_line_ups(experiment)
    player = Player(experiment, line_ups)
    first = play_experiment(experiment, line_ups).failed
    ledger = Ledger(player.nothing())
    ledger.add(player.play(Block(300, 600, frozenset(range(len(experiment.cells))))))
    assert all(failure.game >= 300 for failure in ledger.tallies.failed.values())
    play_on(player, hire_threads(player, 2), ledger)
    assert ledger.tallies.failed == first


def test_workers_do_not_run_far_ahead_of_the_parent() -> None:
    flow, out = Flow(4), []
    blocks = flow.send(Block(n, n + 1, frozenset({0})) for n in range(10))
    out = [next(blocks) for _ in range(7)]
    assert [block == PAUSE for block in out] == [False] * 4 + [True] * 3
    flow.taken += 7
    assert next(blocks) == Block(4, 5, frozenset({0}))


# ---------------------------------------------------------------- every game's row


def test_kept_games_are_the_games_however_the_run_was_stopped(home: Path) -> None:
    arguments = ["run", "small.toml", "--games", "50000", "--keep-games", "--no-plots"]
    assert housecarlo(*arguments, "--out", "rows", cwd=home)[0] == 0
    process = start(*arguments, "--out", "rows-killed", cwd=home)
    wait_for_blocks(home / "rows-killed")
    process.kill()
    process.communicate()
    (home / "rows-killed" / "games" / "cell=0" / ".games-000000000000.parquet.1").write_text("half")  # as a kill in the middle of a file leaves
    assert housecarlo(*arguments, "--out", "rows-killed", cwd=home)[0] == 0
    assert contents(home / "rows-killed") == contents(home / "rows")
    experiment = parse_experiment({"game": "mint-tin", "policies": ["hero", "brawler"], "sweep": {"rules.monster_die": [6, 3]}}, home / "small.toml")
    table = pd.read_parquet(home / "rows" / "games").sort_values(["cell", "game"])
    assert (table.groupby("cell", observed=True).size() == 50_000).all()
    played = Player(experiment, load_line_ups(experiment)).tables()[1].play(1, 0, 50_000)
    kept = table[table["cell"].astype(int) == 1]
    assert np.array_equal(kept["game"], np.arange(50_000))
    column = next(n for n, field in enumerate(fields_of(experiment.module, 2)) if field.label == "points[1]")
    assert np.array_equal(kept["points[1]"], played[:, column])
    assert set(kept["rules.monster_die"]) == {3} and set(kept["policies"]) == {"hero / brawler"}
    assert set(kept["ending"]) <= set(next(c for c in experiment.module.COLUMNS if c.name == "ending").labels)


def test_kept_games_have_the_seats_of_the_fullest_table(tmp_path: Path) -> None:
    (tmp_path / "seats.toml").write_text('game = "kitty-paw"\npolicies = ["quick"]\ngames = 40\n[sweep]\nseats = [2, 3]\n')
    assert housecarlo("run", "seats.toml", "--keep-games", "--no-plots", cwd=tmp_path)[0] == 0
    table = pd.read_parquet(tmp_path / "out" / "seats" / "games")
    assert table.groupby("seats")["points[2]"].count().to_dict() == {2: 0, 3: 40}
    assert table.groupby("seats")["points[1]"].count().to_dict() == {2: 40, 3: 40}


# ---------------------------------------------------------------- the ledger itself

SOME = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9), st.sampled_from([frozenset({0}), frozenset({0, 1})])), max_size=12)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(SOME)
def test_gaps_and_blocks_make_the_whole(drawn: list[tuple[int, int, frozenset[int]]]) -> None:
    ledger = Ledger(Tallies([], [], []))
    for first, games, cells in drawn:
        for a, b in ledger.find_gaps(first, min(first + games, 45)):
            ledger.add(Played(Block(a, b, cells), Tallies([], [], []), 0.0, []))
    held = [game for block in ledger.blocks for game in range(block.first, block.last)]
    gaps = [game for first, last in ledger.find_gaps(0, 45) for game in range(first, last)]
    assert sorted(held + gaps) == list(range(45))
    assert join_blocks(ledger.blocks) == ledger.blocks


def test_packed_tallies_come_back_whole() -> None:
    experiment = parse_experiment({"game": "kitty-paw", "policies": ["quick"], "games": 300, "sweep": {"seats": [2, 3]}}, Path("x.toml"))
    tallies = play_experiment(experiment, load_line_ups(experiment))
    tallies.cells[0].squares[0] = 10**40
    tallies.failed[1] = Failure(7, "endless")
    back = unpack(pack(tallies))
    assert back.failed == tallies.failed
    assert back.cells[0].highlights == tallies.cells[0].highlights
    ours, theirs = build_arrays(tallies), build_arrays(back)
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours | theirs)
    assert pack(back) == pack(tallies)


def test_the_store_does_not_grow_with_the_number_of_blocks(tmp_path: Path) -> None:
    tallies = Tallies([1], [CellTally([1], [2], [4], [np.arange(50)])], [PairTally([[1] * 10])])
    nothing = Tallies([0], [CellTally([0], [0], [0], [np.zeros(0, np.int64)])], [PairTally([[0] * 10])])
    ledger = StoredLedger(tmp_path / "blocks.sqlite", replace(nothing), {})
    sizes = []
    for n in range(20 * FOLD_BLOCKS):
        ledger.add(Played(Block(n, n + 1, frozenset({0})), unpack(pack(tallies)), 0.0, []))
        sizes.append((tmp_path / "blocks.sqlite").stat().st_size)
    ledger.close()
    assert max(sizes[2 * FOLD_BLOCKS :]) == max(sizes[: 2 * FOLD_BLOCKS])
    total = read_stored(tmp_path / "blocks.sqlite")[1]
    assert total is not None
    assert total.games == [20 * FOLD_BLOCKS]
    assert total.pairs[0].sums == [[20 * FOLD_BLOCKS] * 10]
