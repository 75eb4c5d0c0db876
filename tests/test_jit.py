"""Compiled, pure and bounds-checked runs agree; edited sources never leave stale compiled rules."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DIGESTS = """
import hashlib, importlib
from sim.engine import load_game
from sim.games import GAMES
from tests.players import seat_table
for name in GAMES:
    module = load_game(name)
    facts = importlib.import_module("tests.conformance." + module.__name__.rpartition(".")[2])
    for policy in facts.POLICIES:
        if policy in getattr(facts, "SLOW", ()):
            continue
        for base, changed in facts.ALIVE.values():
            rows = seat_table(module, module.Rules(**base), [policy] * module.SEATS[0]).play(7, 0, 2)
            print(name, policy, base, hashlib.sha256(rows.tobytes()).hexdigest()[:16])
"""


def run(code: str, cwd: Path = ROOT, **environment: str) -> str:
    """Output of Python code run in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, env={**kept, "PYTHONPATH": str(cwd), **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_compiled_pure_and_bounds_checked_games_are_equal(tmp_path: Path) -> None:
    compiled = run(DIGESTS)
    assert len(compiled.splitlines()) > 50
    assert run(DIGESTS, NUMBA_DISABLE_JIT="1") == compiled
    assert run(DIGESTS, NUMBA_BOUNDSCHECK="1", HOUSECARLO_CACHE=str(tmp_path)) == compiled


PLAY = """
from sim.games import mint_tin
from tests.players import seat_table
print(seat_table(mint_tin, mint_tin.Rules(), ["hero", "hero"]).play(1, 0, 200)[:, 3].sum())
"""


@pytest.mark.slow
def test_editing_a_helper_file_never_leaves_stale_compiled_rules(tmp_path: Path) -> None:
    for folder in ("sim", "policies", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    cache = str(tmp_path / "cache")
    before = run(PLAY, tmp_path, HOUSECARLO_CACHE=cache)
    assert run(PLAY, tmp_path, HOUSECARLO_CACHE=cache) == before
    tools = tmp_path / "sim" / "rng.py"  # not the game's own file: numba's own stamp would miss it
    text = tools.read_text()
    assert "shape - 1.0 / 3.0" in text
    tools.write_text(text.replace("shape - 1.0 / 3.0", "shape + 9.0"))
    assert run(PLAY, tmp_path, HOUSECARLO_CACHE=cache) != before
    tools.write_text(text)
    assert run(PLAY, tmp_path, HOUSECARLO_CACHE=cache) == before


def test_a_read_only_home_only_costs_the_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "folder" in run("from sim.jit import use_cache_folder; print('folder', use_cache_folder())", HOUSECARLO_CACHE=str(blocked))
