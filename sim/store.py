"""A run's folder: `blocks.sqlite` while it is unfinished; then `manifest.json` (what was played) and `tallies.npz` (what came out).

A folder holds one run, told by its identity: the experiment, its settings, and the digests of rules and policies. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from sim.batch import Tallies
from sim.blocks import FILE, StoredLedger, read_about, read_stored, remove
from sim.engine import load_game
from sim.errors import InputError
from sim.experiment import Cell, Experiment, short_name
from sim.jit import source_digest
from sim.knobs import describe
from sim.rows import remove_rows
from sim.tally import fields_of, figures_of, grouped_fields
from sim.usage import WITHOUT, Usage, split_sample

FORMAT = 4
LOCK = ".lock"
PACKAGES = ("housecarlo", "numba", "numpy", "pandas", "scipy", "matplotlib")
WRITTEN = ("manifest.json", "tallies.npz", "metrics.csv", "metrics.parquet", "cells.csv", "differences.csv", "report.md", "report.html", "plots", "games")
OURS = {LOCK, FILE, f"{FILE}-journal", *WRITTEN}
LEFTOVERS = (".manifest.json.*", ".tallies.npz.*", ".report.*", "games/cell=*/.games-*")  # of a run that was killed while it wrote


def identify(experiment: Experiment, policy_files: dict[str, str], kept_games: bool = False) -> dict[str, Any]:
    """What makes a run that run: of two with the same identity, every game is the same."""
    rules = [[cell.rules.as_values(len(cell.policies)), [asdict(choice) for choice in cell.policies]] for cell in experiment.cells]
    return {
        "experiment file": _digest(experiment.text.encode(errors="surrogatepass")),
        "setting given with --set": list(experiment.overrides),
        "number of games": experiment.games,
        "seed": experiment.seed,
        "rules and line-ups": _digest(json.dumps(rules, default=str).encode()),
        "version of the rules and policies": source_digest(),
        "policy file": {name: _digest(source.encode(errors="surrogateescape")) for name, source in sorted(policy_files.items())},
        "choice to keep games": kept_games,
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


class RunFolder:
    """One run's folder, ours alone while it is open. `finished`: is all of it played and written?"""

    def __init__(self, folder: Path, made: Sequence[Path], experiment: Experiment, identity: dict[str, Any], command: str) -> None:
        self.folder = folder
        self.made = made  # folders that were not there before, inner ones first
        self.blocks = folder / FILE
        self.about = {"identity": identity, "manifest": build_manifest(experiment, command) | {"identity": identity}}
        self.finished = (folder / "manifest.json").exists()

    @contextmanager
    def open_ledger(self, nothing: Tallies) -> Iterator[StoredLedger]:
        """What is played so far, to go on from. Raises InputError."""
        ledger = StoredLedger(self.blocks, nothing, self.about)
        try:
            yield ledger
        finally:
            ledger.close()

    def finish(self, tallies: Tallies, failures: dict[int, str], usage: Sequence[Usage] = ()) -> None:
        """Write the run, whole or not at all, then drop its blocks. Raises InputError."""
        write_stored(self.folder, fill_manifest(self.about["manifest"], tallies, failures), build_arrays(tallies, usage))
        remove(self.blocks)

    def discard(self) -> None:
        """Drop what is stored of the run, which cannot be finished."""
        remove(self.blocks)
        remove_rows(self.folder)
        with suppress(OSError):  # the folder may hold what is not ours
            (self.folder / LOCK).unlink()
            for folder in self.made:
                folder.rmdir()


@contextmanager
def open_run(folder: Path, experiment: Experiment, identity: dict[str, Any], command: str, fresh: bool = False) -> Iterator[RunFolder]:
    """The folder, to play a run or to go on with it; `fresh` drops another run that it holds.

    Raises InputError, before anything is played: if the folder cannot be written, holds other files or another run, or is being written.
    """
    _check_held(folder, identity, fresh)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(f"{folder}: another run is being played there; let it end, or name another folder with --out") from None
    except (OSError, NotImplementedError) as error:  # the latter of a file system that has no locks
        raise InputError(f"{folder}: cannot be written ({getattr(error, 'strerror', None) or error})") from None
    try:
        _check_held(folder, identity, fresh)  # again: another run may have ended there before the lock was ours
        with _refused(folder):
            _clean(folder, fresh)
        yield RunFolder(folder, made, experiment, identity, command)
    finally:
        with suppress(OSError):
            lock.release()


