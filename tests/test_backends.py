"""The same bytes from threads, processes and a real dask cluster, also when workers die."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from policies.loading import carry_files, load_carried, load_line_ups
from sim import workers
from sim.batch import Block, Player
from sim.errors import InputError
from sim.experiment import read_experiment
from sim.store import build_arrays
from tests.test_resume import ROOT, contents, finish, housecarlo, start, wait_for_blocks

PORT = 18_797
SCHEDULER = f"tcp://127.0.0.1:{PORT}"
EXPERIMENT = """game = "mint-tin"
games = 200_000
policies = ["own/cautious.py:cautious", "racer"]

[sweep]
"rules.monster_die" = [6, 3]
"""
POLICY = """from beside import lowest


def cautious(view, legal, rules, stream):
    return lowest(legal)
"""
BESIDE = """from numba import njit


@njit
def lowest(legal):
    action = 0
    while legal >> action & 1 == 0:
        action += 1
    return action
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an experiment that needs two files of the user's own, and its run on threads."""
    folder = tmp_path_factory.mktemp("backends")
    (folder / "own").mkdir()
    (folder / "own" / "cautious.py").write_text(POLICY)
    (folder / "own" / "beside.py").write_text(BESIDE)
    (folder / "own.toml").write_text(EXPERIMENT)
    code, _, err = housecarlo("run", "own.toml", "--out", "threads", "--no-plots", cwd=folder)
    assert code == 0, err
    return folder


def test_processes_give_the_same_bytes(home: Path) -> None:
    code, _, err = housecarlo("run", "own.toml", "--out", "processes", "--no-plots", "--backend", "processes", cwd=home)
    assert code == 0, err
    assert contents(home / "processes") == contents(home / "threads")


def test_a_killed_process_is_said_and_costs_nothing_stored(home: Path) -> None:
    arguments = ("run", "own.toml", "--out", "shot", "--no-plots", "--games", "100000000", "--backend", "processes")
    process = start(*arguments, cwd=home)
    wait_for_blocks(home / "shot")
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout.split()
    played = [
        int(child)
        for child in children
        if b"loky" in Path(f"/proc/{child}/cmdline").read_bytes() and b"tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    os.kill(played[0], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 2
    assert err.strip().splitlines()[-1] == ("housecarlo: --backend processes: a worker process was killed; the same command goes on from what is stored")
    assert (home / "shot" / "blocks.sqlite").exists()
    assert not [child for child in played if Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes()]


def test_ctrl_c_ends_processes_too(home: Path) -> None:
    process = start("run", "own.toml", "--out", "ended", "--no-plots", "--games", "100000000", "--backend", "processes", cwd=home, start_new_session=True)
    wait_for_blocks(home / "ended")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    begun = time.monotonic()
    code, _, err = finish(process)
    assert time.monotonic() - begun < 2
    assert code == 130
    assert "Traceback" not in err
    time.sleep(0.5)
    left = subprocess.run(["pgrep", "-g", str(process.pid), "-f", "loky.*popen"], capture_output=True, text=True, check=False).stdout.split()
    assert not left


# ---------------------------------------------------------------- dask


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A scheduler and two workers, each with one thread, that share no folder with the user."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False"}
    commands = [["scheduler", "--host", "127.0.0.1", "--port", str(PORT), "--no-dashboard"]] + [
        ["worker", SCHEDULER, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    ] * 2
    with (folder / "log").open("wb") as log:
        started = [subprocess.Popen([sys.executable, "-m", "dask", *command], cwd=folder, env=environment, stdout=log, stderr=log) for command in commands]
        yield started
        for process in reversed(started):
            process.kill()
            process.wait()


def test_a_worker_killed_in_the_run_changes_no_byte(home: Path, cluster: list[subprocess.Popen[bytes]]) -> None:
    process = start("run", "own.toml", "--out", "dask", "--no-plots", "--backend", "dask", "--scheduler", SCHEDULER, cwd=home)
    wait_for_blocks(home / "dask")
    cluster[1].kill()
    assert process.poll() is None
    code, _, err = finish(process)
    assert code == 0, err
    assert contents(home / "dask") == contents(home / "threads")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--backend dask: give the scheduler's address, for example --scheduler tcp://127.0.0.1:8786"),
        (["--scheduler", "tcp://127.0.0.1:9"], "--scheduler tcp://127.0.0.1:9: cannot be reached"),
    ],
)
def test_a_scheduler_that_is_not_there_is_said(options: list[str], told: str, home: Path) -> None:
    code, _, err = housecarlo("run", "own.toml", "--out", "nobody", "--no-plots", "--backend", "dask", *options, cwd=home)
    assert code == 2
    assert told in err.strip().splitlines()[-1]


# ---------------------------------------------------------------- what travels


def test_policy_files_travel_as_source_with_what_they_import(home: Path) -> None:
    experiment = read_experiment(home / "own.toml", games=500)
    line_ups = load_line_ups(experiment)
    carried = carry_files(experiment)
    assert carried == {"own/cautious.py": POLICY, "own/beside.py": BESIDE}
    order = pickle.dumps((workers.source_digest(), experiment, load_carried, carried))
    block = Block(0, 500, frozenset({0, 1}))
    ours, theirs = Player(experiment, line_ups).play(block).tallies, workers._Errand(order)(block, False).tallies
    assert build_arrays(ours).keys() == build_arrays(theirs).keys()
    assert all((build_arrays(ours)[name] == build_arrays(theirs)[name]).all() for name in build_arrays(ours))


def test_a_worker_with_other_rules_refuses_to_play(home: Path) -> None:
    order = pickle.dumps(("0123456789abcdef", read_experiment(home / "own.toml"), load_carried, {}))
    with pytest.raises(InputError, match="a worker has other rules or policies"):
        workers._Errand(order)(Block(0, 1, frozenset({0})), False)
