"""How fast is the numba kernel of Mint Tin against the same loop in C? Run by hand: python bench/kernel_vs_c.py

Compiles mint_tin.c, checks that both kernels give the same outcomes game by game, then times them in turn on one thread.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import load_policy
from sim.engine import PARAMETERS, Table
from sim.experiment import PolicyChoice
from sim.games import mint_tin
from sim.rng import STREAM

SOURCE = Path(__file__).with_name("mint_tin.c")
# -ffp-contract=off: numba fuses no multiply-adds, and a fused one can change the last bit of a drawn time.
# -fno-tree-slp-vectorize: the baseline is C at its best; with gcc 12 that vectoriser costs a sixth to half of the speed here.
OPTIMISE = ("gcc", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-tree-slp-vectorize", "-fno-semantic-interposition")
COMPILE = (*OPTIMISE, "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC")
RECORDS = {"Stream": STREAM, "Parameters": PARAMETERS, "Rules": mint_tin.RULES, "State": mint_tin.STATE, "View": mint_tin.VIEW, "Outcome": mint_tin.OUTCOME}

SEED = 1
CHECKED_GAMES = 200_000
ROUNDS = 11
ROUND_SECONDS = 0.4
TIMED = (("racer", "racer"), ("random", "random"), ("brawler", "brawler"))
CHECKED: tuple[tuple[tuple[str, str], dict[str, Any]], ...] = (
    (("racer", "racer"), {}),
    (("random", "random"), {}),
    (("brawler", "brawler"), {}),
    (("racer", "brawler"), {}),
    (("racer", "random"), {"manhole": True}),
    (("random", "random"), {"manhole": True, "cover_throws": "unlimited", "wake": "any", "mode": "omg", "monster_die": 3}),
    (("random", "racer"), {"manhole": True, "pry_window": "one_roll", "holder_knockable": False}),
    (("random", "random"), {"manhole": True, "mode": "cra-cra", "turn_on_activation": True, "rolls_per_second": (0.3, 0.7)}),
    (("random", "brawler"), {"rolling": "alternate", "enter": "either", "stand_any": True, "recon_needs_helper": True}),
    (("random", "random"), {"rolling": "alternate", "first_roller": 1, "manhole": True, "pry_window": "one_roll", "enter": "lift"}),
    (("random", "random"), {"max_rolls": 100, "sacrifice": False, "mode": "omg", "meeples": 8, "points": (9, 7, 5, 3, 1)}),
    (("random", "brawler"), {"supply_boxes": 3, "boxes_to_close": 2, "action_sums": (7, 11), "enter": "lift"}),
)

Play = Callable[[int, int], Any]  # (first game, games) -> outcome columns


def struct(name: str, dtype: np.dtype[Any]) -> str:
    """The C declaration of one record dtype (8-byte fields only, so C lays it out the same)."""
    words = {"i": "int64_t", "u": "uint64_t", "f": "double"}
    fields = [f"{words[dtype[f].base.kind]} {f}{'_' if f == 'double' else ''}{''.join(f'[{n}]' for n in dtype[f].shape)};" for f in dtype.names or ()]
    return f'typedef struct {{ {" ".join(fields)} }} {name};\n_Static_assert(sizeof({name}) == {dtype.itemsize}, "layout of {name}");\n'


def compile_c(folder: str) -> ctypes.CDLL:
    """mint_tin.c as a loaded library."""
    Path(folder, "records.h").write_text("".join(struct(name, dtype) for name, dtype in RECORDS.items()))
    library = Path(folder, "mint_tin.so")
    subprocess.run([*COMPILE, f"-I{folder}", str(SOURCE), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.play_block.restype = ctypes.c_int64
    return loaded


def c_player(library: ctypes.CDLL, table: Table, names: tuple[str, str]) -> Play:
    """The C kernel on the rules and work space of `table`."""
    chosen = (ctypes.c_void_p * 2)(*(ctypes.cast(getattr(library, f"policy_{name}"), ctypes.c_void_p) for name in names))
    streams = np.zeros(mint_tin.PURPOSES + len(names), STREAM)

    def play(first: int, games: int) -> Any:
        rows = np.zeros(games, mint_tin.OUTCOME)
        before, after = (
            [ctypes.c_void_p(array.ctypes.data) for array in arrays] for arrays in ((table.rules, table.states, streams, table.views), (table.parameters, rows))
        )
        erred = library.play_block(ctypes.c_uint64(SEED), ctypes.c_int64(first), *before, chosen, *after, ctypes.c_int64(games))
        if erred != -1:
            raise RuntimeError(f"illegal action in game {first + erred}")
        return rows.view(np.int64).reshape(games, -1)

    return play


def compare(library: ctypes.CDLL, table: Table, names: tuple[str, str], knobs: dict[str, Any]) -> bool:
    """Play the same games with both kernels; say where they differ."""
    ours, theirs = table.play(SEED, 0, CHECKED_GAMES), c_player(library, table, names)(0, CHECKED_GAMES)
    labels = [f for f in mint_tin.OUTCOME.names or () for _ in range(mint_tin.OUTCOME[f].shape[0] if mint_tin.OUTCOME[f].shape else 1)]
    differing = {label: int(n) for label, n in zip(labels, (ours != theirs).sum(axis=0), strict=True) if n}
    print(f"{'/'.join(names):16} {differing or 'the same'} in {CHECKED_GAMES:,} games  {knobs or ''}")
    return not differing


def seconds_of(play: Play, first: int, games: int) -> float:
    """Processor time of one block of games: less shaken by other processes than time by the clock."""
    start = time.thread_time()
    play(first, games)
    return time.thread_time() - start


def race(library: ctypes.CDLL, table: Table, names: tuple[str, str]) -> None:
    """Time the kernels in turn; print games a second (median) and their ratio (median, least, most)."""

    def ours(first: int, games: int) -> Any:
        return table.play(SEED, first, games)

    theirs = c_player(library, table, names)
    games = int(20_000 * ROUND_SECONDS / seconds_of(ours, 0, 20_000))
    seconds_of(theirs, 0, games)
    times = [(seconds_of(ours, k * games, games), seconds_of(theirs, k * games, games)) for k in range(ROUNDS)]
    numba_rate, c_rate = (games / statistics.median(column) for column in zip(*times, strict=True))
    ratios = sorted(c / n for n, c in times)
    print(
        f"{'/'.join(names):16} numba {numba_rate:12,.0f} games/s   C {c_rate:12,.0f} games/s   "
        f"numba/C {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})"
    )


def main() -> int:
    compiled = {name: load_policy(mint_tin, PolicyChoice(name), "bench", Path()).call for name in ("random", "racer", "brawler")}

    def table(names: tuple[str, str], knobs: dict[str, Any]) -> Table:
        return Table(mint_tin, mint_tin.Rules(**knobs), [compiled[name] for name in names], [[], []])

    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(folder)
        same = [compare(library, table(names, knobs), names, knobs) for names, knobs in CHECKED]
        for names in TIMED:
            race(library, table(names, {}), names)
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
