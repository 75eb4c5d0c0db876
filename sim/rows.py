"""One row per game on disk, for those who want to look at games one by one: Parquet files, written while the run goes on.

`games/cell=3/games-000000020000.parquet` holds a block of cell 3 from game 20 000 on, as Hive partitions: `pandas.read_parquet("…/games")`
reads them all. A block has the same games however often a run is stopped, so its file, written again, is the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sim.batch import Played
from sim.errors import InputError
from sim.experiment import Experiment
from sim.outcomes import MISSING
from sim.tally import Field, fields_of

FOLDER = "games"


class RowWriter:
    """Writes the rows of played blocks below a run's folder."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.folder = folder / FOLDER
        self.fields = [fields_of(experiment.module, len(cell.policies)) for cell in experiment.cells]

    def write(self, played: Played) -> None:
        """Write a block, each file whole or not at all. Raises InputError if it cannot be written."""
        for cell, rows in enumerate(played.rows):
            if len(rows):
                self._write_rows(cell, played.block.first, rows)

    def _write_rows(self, cell: int, first: int, rows: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        columns = {"game": pa.array(np.arange(first, first + len(rows)))}
        columns |= {one.label: _as_values(one, rows[:, n]) for n, one in enumerate(self.fields[cell])}
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


def _as_values(one: Field, column: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """A field in its unit, or by its labels; null where it is missing."""
    missing = column == MISSING
    if one.column.labels:
        places = pa.array(np.where(missing, 0, column).astype(np.int32), mask=missing)
        return pa.DictionaryArray.from_arrays(places, list(one.column.labels))
    return pa.array(column if one.column.scale == 1 else column * one.column.scale, mask=missing)
