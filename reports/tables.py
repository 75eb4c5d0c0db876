"""The tables of a run: every figure with its interval (tidy), one wide row a cell, and paired differences."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reports.measures import RARE, measure_cell, measure_differences
from reports.run import PairSums, Run, RunError, Sums
from reports.statistics import (
    AT_95,
    NO_FIGURE,
    Confidence,
    Difference,
    Interval,
    deviation,
    difference_variances,
    draw_deviations,
    draw_quantiles,
    mean,
    paired_draws,
    paired_mean,
    paired_share,
    quantile,
    ratio_of,
    share,
    shift_quantile,
)

GROUP_GAMES = 30  # in each group; of fewer a bootstrap of groups knows too little
VALUES_FEW = 4  # steps of a column: where a quantile lies on one of so few values, draws are often all on the same
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # begins a formula in some spreadsheet


def confidence_of(run: Run, error: float = AT_95.error) -> Confidence:
    """The intervals a run allows: of one number of games, or, where play went on until figures were known, sequences."""
    return Confidence(error, run.anytime)


def figure_of(run: Run, cell: int, figure: dict[str, Any], sure: Confidence | None = None) -> tuple[Interval, int]:
    """One figure of one cell with its interval, in the metric's unit (shares as fractions), and the games behind it."""
    metric = run.metrics[figure["metric"]]
    sums = run.sums(cell, figure["field"])
    sure = sure or confidence_of(run)
    if metric["kind"] == "share":
        interval = share(sums.count_of(figure["equals"]), sums.n, sure)
    elif metric["kind"] == "mean":
        interval = mean(sums, sure)
    elif metric["kind"] == "sd":
        interval = deviation(sums, sure)
    else:
        interval = quantile(sums, metric["level"], sure)
    return Interval(*(x * metric["scale"] for x in interval)), sums.n


def difference_of(run: Run, pair: dict[str, Any], figure: dict[str, Any], sums: PairSums, sure: Confidence | None = None) -> Difference:
    """One figure of a pair of cells, in the metric's unit (shares as fractions); of a cell and itself exactly 0."""
    metric = run.metrics[figure["metric"]]
    x, y, both = sums.x, sums.y, sums.both
    sure = sure or confidence_of(run)
    games = min(x.n, y.n)
    if pair["cell"] == pair["reference"] and games:
        return Difference(Interval(0.0, 0.0, 0.0), games, math.inf, True)
    if metric["kind"] in ("quantile", "sd"):
        interval, ratio = _drawn_difference(run, pair, figure, sums, sure)
        return Difference(interval, games, ratio, sums.same)
    if metric["kind"] == "share":
        interval = paired_share((x.total, x.n), (y.total, y.n), both, sure)
    else:
        theirs = run.same_figure(pair["reference"], figure)
        assert theirs is not None
        reach = _reach_of_both(run.sums(pair["cell"], figure["field"]), run.sums(pair["reference"], theirs["field"]))
        interval = Interval(*(v * metric["scale"] for v in paired_mean(sums, sure, reach)))
    apart, paired = difference_variances(x, y, both) if games > 1 else (0, 0)
    return Difference(interval, games, ratio_of(float(apart), float(paired)), sums.same)


def _reach_of_both(ours: Sums, theirs: Sums) -> int:
    """How far apart games of two cells may lie, in the column's integers."""
    longer, shorter = sorted((ours.bins, theirs.bins), key=len, reverse=True)
    together = longer.copy()
    together[: len(shorter)] += shorter
    return replace(ours, bins=together).reach


