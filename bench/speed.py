"""How fast is it? Run by hand on a quiet machine: python bench/speed.py (about four minutes)

Prints games a second on one thread for three line-ups, two threads against one and the kernel against the naive twin (ratios
measured in turn, in this run), the time of a whole small run from a warm start, and peak memory at 1, 10 and 100 million games.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import load_line_ups
from sim.batch import Player
from sim.experiment import Experiment, parse_experiment
from sim.workers import play_experiment

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 7
QUICK = ROOT / "configs" / "mint_tin" / "quick.toml"


def experiment_of(policy: str, games: int) -> Experiment:
    """One cell of the rulebook's game, the policy on both seats."""
    return parse_experiment({"game": "mint-tin", "policies": [policy], "games": games, "seed": 3}, Path("bench.toml"))


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def show(name: str, ratios: list[float]) -> None:
    print(f"{name}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)} rounds)")


def one_thread() -> None:
    for policy in ("racer", "strategist", "random"):
        experiment = experiment_of(policy, 1)
        player = Player(experiment, load_line_ups(experiment))
        table = player.tables()[0]
        kernel = min(seconds_of(partial(table.play, 3, 0, 100_000)) for _ in range(ROUNDS))
        whole = min(seconds_of(partial(player.play, 0, 100_000)) for _ in range(ROUNDS))
        print(f"{policy}/{policy}, one thread: {0.1 / kernel:.2f} million games/s in the kernel, {0.1 / whole:.2f} with tallies")


def two_threads_against_one() -> None:
    experiment = experiment_of("racer", 2_000_000)
    line_ups = load_line_ups(experiment)
    times = [[seconds_of(partial(play_experiment, experiment, line_ups, jobs)) for jobs in (1, 2)] for _ in range(ROUNDS)]
    show("two threads against one", [one / two for one, two in times])


def kernel_against_twin() -> None:
    from tests.twins.mint_tin import POLICIES, play

    experiment = experiment_of("racer", 1)
    table = Player(experiment, load_line_ups(experiment)).tables()[0]
    luck = random.Random(1)
    ratios = []
    for _ in range(ROUNDS):
        twin = seconds_of(lambda: [play(POLICIES["racer"], POLICIES["racer"], luck) for _ in range(400)]) / 400
        ratios.append(twin / (seconds_of(lambda: table.play(3, 0, 100_000)) / 100_000))
    show("kernel against the naive twin", ratios)


def warm_start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, more in (("with plots and report", []), ("tables only", ["--no-plots"])):
            command = [sys.executable, "-m", "cli", "run", str(QUICK), "--games", "5000", "--out", f"{folder}/{len(more)}", *more]
            times = [seconds_of(partial(subprocess.run, command, cwd=ROOT, check=True, capture_output=True)) for _ in range(4)]
            print(f"a small run from a warm start, {name}: {min(times[1:]):.2f} s")
    times = [seconds_of(lambda: subprocess.run([sys.executable, "-m", "cli", "--help"], cwd=ROOT, check=True, capture_output=True)) for _ in range(5)]
    print(f"--help: {min(times):.2f} s")


def peak_memory() -> None:
    for millions in (1, 10, 100):
        command = [sys.executable, __file__, "--play", str(millions * 1_000_000)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"peak memory of {millions} million games: {done.stdout.strip()} MB")


def main() -> None:
    if sys.argv[1:2] == ["--play"]:
        experiment = experiment_of("racer", int(sys.argv[2]))
        play_experiment(experiment, load_line_ups(experiment))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    for part in (one_thread, two_threads_against_one, kernel_against_twin, warm_start, peak_memory):
        part()


if __name__ == "__main__":
    main()