def find_run(folder: Path, fresh: bool = False) -> dict[str, Any] | None:
    """What is stored about the run of a folder, finished or not; None if it holds none, or one that is to be dropped whatever it is (`fresh`).

    Raises InputError if the folder holds something else.
    """
    try:
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if names <= OURS and (fresh or not names & {"manifest.json", FILE}):
            return None
        held = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return {"identity": held.get("identity", {}), "manifest": held} if isinstance(held["game"], str) else None
    except OSError:
        if (folder / FILE).exists():
            return read_about(folder / FILE) or None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(f"{folder}: holds files that are not a run's; name an empty folder with --out")


def _check_held(folder: Path, asked: dict[str, Any], fresh: bool) -> None:
    """Raise InputError if a folder's run is not the one asked for and is not to be dropped, naming the first thing that differs."""
    found = find_run(folder, fresh)
    held = asked if found is None or fresh else found["identity"]
    for name, value in asked.items():
        if held.get(name) != value:
            numbers = f" ({held[name]}, not {value})" if isinstance(value, int) and not isinstance(value, bool) and name in held else ""
            raise InputError(f"{folder}: holds a run with another {name}{numbers}; --fresh drops it and starts over, --out names another folder")


def _clean(folder: Path, fresh: bool) -> None:
    """Remove what a killed run left half written; with `fresh` all of a run."""
    if fresh or (folder / "manifest.json").exists():
        remove(folder / FILE)
    stale = [found for pattern in LEFTOVERS for found in folder.glob(pattern)]
    if fresh:
        stale += [folder / name for name in WRITTEN if (folder / name).exists()]
    for path in stale:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error})") from None


