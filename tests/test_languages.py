"""Reports in Italian: nothing left untranslated, nothing stale, numbers with a decimal comma."""

from __future__ import annotations

import ast
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import pytest

from policies.loading import load_line_ups
from reports.languages import LANGUAGES, Speech, load_speech, localize, read_catalogue, say, speak, word, write_count
from reports.plots import STYLE
from reports.report import build_report
from reports.run import EFFECT_MEANING, MEASURES, USE_MEANING
from sim.engine import load_game
from sim.experiment import parse_experiment
from sim.games import GAMES
from sim.knobs import describe
from sim.store import write_run
from sim.usage import count_usage
from sim.workers import play_experiment

REPORTS = Path(__file__).parent.parent / "reports"
OTHERS = [language for language in LANGUAGES if language != "en"]
REMARK = "not in the|silent|Italian"  # in a clause: ours, not the rulebook's
MODULES = {name: load_game(name) for name in GAMES}


def messages() -> set[str]:
    """Every message that reports can say, from the sources."""
    found = {name.replace("_", " ") for name in MEASURES} | set(MEASURES.values()) | {USE_MEANING, EFFECT_MEANING}
    for path in REPORTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say" and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    for path in (REPORTS / "templates").iterdir():
        found |= set(re.findall(r'say\("([^"]+)"', path.read_text(encoding="utf-8")))
    return found


def words_of(module: Any) -> set[str]:
    """Every word and sentence a report takes from a game."""
    words = {text for metric in module.METRICS for text in (metric.name.replace("_", " "), metric.meaning, metric.unit)}
    words |= {text for column in module.COLUMNS for text in (column.meaning, column.unit, *column.labels)}
    for highlight in module.HIGHLIGHTS:
        words |= {highlight.name, highlight.meaning, *(column.replace("_", " ") for column, _ in highlight.order)}
    words |= {text for knob in describe(module.Rules) for text in (knob["meaning"], knob["unit"])}
    words |= {knob["clause"] for knob in describe(module.Rules) if re.search(REMARK, knob["clause"])}
    words |= {action.name.lower().replace("_", " ") for action in module.Action}
    return (words | set(module.ASSUMPTIONS)) - {""}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_with_the_same_names_and_none_is_stale(language: str) -> None:
    catalogue = read_catalogue(language)
    assert {"missing": sorted(messages() - set(catalogue)), "stale": sorted(set(catalogue) - messages())} == {"missing": [], "stale": []}
    for message, translated in catalogue.items():
        assert sorted(names_of(message)) == sorted(names_of(translated)), message
        assert message[:1].isspace() == translated[:1].isspace(), message


def names_of(message: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(message) if name is not None]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("game", GAMES)
def test_every_word_of_a_game_is_translated_and_none_is_stale(game: str, language: str) -> None:
    words, own, shared = words_of(MODULES[game]), read_catalogue(f"{game.replace('-', '_')}.{language}"), read_catalogue(f"shared.{language}")
    assert {"missing": sorted(words - set(own) - set(shared)), "stale": sorted(set(own) - words)} == {"missing": [], "stale": []}


@pytest.mark.parametrize("language", OTHERS)
def test_shared_words_are_those_of_several_games(language: str) -> None:
    games = Counter(text for module in MODULES.values() for text in words_of(module))
    assert [text for text in read_catalogue(f"shared.{language}") if games[text] < 2] == []


def test_numbers_are_written_the_reader_s_way() -> None:
    with speak(load_speech("it", "mint-tin")):
        assert (localize("1,234.5"), write_count(20_000), say("rules as given"), word("win rate")) == (
            "1.234,5",
            "20.000",
            "regole come date",
            "quota di vittorie",
        )
    assert (localize("1,234.5"), write_count(20_000), say("rules as given"), word("win rate")) == ("1,234.5", "20,000", "rules as given", "win rate")


