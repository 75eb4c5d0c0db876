"""What does it cost to spread a run, and over how many workers does it pay? Run by hand on a quiet machine: python3 bench/scale.py

Measured here: the parent's time for each block (adding it up, storing it), and a run on one and two workers of each back end, as a part
of what perfect sharing would give. Simulated from that: the same on up to 1 000 workers, for several lengths of a block.
"""

from __future__ import annotations

import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import carry_files, load_carried, load_line_ups
from sim.batch import Block, Player, play_on
from sim.blocks import StoredLedger
from sim.experiment import Experiment, parse_experiment
from sim.workers import hire

ROOT = Path(__file__).resolve().parent.parent
PORT = 18_787
BLOCK_SECONDS = (1, 5, 20)
WORKERS = (1, 2, 8, 32, 128, 512, 1000)
RUN_SECONDS = 3600  # the simulated run, on perfectly shared workers


def experiment_of(cells: int, games: int) -> Experiment:
    """Racers of Mint Tin in so many cells."""
    data = {"game": "mint-tin", "policies": ["racer"], "games": games, "sweep": {"rules.max_rolls": [20_000 + n for n in range(cells)]}}
    return parse_experiment(data, Path("scale.toml"))


def time_parent(cells: int, folder: Path) -> float:
    """Seconds the parent needs for a block of so many cells."""
    experiment = experiment_of(cells, 1_000_000)
    player = Player(experiment, load_line_ups(experiment))
    ledger = StoredLedger(folder / f"parent{cells}.sqlite", player.nothing(), {})
    played = player.play(Block(0, 20_000, frozenset(range(len(experiment.cells)))))
    start = time.perf_counter()
    for _ in range(40):
        ledger.add(played)
    return (time.perf_counter() - start) / 40


def time_backend(backend: str, jobs: int, scheduler: str, folder: Path) -> tuple[float, float]:
    """Seconds of a warm run, and how much of the workers' time in it was play."""
    experiment = experiment_of(3, 3_000_000)
    player = Player(experiment, load_line_ups(experiment))
    seconds: list[float] = []
    for warm in (False, True):
        ledger = StoredLedger(folder / f"{backend}{jobs}{warm}.sqlite", player.nothing(), {})
        seconds.clear()
        with hire(player, carry_files, load_carried, backend, jobs, scheduler) as workers:
            if not warm:
                play_on(Player(experiment_of(3, 2_000), player.line_ups), workers, ledger)
                continue
            start = time.perf_counter()
            play_on(player, workers, ledger, keep=lambda played: seconds.append(played.seconds))
            wall = time.perf_counter() - start
    return wall, sum(seconds) / (wall * jobs)


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A dask scheduler and so many workers of one thread on this machine."""
    address = f"tcp://127.0.0.1:{PORT}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    dask = [sys.executable, "-m", "dask"]
    commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", str(PORT), "--no-dashboard"]]
    commands += [[*dask, "worker", address, "--nthreads", "1", "--no-dashboard"]] * workers
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    try:
        time.sleep(8)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def simulate(workers: int, block_seconds: float, parent_seconds: float) -> float:
    """Part of the workers' time that is play: each worker takes the next block when free, the parent takes results one by one."""
    blocks = round(RUN_SECONDS * workers / block_seconds)
    free = [0.0] * workers
    parent = 0.0
    for _ in range(blocks):
        end = heapq.heappop(free) + block_seconds
        parent = max(parent, end) + parent_seconds
        heapq.heappush(free, end)
    return blocks * block_seconds / (max(parent, *free) * workers)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parents = {cells: time_parent(cells, folder) for cells in (1, 6, 60)}
        for cells, seconds in parents.items():
            print(f"parent, a block of {cells} cells: {1000 * seconds:.1f} ms")
        for backend, counts in (("threads", (1, 2)), ("processes", (2,))):
            for jobs in counts:
                wall, play = time_backend(backend, jobs, "", folder)
                print(f"{backend}, {jobs}: {wall:.1f} s, {100 * play:.0f}% of the workers' time is play")
        with cluster(2) as scheduler:
            wall, play = time_backend("dask", 2, scheduler, folder)
            print(f"dask, 2: {wall:.1f} s, {100 * play:.0f}% of the workers' time is play")
        for cells, seconds in parents.items():
            print(f"simulated, {cells} cells: part of the workers' time that is play")
            print("workers " + "".join(f"{f'{b} s':>8}" for b in BLOCK_SECONDS))
            for workers in WORKERS:
                print(f"{workers:>7} " + "".join(f"{100 * simulate(workers, b, seconds):>7.0f}%" for b in BLOCK_SECONDS))


if __name__ == "__main__":
    main()
