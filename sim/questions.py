"""What an experiment asks of its figures: bands they must lie in (`[targets]`) and how well they must be known (`[stop]`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sim.errors import InputError, suggest

QUANTITY = re.compile(r"(?P<delta>delta\.)?(?P<metric>\w+)(\[(?P<seat>[0-9]{1,3})\])?")
WIN_RATE = "win_rate"
OF_SEATS = ("seat_gap", "first_seat_advantage")  # measures of balance that compare the win rates of seats: differences of shares
MEASURES = (*OF_SEATS, "ending_evenness", "ideal_duration")  # as the reports work them out, all in the unit of a share
BANDS = ("between", "at_most", "at_least")


@dataclass(frozen=True)
class Quantity:
    """A figure as targets name it: a metric, of one seat or (None) of every seat it has; `delta`: minus the baseline's."""

    name: str
    metric: str
    seat: int | None
    delta: bool


@dataclass(frozen=True)
class Target:
    """A band that a quantity must lie in, in the metric's unit (shares as fractions); None: open on that side."""

    quantity: Quantity
    at_least: float | None
    at_most: float | None


@dataclass(frozen=True)
class Precision:
    """The half-width asked of a quantity's interval, in the metric's unit (shares as fractions)."""

    quantity: Quantity
    half_width: float


def read_targets(table: dict[str, Any], module: ModuleType, where: str) -> tuple[Target, ...]:
    """The `[targets]` of a file. Raises InputError."""
    return tuple(_read_target(name, band, module, where) for name, band in _flatten(table, BANDS))


def read_precision(table: Any, module: ModuleType, where: str) -> tuple[Precision, ...]:
    """The `precision` of `[stop]`. Raises InputError."""
    asked = []
    for name, width in _flatten(table):
        key = f"stop.precision.{name}"
        quantity = _read_quantity(name, module, f"{where}: {key}")
        if not is_number(width) or width <= 0:
            raise InputError(f"{where}: {key} = {width}: a half-width must be a number above 0, in the metric's unit (shares as fractions)")
        least, most = _limits(quantity, module)
        if width >= (most - least) / 2:
            raise InputError(f"{where}: {key} = {width}: a share is a fraction, so this asks for nothing; allowed: below {(most - least) / 2:g}")
        asked.append(Precision(quantity, float(width)))
    return tuple(asked)


def _flatten(table: dict[str, Any], ends: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Entries by name; `delta.x` written without quotes is a table within a table in TOML."""
    for name, value in table.items():
        if name == "delta" and isinstance(value, dict) and not set(value) & set(ends):
            yield from ((f"delta.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _read_target(name: str, band: Any, module: ModuleType, where: str) -> Target:
    key = f"{where}: targets.{name}"
    quantity = _read_quantity(name, module, key)
    example = "write { between = [low, high] }, { at_most = x } or { at_least = x }"
    if not isinstance(band, dict) or not band:
        raise InputError(f"{key} = {band}: no band; {example}")
    for word in band:
        if word not in BANDS:
            raise InputError(f"{key}.{word}: unknown; {suggest(word, BANDS)}")
    if "between" in band and len(band) > 1:
        raise InputError(f"{key}: between stands with {', '.join(w for w in band if w != 'between')}; {example}")
    low, high = band.get("at_least"), band.get("at_most")
    if "between" in band:
        if not isinstance(band["between"], list) or len(band["between"]) != 2:
            raise InputError(f"{key}.between = {band['between']}: must be two numbers, [low, high]")
        low, high = band["between"]
    least, most = _limits(quantity, module)
    for bound in (low, high):
        if bound is not None and not is_number(bound):
            raise InputError(f"{key} = {bound}: a bound must be a number")
        if bound is not None and not least <= bound <= most:
            raise InputError(f"{key} = {bound}: a share is a fraction; allowed: {least:g} to {most:g}")
    if low is not None and high is not None and low > high:
        raise InputError(f"{key}: the lower bound {low} is above the upper bound {high}")
    return Target(quantity, None if low is None else float(low), None if high is None else float(high))


def _read_quantity(name: str, module: ModuleType, key: str) -> Quantity:
    metrics = {metric.name: metric for metric in module.METRICS}
    match = QUANTITY.fullmatch(name)
    if not match:
        raise InputError(f"{key}: no figure; write metric, metric[seat], or delta. before either")
    metric, seat, delta = match["metric"], match["seat"], bool(match["delta"])
    if metric not in (*metrics, *MEASURES):
        raise InputError(f"{key}: unknown metric; {suggest(metric, [*metrics, *MEASURES])}")
    if metric in OF_SEATS and (WIN_RATE not in metrics or max(module.SEATS) < 2):
        raise InputError(f"{key}: {module.TITLE} has no seats to compare")
    if seat is not None and (metric in MEASURES or not metrics[metric].per_seat):
        raise InputError(f"{key}: {metric} is of the whole game, not of a seat")
    if seat is not None and int(seat) >= max(module.SEATS):
        raise InputError(f"{key}: there is no seat {seat}; seats are 0 to {max(module.SEATS) - 1}")
    return Quantity(name, metric, None if seat is None else int(seat), delta)


def _limits(quantity: Quantity, module: ModuleType) -> tuple[float, float]:
    share = quantity.metric in MEASURES or any(m.kind == "share" for m in module.METRICS if m.name == quantity.metric)
    return (-1.0 if quantity.delta or quantity.metric == "first_seat_advantage" else 0.0, 1.0) if share else (-math.inf, math.inf)


def is_number(value: Any) -> bool:
    """Is it a number that a float and, if whole, a column of whole numbers can hold?"""
    return not isinstance(value, bool) and ((isinstance(value, float) and abs(value) <= 1e300) or (isinstance(value, int) and abs(value) < 2**63))
