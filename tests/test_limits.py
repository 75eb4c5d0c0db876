"""Cells without games, games by the one or by the million million, shares of exactly 0 or 1, columns nobody has: sensible and silent."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports.answers import answer, tell_comparison
from reports.findings import find
from reports.report import build_report
from reports.results import Results
from reports.run import Run, read_folder
from tests.test_reports import MISSING, Outcomes, play, store

QUANTITIES = [
    {"name": name, "metric": name.split(".")[-1].split("[")[0], "seat": 0 if "[" in name else None, "delta": name.startswith("delta.")}
    for name in ("draw_rate", "win_rate[0]", "mean_minutes", "minutes_q50", "seat_gap", "delta.draw_rate", "delta.mean_minutes", "delta.minutes_q90")
]
ASKED: dict[str, Any] = {
    "targets": [{"quantity": quantity, "at_least": 0.0, "at_most": 0.9} for quantity in QUANTITIES],
    "ideal_minutes": 5.0,
    "precision": [],
    "exact": [{"policies": ["plain", "plain"], "rules": {"die": 6, "mode": "calm", "lid": True}, "values": {"win_rate[0]": [0.45, 0.5]}}],
}
MISTAKE = "my.toml: policies: own.py:mine <b> raises ValueError"


def sweep(mode: str) -> list[dict[str, Any]]:
    """The levels of the cells of a sweep."""
    if mode == "one-at-a-time":
        return [{"rules.die": 6, "rules.mode": "calm"}, {"rules.die": 5, "rules.mode": "calm"}, {"rules.die": 6, "rules.mode": "wild"}]
    if mode == "ladder":
        return [{"policies[0]": x, "policies[1]": y} for x in ("meek", "bold") for y in ("meek", "bold")]
    if mode == "robust":
        return [{"rules.die": d, "line_up": w} for d in (6, 5, 4) for w in ("meek", "bold")]
    return [{"rules.die": d, "rules.mode": m} for d in (6, 5) for m in ("calm", "wild")] if mode == "grid" else [{}]


def empty(outcomes: Outcomes) -> Outcomes:
    return Outcomes(*(x[:0] for x in outcomes.fields()[:3]), [x[:0] for x in outcomes.score])


def report(folder: Path, language: str = "en") -> str:
    """The report's text, made with every warning an error; its answers and tables are made too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_report(folder, language)
        run = Run(folder)
        answer(run)
        tell_comparison(run)
    html = re.sub(r"data:image\S+", "", (folder / "report.html").read_text(encoding="utf-8"))
    assert not re.search(r"\b(nan|inf|None)\b", html + (folder / "report.md").read_text(encoding="utf-8"))
    return html


def store_partly(folder: Path, mode: str, without: Collection[int], short: Collection[int] = (), **changes: Any) -> Path:
    """A run of 200 games a cell, of none for the cells `without` (whose policy failed), of 50 for those that are `short`."""
    levels = sweep(mode)
    full = [play(200, draws=0.1 + n / 10, seed=n % 2 + 1) for n in range(len(levels))]
    games = [empty(one) if n in without else one for n, one in enumerate(full)]
    games = [Outcomes(*(x[:50] for x in g.fields()[:3]), [x[:50] for x in g.score]) if n in short else g for n, g in enumerate(games)]
    store(folder, list(zip(levels, games, strict=True)), mode="grid" if mode != "one-at-a-time" else mode, **{**ASKED, **changes})
    manifest = json.loads((folder / "manifest.json").read_text())
    for cell in manifest["cells"]:
        cell["failed"] = MISTAKE if cell["cell"] in without else ""
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("mode", ["single", "grid", "one-at-a-time", "ladder", "robust"])
@pytest.mark.parametrize("without", ["first", "last", "all", "all but the first"])
def test_cells_that_failed_are_marked_and_the_others_told(mode: str, without: str, tmp_path: Path) -> None:
    count = len(sweep(mode))
    cells = {"first": {0}, "last": {count - 1}, "all": set(range(count)), "all but the first": set(range(1, count))}[without]
    text = report(store_partly(tmp_path, mode, cells, short={2} if count > 3 else ()))
    assert text.count("failed:</strong>") == min(len(cells), 5)
    assert text.count("own.py:mine &lt;b&gt; raises ValueError") == min(len(cells), 5)
    assert "no game differs" not in text or len(cells) < count
    verdicts, _ = answer(Run(tmp_path))
    of_failed = [line for line in verdicts if " 0 games" in line and "wanted" in line]
    assert {line.split()[0] for line in of_failed} <= {"UNDECIDED"}
    table = pd.read_csv(tmp_path / "metrics.csv")
    assert (table["failed"].notna() == table["cell"].isin(cells)).all() if cells else "failed" not in table
    assert table.loc[table["cell"].isin(cells), "value"].isna().all()
    assert table.loc[~table["cell"].isin(cells), "value"].notna().mean() > 0.9 or cells == set(range(count))


