"""Documents are true: README's commands run, what it names exists, the gate runs its two lines."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sim.experiment import parse_experiment
from sim.games import GAMES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.S | re.M)  # language and text
COMMANDS = [line for language, block in BLOCKS if not language for line in block.splitlines()]
TOUR = [line for line in COMMANDS if line.startswith("housecarlo ")]


def test_the_two_set_up_commands_are_the_ones_the_gate_runs() -> None:
    section = README.split("<!-- set-up -->")[1].split("<!-- /set-up -->")[0]
    lines = [line for line in section.splitlines() if line.startswith("python3 ")]
    assert lines == [
        "python3 -m pip install -e . && housecarlo run configs/mint_tin/difficulty.toml",
        'python3 -m pip install -e ".[test]" && python3 -m pytest',
    ]
    assert "set-up" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("command", TOUR)
def test_each_command_of_the_tour_runs(command: str, tmp_path: Path) -> None:
    arguments = shlex.split(command)[1:]
    if arguments[0] == "run":
        out = arguments[arguments.index("--out") + 1] if "--out" in arguments else f"out/{Path(arguments[1]).stem}"
        arguments = [a for a in arguments if a not in ("--out", out)] + ["--games", "500", "--out", str(tmp_path / out)]
    done = subprocess.run(
        [sys.executable, "-m", "cli", *arguments], capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if arguments[0] == "run":
        assert (tmp_path / out / "report.html").stat().st_size > 10_000


def test_the_answer_shown_is_the_answer_given() -> None:
    (block,) = [block for language, block in BLOCKS if language == "text"]
    (command,) = [line for line in TOUR if line.startswith("housecarlo compare ")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "cli", *shlex.split(command)[1:]], capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert set(block.splitlines()) <= set(done.stdout.splitlines())


def test_the_tour_is_there_and_names_every_command() -> None:
    assert {shlex.split(line)[1] for line in TOUR} == {"games", "rules", "policies", "run", "compare", "check", "ladder", "replay"}


def test_the_example_experiment_is_valid() -> None:
    (example,) = [block for language, block in BLOCKS if language == "toml"]
    assert len(parse_experiment(tomllib.loads(example), Path("my.toml")).swept_cells) == 4


def test_links_and_files_named_exist() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text()
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
            assert (page.parent / target).exists(), (page, target)
        for named in re.findall(r"`((?:configs|docs|tests|bench|sim|policies|reports)/[\w./]+\.\w+)`", text):
            assert (ROOT / named).exists(), (page, named)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_page_that_names_its_knobs_and_experiments(game: str) -> None:
    stem = GAMES[game].rpartition(".")[2]
    assert (ROOT / "docs" / "games" / f"{stem}.md").exists()
    for path in (ROOT / "configs" / stem).glob("*.toml"):
        assert f"configs/{stem}/{path.name}" in README


def test_no_file_is_large() -> None:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False).stdout.split("\n")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            assert (ROOT / name).stat().st_size <= (300_000 if name.endswith(".png") else 1_000_000), name