class Texts(HTMLParser):
    """The texts a reader sees, without code."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "link", "br"):
            self.inside.append(tag)
        self.texts += [value for name, value in attrs if name in ("title", "alt") and value]

    def handle_endtag(self, tag: str) -> None:
        self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not {"code", "pre", "style", "script", "metadata"} & set(self.inside):
            self.texts.append(data)


ASKED: list[dict[str, Any]] = [
    {"sweep": {"rules.monster_die": [6, 4]}},
    {"policies": ["racer"], "sweep": {"policies[0]": ["racer", "brawler"], "policies[1]": ["racer", "brawler"]}},
    {"sweep": {"mode": "one-at-a-time", "rules.enter": ["walk", "lift"], "rules.mode": ["uh-oh", "omg"]}, "robust": {"line_ups": [["racer"], ["brawler"]]}},
    {"sweep": {"mode": "one-at-a-time", "rules.enter": ["walk", "lift"], "rules.max_rolls": [20_000, 100]}},
    {},
    {"game": "scoundrel", "policies": ["first"]},
    {"game": "scoundrel", "policies": ["first"], "sweep": {"rules.health": [20, 30], "rules.last_room": ["resolve_all", "leave_one"]}},
    {"game": "kitty-paw", "policies": ["plain"]},
    {"game": "kitty-paw", "policies": ["plain"], "sweep": {"seats": [2, 3]}},
    {
        "game": "kitty-paw",
        "policies": ["quick"],
        "rules": {"speed": [0.8, 1.0]},
        "sweep": {"mode": "one-at-a-time", "rules.search_seconds": [1.0, 2.0], "rules.tie_break": [True, False]},
    },
]


def write_report(asked: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, language: str = "en") -> tuple[Any, str]:
    """Play a few games and write their report: the experiment, and every text of page and plots."""
    monkeypatch.setitem(STYLE, "svg.fonttype", "none")  # texts, which else are drawn
    experiment = parse_experiment({"game": "mint-tin", "games": 400, "policies": ["brawler", "racer"]} | asked, Path("prova.toml"))
    line_ups = load_line_ups(experiment)
    write_run(folder, experiment, play_experiment(experiment, line_ups), "command", count_usage(experiment, line_ups))
    build_report(folder, language)
    reader = Texts()
    for path in (folder / "report.html", *(folder / "plots").glob("*.svg")):
        reader.feed(path.read_text(encoding="utf-8"))
    texts = " ".join(reader.texts)
    for knob in describe(experiment.module.Rules):
        texts = texts.replace(knob["clause"], " ")  # the rulebook's words
    return experiment, texts


@pytest.mark.parametrize("asked", ASKED)
def test_nothing_but_the_catalogue_and_the_data_stands_in_a_report(asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a language whose every message is empty, the words left are names that the user or the game's author typed."""
    hidden = {text: "".join(f"{{{name}}}" for name in names_of(text)) for text in messages()}
    words = dict.fromkeys(words_of(MODULES[asked.get("game", "mint-tin")]), "")
    monkeypatch.setattr("reports.report.load_speech", lambda language, game: Speech("xx", hidden, words))
    experiment, left = write_report(asked, tmp_path, monkeypatch)
    rules = experiment.module.Rules
    typed = {experiment.module.TITLE, "prova", "prova.toml", *rules.model_fields, *names_typed(experiment)}
    typed |= {write_knob(getattr(rules(), name)) for name in rules.model_fields}
    for name in sorted(typed, key=len, reverse=True):
        left = left.replace(name, " ")
    assert set(re.findall(r"[^\W\d_]{3,}", left)) <= {"true", "false", "numba", "numpy", "pandas", "scipy", "matplotlib", "housecarlo", "python", "post"}


def names_typed(experiment: Any) -> list[str]:
    levels = [str(level) for _, values in experiment.sweep for level in values]
    return [*levels, *(choice.label() for cell in experiment.cells for choice in cell.policies)]


def write_knob(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


NAMES = r"Box and Block|Journal of the American Statistical Association|Simulation Modeling and Analysis|Annals of Statistics|sezione 3.2"
NAMES += "|Journal of Educational and Behavioral Statistics"
ENGLISH = r"the|of|with|and|is|are|to|from|by|each|at|not|one|games?|cells?|seats?|wins?|rounds?|cards?|rooms?|health|points|share|mean|policy|policies"
VERSIONS = r"(?:numba|numpy|pandas|scipy|matplotlib|housecarlo|python) [\d.]+"


@pytest.mark.parametrize("asked", [one for one in ASKED if one])
def test_no_english_word_remains_in_an_italian_report(asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, texts = write_report(asked, tmp_path, monkeypatch, "it")
    for knob in describe(experiment.module.Rules):
        texts = re.sub(rf"\b{knob['knob']}\b", " ", texts)
    texts = re.sub(NAMES, "", texts)
    assert set(re.findall(rf"\b(?:{ENGLISH})\b", texts)) == set()
    assert re.search(r"\d,\d+", texts)
    typed = {f"{number}" for cell in experiment.cells for name in experiment.module.Rules.model_fields for number in np.ravel(getattr(cell.rules, name))}
    assert set(re.findall(r"\b\d+\.\d{1,2}\b(?!\.)", re.sub(VERSIONS, "", texts))) <= typed  # knobs stand as an experiment file has them
