"""One row per game on disk, for those who want to look at games one by one: Parquet files, written while the run goes on.

`games/cell=3/games-000000020000.parquet` holds a block of cell 3 from game 20 000 on, as Hive partitions: `pandas.read_parquet("…/games")`
reads them all, with the swept settings and who plays as columns. A block has the same games however often a run is stopped, so its file,
written again, is the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sim.batch import Played
from sim.errors import InputError
from sim.experiment import Cell, Experiment, show_level
from sim.outcomes import MISSING
from sim.tally import Field, fields_of

FOLDER = "games"


class RowWriter:
    """Writes the rows of played blocks below a run's folder."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder = folder / FOLDER
        self.fields = [fields_of(experiment.module, len(cell.policies)) for cell in experiment.cells]
        self.columns = max(self.fields, key=len)  # alike in all files, for the seats of the fullest table
        levels = {key: [_level_of(cell, key) for cell in experiment.cells] for key, _ in experiment.sweep}
        self.settings = {key: _as_column(found) for key, found in levels.items()}
        self.settings["policies"] = pa.array([" / ".join(choice.label() for choice in cell.policies) for cell in experiment.cells])

    def write(self, played: Played) -> None:
        """Write a block, each file whole or not at all. Raises InputError if it cannot be written."""
        for cell, rows in enumerate(played.rows):
            if len(rows):
                self._write_rows(cell, played.block.first, rows)

    def _write_rows(self, cell: int, first: int, rows: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        columns = {"game": pa.array(np.arange(first, first + len(rows)))}
        columns |= {key: pa.repeat(levels[cell], len(rows)) for key, levels in self.settings.items()}
        place = {one.label: n for n, one in enumerate(self.fields[cell])}
        nobody = np.full(len(rows), MISSING)
        columns |= {one.label: _as_values(one, rows[:, place[one.label]] if one.label in place else nobody) for one in self.columns}
        path = self.folder / f"cell={cell}" / f"games-{first:012}.parquet"
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(columns), beside)
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise InputError(f"{path}: cannot be written ({error.strerror or error}); the same command goes on from the games stored before") from None

    def drop(self, cells: Collection[int]) -> None:
        """Remove the rows of cells whose policy failed."""
        for cell in cells:
            shutil.rmtree(self.folder / f"cell={cell}", ignore_errors=True)


def remove_rows(folder: Path) -> None:
    """Remove the rows of the run in a folder."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


def _level_of(cell: Cell, setting: str) -> Any:
    """What a setting is in a cell; None if nothing but the policies tells."""
    return dict(cell.swept).get(setting, getattr(cell.rules, setting.removeprefix("rules."), None))


def _as_column(levels: Sequence[Any]) -> Any:
    """A setting's level in each cell (None: it has none): numbers if all are, else texts."""
    are_numbers = all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels if level is not None)
    if are_numbers:
        return pa.array(levels, pa.int64() if all(isinstance(level, int | None) for level in levels) else pa.float64())
    return pa.array([None if level is None else show_level(level) for level in levels], pa.string())


def _as_values(one: Field, column: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """A field in its unit, or by its labels; null where it is missing."""
    missing = column == MISSING
    if one.column.labels:
        places = pa.array(np.where(missing, 0, column).astype(np.int32), mask=missing)
        return pa.DictionaryArray.from_arrays(places, list(one.column.labels))
    return pa.array(column if one.column.scale == 1 else column * one.column.scale, mask=missing)
