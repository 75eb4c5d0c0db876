"""What a report says, in the reader's language. The English message is its own key; `it.toml` holds the Italian ones.

A game's own words (metrics, columns, knobs, assumptions) are in `<game>.<language>.toml`, keyed by the English text; those that
several games have in `shared.<language>.toml`. Tests hold that every message and every word of a shipped game is there, with
the same names in braces, and that nothing else stands in a report.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

HOME = Path(__file__).parent
LANGUAGES = ("en", "it")


@dataclass(frozen=True)
class Speech:
    """A language with its messages, the words of one game, and how it writes numbers (from English commas and points)."""

    language: str = "en"
    messages: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    digits: Mapping[int, int] = field(default_factory=dict)


ENGLISH = Speech()
_speech: ContextVar[Speech] = ContextVar("speech", default=ENGLISH)


def read_catalogue(name: str) -> dict[str, str]:
    """A file of messages or words; empty if there is none."""
    path = HOME / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@cache
def load_speech(language: str, game: str) -> Speech:
    """The speech of a language about a game (`mint-tin`)."""
    if language == "en":
        return ENGLISH
    words = read_catalogue(f"shared.{language}") | read_catalogue(f"{game.replace('-', '_')}.{language}")
    return Speech(language, read_catalogue(language), words, str.maketrans(",.", ".,"))


@contextmanager
def speak(speech: Speech) -> Iterator[None]:
    """Inside, everything is said in this speech."""
    token = _speech.set(speech)
    try:
        yield
    finally:
        _speech.reset(token)


def language() -> str:
    """The language in force: `en` or `it`."""
    return _speech.get().language


def say(message: str, /, **values: object) -> str:
    """A message in the language in force, its names in braces filled in."""
    return _speech.get().messages.get(message, message).format(**values)


def word(text: str) -> str:
    """A word or sentence of the game in the language in force, or as it is."""
    return _speech.get().words.get(text, text)


def write_count(number: int) -> str:
    """A whole number with thousands set apart."""
    return localize(f"{number:,}")


def localize(number: str) -> str:
    """A number written the English way, as the language in force writes it."""
    return number.translate(_speech.get().digits)
