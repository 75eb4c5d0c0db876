"""What a user got wrong, said in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

NAMES_MOST = 30  # of what is allowed; of more, the nearest


class InputError(Exception):
    """A mistake of the user's: where, what was found, what is allowed. Shown as one line, exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(text: str, most: int = 2000) -> str:
    """Text that was typed or thrown by others as one line: what a terminal would not print is spelled out, the middle of what is endless left out."""
    if len(text) > most:
        text = f"{text[: most * 3 // 4]} … {text[-most // 4 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def suggest(found: str, known: Iterable[str]) -> str:
    """The nearest name if there is one, and what is allowed: `did you mean "…"? allowed: …`; of many names some that are near."""
    names = list(known)
    nearest = get_close_matches(found, names, n=1)
    shown = names if len(names) <= NAMES_MOST else [*get_close_matches(found, names, n=8, cutoff=0.3), f"and others, {len(names)} in all"]
    return (f'did you mean "{nearest[0]}"? ' if nearest else "") + f"allowed: {', '.join(shown)}"
