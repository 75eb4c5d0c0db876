"""The blocks of an unfinished run, each stored in one transaction of an SQLite file, `blocks.sqlite`, in the run's folder.

Killed at any moment, a run loses the blocks in flight and nothing else. Now and then the tallies of all stored blocks are put together in
one row, so that the file does not grow with the number of games. Tallies are stored as JSON and plain int64 arrays: nothing read is executed.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from sim.batch import Block, Failure, Ledger, Played, Tallies, join_blocks
from sim.errors import InputError
from sim.tally import CellTally, PairTally

FILE = "blocks.sqlite"
FOLD_BLOCKS = 16  # so many blocks are stored apart before they are put together
WAIT_SECONDS = 60.0  # for a reader to let go of the file
TABLES = (
    "CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE blocks (first INTEGER NOT NULL, last INTEGER NOT NULL, cells TEXT NOT NULL)",
    "CREATE TABLE tallies (packed BLOB NOT NULL)",
)


class StoredLedger(Ledger):
    """A ledger whose every block is on disk before `add` returns. Raises InputError if the file cannot be written."""

    def __init__(self, path: Path, nothing: Tallies, about: dict[str, Any]) -> None:
        super().__init__(nothing)
        self.path = path
        with _explain(path):
            self.connection = _connect(path)
            if not _has_tables(self.connection):
                with self.connection:
                    self.connection.execute("BEGIN")
                    for statement in TABLES:
                        self.connection.execute(statement)
                    self.connection.executemany("INSERT INTO run VALUES (?, ?)", [(key, json.dumps(value)) for key, value in about.items()])
            for stored in _read_tallies(self.connection):
                self.tallies.add(stored)
            self.blocks = _read_blocks(self.connection)
            self.apart = int(self.connection.execute("SELECT count(*) FROM tallies").fetchone()[0])

    def add(self, played: Played) -> None:
        """Take in a played block, and store it."""
        super().add(played)
        with _explain(self.path), self.connection:
            if self.apart < FOLD_BLOCKS:
                self.apart += 1
                self.connection.execute("INSERT INTO blocks VALUES (?, ?, ?)", _row(played.block))
                self.connection.execute("INSERT INTO tallies VALUES (?)", (pack(played.tallies),))
            else:
                self.apart = 1
                self.connection.execute("DELETE FROM blocks")
                self.connection.execute("DELETE FROM tallies")
                self.connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", map(_row, self.blocks))
                self.connection.execute("INSERT INTO tallies VALUES (?)", (pack(self.tallies),))

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


def read_stored(path: Path) -> tuple[dict[str, Any], Tallies | None]:
    """What is stored about an unfinished run, and the tallies of its blocks (None: no block is done). Raises InputError."""
    about = read_about(path)
    total: Tallies | None = None
    with _explain(path), closing(_connect(path, "rw")) as connection:
        for stored in _read_tallies(connection) if _has_tables(connection) else ():
            if total is None:
                total = stored
            else:
                total.add(stored)
    return about, total


def read_about(path: Path) -> dict[str, Any]:
    """What is stored about an unfinished run; nothing if it was killed before its first block. Raises InputError."""
    with _explain(path), closing(_connect(path, "rw")) as connection:
        return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM run")} if _has_tables(connection) else {}


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT name FROM sqlite_master").fetchall())


def _connect(path: Path, mode: str = "rwc") -> sqlite3.Connection:
    """`rw` reads too: after a kill in the middle of a transaction the first to open the file rolls it back."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=WAIT_SECONDS)


@contextmanager
def _explain(path: Path) -> Iterator[None]:
    """What the file system or SQLite refuses becomes one line."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        full = "the disk is full" if "full" in str(error) else str(error)
        raise InputError(f"{path}: {full}; blocks stored before are good, and the same command goes on from them") from None
    except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError, zlib.error):
        raise InputError(f"{path}: damaged; `--fresh` starts over") from None


def _row(block: Block) -> tuple[int, int, str]:
    return block.first, block.last, json.dumps(sorted(block.cells))


def _read_blocks(connection: sqlite3.Connection) -> list[Block]:
    return join_blocks([Block(first, last, frozenset(json.loads(cells))) for first, last, cells in connection.execute("SELECT first, last, cells FROM blocks")])


def _read_tallies(connection: sqlite3.Connection) -> Iterator[Tallies]:
    for (packed,) in connection.execute("SELECT packed FROM tallies ORDER BY rowid"):
        yield unpack(packed)


def pack(tallies: Tallies) -> bytes:
    """Tallies as bytes: a line of JSON for numbers of any size, then all int64 arrays, compressed."""
    arrays = [array for cell in tallies.cells for array in (*cell.bins, *cell.groups)] + [pair.endings for pair in tallies.pairs]
    head = {
        "games": tallies.games,
        "failed": [(cell, failure.game, failure.fault) for cell, failure in sorted(tallies.failed.items())],
        "cells": [[c.counts, c.totals, c.squares, c.highlights, c.off_ideal, len(c.bins), len(c.groups)] for c in tallies.cells],
        "pairs": [[pair.sums, pair.off_ideal] for pair in tallies.pairs],
        "shapes": [array.shape for array in arrays],
    }
    body = b"".join(array.astype("<i8").tobytes() for array in arrays)
    return zlib.compress(json.dumps(head).encode() + b"\n" + body, level=1)


def unpack(packed: bytes) -> Tallies:
    """The tallies that `pack` packed."""
    text, _, body = zlib.decompress(packed).partition(b"\n")
    head = json.loads(text)
    numbers = np.frombuffer(body, dtype="<i8").astype(np.int64)
    ends = np.cumsum([int(np.prod(shape)) for shape in head["shapes"]])
    arrays = iter([part.reshape(shape).copy() for part, shape in zip(np.split(numbers, ends[:-1]), head["shapes"], strict=True)] if len(ends) else [])
    cells = []
    for counts, totals, squares, highlights, off_ideal, bins, groups in head["cells"]:
        found = [None if one is None else (tuple(one[0]), one[1]) for one in highlights]
        binned, grouped = ([next(arrays) for _ in range(number)] for number in (bins, groups))
        cells.append(CellTally(counts, totals, squares, binned, found, grouped, off_ideal))
    pairs = [PairTally(sums, off_ideal, next(arrays)) for sums, off_ideal in head["pairs"]]
    failed = {cell: Failure(game, fault) for cell, game, fault in head["failed"]}
    return Tallies(head["games"], cells, pairs, failed)


def remove(path: Path) -> None:
    """Delete a store that is no longer needed."""
    for suffix in ("", "-journal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
