"""Does any experiment file break the program? Run by hand: python bench/fuzz_configs.py (100,000 mutants of the ready experiments, about ten minutes)

Every mutant must be refused with one line that begins with the file's name, or give an experiment whose policies load and whose rules the
compiled code takes; some of those are run as a user would. Nothing may take long, and nothing may be written beside `--out`.
The same seed gives the same mutants. Prints what came of them; exit code 1 if something went wrong.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.loading import load_line_ups
from sim.batch import set_table
from sim.errors import InputError
from sim.experiment import Experiment, read_experiment

ROOT = Path(__file__).resolve().parent.parent
SECONDS_MOST = 5.0  # of the processor, to read one mutant
MINUTES_MOST = 4.0  # to compile and play one
CELLS_PLANNED = 3

TYPED_NUMBERS = """
0 -1 1 2 3 4 5 6 7 1.5 -0.0 1e-320 1e308 nan inf -inf 9223372036854775807 9223372036854775808 18446744073709551616
1_000_000_000_000 1000000000001 0x7fff_ffff_ffff_ffff 0b1 0o17 1e400 -9999999999999999999999999
"""
NUMBERS = [*TYPED_NUMBERS.split(), "9" * 400, "9" * 5000, "1" + "0" * 4299]
WORDS = ["racer", "strategist", "my_policy.py:cautious", "../../etc/passwd", "/dev/zero", "cards.csv", "=1+1", "<script>", "\\u0000", "\\U000e0001", "²", "٣"]
VALUES = [
    *NUMBERS,
    *(f'"{word}"' for word in [*WORDS, "", "a" * 300]),
    *["true", "false", "[]", "{}", "[[]]", "[[[[1]]]]", "1979-05-27T07:32:00Z", "1979-05-27", "07:32:00"],
    *("[" * 60 + "]" * 60, "[" * 3000 + "]" * 3000, "{ a = " * 400 + "1" + " }" * 400, "[" + "1, " * 20_000 + "]"),
    *("[1, 2, 3]", '["racer", "racer"]', "{ name = 1 }", '{ name = "racer", caution = nan }', "'''\n\n'''"),
    *("{ between = [0, 1] }", "{ at_most = 0.1 }", "{ at_least = inf }"),
]
LINES = """
games = 5
[rules]
[sweep]
[targets]
[stop]
[baseline]
[robust]
[baseline.rules]
[sweep.rules]
[[rules]]
[rules.x]
rules = 3
sweep = []
policies = []
game = "kitty-paw"
game = "scoundrel"
game = "mint-tin"
seats = 3
seats = [2, 3, 4]
mode = "one-at-a-time"
mode.x = 1
"mode" = ["grid"]
"policies[0]" = ["racer", "random"]
"policies[99999999999999999999]" = ["racer"]
"policies[0].caution" = [1, nan]
"rules.monster_die" = [1, 2, 3, 4, 5, 6]
rules.manhole = true
max_decisions = 1
stop.precision.seat_gap = 1e-9
"win_rate[0]" = { at_most = 1 }
"win_rate[99999]" = { at_most = 1 }
delta.mean_rolls = { at_least = 0 }
ideal_minutes = 1e-300
line_ups = [["racer"], ["random"]]
"" = 1
'' = []
""".strip().split("\n")
TOKEN = re.compile(rb"[\w.+-]+|\"[^\"\n]*\"|[^\s\w]")


def mutate(text: bytes, others: list[bytes], luck: random.Random) -> bytes:
    """The text with one to five changes, of bytes, tokens or lines."""
    for _ in range(luck.choice((1, 1, 1, 2, 2, 3, 5))):
        text = luck.choice(CHANGES)(text, others, luck)
    return text


def _change_bytes(text: bytes, _others: list[bytes], luck: random.Random) -> bytes:
    start = luck.randrange(len(text) + 1)
    end = min(len(text), start + luck.choice((0, 1, 1, 2, 20)))
    return (
        text[:start] + luck.choice((b"", luck.randbytes(1), luck.randbytes(4), b"\0", b"\r", b"\xef\xbb\xbf", '"\u202e'.encode(), b"\\", b"'''")) + text[end:]
    )


def _change_token(text: bytes, _others: list[bytes], luck: random.Random) -> bytes:
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return text
    one, other = luck.choice(tokens), luck.choice(tokens)
    put = luck.choice((b"", one.group() * 2, other.group(), luck.choice(VALUES).encode(), luck.choice(VALUES).encode()))
    return text[: one.start()] + put + text[one.end() :]


def _change_number(text: bytes, _others: list[bytes], luck: random.Random) -> bytes:
    numbers = list(re.finditer(rb"(?<![\w.])\d[\d_.]*", text))
    if not numbers:
        return text
    one = luck.choice(numbers)
    return text[: one.start()] + luck.choice(NUMBERS).encode() + text[one.end() :]


def _change_value(text: bytes, _others: list[bytes], luck: random.Random) -> bytes:
    values = list(re.finditer(rb"= (.*)", text))
    if not values:
        return text
    one = luck.choice(values)
    return text[: one.start(1)] + luck.choice(VALUES).encode() + text[one.end(1) :]


def _change_lines(text: bytes, others: list[bytes], luck: random.Random) -> bytes:
    lines = text.split(b"\n")
    place, other = luck.randrange(len(lines)), luck.randrange(len(lines))
    match luck.randrange(6):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case 2:
            lines[place], lines[other] = lines[other], lines[place]
        case 3:
            lines.insert(place, luck.choice(LINES).encode())
        case 4:
            lines.insert(place, luck.choice(luck.choice(others).split(b"\n")))
        case 5:
            lines[place] = lines[place].replace(b"=", b" = " + luck.choice(VALUES).encode() + b" #", 1)
    return luck.choice((b"\n", b"\n", b"\n", b"\r\n")).join(lines)


CHANGES: tuple[Callable[[bytes, list[bytes], random.Random], bytes], ...] = (
    _change_bytes, _change_token, _change_token, _change_number, _change_value, _change_lines, _change_lines,
)  # fmt: skip


class TooLong(BaseException):
    """A mutant took too long; no handler of the program's catches it."""


