"""House rules as data: each knob declared once, with its type, range, default, meaning and clause.

From that one declaration come the check of experiment files, the error messages, `housecarlo rules GAME`
and the record that compiled code reads.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


def knob(default: Any, meaning: str, clause: str, unit: str = "", allowed: str = "", **limits: Any) -> Any:
    """Declare one knob: `clause` names the rulebook's passage, `limits` are pydantic's (ge, le, min_length …).

    `allowed` says in words what limits alone do not.
    """
    return Field(default, description=meaning, json_schema_extra={"clause": clause, "unit": unit, "allowed": allowed}, **limits)


class Rules(BaseModel):
    """Base of every game's rules: frozen, strict, no unknown knob. Subclasses add knobs, checks and `derived`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def read_lists(cls, data: Any) -> Any:
        """TOML knows lists only; knobs that hold several values are tuples."""
        return {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()} if isinstance(data, dict) else data

    def derived(self) -> dict[str, int | float]:
        """Further numbers the compiled code reads, worked out once from the knobs."""
        return {}

    def as_values(self) -> dict[str, Any]:
        """Knobs and derived numbers as the record's values: choices as their index, booleans as 0 or 1.

        A list of any length reaches compiled code only through `derived`.
        """
        fields = {name: field for name, field in type(self).model_fields.items() if Ellipsis not in get_args(field.annotation)}
        values = {name: _as_number(getattr(self, name), field) for name, field in fields.items()}
        return {**values, **self.derived()}

    @classmethod
    def dtype(cls) -> np.dtype[Any]:
        """Record dtype (int64 and float64 fields) of `as_values`."""
        defaults = cls()
        fields: list[Any] = []
        for name, value in defaults.as_values().items():
            kind = np.float64 if isinstance(np.atleast_1d(value)[0], float) else np.int64
            length = np.size(value) if np.ndim(value) else 0
            fields.append((name, kind, (length,)) if length else (name, kind))
        return np.dtype(fields, align=True)


def choices(field: FieldInfo) -> tuple[str | int, ...]:
    """The words (or numbers) a knob of named choices allows, or none."""
    return get_args(field.annotation) if get_origin(field.annotation) is Literal else ()


def _as_number(value: Any, field: FieldInfo) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return choices(field).index(value) if choices(field) else (int(value) if isinstance(value, bool) else value)


def describe(rules: type[Rules]) -> list[dict[str, Any]]:
    """One row per knob: knob, type, allowed, default, unit, meaning, clause."""
    rows = []
    for name, field in rules.model_fields.items():
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        rows.append(
            {
                "knob": name,
                "type": _type_name(field),
                "allowed": _allowed(field),
                "default": list(field.default) if isinstance(field.default, tuple) else field.default,
                "unit": extra.get("unit", ""),
                "meaning": field.description or "",
                "clause": extra.get("clause", ""),
            }
        )
    return rows


def allowed(rules: type[Rules], name: str) -> str:
    """What a knob allows, in words."""
    return _allowed(rules.model_fields[name])


def _type_name(field: FieldInfo) -> str:
    if choices(field):
        return "choice"
    if get_origin(field.annotation) is tuple:
        return f"list of {get_args(field.annotation)[0].__name__}"
    return getattr(field.annotation, "__name__", str(field.annotation))


def _allowed(field: FieldInfo) -> str:
    if choices(field):
        return ", ".join(map(str, choices(field)))
    if field.annotation is bool:
        return "true, false"
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    if extra.get("allowed"):
        return str(extra["allowed"])
    low = next((m.ge for m in field.metadata if hasattr(m, "ge")), None)
    high = next((m.le for m in field.metadata if hasattr(m, "le")), None)
    return f"{low} to {high}"
