"""A stored run, read back: the manifest, and per cell the exact sums and distributions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

EXACT = 4096  # bins are exact below this, then 1/2048 wide: see sim/tally.py, which fills them
GROUPS_EXACT = 512  # so are those of the groups below this, then 1/256 wide
FORMAT = 4

NO_BINS = np.zeros(0, dtype=np.int64)

# Names that games agree on; a game without one goes without what rests on it.
WIN = "win_rate"
UNFINISHED = "unfinished_rate"
SECONDS = "seconds"  # the column of playing time
USE = "use_"  # before an action's name: how often it is chosen where it is legal
EFFECT = "effect_"  # before an action's name: how often forbidding it changes how a game ends
OF_SEATS = ("seat_gap", "first_seat_advantage")
OF_RACE = ("out_of_race", "kingmaking")
MEASURES = {
    "seat_gap": "the largest difference of the win rates of two seats",
    "first_seat_advantage": "win rate of seat 0 minus the mean win rate of the other seats",
    "ending_evenness": "how evenly finished games spread over the ways to end: entropy, as a part of the greatest there could be",
    "ideal_duration": "how near games come to the ideal length: 100% at it, 0% at none or twice of it",
    "out_of_race": "share of games in which a seat that can no longer win still has choices",
    "kingmaking": "of those games, share whose ending changes when a seat that can no longer win makes its choices by lot",
}
USE_MEANING = "of the decisions with a choice in which the action is legal, share that choose it"
EFFECT_MEANING = "of the games in which the action is chosen, share that end otherwise when it is forbidden"


HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e007f]")


class RunError(Exception):
    """The folder holds no readable run; the message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(show_hidden(message if len(message) <= 1000 else f"{message[:1000]}…"))


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
        return (least_values(len(self.bins)) + self.low).astype(np.float64) * self.scale

    @property
    def reach(self) -> int:
        """How far apart games lie, in the column's integers: from the least bin with a game to the greatest; at least 1."""
        held = np.flatnonzero(self.bins)
        return max(int(np.ptp(least_values(len(self.bins))[held])), 1) if held.size else 1

    def width_at(self, value: float) -> float:
        """Width of the bin that begins at `value`, less one unit of the column: how far beyond it the true value may be."""
        spot = round(value / self.scale) - self.low
        return float((1 << (spot // EXACT).bit_length()) - 1) * self.scale


@dataclass(frozen=True)
class PairSums:
    """Exact sums of one figure over the games both cells of a pair played (x: cell, y: reference; a share counts 0 or 1).

    `both` is n, Σx, Σy, Σxy of the games where neither is missing, `differ` the games in which x and y are not the same; x and y have no bins.
    """

    x: Sums
    y: Sums
    both: tuple[int, int, int, int]
    differ: int

    @property
    def same(self) -> bool:
        """Is the figure the same in every game of both?"""
        return self.differ == 0 < self.both[0]


def least_values(bins: int, exact: int = EXACT) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Least value, above the column's low, of each of the first so many bins."""
    n, half = np.arange(bins, dtype=np.int64), exact // 2
    shift = np.maximum(n // half - 1, 0)
    return np.where(n < exact, n, (n - shift * half) << shift)


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and arrays of the run stored in `folder`. Raises RunError."""
    from reports.stored import check_stored, read_arrays, read_manifest  # takes a while to import

    missing = next((name for name in ("manifest.json", "tallies.npz") if not (folder / name).exists()), None)
    if missing:
        raise RunError(f"{folder}: no stored run there ({missing} is missing)")
    try:
        manifest = read_manifest(folder / "manifest.json")
        arrays = read_arrays(folder / "tallies.npz")
    except Exception as error:  # JSON, zip, zlib and numpy fail in many ways, each its own class
        raise RunError(f"{folder}: the stored run is damaged ({type(error).__name__})") from None
    if manifest.get("format") != FORMAT:
        raise RunError(f"{folder}: stored in format {manifest.get('format')}; this version reads format {FORMAT}")
    try:
        check_stored(manifest, arrays)
    except ValueError as error:
        raise RunError(f"{folder}: the stored run is damaged ({error})") from None
    return manifest, arrays


def show_hidden(value: Any, kept: str = "") -> Any:
    """A JSON value whose texts show what would break a line, turn the direction of writing, or is no character of an SVG file; `kept` stays."""
    if isinstance(value, str):
        return HIDDEN.sub(lambda found: found[0] if found[0] in kept else found[0].encode("unicode_escape").decode(), value)
    if isinstance(value, dict):
        return {show_hidden(key): show_hidden(inner, "\n\t" if key == "experiment" else kept) for key, inner in value.items()}
    return [show_hidden(inner, kept) for inner in value] if isinstance(value, list | tuple) else value


class Run:
    """A run: that of a folder, or one just played (its manifest and arrays). Raises RunError.

    `cells` are those the sweep asks for, `played` also those played only to compare with, by number.
    """

    def __init__(self, stored: Path | tuple[dict[str, Any], dict[str, Any]]) -> None:
        manifest, self._arrays = read_folder(stored) if isinstance(stored, Path) else stored
        self.manifest: dict[str, Any] = show_hidden(manifest)
        self.cells: list[dict[str, Any]] = self.manifest["cells"]
        self.played = [*self.cells, *self.manifest["extra_cells"]]
        self.drawn: dict[tuple[int, str, int | None], Any] = {}  # bootstrap draws of figures, once made
        self.anytime = bool(self.manifest["precision"]) or self.manifest["until_decided"]  # was play stopped by what it showed?
        self.columns = {column["name"]: column for column in self.manifest["columns"]}
        self.metrics = {metric["name"]: metric for metric in self.manifest["metrics"]}
        self.ending = next((c for c in self.columns.values() if c["labels"] and not c["per_seat"]), None)  # the column that tells how games end
        self.actions: list[str] = self.manifest["actions"] if any(f"cell{cell['cell']}_usage" in self._arrays for cell in self.played) else []
        self.metrics |= {
            name: {"meaning": meaning, "kind": "share", "unit": "%", "column": None, "per_seat": False, "assumed": self._rests_on_assumed(name)}
            for name, meaning in self._measures()
        }
        self.swept: list[str] = list(self.manifest["sweep"])
        self._sums = {}
        for cell in self.played:
            number = cell["cell"]
            starts = np.concatenate([[0], np.cumsum(self._arrays[f"cell{number}_lengths"])])
            for n, field in enumerate(self.fields(cell)):
                column = self.columns[field["column"]]
                count, total, squares = (int(x) for x in self._arrays[f"cell{number}_sums"][n])
                bins = self._arrays[f"cell{number}_bins"][starts[n] : starts[n + 1]]
                self._sums[number, n] = Sums(count, total, squares, bins, column["low"], column["scale"])

    def _measures(self) -> Iterator[tuple[str, str]]:
        """Names and meanings of the measures (reports/measures.py) this run has besides the game's metrics."""
        names: list[str] = []
        win = self.metrics.get(WIN)
        if win and self.ending and win["per_seat"] and win["kind"] == "share" and win["equals"] is None and win["column"] == self.ending["name"]:
            names += OF_SEATS
        if self.ending:
            names.append("ending_evenness")
        if self.manifest.get("ideal_minutes") and SECONDS in self.columns:
            names.append("ideal_duration")
        if self.actions and self.manifest["tells_out"]:
            names += OF_RACE
        yield from ((name, MEASURES[name]) for name in names)
        for prefix, meaning in ((USE, USE_MEANING), (EFFECT, EFFECT_MEANING)):
            yield from ((prefix + action, meaning) for action in filter(None, self.actions))

    def _rests_on_assumed(self, measure: str) -> bool:
        """Does a measure rest on assumed figures? The ideal length as playing time does, all others as what they are worked out from."""
        column = SECONDS if measure == "ideal_duration" else self.ending["name"] if self.ending else ""
        return any(metric.get("assumed") for metric in self.manifest["metrics"] if metric["column"] == column)

    def usage(self, cell: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Per batch of games: how often each action was legal, and how often chosen (batches, 2, actions)."""
        none = np.zeros((0, 2, len(self.manifest["actions"])), dtype=np.int64)  # as for a cell that failed
        counts: np.ndarray[Any, np.dtype[np.int64]] = self._arrays.get(f"cell{cell}_usage", none)
        return counts

    def effects(self, cell: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Per action: games played again without it, and those that ended otherwise (actions, 2)."""
        counts: np.ndarray[Any, np.dtype[np.int64]] = self._arrays[f"cell{cell}_effects"]
        return counts

    def race(self, cell: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Games of the sample, those with a seat out of the race that still had choices, those played again, those that ended otherwise."""
        counts: np.ndarray[Any, np.dtype[np.int64]] = self._arrays[f"cell{cell}_race"]
        return counts

    @property
    def endings_possible(self) -> list[int]:
        """The values of `ending` there can be: not the wins of seats at which nobody sits in any cell."""
        assert self.ending is not None
        win = self.metrics.get(WIN, {})
        by_seat = win.get("column") == self.ending["name"] and win["per_seat"]
        empty = range(max(cell["seats"] for cell in self.played), self.manifest["seats_most"]) if by_seat else ()
        return [value for value in range(len(self.ending["labels"])) if value not in empty]

    def endings(self, cell: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many of a cell's games ended how, by the label of `ending`."""
        assert self.ending is not None
        sums = self.distribution(cell, self.ending["name"])
        return np.array([sums.count_of(value) for value in range(len(self.ending["labels"]))])

    def pair_endings(self, pair: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many of the games that both cells of a pair played ended how, (in the cell, in the reference)."""
        counts: np.ndarray[Any, np.dtype[np.int64]] = self._arrays[f"pair{pair}_endings"]
        return counts

    def off_ideal(self, cell: int) -> Sums:
        """How far games are from the ideal length, at most as far as a game of no length; as parts of the ideal."""
        return self._parts_of_ideal(self._arrays[f"cell{cell}_off_ideal"])

    def pair_off_ideal(self, pair: int) -> PairSums:
        """The same of the games that both cells of a pair played."""
        row = self._arrays[f"pair{pair}_off_ideal"]
        n, x, y, products, differ = (int(s) for s in row[6:])
        return PairSums(self._parts_of_ideal(row[:3]), self._parts_of_ideal(row[3:6]), (n, x, y, products), differ)

    def _parts_of_ideal(self, row: Any) -> Sums:
        n, total, squares = (int(s) for s in row)
        return Sums(n, total, squares, NO_BINS, 0, 1 / self.ideal_length)

    @cached_property
    def pair_numbers(self) -> dict[tuple[int, int], int]:
        """The number of the pair of a cell and a reference."""
        return {(pair["cell"], pair["reference"]): number for number, pair in reversed(list(enumerate(self.manifest["pairs"])))}

    @property
    def ideal_length(self) -> int:
        """The ideal length of a game, in the integers of the column of playing time."""
        return round(60 * float(self.manifest["ideal_minutes"]) / float(self.columns[SECONDS]["scale"]))

    @property
    def failed(self) -> list[tuple[int, str]]:
        """The cells a policy's mistake left without games, each with what went wrong."""
        return [(cell["cell"], cell["failed"]) for cell in self.played if cell.get("failed")]

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
        fields = self.fields(self.played[cell])
        return self._sums[cell, next(n for n, f in enumerate(fields) if f["column"] == column and f["seat"] == seat)]

    def same_figure(self, cell: int, figure: dict[str, Any]) -> dict[str, Any] | None:
        """The figure of this metric and seat in another cell, which may have other seats and so other fields."""
        key = (figure["metric"], figure["seat"])
        return next((theirs for theirs in self.figures(self.played[cell]) if (theirs["metric"], theirs["seat"]) == key), None)

    def assumes(self, metric: str) -> bool:
        """Does a metric rest on assumed figures?"""
        return bool(self.metrics.get(metric, {}).get("assumed", False))

    def paired_figures(self, pair: int) -> list[dict[str, Any]]:
        """The figures of a pair's cell that its reference has too, in the order of `pair_sums`."""
        cell, reference = (self.manifest["pairs"][pair][name] for name in ("cell", "reference"))
        return [figure for figure in self.figures(self.played[cell]) if self.same_figure(reference, figure)]

    def pair_sums(self, pair: int) -> list[PairSums]:
        """Exact sums of each of a pair's `paired_figures`."""
        found = []
        for figure, row in zip(self.paired_figures(pair), self._arrays[f"pair{pair}_sums"], strict=True):
            s = [int(x) for x in row]
            scale = self.columns[self.metrics[figure["metric"]]["column"]]["scale"]
            x, y = (Sums(n, total, squares, NO_BINS, 0, scale) for n, total, squares in (s[:3], s[3:6]))
            found.append(PairSums(x, y, (s[6], s[7], s[8], s[9]), s[10]))
        return found

    def groups(self, cell: int, field: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Counts (groups, coarse bins) of a field that quantiles are of, by game index modulo the number of groups."""
        place = self.manifest["grouped"][str(self.played[cell]["seats"])].index(field)
        counts: np.ndarray[Any, np.dtype[np.int64]] = self._arrays[f"cell{cell}_groups{place}"]
        return counts
