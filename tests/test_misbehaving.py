"""A user's policy that goes wrong while games are played: one line that says what, where and how to see it again, and nothing written."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from policies.loading import load_line_ups
from sim.batch import Block, Player
from sim.experiment import read_experiment
from sim.replay import explain
from tests.test_cli import housecarlo

HEAD = "import numpy as np\nfrom policies.mint_tin import racer\n\n\ndef mine(view, legal, rules, stream):\n"  # its policy begins in line 5
RACE = "    return racer(view, legal, rules, stream)\n"


def write(folder: Path, body: str, more: str = "") -> Path:
    """An experiment in a folder with a blank in its name, with a policy of that body in seat 1."""
    home = folder / "my games"
    home.mkdir()
    (home / "own.py").write_text(HEAD + body + RACE)
    (home / "e.toml").write_text(f'game = "mint-tin"\npolicies = ["racer", "own.py:mine"]\ngames = 300\n{more}[sweep]\nrules.monster_die = [6, 5]\n')
    return home / "e.toml"


def see_again(message: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the command that a message ends with prints."""
    program, *arguments = shlex.split(message.partition("see it with: ")[2])
    assert program == "housecarlo"
    return housecarlo(*arguments, cwd=folder)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    if view.inside == 1:\n        return 11\n", ("chose an illegal action, close_shelter, where legal were: ", "own.py, line 5)")),
        ("    if view.inside == 1:\n        raise ValueError('oh\\nno')\n", ("raises ValueError (oh\\nno) in line 7 of ", "own.py, line 5)")),
        ("    spent = np.zeros(1)[view.inside] // (1 - view.inside)\n    if spent:\n        return 99\n", ("raises IndexError", "own.py, line 5)")),
        ("    if 5 // (1 - view.inside) == 6:\n        return 99\n", ("raises ZeroDivisionError", "own.py, line 5)")),
    ],
)
def test_a_policy_that_goes_wrong_is_told_in_one_line_and_can_be_seen_again(body: str, words: tuple[str, ...], tmp_path: Path) -> None:
    file = write(tmp_path, body)
    done = housecarlo("run", str(file), "--set", 'rules.mode="omg"', "--seed", "5", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("compiling")]
    assert line.startswith(f"housecarlo: {file}: policies: own.py:mine (")
    for part in (*words, "as seat 1 in game", "of cell 0 (monster_die 6), seed 5"):
        assert part in line, line
    assert [path.name for path in tmp_path.iterdir()] == ["my games"]
    again = see_again(line, tmp_path)
    assert again.returncode == 0, again.stderr
    *told, last = again.stdout.splitlines()
    assert told
    assert last.startswith(f"Seat 1 {words[0]}"), last


def test_a_game_that_goes_on_for_too_long_is_told_and_its_beginning_can_be_seen(tmp_path: Path) -> None:
    file = write(tmp_path, "", "max_decisions = 3\n")
    done = housecarlo("run", str(file), cwd=tmp_path)
    assert done.returncode == 2
    line = done.stderr.splitlines()[-1]
    assert "racer / own.py:mine: no end after 3 decisions (max_decisions) in game " in line
    last = see_again(line, tmp_path).stdout.splitlines()[-1]
    assert last == "no end after 3 decisions (max_decisions); the game stops here."


def test_the_first_game_too_long_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, "")
    experiment = read_experiment(file)
    line_ups = load_line_ups(experiment)
    found = []
    for most in (1, 4, 10, 20):
        short = read_experiment(file, overrides=[f"max_decisions={most}"])
        failure = Player(short, line_ups).play(Block(0, 300, frozenset({0}))).tallies.failed[0]
        assert failure.fault == "endless"
        assert f"no end after {most} decisions" in explain(short, line_ups, 0, failure)
        found.append(failure.game)
    assert found == sorted(found)
    assert found[0] == 0 < found[-1]


def test_what_raises_is_the_game_found_again(tmp_path: Path) -> None:
    file = write(tmp_path, "    if view.inside == 3 and view.their_inside == 3:\n        raise ValueError\n")
    experiment = read_experiment(file)
    line_ups = load_line_ups(experiment)
    player = Player(experiment, line_ups)
    failure = player.play(Block(0, 300, frozenset({0}))).tallies.failed[0]
    assert failure.fault == "raised"
    assert "raises ValueError in line 7 of" in explain(experiment, line_ups, 0, failure)
    assert not player.play(Block(0, failure.game, frozenset({0}))).tallies.failed  # every game before it is well
    assert player.play(Block(failure.game, failure.game + 1, frozenset({0}))).tallies.failed == {0: failure}