def _stop(*_: Any) -> None:
    raise TooLong


@contextmanager
def limited(seconds: float, timer: int = signal.ITIMER_VIRTUAL) -> Iterator[None]:
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)


def check(file: Path) -> tuple[str, Experiment | None]:
    """What comes of an experiment file: what kind of line refuses it, or "accepted" and the experiment. Raises whatever else goes wrong."""
    try:
        with limited(SECONDS_MOST):
            experiment = read_experiment(file, games=3)
        line_ups = load_line_ups(experiment)
        for cell in range(min(CELLS_PLANNED, len(experiment.cells))):
            set_table(experiment, cell, line_ups[cell])
    except InputError as error:
        message = str(error)
        if not message.isprintable() or not message.startswith(str(file)) or len(message) > 2100:
            raise AssertionError(f"not one clear line: {message!r}") from None
        return ("not TOML" if "not valid TOML" in message or "not UTF-8" in message else "refused"), None
    return "accepted", experiment


def run(file: Path, out: Path, plots: bool) -> str:
    """Run a mutant as a user would, with few games; its exit code. Raises whatever it lets through."""
    from typer.testing import CliRunner

    import cli

    done = CliRunner().invoke(cli.app, ["run", str(file), "--games", "20", "--jobs", "1", "--out", str(out), *([] if plots else ["--no-plots"])])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return f"exit code {done.exit_code}"


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def fuzz(mutants: int, seed: int, runs: int, home: Path) -> tuple[collections.Counter[str], list[str]]:
    """Check so many mutants and run so many of those accepted; how many came to what, and what went wrong."""
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGVTALRM, _stop)
    luck = random.Random(seed)
    configs = home / "configs"
    shutil.copytree(ROOT / "configs", configs)
    ready = sorted(configs.rglob("*.toml"))
    texts = [path.read_bytes() for path in ready]
    files = [path.with_name("mutant.toml") for path in ready]
    for file in files:  # compile, once, what most of them need
        shutil.copyfile(ready[files.index(file)], file)
        check(file)
    before = files_below(home)
    counts: collections.Counter[str] = collections.Counter()
    wrong = []
    for number in range(mutants):
        which = luck.randrange(len(ready))
        text = mutate(texts[which], texts, luck)
        files[which].write_bytes(text)
        try:
            signal.alarm(round(60 * MINUTES_MOST))
            outcome, experiment = check(files[which])
            counts[outcome] += 1
            if experiment and runs > 0 and len(experiment.cells) <= 12 and "searcher" not in str(experiment.cells) and luck.random() < 0.2:
                runs -= 1
                counts[run(files[which], home / "out", plots=runs % 20 == 0)] += 1
                shutil.rmtree(home / "out", ignore_errors=True)
        except (Exception, TooLong) as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            wrong.append(f"mutant {number}: {type(error).__name__}: {str(error)[:300]} ({frame.filename}, line {frame.lineno})")
            (home / f"wrong_{len(wrong)}.toml").write_bytes(text)
            before.add(home / f"wrong_{len(wrong)}.toml")
    signal.alarm(0)
    wrong += [f"written beside --out: {path}" for path in files_below(home) - before]
    return counts, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=300)
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="fuzz"))
    counts, wrong = fuzz(options.mutants, options.seed, options.runs, home)
    for outcome, count in counts.most_common():
        print(f"{outcome}: {count:,}")
    print(*wrong[:50], f"{len(wrong)} went wrong{f'; see {home}' if wrong else ''}", sep="\n")
    if wrong:
        sys.exit(1)
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
