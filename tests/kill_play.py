"""Play an experiment in processes killed at random moments: prints kills, stored games lost, and 1 if what came out differs in the end.

Processes are forked with the rules compiled, so that they are killed while they play and store, not while they start.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import sim.batch
from policies.loading import load_line_ups
from sim.batch import Player, play_on
from sim.blocks import StoredLedger, pack, read_stored
from sim.experiment import read_experiment
from sim.workers import hire_threads


def main(file: str, folder: str, times: str) -> None:
    sim.batch.BLOCK_SECONDS = 0.02  # many blocks
    experiment = read_experiment(Path(file))
    player = Player(experiment, load_line_ups(experiment))
    rng = random.Random(1)
    whole, killed = Path(folder) / "whole.sqlite", Path(folder) / "killed.sqlite"
    seconds = wait(fork(player, whole))
    kills = lost = games = 0
    for _ in range(int(times)):
        child = fork(player, killed)
        time.sleep(rng.uniform(0.01, seconds / 10))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1
        stored = read_stored(killed)[1] if killed.exists() else None
        now = sum(stored.games) if stored else 0
        lost += now < games
        games = now
        if games == experiment.games * len(experiment.cells):
            break
    wait(fork(player, killed))
    mismatches = [pack(read_stored(path)[1]) for path in (whole, killed)]
    print(kills, lost, int(mismatches[0] != mismatches[1]))


def fork(player: Player, path: Path) -> int:
    """A child that plays, in two threads, what the store lacks."""
    child = os.fork()
    if child == 0:
        play_on(player, hire_threads(player, 2), StoredLedger(path, player.nothing(), {}))
        os._exit(0)
    return child


def wait(child: int) -> float:
    """Seconds until a child ends by itself."""
    start = time.perf_counter()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
