"""A stored run, read back: the manifest, and per cell the exact sums and distributions."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

EXACT = 4096  # bins are exact below this, then 1/2048 wide: see sim/tally.py, which fills them
HALF = EXACT // 2
FORMAT = 1
PAIRED = ("share", "mean")  # kinds of figures compared game by game: see sim/tally.py


class RunError(Exception):
    """The folder holds no readable run; the message is one line."""


@dataclass(frozen=True)
class Sums:
    """Exact sums of one field over the games in which it is not missing: n, Σx, Σx², and the count of each bin."""

    n: int
    total: int
    squares: int
    bins: np.ndarray[Any, np.dtype[np.int64]]
    low: int
    scale: float

    @property
    def mean(self) -> Fraction:
        """Exact mean, in the column's integers."""
        return Fraction(self.total, self.n)

    @property
    def variance(self) -> Fraction:
        """Exact population variance, in the column's integers squared."""
        return Fraction(self.n * self.squares - self.total**2, self.n**2)

    def count_of(self, value: int) -> int:
        """Games with exactly this value (which must lie in the exact bins)."""
        place = value - self.low
        return int(self.bins[place]) if 0 <= place < len(self.bins) else 0

    @cached_property
    def values(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Least value of each bin, in the column's unit."""
        n = np.arange(len(self.bins), dtype=np.int64)
        shift = np.maximum(n // HALF - 1, 0)
        return (np.where(n < EXACT, n, (n - shift * HALF) << shift) + self.low) * self.scale


class Run:
    """A run's folder, read. Raises RunError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            with np.load(folder / "tallies.npz", allow_pickle=False) as arrays:
                self._arrays = dict(arrays)
        except FileNotFoundError as error:
            raise RunError(f"{folder}: no stored run there ({Path(error.filename).name} is missing)") from None
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise RunError(f"{folder}: the stored run is damaged ({type(error).__name__})") from None
        if self.manifest.get("format") != FORMAT:
            raise RunError(f"{folder}: stored in format {self.manifest.get('format')}; this version reads format {FORMAT}")
        self.cells: list[dict[str, Any]] = self.manifest["cells"]
        self.columns = {column["name"]: column for column in self.manifest["columns"]}
        self.metrics = {metric["name"]: metric for metric in self.manifest["metrics"]}
        self.swept: list[str] = list(self.manifest["sweep"])
        self._sums = {}
        for cell in self.cells:
            number = cell["cell"]
            starts = np.concatenate([[0], np.cumsum(self._arrays[f"cell{number}_lengths"])])
            for n, field in enumerate(self.fields(cell)):
                column = self.columns[field["column"]]
                count, total, squares = (int(x) for x in self._arrays[f"cell{number}_sums"][n])
                bins = self._arrays[f"cell{number}_bins"][starts[n] : starts[n + 1]]
                self._sums[number, n] = Sums(count, total, squares, bins, column["low"], column["scale"])

    def fields(self, cell: dict[str, Any]) -> list[dict[str, Any]]:
        """The outcome fields of a cell: column and seat."""
        fields: list[dict[str, Any]] = self.manifest["fields"][str(cell["seats"])]
        return fields

    def figures(self, cell: dict[str, Any]) -> list[dict[str, Any]]:
        """The figures of a cell: metric, seat, field, equals."""
        figures: list[dict[str, Any]] = self.manifest["figures"][str(cell["seats"])]
        return figures

    def sums(self, cell: int, field: int) -> Sums:
        """Exact sums of a cell's field, by number."""
        return self._sums[cell, field]

    def distribution(self, cell: int, column: str, seat: int | None = None) -> Sums:
        """Exact sums of a cell's column (and seat), by name."""
        fields = self.fields(self.cells[cell])
        return self._sums[cell, next(n for n, f in enumerate(fields) if f["column"] == column and f["seat"] == seat)]

    def paired_figures(self, pair: int) -> list[tuple[dict[str, Any], int]]:
        """The shares and means that both cells of a pair have, in the order of `pair_sums`, with the reference's field of each."""
        cell, reference = (self.cells[self.manifest["pairs"][pair][name]] for name in ("cell", "reference"))
        theirs = {(f["metric"], f["seat"]): f["field"] for f in self.figures(reference)}  # of other seats, if their number is swept
        keys = [(f, (f["metric"], f["seat"])) for f in self.figures(cell) if self.metrics[f["metric"]]["kind"] in PAIRED]
        return [(figure, theirs[key]) for figure, key in keys if key in theirs]

    def pair_sums(self, pair: int) -> list[tuple[int, int, int, int]]:
        """Per paired figure (shares and means, in the order of `figures`): n, Σx, Σy, Σxy over both cells' games."""
        return [(int(a), int(b), int(c), int(d)) for a, b, c, d in self._arrays[f"pair{pair}_sums"]]