def read_unfinished(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Manifest and arrays of what is played so far of an unfinished run; None if the folder holds none. Raises InputError."""
    if (folder / "manifest.json").exists() or not (folder / FILE).exists():
        return None
    about, tallies = read_stored(folder / FILE)
    if tallies is None:
        raise InputError(f"{folder}: nothing is played yet of the run there")
    pairs = [(pair["cell"], pair["reference"]) for pair in about["manifest"]["pairs"]]
    tallies = tallies.without_failed(pairs)
    return fill_manifest(about["manifest"], tallies, finished=False), build_arrays(tallies)


def write_stored(folder: Path, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write both files of a finished run, each whole or not at all. Raises InputError if the folder cannot be written."""
    with _refused(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / "tallies.npz", lambda path: _write_arrays(path, arrays))
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        _replace(folder / "manifest.json", lambda path: path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace"))


def write_run(folder: Path, experiment: Experiment, tallies: Tallies, command: str, usage: Sequence[Usage] = ()) -> None:
    """Store a run played in memory. Raises InputError if the folder cannot be written."""
    write_stored(folder, fill_manifest(build_manifest(experiment, command), tallies), build_arrays(tallies, usage))


def fill_manifest(manifest: dict[str, Any], tallies: Tallies, failures: dict[int, str] | None = None, finished: bool = True) -> dict[str, Any]:
    """A manifest with what came out: games and failure of each cell, the games worth telling, and whether all is played."""
    highlights = load_game(manifest["game"]).HIGHLIGHTS
    said = dict.fromkeys(tallies.failed, "its policy failed") | (failures or {})
    cells, extra = (
        [cell | {"games": tallies.games[cell["cell"]], "failed": said.get(cell["cell"], "")} for cell in manifest[name]] for name in ("cells", "extra_cells")
    )
    told = [
        {"cell": number, "name": highlight.name, "meaning": highlight.meaning, "game": found[1], "values": _values(highlight.order, found[0])}
        for number, tally in enumerate(tallies.cells)
        for highlight, found in zip(highlights, tally.highlights, strict=True)
        if found is not None
    ]
    return manifest | {"finished": finished, "cells": cells, "extra_cells": extra, "highlights": told}


def build_manifest(experiment: Experiment, command: str) -> dict[str, Any]:
    """All that the reports need to know about a run, but for what came out (`fill_manifest`)."""
    module = experiment.module
    actions = {int(action): action.name.lower() for action in module.Action}
    seat_counts = sorted({len(cell.policies) for cell in experiment.cells})
    return {
        "format": FORMAT,
        "name": experiment.name,
        "title": experiment.title,
        "question": experiment.question,
        "command": command,
        "experiment_path": str(experiment.path),
        "experiment": experiment.text,
        "overrides": list(experiment.overrides),
        "game": experiment.game,
        "game_title": module.TITLE,
        "game_version": module.VERSION,
        "games": experiment.games,
        "seed": experiment.seed,
        "versions": _find_versions(),
        "source_digest": source_digest(),
        "ideal_minutes": experiment.ideal_minutes,
        "sweep_mode": experiment.sweep_mode,
        "sweep": {key: list(levels) for key, levels in experiment.sweep},
        "knobs": describe(module.Rules),
        "cells": [_describe_cell(experiment, cell) for cell in experiment.swept_cells],
        "extra_cells": [_describe_cell(experiment, cell) | {"purpose": cell.purpose} for cell in experiment.cells if cell.purpose],
        "precision": [asdict(asked) for asked in experiment.precision],
        "until_decided": experiment.until_decided,
        "targets": [asdict(target) for target in experiment.targets],
        "exact": [asdict(exact) | {"rules": module.Rules(**exact.rules).model_dump(mode="json")} for exact in module.EXACT],
        "pairs": [asdict(pair) | {"knob": short_name(pair.setting)} for pair in experiment.pairs],
        "columns": [asdict(column) for column in module.COLUMNS],
        "metrics": [asdict(metric) for metric in module.METRICS],
        "actions": [actions.get(n, "") for n in range(max(actions) + 1)],
        "seats_most": max(module.SEATS),
        "tells_out": hasattr(module, "is_out"),
        "usage_games": math.prod(split_sample(experiment.games)),
        "without_games": WITHOUT,
        "headlines": list(module.HEADLINES),
        "distributions": list(module.DISTRIBUTIONS),
        "assumptions": list(module.ASSUMPTIONS),
        "fields": {str(n): [{"column": f.column.name, "seat": f.seat} for f in fields_of(module, n)] for n in seat_counts},
        "figures": {
            str(n): [{"metric": f.metric.name, "seat": f.seat, "field": f.index, "equals": f.equals} for f in figures_of(module, n)] for n in seat_counts
        },
        "grouped": {str(n): grouped_fields(module, n) for n in seat_counts},
    }


@cache
def _find_versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _describe_cell(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    return {
        "cell": cell.number,
        "baseline": cell.baseline,
        "label": cell.label(),
        "swept": dict(cell.swept),
        "rules": cell.rules.model_dump(mode="json"),
        "symmetric": experiment.module.is_symmetric(cell.rules),
        "seats": len(cell.policies),
        "policies": [{"name": choice.name, "label": choice.label(), "parameters": dict(choice.parameters)} for choice in cell.policies],
    }


def _values(order: Sequence[tuple[str, int]], keys: Sequence[int]) -> dict[str, int]:
    return {column: sign * key for (column, sign), key in zip(order, keys, strict=True)}


def build_arrays(tallies: Tallies, usage: Sequence[Usage] = ()) -> dict[str, Any]:
    """The tallies as the reports read them."""
    arrays: dict[str, Any] = {}
    for n, cell in enumerate(tallies.cells):
        # Sums can pass 2⁶³, so they are stored as decimal text.
        arrays[f"cell{n}_sums"] = np.array([[str(x) for x in row] for row in zip(cell.counts, cell.totals, cell.squares, strict=True)])
        arrays[f"cell{n}_bins"] = np.concatenate(cell.bins)
        arrays[f"cell{n}_lengths"] = np.array([len(bins) for bins in cell.bins])
        arrays[f"cell{n}_off_ideal"] = np.array([str(x) for x in cell.off_ideal])
        for k, groups in enumerate(cell.groups):
            arrays[f"cell{n}_groups{k}"] = groups
    for n, sample in enumerate(usage):
        arrays |= {f"cell{n}_usage": sample.counts, f"cell{n}_effects": sample.effects, f"cell{n}_race": sample.race}
    for n, pair in enumerate(tallies.pairs):
        arrays[f"pair{n}_sums"] = np.array([[str(x) for x in row] for row in pair.sums])
        arrays[f"pair{n}_off_ideal"] = np.array([str(x) for x in pair.off_ideal])
        arrays[f"pair{n}_endings"] = pair.endings
    return arrays


def _write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _replace(path: Path, write: Any) -> None:
    """Write beside, then rename: a reader never sees half a file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
