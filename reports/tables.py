"""The tables of a run: every figure with its interval (tidy), one wide row a cell, and paired differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reports.run import Run
from reports.statistics import Interval, deviation, mean, paired_mean, paired_share, quantile, share


def figure_of(run: Run, cell: int, figure: dict[str, Any]) -> tuple[Interval, int]:
    """One figure of one cell with its interval, in the metric's unit (shares as fractions), and the games behind it."""
    metric = run.metrics[figure["metric"]]
    sums = run.sums(cell, figure["field"])
    if metric["kind"] == "share":
        interval = share(sums.count_of(figure["equals"]), sums.n)
    elif metric["kind"] == "mean":
        interval = mean(sums)
    elif metric["kind"] == "sd":
        interval = deviation(sums)
    else:
        interval = quantile(sums, metric["level"])
    return Interval(*(x * metric["scale"] for x in interval)), sums.n


def metrics_table(run: Run) -> pd.DataFrame:
    """Tidy: cell, one column per swept setting, metric, seat, value, low, high, games, assumed (rests on assumed figures)."""
    rows = []
    for cell in run.cells:
        for figure in run.figures(cell):
            interval, games = figure_of(run, cell["cell"], figure)
            figures = {"metric": figure["metric"], "seat": figure["seat"], **interval._asdict(), "games": games}
            rows.append({"cell": cell["cell"], **_swept(run, cell), **figures, "assumed": run.metrics[figure["metric"]]["assumed"]})
    table = pd.DataFrame(rows)
    return table.astype({"seat": "Int64"})


def cells_table(run: Run, metrics: pd.DataFrame) -> pd.DataFrame:
    """One row a cell: its swept settings, policies, then every figure (`win_rate[0]`, `win_rate[0]_low`, …)."""
    rows = []
    for cell in run.cells:
        row: dict[str, Any] = {"cell": cell["cell"], **_swept(run, cell), "policies": " / ".join(p["label"] for p in cell["policies"])}
        for figure in metrics[metrics["cell"] == cell["cell"]].itertuples():
            name = figure.metric if pd.isna(figure.seat) else f"{figure.metric}[{figure.seat}]"
            row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        rows.append(row)
    return pd.DataFrame(rows)


def differences_table(run: Run) -> pd.DataFrame:
    """Paired differences, cell minus reference: setting, from, to, cell, reference, metric, seat, value, low, high, games."""
    rows = []
    for number, pair in enumerate(run.manifest["pairs"]):
        cell, reference = run.cells[pair["cell"]], run.cells[pair["reference"]]
        for (figure, reference_field), both in zip(run.paired_figures(number), run.pair_sums(number), strict=True):
            metric = run.metrics[figure["metric"]]
            x, y = run.sums(cell["cell"], figure["field"]), run.sums(reference["cell"], reference_field)
            if metric["kind"] == "share":
                interval = paired_share((x.count_of(figure["equals"]), x.n), (y.count_of(figure["equals"]), y.n), both)
            else:
                interval = Interval(*(v * metric["scale"] for v in paired_mean(x, y, both)))
            rows.append(
                {
                    "setting": pair["setting"],
                    "from": _text(reference["swept"][pair["setting"]]),
                    "to": _text(cell["swept"][pair["setting"]]),
                    "cell": cell["cell"],
                    "reference": reference["cell"],
                    "metric": figure["metric"],
                    "seat": figure["seat"],
                    **interval._asdict(),
                    "games": both[0],
                }
            )
    columns = ["setting", "from", "to", "cell", "reference", "metric", "seat", "value", "low", "high", "games"]
    return pd.DataFrame(rows, columns=columns).astype({"seat": "Int64"})


def write_tables(folder: Path, metrics: pd.DataFrame, cells: pd.DataFrame, differences: pd.DataFrame) -> None:
    """metrics.csv and .parquet, cells.csv, differences.csv."""
    metrics.to_csv(folder / "metrics.csv", index=False, float_format="%.9g")
    metrics.to_parquet(folder / "metrics.parquet", index=False)
    cells.to_csv(folder / "cells.csv", index=False, float_format="%.9g")
    differences.to_csv(folder / "differences.csv", index=False, float_format="%.9g")


def build_tables(folder: Path) -> None:
    """Write the tables of the run stored in `folder`. Raises RunError."""
    run = Run(folder)
    metrics = metrics_table(run)
    write_tables(folder, metrics, cells_table(run, metrics), differences_table(run))
    for stale in [*folder.glob("report.*"), *folder.glob("plots/*.png"), *folder.glob("plots/*.svg")]:
        stale.unlink()  # of an earlier run in this folder


def _swept(run: Run, cell: dict[str, Any]) -> dict[str, Any]:
    return {setting: _text(cell["swept"][setting]) for setting in run.swept}


def _text(value: Any) -> Any:
    """A swept level as a table shows it: numbers stay numbers, all else is text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, dict):
        given = ", ".join(f"{k}={v:g}" for k, v in value.items() if k != "name")
        return f"{value['name']}({given})" if given else value["name"]
    return " / ".join(str(_text(item)) for item in value)
