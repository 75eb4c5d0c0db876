"""Scoundrel's games told: one recorded to read, and what the JSON lines hold."""

from __future__ import annotations

import json
import os
from itertools import pairwise

from sim.games import scoundrel
from sim.replay import replay_game, tell
from sim.stories.scoundrel import card_name
from tests.test_playthroughs import GOLDEN, load


def test_a_recorded_game_is_told_as_before() -> None:
    experiment, line_ups = load({"game": "scoundrel", "policies": ["counter"]})
    text = "\n".join(line for _, line in tell(experiment, 0, 4, replay_game(experiment, line_ups, 0, 4))) + "\n"
    path = GOLDEN / "scoundrel_counter.txt"
    if os.environ.get("HOUSECARLO_RECORD"):
        path.write_text(text)
    assert text == path.read_text()


def test_json_lines_hold_the_deck_every_decision_and_the_state_after_it() -> None:
    experiment, line_ups = load({"game": "scoundrel", "policies": ["random"], "rules": {"potion_optional": True}})
    deck = {card_name(card) for card in scoundrel.Rules().deck()}
    for game in range(20):
        lines = [line for line, _ in tell(experiment, 0, game, replay_game(experiment, line_ups, 0, game))]
        assert json.loads(json.dumps(lines)) == lines
        assert set(lines[0]["deck"]) == deck
        assert len(lines[0]["deck"]) == 44
        assert lines[1] == {"event": "deal", "cards": lines[0]["deck"][:4], "state": lines[1]["state"]}
        assert lines[-1]["outcome"]["died_at"] == sum(line["event"] == "action" and line["action"] != "avoid" for line in lines)
        for before, line in pairwise(lines[:-1]):
            assert line["state"]["health"] <= 20
            if line["event"] == "action":
                assert line["action"] in line["legal"]
                assert line["card"] == (None if line["action"] == "avoid" else before["state"]["room"][int(line["action"][-1]) - 1])