def test_a_claim_about_every_line_up_needs_every_line_up(tmp_path: Path) -> None:
    levels = sweep("robust")
    games = [play(3000, draws=0.1 + 0.2 * n) for n in range(6)]
    store(tmp_path / "whole", list(zip(levels, games, strict=True)))
    told = " ".join(finding.text for finding in find(Results(Run(tmp_path / "whole"))))
    assert "with every line-up draw rate up by" in told
    store(tmp_path / "part", list(zip(levels, [*games[:3], empty(games[3]), games[4], empty(games[5])], strict=True)))
    told = " ".join(finding.text for finding in find(Results(Run(tmp_path / "part"))))
    assert "with every line-up" not in told


def test_cells_not_played_are_counted(tmp_path: Path) -> None:
    levels = sweep("grid")
    store(tmp_path, [(one, play(100) if n < 2 else empty(play(100))) for n, one in enumerate(levels)])
    assert "2 cells have not been played" in report(tmp_path)


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("games", [1, 2])
def test_one_game_and_two(games: int, language: str, tmp_path: Path) -> None:
    cells = [(levels, play(games, draws=n / 3)) for n, levels in enumerate(sweep("one-at-a-time"))]
    report(store(tmp_path, cells, mode="one-at-a-time", **ASKED), language)


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize(
    "what", ["nobody finishes", "always a draw", "never a draw", "seat 0 always wins", "nothing ever differs", "a column is missing everywhere"]
)
def test_shares_of_0_and_1_and_figures_nobody_has(what: str, language: str, tmp_path: Path) -> None:
    cells = []
    for n, levels in enumerate(sweep("one-at-a-time")):
        outcomes = play(300, draws={"always a draw": 1.0, "never a draw": 0.0}.get(what, 0.2), seed=1 if what == "nothing ever differs" else n)
        outcomes = play(300, unfinished=1.0) if what == "nobody finishes" else outcomes
        if what == "seat 0 always wins":
            outcomes.ending = np.zeros(300, dtype=np.int64)
        if what == "a column is missing everywhere":
            outcomes.led, outcomes.seconds = np.full(300, MISSING), np.full(300, MISSING)
        cells.append((levels, outcomes))
    report(store(tmp_path, cells, mode="one-at-a-time", **ASKED), language)


@pytest.mark.parametrize("factor", [10**9, 10**12])
@pytest.mark.parametrize("anytime", [False, True])
def test_a_million_million_games_give_narrow_intervals(factor: int, anytime: bool, tmp_path: Path) -> None:
    """The tallies of 300 games, every count multiplied."""
    cells = [(levels, play(300, draws=0.1 + n / 10)) for n, levels in enumerate(sweep("one-at-a-time"))]
    precision = [{"quantity": QUANTITIES[0], "half_width": 1e-6}] if anytime else []
    store(tmp_path, cells, mode="one-at-a-time", **{**ASKED, "precision": precision})
    manifest, arrays = read_folder(tmp_path)
    for name, array in arrays.items():
        if name.endswith(("_sums", "_off_ideal")):
            arrays[name] = np.array([str(int(x) * factor) for x in array.flat]).reshape(array.shape)
        elif not name.endswith("_lengths"):
            arrays[name] = array * factor
    np.savez_compressed(tmp_path / "tallies.npz", **arrays)
    for cell in manifest["cells"]:
        cell["games"] = 300 * factor
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    text = report(tmp_path)
    assert f"{300 * factor:,}" in text
    table = Results(Run(tmp_path)).metrics
    shares = table[table["metric"].isin(["draw_rate", "win_rate"])]
    assert (shares["low"] <= shares["value"]).all()
    assert (shares["value"] <= shares["high"]).all()
    assert (shares["high"] - shares["low"]).max() < 1e-5
