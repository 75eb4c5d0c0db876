"""How fast is the numba kernel of a game against the same loop in C? Run by hand: python bench/kernel_vs_c.py [mint_tin | scoundrel]

Compiles the game's .c file, checks that both kernels give the same outcomes game by game, then times them in turn on one thread.
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
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import load_policy
from sim.engine import PARAMETERS, Table
from sim.experiment import PolicyChoice
from sim.games import mint_tin, scoundrel
from sim.rng import STREAM

HERE = Path(__file__).resolve().parent
# -ffp-contract=off: numba fuses no multiply-adds, and a fused one can change the last bit of a drawn time.
# The baseline is C at its best. -fno-tree-slp-vectorize: with gcc 12 that vectoriser costs a sixth to half of Mint Tin's speed here.
# -finline-limit: numba is told to inline everything but the policies; gcc left to itself does not, which costs Scoundrel a sixth.
OPTIMISE = (
    "gcc", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-tree-slp-vectorize", "-fno-semantic-interposition", "-finline-limit=5000",
)  # fmt: skip
COMPILE = (*OPTIMISE, "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC", f"-I{HERE}")

SEED = 1
CHECKED_GAMES = 200_000
ROUNDS = 11
ROUND_SECONDS = 0.4


class Contest(NamedTuple):
    """What is played of one game: line-ups of policies to time by the rulebook, and line-ups with knobs to check."""

    module: ModuleType
    timed: tuple[tuple[str, ...], ...]
    checked: tuple[tuple[tuple[str, ...], dict[str, Any]], ...]

    @property
    def name(self) -> str:
        return self.module.__name__.rpartition(".")[2]


MINT_TIN = Contest(
    mint_tin,
    (("racer", "racer"), ("random", "random"), ("brawler", "brawler")),
    (
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
    ),
)
SCOUNDREL_KNOBS: tuple[dict[str, Any], ...] = (
    {},
    {"avoid_order": "shuffled"},
    {"avoid_order": "reversed", "avoids_in_a_row": 3, "avoid_short_room": True},
    {"last_room": "leave_one", "health": 60},
    {"last_room": "leave_short", "health": 60, "max_health": 80},
    {"potion_optional": True, "potions_per_turn": 2},
    {"weapon_limit": "at_most", "bare_hands": "only_without_usable_weapon"},
    {"weapon_limit": "none", "potions_per_turn": 0, "death_score": "life_minus_dungeon"},
    {"room_size": 5, "avoid_order": "shuffled", "death_score": "dungeon_and_room"},
    {"room_size": 6, "cards_per_room": 6, "health": 100, "seconds_per_decision": 7},
    {"room_size": 1, "cards_per_room": 1, "health": 100, "max_health": 30},
    {
        "monster_ranks": (9, 2, 14), "weapon_ranks": (5, 11), "potion_ranks": (), "room_size": 5, "cards_per_room": 2, "avoids_in_a_row": 10,
        "avoid_order": "shuffled", "avoid_short_room": True, "last_room": "leave_one", "death_score": "life_minus_dungeon_and_room",
    },
    {"monster_ranks": (2, 3, 4), "weapon_ranks": (10,), "potion_ranks": (2, 10, 14), "potion_optional": True, "avoid_short_room": True},
    {"monster_ranks": (2, 3), "potion_bonus": False},
)  # fmt: skip
SCOUNDREL = Contest(scoundrel, (("random",), ("first",)), tuple(((name,), knobs) for knobs in SCOUNDREL_KNOBS for name in ("random", "first")))
CONTESTS = {contest.name: contest for contest in (MINT_TIN, SCOUNDREL)}

Play = Callable[[int, int], Any]  # (first game, games) -> outcome columns


def struct(name: str, dtype: np.dtype[Any]) -> str:
    """The C declaration of one record dtype (8-byte fields only, so C lays it out the same)."""
    words = {"i": "int64_t", "u": "uint64_t", "f": "double"}
    fields = [f"{words[dtype[f].base.kind]} {f}{'_' if f == 'double' else ''}{''.join(f'[{n}]' for n in dtype[f].shape)};" for f in dtype.names or ()]
    return f'typedef struct {{ {" ".join(fields)} }} {name};\n_Static_assert(sizeof({name}) == {dtype.itemsize}, "layout of {name}");\n'


def compile_c(contest: Contest, folder: str) -> ctypes.CDLL:
    """The game's .c file as a loaded library."""
    module, seats = contest.module, len(contest.timed[0])
    records = {"Stream": STREAM, "Parameters": PARAMETERS, "Rules": module.RULES, "State": module.STATE, "View": module.VIEW, "Outcome": module.OUTCOME}
    numbers = f"enum {{ PURPOSES = {module.PURPOSES}, SEATS = {seats} }};\n"
    Path(folder, "records.h").write_text(numbers + "".join(struct(name, dtype) for name, dtype in records.items()))
    library = Path(folder, f"{contest.name}.so")
    subprocess.run([*COMPILE, f"-I{folder}", str(HERE / f"{contest.name}.c"), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.play_block.restype = ctypes.c_int64
    return loaded


def c_player(library: ctypes.CDLL, table: Table, names: tuple[str, ...]) -> Play:
    """The C kernel on the rules and work space of `table`."""
    chosen = (ctypes.c_void_p * len(names))(*(ctypes.cast(getattr(library, f"policy_{name}"), ctypes.c_void_p) for name in names))
    streams = np.zeros(table.module.PURPOSES + len(names), STREAM)

    def play(first: int, games: int) -> Any:
        rows = np.zeros(games, table.module.OUTCOME)
        before, after = (
            [ctypes.c_void_p(array.ctypes.data) for array in arrays] for arrays in ((table.rules, table.states, streams, table.views), (table.parameters, rows))
        )
        erred = library.play_block(ctypes.c_uint64(SEED), ctypes.c_int64(first), *before, chosen, *after, ctypes.c_int64(games))
        if erred != -1:
            raise RuntimeError(f"illegal action in game {first + erred}")
        return rows.view(np.int64).reshape(games, -1)

    return play


def play_checked(table: Table, play: Play) -> tuple[Any, dict[str, bytes]]:
    """Outcome columns of the games to check, and the state and view that they leave behind."""
    left = {"state": table.states, "view": table.views}
    for records in left.values():
        records.view(np.uint8)[:] = 0
    return play(0, CHECKED_GAMES), {name: records.tobytes() for name, records in left.items()}


def numba_player(table: Table) -> Play:
    return lambda first, games: table.play(SEED, first, games)


def compare(library: ctypes.CDLL, table: Table, names: tuple[str, ...], knobs: dict[str, Any]) -> bool:
    """Play the same games with both kernels; say where they differ."""
    ours, we_left = play_checked(table, numba_player(table))
    theirs, they_left = play_checked(table, c_player(library, table, names))
    outcome = table.module.OUTCOME
    labels = [f for f in outcome.names or () for _ in range(outcome[f].shape[0] if outcome[f].shape else 1)]
    differing: dict[str, Any] = {label: int(n) for label, n in zip(labels, (ours != theirs).sum(axis=0), strict=True) if n}
    differing |= {name: "at the end" for name in we_left if we_left[name] != they_left[name]}
    print(f"{'/'.join(names):16} {differing or 'the same'} in {CHECKED_GAMES:,} games  {knobs or ''}")
    return not differing


def seconds_of(play: Play, first: int, games: int) -> float:
    """Processor time of one block of games: less shaken by other processes than time by the clock."""
    start = time.thread_time()
    play(first, games)
    return time.thread_time() - start


def race(library: ctypes.CDLL, table: Table, names: tuple[str, ...]) -> None:
    """Time the kernels in turn; print games a second (median) and their ratio (median, least, most)."""
    ours, theirs = numba_player(table), c_player(library, table, names)
    games = int(20_000 * ROUND_SECONDS / seconds_of(ours, 0, 20_000))
    seconds_of(theirs, 0, games)
    times = [(seconds_of(ours, k * games, games), seconds_of(theirs, k * games, games)) for k in range(ROUNDS)]
    numba_rate, c_rate = (games / statistics.median(column) for column in zip(*times, strict=True))
    ratios = sorted(c / n for n, c in times)
    best_numba, best_c = (games / min(column) for column in zip(*times, strict=True))
    print(
        f"{'/'.join(names):16} numba {numba_rate:12,.0f} games/s (best {best_numba:,.0f})   C {c_rate:12,.0f} games/s (best {best_c:,.0f})   "
        f"numba/C {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}; of the bests {best_numba / best_c:.3f})"
    )


def contend(contest: Contest) -> bool:
    """Check and time one game; were all outcomes the same?"""
    names_used = {name for names, _ in contest.checked for name in names}
    compiled = {name: load_policy(contest.module, PolicyChoice(name), "bench", Path()).call for name in sorted(names_used)}

    def table(names: tuple[str, ...], knobs: dict[str, Any]) -> Table:
        return Table(contest.module, contest.module.Rules(**knobs), [compiled[name] for name in names], [[] for _ in names])

    print(contest.module.TITLE)
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(contest, folder)
        same = [compare(library, table(names, knobs), names, knobs) for names, knobs in contest.checked]
        for names in contest.timed:
            race(library, table(names, {}), names)
    return all(same)


def main(names: list[str]) -> int:
    same = [contend(CONTESTS[name]) for name in names or CONTESTS]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
