"""What a user got wrong, said in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(Exception):
    """A mistake of the user's: where, what was found, what is allowed. Shown as one line, exit code 2."""


def suggest(found: str, known: Iterable[str]) -> str:
    """The nearest name if there is one, and what is allowed: `did you mean "…"? allowed: …`."""
    names = list(known)
    nearest = get_close_matches(found, names, n=1)
    return (f'did you mean "{nearest[0]}"? ' if nearest else "") + f"allowed: {', '.join(names)}"