def _drawn_difference(run: Run, pair: dict[str, Any], figure: dict[str, Any], sums: PairSums, sure: Confidence) -> tuple[Interval, float]:
    """Of quantiles and standard deviations: by the paired bootstrap, and at least as far as the games that differ may move them.

    Of few games, of standard deviations where few differ, or of quantiles with few values to choose from, the bootstrap knows too little: the limits
    of both figures, each at half the error, hold however they are correlated.
    """
    metric = run.metrics[figure["metric"]]
    theirs = run.same_figure(pair["reference"], figure)
    assert theirs is not None
    both = ((pair["cell"], figure), (pair["reference"], theirs))
    of_cells = [run.sums(cell, one["field"]) for cell, one in both]
    groups = len(run.groups(pair["cell"], figure["field"]))
    each = Confidence(sure.error / 2, sure.anytime)
    ours, others = (figure_of(run, cell, one, each)[0] for cell, one in both)
    if math.isnan(ours.value) or math.isnan(others.value):
        return NO_FIGURE, math.nan
    games = min(one.n for one in of_cells)
    differ_few = sums.differ < RARE
    apart = Interval(ours.value - others.value, ours.low - others.high, ours.high - others.low)
    values_few = metric["kind"] == "quantile" and apart.high - apart.low <= VALUES_FEW * of_cells[0].scale * metric["scale"]
    if games < GROUP_GAMES * groups or (differ_few and metric["kind"] == "sd") or values_few:
        return apart, math.nan
    found = [one.value / metric["scale"] for one in (ours, others)]
    x, y = (_draw(run, cell, one) for cell, one in both)
    unseen = max(one.width_at(value) for one, value in zip(of_cells, found, strict=True)) if metric["kind"] == "quantile" else 0.0
    value, low, high = paired_draws(found[0] - found[1], x, y, groups, games, sure)
    if differ_few:
        down, up = shift_quantile(of_cells[1], metric["level"], share(sums.differ, games, sure).high)
        low, high = min(low, down), max(high, up)
    ratio = ratio_of(float(np.var(x) + np.var(y)), float(np.var(x - y)))
    return Interval(*(v * metric["scale"] for v in (value, low - unseen, high + unseen))), ratio


def _draw(run: Run, cell: int, figure: dict[str, Any]) -> Any:
    """The draws of a figure of a cell, in the column's unit."""
    key = (cell, figure["metric"], figure["seat"])
    if key not in run.drawn:
        metric, groups = run.metrics[figure["metric"]], run.groups(cell, figure["field"])
        drawn = draw_quantiles(groups, metric["level"]) if metric["kind"] == "quantile" else draw_deviations(groups)
        run.drawn[key] = drawn * run.sums(cell, figure["field"]).scale
    return run.drawn[key]


def differences_of(run: Run, number: int, sure: Confidence | None = None) -> Iterator[tuple[dict[str, Any], Difference]]:
    """Every figure that both cells of a pair have, by the pair's number, with its difference."""
    pair = run.manifest["pairs"][number]
    for figure, sums in zip(run.paired_figures(number), run.pair_sums(number), strict=True):
        yield figure, difference_of(run, pair, figure, sums, sure)


def compare_seats(run: Run, cell: int, first: dict[str, Any], other: dict[str, Any], sure: Confidence | None = None) -> Interval | None:
    """Difference of two shares of one column, which exclude each other (fractions); None if the columns differ or no game has it."""
    sums = run.sums(cell, first["field"])
    if first["field"] != other["field"] or sums.n == 0:
        return None
    x, y = (sums.count_of(figure["equals"]) for figure in (first, other))
    return paired_share((x, sums.n), (y, sums.n), (sums.n, x, y, 0), sure or confidence_of(run))


def metrics_table(run: Run) -> pd.DataFrame:
    """Tidy: cell, one column per swept setting (none for a cell outside it), metric, seat, value, low, high, games, assumed (rests on assumed figures).

    If a policy's mistake left a cell without games, a last column, failed, says what it was.
    """
    rows = []
    for cell in run.played:
        for figure in run.figures(cell):
            interval, games = figure_of(run, cell["cell"], figure)
            figures = {"metric": figure["metric"], "seat": figure["seat"], **interval._asdict(), "games": games}
            rows.append({"cell": cell["cell"], **_swept(run, cell), **figures, "assumed": run.assumes(figure["metric"])})
        for name, interval, games in measure_cell(run, cell, confidence_of(run)):
            figures = {"metric": name, "seat": None, **interval._asdict(), "games": games}
            rows.append({"cell": cell["cell"], **_swept(run, cell), **figures, "assumed": run.assumes(name)})
    table = pd.DataFrame(rows).astype({"seat": "Int64", **_whole(run)})
    return table.assign(failed=table["cell"].map(dict(run.failed)).fillna("")) if run.failed else table


def cells_table(run: Run, metrics: pd.DataFrame) -> pd.DataFrame:
    """One row a cell: its swept settings, policies, then every figure (`win_rate[0]`, `win_rate[0]_low`, …)."""
    rows = []
    for cell in run.played:
        row: dict[str, Any] = {"cell": cell["cell"], **_swept(run, cell), "policies": " / ".join(p["label"] for p in cell["policies"])}
        for figure in metrics[metrics["cell"] == cell["cell"]].itertuples():
            name = figure.metric if pd.isna(figure.seat) else f"{figure.metric}[{figure.seat}]"
            row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        rows.append(row)
    return pd.DataFrame(rows).astype(_whole(run))


