"""Mixed runs killed at random, until the time is up: prints runs, kills and mismatches (which must be 0).

    python3 bench/soak.py --minutes 60

Every run is one of the ready experiments with few games, on threads or processes, stopped again and again by SIGKILL, SIGTERM or SIGINT and
started again with the same command, until it ends by itself. Its folder must then be, byte for byte, that of the same run left alone.
"""

from __future__ import annotations

import argparse
import filecmp
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXPERIMENTS = [
    ("mint_tin/quick.toml", ["--games", "50000"]),
    ("mint_tin/targets.toml", ["--games", "50000", "--no-plots"]),
    ("mint_tin/my_policy.toml", ["--games", "20000", "--no-plots"]),
    ("mint_tin/robust.toml", ["--games", "3000", "--keep-games", "--no-plots"]),
    ("scoundrel/house_rules.toml", ["--games", "2000", "--no-plots"]),
    ("kitty_paw/quick.toml", ["--games", "3000"]),
]
ENDS = (0, 1, 3, 4)  # exit codes of a run that came to its end: see `housecarlo check --help`
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLS_MOST = 4  # of one run


def command(experiment: str, options: list[str], out: Path, backend: str) -> list[str]:
    """A run of one of the ready experiments."""
    return [sys.executable, str(ROOT / "cli.py"), "run", f"configs/{experiment}", *options, "--out", str(out), "--backend", backend]


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(words, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(words: list[str]) -> float:
    """Seconds of a run left alone."""
    begun = time.perf_counter()
    process = start(words)
    _, told = process.communicate()
    if process.returncode not in ENDS:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}: {told}")
    return time.perf_counter() - begun


def kill_and_finish(words: list[str], seconds: float, rng: random.Random) -> int:
    """Stop a run several times, let it end; the kills that hit."""
    kills = 0
    for _ in range(rng.randint(1, KILLS_MOST)):
        process = start(words)
        time.sleep(rng.uniform(0, 1.1) * seconds)
        if process.poll() is None:
            process.send_signal(rng.choice(SIGNALS))
            kills += 1
        process.communicate()
    finish(words)
    return kills


def same(left: Path, right: Path) -> bool:
    """Have two folders the same files with the same bytes?"""
    names = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in (left, right)]
    return names[0] == names[1] and not any(filecmp.cmpfiles(left, right, names[0], shallow=False)[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    alone: dict[str, tuple[Path, float]] = {}
    runs = kills = mismatches = 0
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        while time.monotonic() < end:
            experiment, options = rng.choice(EXPERIMENTS)
            if experiment not in alone:
                finish(command(experiment, options, Path(name) / "warm", "threads"))
                shutil.rmtree(Path(name) / "warm")
                whole = Path(name) / f"whole{len(alone)}"
                alone[experiment] = whole, finish(command(experiment, options, whole, "threads"))
            whole, seconds = alone[experiment]
            killed = Path(name) / "killed"
            kills += kill_and_finish(command(experiment, options, killed, rng.choice(["threads", "threads", "processes"])), seconds, rng)
            runs += 1
            if not same(whole, killed):
                mismatches += 1
                print(f"differs: {experiment}", file=sys.stderr)
            shutil.rmtree(killed)
            print(f"{runs} runs, {kills} kills, {mismatches} mismatches", flush=True)
    raise SystemExit(bool(mismatches))


if __name__ == "__main__":
    main()
