"""Reports in Italian: nothing left untranslated, nothing stale, numbers with a decimal comma."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from policies.loading import load_line_ups
from reports.languages import LANGUAGES, Speech, load_speech, localize, read_catalogue, say, speak, word, write_count
from reports.report import build_report
from reports.run import EFFECT_MEANING, MEASURES, USE_MEANING
from sim.experiment import parse_experiment
from sim.games import mint_tin
from sim.knobs import describe
from sim.store import write_run
from sim.usage import count_usage
from sim.workers import play_experiment

REPORTS = Path(__file__).parent.parent / "reports"
OTHERS = [language for language in LANGUAGES if language != "en"]


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
    words |= {action.name.lower().replace("_", " ") for action in module.Action}
    return (words | set(module.ASSUMPTIONS)) - {""}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_with_the_same_names_and_none_is_stale(language: str) -> None:
    catalogue = read_catalogue(language)
    assert set(catalogue) == messages()
    for message, translated in catalogue.items():
        assert sorted(names_of(message)) == sorted(names_of(translated)), message
        assert message[:1].isspace() == translated[:1].isspace(), message


def names_of(message: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(message) if name is not None]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("module", [mint_tin])
def test_every_word_of_a_game_is_translated(module: Any, language: str) -> None:
    assert set(read_catalogue(f"{module.__name__.rpartition('.')[2]}.{language}")) == words_of(module)


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
        if not {"code", "pre", "style", "script"} & set(self.inside):
            self.texts.append(data)


@pytest.mark.parametrize(
    "asked",
    [
        {"sweep": {"rules.monster_die": [6, 4]}},
        {"policies": ["racer"], "sweep": {"policies[0]": ["racer", "brawler"], "policies[1]": ["racer", "brawler"]}},
        {"sweep": {"mode": "one-at-a-time", "rules.enter": ["walk", "lift"], "rules.mode": ["uh-oh", "omg"]}, "robust": {"line_ups": [["racer"], ["brawler"]]}},
        {"sweep": {"mode": "one-at-a-time", "rules.enter": ["walk", "lift"], "rules.max_rolls": [20_000, 100]}},
        {},
    ],
)
def test_nothing_but_the_catalogue_and_the_data_stands_in_a_report(asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a language whose every message is Xs, the words left are names that the user or the game's author typed."""
    experiment = parse_experiment({"game": "mint-tin", "games": 400, "policies": ["brawler", "racer"]} | asked, Path("made_up.toml"))
    line_ups = load_line_ups(experiment)
    write_run(tmp_path, experiment, play_experiment(experiment, line_ups), "command", count_usage(experiment, line_ups))
    hidden = {text: "".join(f"{{{name}}}" for name in names_of(text)) for text in messages()}
    speech = Speech("xx", hidden, dict.fromkeys(words_of(mint_tin), ""))
    monkeypatch.setattr("reports.report.load_speech", lambda language, game: speech)
    build_report(tmp_path)
    reader = Texts()
    reader.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    typed = {mint_tin.TITLE, "made_up", "made_up.toml", *mint_tin.Rules.model_fields, *(name for name in names_typed(experiment))}
    typed |= {knob["clause"] for knob in describe(mint_tin.Rules)} | {str(knob["default"]) for knob in describe(mint_tin.Rules)}
    left = " ".join(reader.texts)
    for name in sorted(typed, key=len, reverse=True):
        left = left.replace(name, " ")
    assert set(re.findall(r"[^\W\d_]{3,}", left)) <= {"true", "false", "numba", "numpy", "pandas", "scipy", "matplotlib", "housecarlo", "python", "post"}


def names_typed(experiment: Any) -> list[str]:
    levels = [str(level) for _, values in experiment.sweep for level in values]
    return [*levels, *(choice.label() for cell in experiment.cells for choice in cell.policies)]


def test_no_english_word_remains_in_an_italian_report(tmp_path: Path) -> None:
    experiment = parse_experiment({"game": "mint-tin", "games": 400, "policies": ["racer"], "sweep": {"rules.monster_die": [6, 4]}}, Path("prova.toml"))
    line_ups = load_line_ups(experiment)
    write_run(tmp_path, experiment, play_experiment(experiment, line_ups), "command", count_usage(experiment, line_ups))
    build_report(tmp_path, "it")
    reader = Texts()
    reader.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    texts = " ".join(reader.texts)
    for knob in describe(mint_tin.Rules):
        texts = texts.replace(knob["clause"], "")
    texts = re.sub(r"Journal of the American Statistical Association|Simulation Modeling and Analysis|Annals of Statistics", "", texts)
    assert not set(re.findall(r"\b(?:the|of|with|and|is|are|games|cell|seat|each|wins)\b", texts))
    assert "1.000" not in texts
    assert re.search(r"\d,\d+", texts)
    assert not re.search(
        r"\b\d+\.\d{1,2}\b(?!\.)", re.sub(r"(?:numba|numpy|pandas|scipy|matplotlib|housecarlo|python) [\d.]+|0.5, 0.5|sezione 3.2", "", texts)
    )  # knobs stand as an experiment file has them