def differences_table(run: Run) -> pd.DataFrame:
    """Paired differences, cell minus reference; for a pair only compared with the baseline, setting is `baseline` and the levels are the cells' names.

    setting, from, to, cell, reference, metric, seat, value, low, high, games, variance_ratio, same (in every game).
    """
    rows = []
    for number, pair in enumerate(run.manifest["pairs"]):
        levels = [_level(run.played[pair[which]], pair["setting"]) for which in ("reference", "cell")]
        place = {"setting": pair["setting"], "from": levels[0], "to": levels[1], "cell": pair["cell"], "reference": pair["reference"]}
        found = [((figure["metric"], figure["seat"]), difference) for figure, difference in differences_of(run, number)]
        found += [((name, None), difference) for name, difference in measure_differences(run, number, confidence_of(run))]
        for (metric, seat), difference in found:
            gained = {"games": difference.games, "variance_ratio": difference.ratio, "same": difference.same}
            rows.append({**place, "metric": metric, "seat": seat, **difference.interval._asdict(), **gained})
    columns = ["setting", "from", "to", "cell", "reference", "metric", "seat", "value", "low", "high", "games", "variance_ratio", "same"]
    return pd.DataFrame(rows, columns=columns).astype({"seat": "Int64"})


def write_tables(folder: Path, metrics: pd.DataFrame, cells: pd.DataFrame, differences: pd.DataFrame) -> None:
    """metrics.csv and .parquet, cells.csv, differences.csv."""
    for name, table in (("metrics", metrics), ("cells", cells), ("differences", differences)):
        table.rename(columns=guard_cell).map(guard_cell).to_csv(folder / f"{name}.csv", index=False, float_format="%.9g")
    metrics.to_parquet(folder / "metrics.parquet", index=False)


def guard_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with a quote before it (OWASP, CSV Injection); numbers as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def build_tables(folder: Path, run: Run | None = None) -> None:
    """Write the tables of a run, else of that stored in `folder`, to `folder`, and remove an earlier report. Raises RunError."""
    run = run or Run(folder)
    metrics = metrics_table(run)
    with beside(folder) as made:
        write_tables(made, metrics, cells_table(run, metrics), differences_table(run))
        move_files(made, folder)
        for stale in ("report.html", "report.md"):
            (folder / stale).unlink(missing_ok=True)


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A folder within `folder` to make files in, gone afterwards. Raises RunError if `folder` cannot be written."""
    try:
        with tempfile.TemporaryDirectory(prefix=".report.", dir=folder) as name:
            yield Path(name)
    except OSError as error:
        raise RunError(f"{folder}: the report cannot be written ({error.strerror or error})") from None


def move_files(made: Path, folder: Path) -> list[Path]:
    """Put finished files in place of earlier ones, each whole, and remove plots that are no longer drawn."""
    written = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    plots = folder / "plots"
    if plots.is_symlink():  # what it leads to is not ours
        plots.unlink()
    for path in written:
        (folder / path).parent.mkdir(exist_ok=True)
        (made / path).replace(folder / path)
    for path in plots.iterdir() if plots.is_dir() else ():
        if path.suffix in (".png", ".svg") and path.relative_to(folder) not in written:
            path.unlink()
    return [folder / path for path in written]


def _swept(run: Run, cell: dict[str, Any]) -> dict[str, Any]:
    return {setting: _settle(text_of(cell["swept"][setting]), run, setting) if setting in cell["swept"] else None for setting in run.swept}


def _settle(level: Any, run: Run, setting: str) -> Any:
    """A level as its column has it: text if some level of the setting is."""
    return str(level) if any(isinstance(text_of(found), str) for found in _levels(run, setting)) else level


def _levels(run: Run, setting: str) -> Iterator[Any]:
    return (cell["swept"][setting] for cell in run.played if setting in cell["swept"])


def _whole(run: Run) -> dict[str, Any]:
    """Swept settings of whole numbers stay so where a cell outside the sweep has none."""
    return {setting: "Int64" for setting in run.swept if all(type(level) is int and abs(level) < 2**63 for level in _levels(run, setting))}


def _level(cell: dict[str, Any], setting: str) -> Any:
    return text_of(cell["swept"][setting]) if setting in cell["swept"] else cell["label"]


def text_of(value: Any) -> Any:
    """A swept level as a table shows it: numbers stay numbers, all else is text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, dict):
        given = ", ".join(f"{k}={v:g}" for k, v in value.items() if k != "name")
        return f"{value['name']}({given})" if given else value["name"]
    return " / ".join(str(text_of(item)) for item in value)
