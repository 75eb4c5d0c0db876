"""Golden playthroughs: recorded games a person can read, reviewed when they change (HOUSECARLO_RECORD=1 records them anew)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from policies.loading import load_line_ups
from sim.experiment import Experiment, parse_experiment
from sim.replay import replay_game, tell

GOLDEN = Path(__file__).parent / "golden"

GAMES: dict[str, tuple[dict[str, Any], int]] = {
    "mint_tin_racers": ({"game": "mint-tin", "policies": ["racer"]}, 0),
    "mint_tin_snake_eyes": ({"game": "mint-tin", "policies": ["hero", "random"], "rules": {"mode": "omg", "monster_die": 1}}, 1),
    "mint_tin_manhole": ({"game": "mint-tin", "policies": ["random"], "rules": {"manhole": True, "cover_throws": "unlimited", "mode": "cra-cra"}}, 3),
    "mint_tin_alternate": ({"game": "mint-tin", "policies": ["brawler", "racer"], "rules": {"rolling": "alternate", "wake": "any"}}, 2),
}


def load(data: dict[str, Any]) -> tuple[Experiment, Any]:
    """An experiment of one cell with its line-up."""
    experiment = parse_experiment(json.loads(json.dumps(data)) | {"seed": 20_261_130}, Path("golden.toml"))
    return experiment, load_line_ups(experiment)


@pytest.mark.parametrize("name", GAMES)
def test_a_recorded_game_is_told_as_before(name: str) -> None:
    experiment, line_ups = load(GAMES[name][0])
    game = GAMES[name][1]
    text = "\n".join(line for _, line in tell(experiment, 0, game, replay_game(experiment, line_ups, 0, game))) + "\n"
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("HOUSECARLO_RECORD"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", GAMES)
def test_json_lines_hold_roll_seat_action_and_state(name: str) -> None:
    experiment, line_ups = load(GAMES[name][0])
    lines = [line for line, _ in tell(experiment, 0, 5, replay_game(experiment, line_ups, 0, 5))]
    assert json.loads(json.dumps(lines)) == lines
    assert lines[0]["event"] == "start"
    assert lines[-1]["event"] == "end"
    rolls = [line["roll"] for line in lines[1:-1]]
    seconds = [line["seconds"] for line in lines[1:-1]]
    assert rolls == sorted(rolls)
    assert seconds == sorted(seconds)
    assert rolls[-1] == lines[-1]["outcome"]["rolls"]
    for line in lines[1:-1]:
        assert line["seat"] in (0, 1)
        assert len(line["state"]["seats"]) == 2
        assert line["event"] == "roll" or line["action"] in line["legal"]
