"""Who plays the blocks: threads of this process, processes of this machine, or a dask cluster. joblib is the seam.

Workers elsewhere get the whole order as bytes: the checked experiment, the source of every policy file of the user's, and the digest of the
rules and policies that must play it. What they send back is tallies; the results are the same wherever they come from.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from joblib import Parallel, delayed, parallel_config

from sim.batch import Block, Ledger, LineUp, Played, Player, Tallies, Workers, play_on
from sim.errors import InputError
from sim.experiment import Experiment
from sim.jit import source_digest

CONNECT_SECONDS = 10

Carry = Callable[[Experiment], dict[str, str]]
Load = Callable[[Experiment, dict[str, str]], Sequence[LineUp]]
_seating = threading.Lock()
warnings.filterwarnings("ignore", message=r"\d+ tasks (which were still|have been successfully)")  # joblib, of a run that is stopped


@contextmanager
def hire(player: Player, carry: Carry, load: Load, backend: str = "threads", jobs: int = 0, scheduler: str = "", keep_rows: bool = False) -> Iterator[Workers]:
    """Workers for an experiment: `jobs` of them (0: one per core), or all those of a dask scheduler.

    `carry` finds the user's own policy files, name to source; `load` is how a worker elsewhere makes line-ups of an experiment and them.
    Raises InputError.
    """
    if backend == "threads":
        yield hire_threads(player, jobs, keep_rows)
        return
    count = jobs or os.cpu_count() or 1
    if backend == "processes" and count == 1:
        raise InputError("--backend processes: one process is this one; allowed: --jobs 2 or more, or --backend threads")
    order = pickle.dumps((source_digest(), player.experiment, load, carry(player.experiment)))
    work = delayed(_Errand(order))
    if backend == "processes":
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        try:
            with parallel_config("loky", initializer=_leave_signals_to_parent):
                yield Workers(count, lambda blocks: _run(count, blocks, work, keep_rows))
        except TerminatedWorkerError:
            raise InputError("--backend processes: a worker process was killed; the same command goes on from what is stored") from None
        finally:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
        return
    with _connect(scheduler) as client, parallel_config("dask", client=client):
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise InputError(f"--scheduler {scheduler}: no worker within {CONNECT_SECONDS} s; start some with: dask worker {scheduler}") from None
        count = sum(client.ncores().values())
        if count == 1:  # joblib would play here, in this process
            raise InputError(f"--scheduler {scheduler}: one worker thread in all; allowed: two or more, or --backend threads")
        try:
            yield Workers(count, lambda blocks: _run(-1, blocks, work, keep_rows))
        except (OSError, CancelledError, asyncio.CancelledError):
            raise InputError(f"--scheduler {scheduler}: the connection is lost; the same command goes on from what is stored") from None


def play_experiment(
    experiment: Experiment,
    line_ups: Sequence[LineUp],
    jobs: int = 0,
    block_games: int | None = None,
    find_open: Callable[[Tallies], set[int]] | None = None,
) -> Tallies:
    """As `play_on`, on `jobs` threads (0: one per core), and keep nothing but the tallies."""
    player = Player(experiment, line_ups)
    ledger = Ledger(player.nothing())
    play_on(player, hire_threads(player, jobs), ledger, find_open, block_games=block_games)
    return ledger.tallies


def hire_threads(player: Player, jobs: int = 0, keep_rows: bool = False) -> Workers:
    """Threads of this process: compiled play holds no lock."""
    count = jobs or os.cpu_count() or 1
    return Workers(count, lambda blocks: _run(count, blocks, delayed(player.play), keep_rows, backend="threading"))


def _run(jobs: int, blocks: Iterator[Block], work: Any, keep_rows: bool, **options: Any) -> Iterator[Played]:
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1, **options)
    results: Iterator[Played] = parallel(work(block, keep_rows) for block in blocks)
    return results


class _Errand:
    """What a worker elsewhere does: seat the players once, then play blocks."""

    __slots__ = ("order",)  # without weak references, so that dask sends it with every task: what it scatters is lost with a worker

    def __init__(self, order: bytes) -> None:
        self.order = order

    def __call__(self, block: Block, keep_rows: bool) -> Played:
        with _seating:
            player = _seat(self.order)
        return player.play(block, keep_rows)


@lru_cache(maxsize=2)
def _seat(order: bytes) -> Player:
    digest, experiment, load, carried = pickle.loads(order)
    if digest != source_digest():
        raise InputError(f"a worker has other rules or policies (digest {source_digest()}, not {digest}); install the same housecarlo on all machines")
    return Player(experiment, load(experiment, carried))


def _leave_signals_to_parent() -> None:
    """Ctrl-C reaches the whole process group; the parent ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _connect(scheduler: str) -> Iterator[Any]:
    if not scheduler:
        raise InputError("--backend dask: give the scheduler's address, for example --scheduler tcp://127.0.0.1:8786")
    try:
        import distributed
    except ModuleNotFoundError:
        raise InputError('--backend dask: needs dask; install it with: python3 -m pip install "housecarlo[dask]"') from None
    for name in ("distributed", "tornado"):  # what they log of a lost connection is said in one line
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    connect: Any = distributed.Client
    try:
        client = connect(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler {scheduler}: cannot be reached ({type(error).__name__})") from None
    try:
        yield client
    finally:
        client.close(timeout=1)
