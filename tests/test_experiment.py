"""Experiment files: what they say, and what is refused, in one line that names file, key, found and allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from policies.loading import load_line_ups
from sim.errors import InputError
from sim.experiment import BASELINE, Experiment, PolicyChoice, parse_experiment, read_experiment

CONFIGS = Path(__file__).parent.parent / "configs"


def parse(text: str, **options: Any) -> Experiment:
    """An experiment from TOML text."""
    return parse_experiment(tomllib.loads(text), Path("my.toml"), text, **options)


BASE = 'game = "mint-tin"\npolicies = ["racer"]\n'


def test_a_grid_makes_every_combination_the_last_knob_fastest() -> None:
    experiment = parse(BASE + '[sweep]\n"rules.mode" = ["uh-oh", "omg"]\n"rules.monster_die" = [6, 5, 4]')
    assert [dict(cell.swept)["rules.monster_die"] for cell in experiment.cells] == [6, 5, 4, 6, 5, 4]
    assert [cell.rules.mode for cell in experiment.cells] == ["uh-oh"] * 3 + ["omg"] * 3
    assert [(p.cell, p.reference) for p in experiment.pairs if p.setting != BASELINE] == [(1, 0), (2, 0), (3, 0), (4, 1), (4, 3), (5, 2), (5, 3)]
    assert [(p.cell, p.reference) for p in experiment.pairs if p.setting == BASELINE] == [(4, 0), (5, 0)]


def test_one_at_a_time_varies_one_knob_around_the_rules_given() -> None:
    experiment = parse(
        BASE + '[rules]\nmanhole = true\n[sweep]\nmode = "one-at-a-time"\n"rules.wake" = ["matching", "any"]\n"rules.enter" = ["walk", "lift", "either"]'
    )
    assert [cell.label() for cell in experiment.cells] == [
        "wake matching, enter walk",
        "wake any, enter walk",
        "wake matching, enter lift",
        "wake matching, enter either",
        "baseline",
    ]
    assert [cell.number for cell in experiment.swept_cells] == [0, 1, 2, 3]
    assert [cell.rules.manhole for cell in experiment.cells] == [True, True, True, True, False]
    assert [(p.cell, p.reference) for p in experiment.pairs] == [(1, 0), (2, 0), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)]


def test_one_policy_sits_on_every_seat_and_parameters_are_kept() -> None:
    experiment = parse('game = "mint-tin"\npolicies = [{ name = "racer", caution = 0.4 }, "hero"]')
    assert experiment.cells[0].policies == (PolicyChoice("racer", (("caution", 0.4),)), PolicyChoice("hero"))
    assert parse(BASE).cells[0].policies == (PolicyChoice("racer"),) * 2


def test_policies_and_their_parameters_can_be_swept() -> None:
    experiment = parse(BASE + '[sweep]\n"policies[1]" = ["racer", "hero"]')
    assert [cell.policies[1].name for cell in experiment.swept_cells] == ["racer", "hero"]
    experiment = parse(BASE + '[sweep]\npolicies = [["racer", "hero"], ["hero", "hero"]]')
    assert [cell.policies[0].name for cell in experiment.swept_cells] == ["racer", "hero"]
    experiment = parse(BASE + '[sweep]\n"policies[0].caution" = [1, 2.5]')
    assert [dict(cell.policies[0].parameters) for cell in experiment.swept_cells] == [{"caution": 1.0}, {"caution": 2.5}]


def test_set_changes_a_setting_of_the_file() -> None:
    experiment = parse(BASE, overrides=["rules.monster_die=4", "games=77", "rules.mode=omg", 'sweep.rules.wake=["matching", "any"]'])
    assert experiment.games == 77
    assert [(cell.rules.monster_die, cell.rules.mode, cell.rules.wake) for cell in experiment.swept_cells] == [
        (4, "omg", "matching"),
        (4, "omg", "any"),
    ]


def test_one_seat_s_policy_and_its_parameters_can_be_set() -> None:
    seated = parse(BASE, overrides=["policies[1]=strategist", "policies[1].caution=3", "policies[0]=hero"])
    assert seated.cells[0].policies == (PolicyChoice("hero"), PolicyChoice("strategist", (("caution", 3.0),)))
    written = parse('"policies[1].caution" = 3\ngame = "mint-tin"\npolicies = ["strategist"]\n[sweep]\n"policies[0]" = ["racer", "hero"]')
    assert [cell.policies[0].name for cell in written.swept_cells] == ["racer", "hero"]
    assert {cell.policies[1] for cell in written.swept_cells} == {PolicyChoice("strategist", (("caution", 3.0),))}
    with pytest.raises(InputError, match=r"policies\[2\]: there is no seat 2; seats are 0 to 1"):
        parse(BASE, overrides=["policies[2]=hero"])


def test_python_s_truth_values_are_understood() -> None:
    assert parse(BASE, overrides=["rules.manhole=True"]).cells[0].rules.manhole is True


def test_values_that_are_alike_for_all_seats_are_one_value() -> None:
    kitty = 'game = "kitty-paw"\npolicies = ["plain"]\n'
    written = [parse(f"{kitty}[rules]\nspeed = {speed}").cells[0].rules for speed in ("1.0", "[1.0]", "[1.0, 1.0]")]
    assert written == [written[0]] * 3
    experiment = parse(kitty + '[sweep]\nmode = "one-at-a-time"\n"rules.head_start_seconds" = [[0, 0], [4, 0]]')
    assert [cell.label() for cell in experiment.cells] == ["head_start_seconds 0.0", "head_start_seconds [4, 0]"]
    assert [cell.baseline for cell in experiment.cells] == [0, 0]
    with pytest.raises(InputError, match="a value stands there twice"):
        parse(kitty + '[sweep]\n"rules.penalties" = [true, [true, true]]')


def test_keys_of_the_sweep_may_be_written_without_quotes_and_one_policy_without_brackets() -> None:
    experiment = parse('game = "mint-tin"\npolicies = "racer"\n[sweep]\nrules.monster_die = [6, 5]')
    assert [cell.rules.monster_die for cell in experiment.cells] == [6, 5]


def test_set_on_a_swept_setting_takes_it_out_of_the_grid_or_moves_the_baseline() -> None:
    sweep = '[sweep]\n"rules.mode" = ["uh-oh", "omg"]\n"rules.monster_die" = [6, 5]\n'
    experiment = parse(BASE + sweep, overrides=["rules.monster_die=3"])
    assert [(cell.rules.mode, cell.rules.monster_die) for cell in experiment.swept_cells] == [("uh-oh", 3), ("omg", 3)]
    experiment = parse(BASE + sweep + 'mode = "one-at-a-time"', overrides=["rules.monster_die=3"])
    assert [cell.rules.monster_die for cell in experiment.swept_cells] == [3, 3, 6, 5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('game = "chess"\npolicies = ["racer"]', ("my.toml", "game", "chess", "mint-tin")),
        ('game = "mint-tim"\npolicies = ["racer"]', ("did you mean", "mint-tin")),
        ('policies = ["racer"]', ("my.toml", "game", "missing")),
        (BASE + "gmaes = 3", ("gmaes", "unknown key", 'did you mean "games"')),
        (BASE + "games = 0", ("games = 0", "1")),
        (BASE + "[rules]\nmonster_die = 4\n[sweep]\nrules.monster_die = [6, 5]", ("rules.monster_die", "fixed under [rules] and swept")),
        (BASE + "[stop]\nprecision = { both_lose_rate = 0.5 }", ("stop.precision.both_lose_rate = 0.5", "asks for nothing", "below 0.5")),
        (BASE + "games = 1.5", ("games = 1.5", "whole number")),
        (BASE + 'games = "many"', ("games", '"many"', "whole number")),
        (BASE + "games = 2000000000000", ("games", "1000000000000")),
        (BASE + "seed = -1", ("seed = -1", "0")),
        (BASE + "seats = 3", ("seats = 3", "allowed: 2")),
        (BASE + "[rules]\nmonster_dye = 4", ("rules.monster_dye", 'did you mean "monster_die"')),
        (BASE + "[rules]\nmonster_die = 7", ("rules.monster_die = 7", "1 to 6")),
        (BASE + '[rules]\nmonster_die = "4"', ('rules.monster_die = "4"', "1 to 6", "without quotes")),
        (BASE + "monster_die = 4", ("monster_die", "under [rules]")),
        (BASE + "[rules]\nmonster_die = true", ("rules.monster_die = true", "1 to 6")),
        (BASE + '[rules]\nmanhole = "yes"', ("rules.manhole", "true, false")),
        (BASE + '[rules]\nmode = "ohno"', ("rules.mode", "uh-oh, omg, cra-cra")),
        (BASE + "[rules]\naction_sums = [8]", ("rules.action_sums", "odd")),
        (BASE + "[rules]\nrolls_per_second = [1]", ("rules.rolls_per_second", "two numbers")),
        (BASE + "[rules]\nrolls_per_second = [1, nan]", ("rules.rolls_per_second", "two numbers")),
        (BASE + "[rules]\nshelter_capacity = 3", ("rules.shelter_capacity = 3", "rules.meeples_to_close = 4")),
        (BASE + "[rules]\nboxes_to_close = 3", ("rules.boxes_to_close = 3", "rules.supply_boxes = 2")),
        (BASE + "[rules]\npoints = [1, 2]", ("rules.points", "five whole numbers")),
        (BASE + '[sweep]\n"rules.modd" = ["omg"]', ("sweep.rules.modd", 'did you mean "mode"')),
        (BASE + "[sweep]\nmonster_die = [1]", ("sweep.monster_die", "rules.monster_die")),
        (BASE + '[sweep]\n"rules.monster_die" = 3', ("sweep.rules.monster_die = 3", "list")),
        (BASE + '[sweep]\n"rules.monster_die" = []', ("sweep.rules.monster_die", "at least one")),
        (BASE + '[sweep]\n"rules.monster_die" = [3, 3]', ("sweep.rules.monster_die", "twice")),
        (BASE + '[sweep]\n"rules.monster_die" = [3, 9]', ("rules.monster_die = 9", "1 to 6")),
        (BASE + '[sweep]\nmode = "all"', ("sweep.mode", "one-at-a-time")),
        (BASE + '[sweep]\n"policies[2]" = ["racer"]', ("sweep.policies[2]", "no seat 2")),
        (BASE + '[sweep]\n"policies[0]" = [3]', ("policies: 3 is no policy", "a name")),
        (BASE + "[baseline]\nrule = {}", ("baseline.rule", "unknown key", 'did you mean "rules"')),
        (BASE + "[baseline.rules]\nmonster_die = 9", ("baseline.rules.monster_die = 9", "1 to 6")),
        (BASE + "[baseline]\npolicies = [3]", ("baseline.policies", "text, in quotes")),
        (BASE + "[stop]\nmax_games = 9", ("stop.precision", "missing")),
        (BASE + '[stop]\nuntil = "decided"', ("stop.until", "targets")),
        (BASE + '[stop]\nuntil = "known"', ("stop.until", "decided")),
        (BASE + "[targets]\nseat_gapp = { at_most = 1 }", ("targets.seat_gapp", 'did you mean "seat_gap"')),
        ('game = "kitty-paw"\npolicies = ["plain"]\n[targets]\nideal_duration = { at_least = 0.5 }', ("targets.ideal_duration", "ideal_minutes")),
        (BASE + "[stop]\nprecision = { both_lose_rat = 1 }", ("stop.precision.both_lose_rat", 'did you mean "both_lose_rate"')),
        (BASE + "[stop]\nprecision = { both_lose_rate = 0 }", ("stop.precision.both_lose_rate = 0", "above 0")),
        (BASE + "[targets]\nboth_lose_rate = 0.2", ("targets.both_lose_rate = 0.2", "at_most")),
        (BASE + "[targets]\nboth_lose_rate = { atmost = 0.2 }", ("targets.both_lose_rate.atmost", 'did you mean "at_most"')),
        (BASE + "[targets]\nboth_lose_rate = { at_most = 20 }", ("targets.both_lose_rate = 20", "fraction", "0 to 1")),
        (BASE + "[targets]\nboth_lose_rate = { between = [0.2] }", ("targets.both_lose_rate.between", "[low, high]")),
        (BASE + "[targets]\nboth_lose_rate = { between = [0.2, 0.1] }", ("targets.both_lose_rate", "0.2 is above", "0.1")),
        (BASE + "[targets]\nboth_lose_rate = { between = [0, 1], at_most = 1 }", ("targets.both_lose_rate", "between stands with at_most")),
        (BASE + '[targets]\n"win_rate[2]" = { at_most = 1 }', ("targets.win_rate[2]", "no seat 2")),
        (BASE + '[targets]\n"mean_rolls[0]" = { at_most = 1 }', ("targets.mean_rolls[0]", "whole game")),
        (BASE + '[targets]\n"seat_gap[0]" = { at_most = 1 }', ("targets.seat_gap[0]", "of the whole game")),
        (BASE + '[targets]\n"win rate" = { at_most = 1 }', ("targets.win rate", "no figure")),
        (BASE + "[targets]\ndelta.mean_rolls = { at_most = 1 }", ("targets.delta.mean_rolls", "every cell is its own baseline")),
        ('game = "scoundrel"\npolicies = ["first"]\n[targets]\nseat_gap = { at_most = 0.1 }', ("targets.seat_gap", "no seats")),
        ('game = "mint-tin"\npolicies = []', ("policies", "at least 1")),
        ('game = "mint-tin"\npolicies = ["a", "b", "c"]', ("policies: 3 given", "each of 2 seats")),
        ('game = "mint-tin"\npolicies = [3]', ("policies = 3", "text, in quotes")),
        ('game = "mint-tin"\npolicies = [{ nam = "racer" }]', ("policies", "no policy", "name =")),
        ('game = "mint-tin"\npolicies = [{ name = "racer", caution = "high" }]', ("racer.caution", "number")),
    ],
)
def test_a_mistake_is_one_line_naming_key_found_and_allowed(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("my.toml")
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        (["racr"], ("racr", 'did you mean "racer"')),
        (["nowhere.py:me"], ("nowhere.py", "no such file")),
        (["a\0b.py:me"], ("no such file",)),
        (["a" * 5000 + ".py:me"], ("no such file", "…")),
        (["my_policy.py:cautios"], ("cautios", 'did you mean "cautious"')),
        ([{"name": "racer", "caution": 1}], ("racer", "no parameter caution")),
        ([{"name": "my_policy.py:cautious", "cautiom": 1}], ("cautiom", 'did you mean "caution"')),
    ],
)
def test_an_unknown_policy_or_parameter_is_named_with_what_there_is(policies: list[Any], words: tuple[str, ...]) -> None:
    experiment = parse_experiment({"game": "mint-tin", "policies": policies}, CONFIGS / "mint_tin" / "mine.toml")
    with pytest.raises(InputError) as caught:
        load_line_ups(experiment)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def mine(view, legal, rules, stream):\n    return 1.5", ("return float64", "action", "own.py, line 1")),
        ("def mine(view, legal, rules, stream):\n    return view.nosuch", ("does not compile", "nosuch", "own.py, line 1")),
        ("import random\ndef mine(view, legal, rules, stream):\n    import random\n    return 0", ("does not compile",)),
        (
            "from sim.games.mint_tin import Action\ndef mine(view, legal, rules, stream):\n    return Action.KNOCKDOWN",
            ("does not compile", "KNOCKDOWN", "line 3"),
        ),
        ("def mine(view, rules):\n    return 0", ("must begin (view, legal, rules, stream", "own.py, line 1")),
        ("def mine(view, legal, rules, stream, fear):\n    return 0", ("fear", "needs a number")),
        ("def mine(:", ("cannot be loaded", "SyntaxError")),
        ("import nosuchmodule", ("cannot be loaded", "nosuchmodule", "line 1")),
        ("import sys\n\nsys.exit()", ("cannot be loaded", "SystemExit", "line 3")),
        ("raise ValueError('several\\nlines')", ("cannot be loaded", "several\\nlines", "line 1")),
        ("def mine(view, legal, rules, stream):\n    yield 1", ("generator", "action")),
        ("class mine:\n    pass", ("has no policy mine", "no function")),
        ("\0", ("cannot be loaded", "null bytes")),
    ],
)
def test_an_own_policy_that_cannot_work_is_explained_in_one_line(tmp_path: Path, body: str, words: tuple[str, ...]) -> None:
    (tmp_path / "own.py").write_text(body + "\n")
    experiment = parse_experiment({"game": "mint-tin", "policies": ["own.py:mine"]}, tmp_path / "e.toml")
    with pytest.raises(InputError) as caught:
        load_line_ups(experiment)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_unreadable_files_are_one_line(tmp_path: Path) -> None:
    broken, latin = tmp_path / "broken.toml", tmp_path / "latin.toml"
    broken.write_text("game = \n")
    latin.write_bytes(b"\xff\xfe\x00")
    for path, word in ((tmp_path / "none.toml", "cannot be read"), (tmp_path, "cannot be read"), (broken, "not valid TOML"), (latin, "not UTF-8")):
        with pytest.raises(InputError, match=word) as caught:
            read_experiment(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.toml")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_ready_experiment_is_valid(path: Path) -> None:
    experiment = read_experiment(path)
    assert experiment.title
    assert load_line_ups(experiment)
