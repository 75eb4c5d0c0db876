"""Is what a folder holds a run? Whoever reads it may rely on it afterwards: types, ranges, and that everything named is there.

A run may come from somebody else, or from a disk that failed: nothing in it is executed, and nothing of it is believed unchecked.
"""

from __future__ import annotations

import itertools
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reports.run import MEASURES, SECONDS, UNFINISHED, WIN

MANIFEST_MOST = 2**28  # bytes
ARRAYS_MOST = 2**32  # bytes, unpacked
LARGEST = 10**45  # of a sum: products of two, and of counts, still fit a float
DRAWN = ("quantile", "sd")  # kinds of figures that groups of games are kept for

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Real = Annotated[float, Field(ge=-1e300, le=1e300)]
Positive = Annotated[float, Field(ge=1e-300, le=1e300)]
Scalar = bool | Whole | Real | str
Value = Scalar | list[Scalar]


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Entry(BaseModel):
    """A policy as a sweep names it: its name and its parameters."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, Whole | Real]
    name: str


Level = Scalar | _Entry | list[Scalar | _Entry]


class _Policy(_Checked):
    name: str
    label: str
    parameters: dict[str, Real]


class _Cell(_Checked):
    cell: Count
    baseline: Count
    label: str
    swept: dict[str, Level]
    rules: dict[str, Value]
    symmetric: bool
    seats: Annotated[int, Field(ge=1, le=64)]
    policies: list[_Policy]
    games: Count
    purpose: str = ""
    failed: str = ""


class _Column(_Checked):
    name: str
    meaning: str
    unit: str
    scale: Positive
    low: Annotated[int, Field(ge=-(2**40), le=2**40)]
    per_seat: bool
    labels: list[str]


class _Metric(_Checked):
    name: Annotated[str, Field(pattern=r"^\w+$")]
    meaning: str
    column: str
    kind: Literal["share", "mean", "sd", "quantile"]
    equals: Whole | None
    level: Annotated[float, Field(gt=0, lt=1)]
    unit: str
    scale: Positive
    per_seat: bool
    assumed: bool = False


class _Knob(_Checked):
    knob: str
    default: Value
    unit: str
    meaning: str
    clause: str
    assumed: bool


class _Pair(_Checked):
    cell: Count
    reference: Count
    setting: str


class _Quantity(_Checked):
    name: str
    metric: str
    seat: Count | None
    delta: bool


class _Precision(_Checked):
    quantity: _Quantity
    half_width: Positive


class _Target(_Checked):
    quantity: _Quantity
    at_least: Real | None
    at_most: Real | None


class _Exact(_Checked):
    policies: list[str]
    rules: dict[str, Value]
    values: dict[str, Annotated[list[Real], Field(min_length=2, max_length=2)]]


class _Highlight(_Checked):
    cell: Count
    name: str
    meaning: str
    game: Count
    values: dict[str, Whole]


class _Field(_Checked):
    column: str
    seat: Count | None


class _Figure(_Checked):
    metric: str
    seat: Count | None
    field: Count
    equals: Whole | None


class _Manifest(_Checked):
    name: str
    title: str
    question: str
    command: str
    experiment_path: str
    experiment: str
    overrides: list[str] = []
    game: Annotated[str, Field(pattern=r"^[\w-]+$")]
    game_title: str
    game_version: Whole
    seats_most: Annotated[int, Field(ge=1, le=64)]
    games: Count
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    finished: bool
    versions: dict[str, str]
    source_digest: str
    ideal_minutes: Positive | None = None
    sweep_mode: Literal["grid", "one-at-a-time"]
    sweep: dict[str, list[Level]]
    knobs: list[_Knob]
    cells: Annotated[list[_Cell], Field(min_length=1)]
    extra_cells: list[_Cell]
    precision: list[_Precision]
    until_decided: bool
    targets: list[_Target]
    exact: list[_Exact]
    pairs: list[_Pair]
    columns: list[_Column]
    metrics: list[_Metric]
    actions: list[str] = []
    usage_games: Count = 0
    without_games: Count = 0
    tells_out: bool = False
    headlines: list[str]
    distributions: list[str]
    assumptions: list[str]
    fields: dict[str, list[_Field]]
    figures: dict[str, list[_Figure]]
    grouped: dict[str, list[Count]]
    highlights: list[_Highlight]


def read_manifest(path: Path) -> dict[str, Any]:
    """The JSON object of a file. Raises OSError, ValueError, RecursionError."""
    if not path.is_file() or path.stat().st_size > MANIFEST_MOST:
        raise ValueError("not a file of a sensible size")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(manifest, dict):
        raise ValueError("no object")
    return manifest


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of an .npz file. Objects are never unpickled; raises whatever zipfile, zlib and numpy raise of a damaged one."""
    with zipfile.ZipFile(path) as packed:
        if sum(member.file_size for member in packed.infolist()) > ARRAYS_MOST:
            raise ValueError("too large")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def check_stored(manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raises ValueError, one line that says what is wrong and where."""
    try:
        checked = _Manifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"manifest.json, {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    wrong = next(_find_wrong(checked), None) or next(_find_wrong_arrays(checked, arrays), None)
    if wrong:
        raise ValueError(wrong)


def _find_wrong(run: _Manifest) -> Iterator[str]:
    """What the manifest names that is not there."""
    played = [*run.cells, *run.extra_cells]
    columns, metrics = {c.name: c for c in run.columns}, {m.name: m for m in run.metrics}
    if len(columns) < len(run.columns) or len(metrics) < len(run.metrics):
        yield "manifest.json: a column or metric stands there twice"
    for number, cell in enumerate(played):
        if cell.cell != number or len(cell.policies) != cell.seats:
            yield f"manifest.json, cell {number}: its number or its policies do not fit"
        if not cell.swept.keys() <= run.sweep.keys() or (len(cell.swept) < len(run.sweep) and number < len(run.cells)):
            yield f"manifest.json, cell {number}: its settings are not those swept"
        if cell.baseline >= len(played):
            yield f"manifest.json, cell {number}: its baseline is no cell"
        if any(knob.knob not in cell.rules for knob in run.knobs):
            yield f"manifest.json, cell {number}: a rule is missing"
        if not all(str(cell.seats) in held for held in (run.fields, run.figures, run.grouped)):
            yield f"manifest.json: nothing is said of {cell.seats} seats"
    for metric in run.metrics:
        column = columns.get(metric.column)
        values = {WIN: run.seats_most - 1, UNFINISHED: metric.equals or 0}.get(metric.name, 0)
        if column is not None and column.labels and not 0 <= values < len(column.labels):
            yield f"manifest.json, metric {metric.name}: its column has no label for it"
        if column is None or (column.per_seat and not metric.per_seat) or (metric.kind == "share" and metric.equals is None and not metric.per_seat):
            yield f"manifest.json, metric {metric.name}: does not fit its column"
    if WIN in metrics and metrics[WIN].kind != "share":
        yield f"manifest.json, metric {WIN}: must be a share"
    if any(name not in metrics for name in run.headlines) or any(name not in columns or columns[name].per_seat for name in run.distributions):
        yield "manifest.json: a headline or distribution is of nothing"
    if "seconds" in columns and columns["seconds"].per_seat:
        yield "manifest.json, column seconds: must be of the whole game"
    for pair in run.pairs:
        swept = pair.setting in run.sweep
        if pair.cell >= len(run.cells) or pair.reference >= len(run.cells if swept else played) or not (swept or pair.setting == "baseline"):
            yield f"manifest.json, pair of {pair.cell} and {pair.reference}: does not fit the cells"
    measures = set(MEASURES) if WIN in metrics and metrics[WIN].per_seat and metrics[WIN].equals is None else set()
    for quantity in (*(one.quantity for one in run.precision), *(one.quantity for one in run.targets)):
        if quantity.metric not in {*metrics, *measures}:
            yield f"manifest.json: there is no figure {quantity.name}"
    for exact in run.exact:
        for name in exact.values:
            found = re.fullmatch(r"(\w+)(?:\[([0-9]{1,3})\])?", name)
            if not found or found[1] not in metrics or metrics[found[1]].per_seat != bool(found[2]) or int(found[2] or 0) >= len(exact.policies):
                yield f"manifest.json, exact: there is no figure {name}"
    if any(h.cell >= len(played) or not h.values.keys() <= columns.keys() for h in run.highlights):
        yield "manifest.json, highlights: of no cell or no column"
    for seats in {cell.seats for cell in played} if all(metric.column in columns for metric in run.metrics) else ():
        yield from _find_wrong_fields(run, seats)


def _find_wrong_fields(run: _Manifest, seats: int) -> Iterator[str]:
    """Fields and figures follow from the columns and metrics."""
    fields = [(c.name, seat) for c in run.columns for seat in (range(seats) if c.per_seat else (None,))]
    place = {key: n for n, key in reversed(list(enumerate(fields)))}
    figures = [
        (m.name, seat, place.get((m.column, seat), place.get((m.column, None), -1)), seat if m.equals is None else m.equals, m.kind)
        for m in run.metrics
        for seat in (range(seats) if m.per_seat else (None,))
    ]
    held = run.figures.get(str(seats), [])
    kinds = [kind for *_, kind in figures]
    if [(f.column, f.seat) for f in run.fields.get(str(seats), [])] != fields:
        yield f"manifest.json, fields of {seats} seats: not those of the columns"
    elif [(f.metric, f.seat, f.field) for f in held] != [figure[:3] for figure in figures]:
        yield f"manifest.json, figures of {seats} seats: not those of the metrics"
    elif any(kind == "share" and one.equals != figure[3] for one, figure, kind in zip(held, figures, kinds, strict=True)):
        yield f"manifest.json, figures of {seats} seats: a share of another value"
    elif run.grouped.get(str(seats)) != sorted({figure[2] for figure in figures if figure[2] is not None and figure[4] in DRAWN}):
        yield f"manifest.json, grouped of {seats} seats: not those of quantiles and deviations"


def _find_wrong_arrays(run: _Manifest, arrays: dict[str, Any]) -> Iterator[str]:
    groups = set()
    has_ideal = run.ideal_minutes is not None and any(column.name == SECONDS for column in run.columns)
    kinds = next((len(column.labels) for column in run.columns if column.labels and not column.per_seat), 0)
    if any(name.endswith("_usage") for name in arrays) and not {"actions", "usage_games", "without_games", "tells_out"} <= run.model_fields_set:
        yield "manifest.json: nothing is said of the actions counted"
    for cell in [*run.cells, *run.extra_cells]:
        of_cell, seats = f"cell{cell.cell}", str(cell.seats)
        count = len(run.fields[seats])
        sums = _numbers(arrays.get(f"{of_cell}_sums"), (count, 3))
        lengths, bins = (_counts(arrays.get(f"{of_cell}_{name}"), 1) for name in ("lengths", "bins"))
        if sums is None or lengths is None or bins is None or len(lengths) != count or lengths.max(initial=0) > len(bins) or lengths.sum() != len(bins):
            yield f"tallies.npz, cell {cell.cell}: sums or bins are missing or of the wrong shape"
            return
        starts = np.concatenate([[0], np.cumsum(lengths)])
        counted = [int(bins[a:b].sum()) for a, b in itertools.pairwise(starts)]
        if any(not _is_sum(*row) or row[0] != n for row, n in zip(sums, counted, strict=True)):
            yield f"tallies.npz, cell {cell.cell}: sums and bins do not agree"
        for k, field in enumerate(run.grouped[seats]):
            held = _counts(arrays.get(f"{of_cell}_groups{k}"), 2)
            if held is None or len(held) < 2 or int(held.sum()) != counted[field]:
                yield f"tallies.npz, cell {cell.cell}: groups are missing or do not agree with the bins"
                return
            groups.add(len(held))
        distances = _numbers(arrays.get(f"{of_cell}_off_ideal"), (1, 3) if has_ideal else (1, 0))
        if distances is None or (has_ideal and not _is_sum(*distances[0])):
            yield f"tallies.npz, cell {cell.cell}: distances from the ideal length are missing or of no games"
            return
        yield from _find_wrong_sample(run, arrays, of_cell)
    batches = {len(array) for name, array in arrays.items() if name.endswith("_usage") and len(array)}
    if len(batches) > 1:
        yield "tallies.npz: unlike numbers of batches in the samples of decisions"
    if len(groups) > 1:
        yield "tallies.npz: unlike numbers of groups"
    shares = {metric.name for metric in run.metrics if metric.kind == "share"}
    played = [*run.cells, *run.extra_cells]
    for number, pair in enumerate(run.pairs):
        theirs = {(f.metric, f.seat) for f in run.figures[str(played[pair.reference].seats)]}
        paired = [f.metric for f in run.figures[str(played[pair.cell].seats)] if (f.metric, f.seat) in theirs]
        rows = _numbers(arrays.get(f"pair{number}_sums"), (len(paired), 11))
        if rows is None or not all(_is_pair(row, metric in shares) for row, metric in zip(rows, paired, strict=True)):
            yield f"tallies.npz, pair {number}: sums are missing, of the wrong shape, or of no games"
            return
        distances = _numbers(arrays.get(f"pair{number}_off_ideal"), (1, 11) if has_ideal else (1, 0))
        endings = _counts(arrays.get(f"pair{number}_endings"), 2)
        if distances is None or (has_ideal and not _is_pair(distances[0], False)) or endings is None or endings.shape != (kinds, kinds):
            yield f"tallies.npz, pair {number}: endings or distances from the ideal length are missing or of no games"
            return


def _find_wrong_sample(run: _Manifest, arrays: dict[str, Any], of_cell: str) -> Iterator[str]:
    """The sample in which decisions were watched; a run may be without."""
    if f"{of_cell}_usage" not in arrays:
        return
    actions = len(run.actions)
    use, effects, race = (_counts(arrays.get(f"{of_cell}_{name}"), dimensions) for name, dimensions in (("usage", 3), ("effects", 2), ("race", 1)))
    if use is None or effects is None or race is None or (use.shape[1:], effects.shape, race.shape) != ((2, actions), (actions, 2), (4,)):
        yield f"tallies.npz, {of_cell}: the sample of decisions is of the wrong shape"
    elif (use[:, 1] > use[:, 0]).any() or (effects[:, 1] > effects[:, 0]).any() or not race[0] >= race[1] >= race[2] >= race[3]:
        yield f"tallies.npz, {of_cell}: more in the sample of decisions than all"


def _numbers(array: Any, shape: tuple[int, int]) -> list[list[int]] | None:
    """Whole numbers stored as decimal text (a single row also without its first dimension); None if that is not what is stored."""
    if isinstance(array, np.ndarray) and array.ndim == 1 and shape[0] == 1:
        array = array[np.newaxis]
    if not isinstance(array, np.ndarray) or array.shape != shape or (array.dtype.kind != "U" and array.size) or array.dtype.itemsize > 4 * 64:
        return None
    try:
        return [[int(text) for text in row] for row in array.tolist()]
    except ValueError:
        return None


def _counts(array: Any, dimensions: int) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Counts of games or bins; None if that is not what is stored."""
    if not isinstance(array, np.ndarray) or array.ndim != dimensions or array.dtype != np.int64:
        return None
    return array if not array.size or (array.min() >= 0 and array.max() <= 10**15) else None


def _is_sum(n: int, total: int, squares: int) -> bool:
    """May these be n, Σx and Σx² of some numbers?"""
    return n >= 0 and abs(total) <= LARGEST and 0 <= squares <= LARGEST and total**2 <= n * squares


def _is_pair(row: list[int], is_share: bool) -> bool:
    x, y, (n, sum_x, sum_y, products, differ) = row[:3], row[3:6], row[6:]
    if not (_is_sum(*x) and _is_sum(*y) and 0 <= n <= min(x[0], y[0]) and 0 <= differ <= x[0] + y[0]):
        return False
    if any(abs(s) > LARGEST for s in (sum_x, sum_y, products)):
        return False
    return not is_share or all(0 <= s <= games for s, games in ((x[1], x[0]), (y[1], y[0]), (sum_x, n), (sum_y, n)))
