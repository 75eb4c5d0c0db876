"""House rules as data: each knob declared once, with its type, range, default, meaning and clause.

From that one declaration come the check of experiment files, the error messages, `housecarlo rules GAME`
and the record that compiled code reads.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


def knob(
    default: Any,
    meaning: str,
    clause: str,
    unit: str = "",
    allowed: str = "",
    assumed: bool = False,
    seats: int = 0,
    only_if: dict[str, Any] | None = None,
    **limits: Any,
) -> Any:
    """Declare one knob: `clause` names the rulebook's passage, `limits` are pydantic's (ge, le, min_length …).

    `allowed` says in words what limits alone do not. `assumed` marks a default that nothing measured or printed stands behind.
    `seats` > 0 makes a list of up to that many values, one per seat: the last one holds for all further seats, and a
    value without brackets for every seat. `only_if`: values of other knobs without which this one changes nothing.
    """
    if seats:
        limits |= {"min_length": 1, "max_length": seats}
    extra: dict[str, Any] = {"clause": clause, "unit": unit, "allowed": allowed, "assumed": assumed, "seats": seats, "only_if": only_if or {}}
    return Field(default, description=meaning, json_schema_extra=extra, **limits)


class Rules(BaseModel):
    """Base of every game's rules: frozen, strict, no unknown knob. Subclasses add knobs, checks and `derived`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def read_lists(cls, data: Any) -> Any:
        """TOML knows lists only; knobs that hold several values are tuples, and one value alone is for every seat."""
        if not isinstance(data, dict):
            return data
        values = {k: simplify(cls, k, v) if k in cls.model_fields else v for k, v in data.items()}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        alone = [k for k, v in values.items() if k in cls.model_fields and _extra(cls.model_fields[k]).get("seats") and not isinstance(v, tuple)]
        return {**values, **{k: (values[k],) for k in alone}}

    def derived(self) -> dict[str, int | float]:
        """Further numbers the compiled code reads, worked out once from the knobs."""
        return {}

    def check_seats(self, seats: int) -> None:
        """Refuse lists with more values than seats. Raises ValueError, one line."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if _extra(field).get("seats") and len(value) > seats:
                raise ValueError(f"rules.{name} = {list(value)}: {len(value)} values for {seats} seats; allowed: at most one for each seat")

    def as_values(self, seats: int = 0) -> dict[str, Any]:
        """Knobs, derived numbers and the number of `seats` as the record's values: choices as their index, booleans as 0 or 1.

        A list of one value per seat is filled up with its last one. Text and lists of any length reach compiled code
        only through `derived`.
        """
        fields = {name: field for name, field in type(self).model_fields.items() if _reaches_record(field)}
        values = {name: _as_number(getattr(self, name), field) for name, field in fields.items()}
        return {**values, **self.derived(), "seats": seats}

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


def simplify(rules: type[Rules], name: str, value: Any) -> Any:
    """A knob's value as shortly as a file may say it: of one value per seat, those that only repeat the last are left out."""
    if not _extra(rules.model_fields[name]).get("seats") or not isinstance(value, list | tuple):
        return value
    kept = list(value)
    while len(kept) > 1 and type(kept[-1]) is type(kept[-2]) and kept[-1] == kept[-2]:
        kept.pop()
    return kept[0] if len(kept) == 1 else kept


def _extra(field: FieldInfo) -> dict[str, Any]:
    """What `knob` noted beside pydantic's own."""
    return dict(field.json_schema_extra) if isinstance(field.json_schema_extra, dict) else {}


def _reaches_record(field: FieldInfo) -> bool:
    return field.annotation is not str and (Ellipsis not in get_args(field.annotation) or bool(_extra(field).get("seats")))


def _as_number(value: Any, field: FieldInfo) -> Any:
    if isinstance(value, tuple):
        filled = [*value, *value[-1:] * (_extra(field).get("seats", 0) - len(value))]
        return [int(item) if isinstance(item, bool) else item for item in filled]
    return choices(field).index(value) if choices(field) else (int(value) if isinstance(value, bool) else value)


def describe(rules: type[Rules]) -> list[dict[str, Any]]:
    """One row per knob: knob, type, allowed, default, unit, assumed, only_if, meaning, clause."""
    rows = []
    for name, field in rules.model_fields.items():
        extra = _extra(field)
        rows.append(
            {
                "knob": name,
                "type": _type_name(field),
                "allowed": _allowed(field),
                "default": list(field.default) if isinstance(field.default, tuple) else field.default,
                "unit": extra.get("unit", ""),
                "assumed": bool(extra.get("assumed")),
                "only_if": extra.get("only_if", {}),
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
    if field.annotation is str:
        return "text"
    if get_origin(field.annotation) is tuple:
        return f"list of {_item(field)[0].__name__}"
    return getattr(field.annotation, "__name__", str(field.annotation))


def _item(field: FieldInfo) -> tuple[type, list[Any]]:
    """The type of a list's items, and their limits."""
    item = get_args(field.annotation)[0]
    if get_origin(item) is Annotated:
        return get_args(item)[0], get_args(item)[1].metadata
    return item, []


def _allowed(field: FieldInfo) -> str:
    if choices(field):
        return ", ".join(map(str, choices(field)))
    if field.annotation is bool:
        return "true, false"
    extra = _extra(field)
    if extra.get("allowed"):
        return str(extra["allowed"])
    if extra.get("seats"):
        kind, limits = _item(field)
        each = "true or false" if kind is bool else _range(limits)
        return f"one value, or a list of up to {extra['seats']}, one a seat and the last for all further seats, each {each}"
    return _range(field.metadata)


def _range(limits: list[Any]) -> str:
    low = next((m.ge for m in limits if hasattr(m, "ge")), None)
    high = next((m.le for m in limits if hasattr(m, "le")), None)
    return f"{low} to {high}"
