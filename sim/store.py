"""A finished run on disk: `manifest.json` (what was played) and `tallies.npz` (what came out). Nothing in them is executed."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from sim.batch import LineUp, Tallies
from sim.errors import InputError
from sim.experiment import Cell, Experiment, short_name
from sim.jit import source_digest
from sim.knobs import describe
from sim.tally import fields_of, figures_of, grouped_fields
from sim.usage import split_sample

FORMAT = 2
Usage = Sequence[np.ndarray[Any, np.dtype[np.int64]]]
PACKAGES = ("housecarlo", "numba", "numpy", "pandas", "scipy", "matplotlib")


def check_folder(folder: Path, game: str) -> None:
    """Refuse, before anything is played, a folder that cannot be written or that holds something else, such as another game's run."""
    nearest = next(parent for parent in [folder, *folder.resolve().parents] if parent.exists())
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({nearest}: {error.strerror or error})") from None
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        held = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["game"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder}: holds files that are not a run's; name an empty folder with --out") from None
    if held != game:
        raise InputError(f"{folder}: holds a run of {held}; name another folder with --out")


def write_run(folder: Path, experiment: Experiment, line_ups: Sequence[LineUp], tallies: Tallies, command: str, play_seconds: float, usage: Usage = ()) -> None:
    """Write both files, each whole or not at all. Raises InputError if the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / "tallies.npz", lambda path: _write_arrays(path, build_arrays(tallies, usage)))
        manifest = json.dumps(build_manifest(experiment, line_ups, tallies, command, play_seconds), indent=1, ensure_ascii=False)
        _replace(folder / "manifest.json", lambda path: path.write_text(manifest + "\n", encoding="utf-8", errors="backslashreplace"))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error})") from None


def build_manifest(experiment: Experiment, line_ups: Sequence[LineUp], tallies: Tallies, command: str, play_seconds: float) -> dict[str, Any]:
    """All that the reports need to know about a run besides its tallies."""
    module = experiment.module
    actions = {int(action): action.name.lower() for action in module.Action}
    seat_counts = sorted({len(policies) for policies, _ in line_ups})
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
        "play_seconds": round(play_seconds, 3),
        "versions": _find_versions(),
        "source_digest": source_digest(),
        "ideal_minutes": experiment.ideal_minutes,
        "sweep_mode": experiment.sweep_mode,
        "sweep": {key: list(levels) for key, levels in experiment.sweep},
        "knobs": describe(module.Rules),
        "cells": [_describe_cell(experiment, cell, tallies.games[cell.number]) for cell in experiment.swept_cells],
        "extra_cells": [_describe_cell(experiment, cell, tallies.games[cell.number]) | {"purpose": cell.purpose} for cell in experiment.cells if cell.purpose],
        "baseline": experiment.baseline,
        "precision": [asdict(asked) for asked in experiment.precision],
        "targets": [asdict(target) for target in experiment.targets],
        "exact": [asdict(exact) | {"rules": module.Rules(**exact.rules).model_dump(mode="json")} for exact in module.EXACT],
        "pairs": [asdict(pair) | {"knob": short_name(pair.setting)} for pair in experiment.pairs],
        "columns": [asdict(column) for column in module.COLUMNS],
        "metrics": [asdict(metric) for metric in module.METRICS],
        "actions": [actions.get(n, "") for n in range(max(actions) + 1)],
        "usage_games": math.prod(split_sample(experiment.games)),
        "headlines": list(module.HEADLINES),
        "distributions": list(module.DISTRIBUTIONS),
        "assumptions": list(module.ASSUMPTIONS),
        "fields": {str(n): [{"column": f.column.name, "seat": f.seat} for f in fields_of(module, n)] for n in seat_counts},
        "figures": {
            str(n): [{"metric": f.metric.name, "seat": f.seat, "field": f.index, "equals": f.equals} for f in figures_of(module, n)] for n in seat_counts
        },
        "grouped": {str(n): grouped_fields(module, n) for n in seat_counts},
        "highlights": [
            {"cell": number, "name": highlight.name, "meaning": highlight.meaning, "game": found[1], "values": _values(highlight.order, found[0])}
            for number, tally in enumerate(tallies.cells)
            for highlight, found in zip(module.HIGHLIGHTS, tally.highlights, strict=True)
            if found is not None
        ],
    }


@cache
def _find_versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _describe_cell(experiment: Experiment, cell: Cell, games: int) -> dict[str, Any]:
    return {
        "cell": cell.number,
        "label": cell.label(),
        "swept": dict(cell.swept),
        "rules": cell.rules.model_dump(mode="json"),
        "symmetric": experiment.module.is_symmetric(cell.rules),
        "seats": len(cell.policies),
        "policies": [{"name": choice.name, "label": choice.label(), "parameters": dict(choice.parameters)} for choice in cell.policies],
        "games": games,
    }


def _values(order: Sequence[tuple[str, int]], keys: Sequence[int]) -> dict[str, int]:
    return {column: sign * key for (column, sign), key in zip(order, keys, strict=True)}


def build_arrays(tallies: Tallies, usage: Usage = ()) -> dict[str, Any]:
    """The tallies as the reports read them."""
    arrays: dict[str, Any] = {}
    for n, cell in enumerate(tallies.cells):
        # Sums can pass 2⁶³, so they are stored as decimal text.
        arrays[f"cell{n}_sums"] = np.array([[str(x) for x in row] for row in zip(cell.counts, cell.totals, cell.squares, strict=True)])
        arrays[f"cell{n}_bins"] = np.concatenate(cell.bins)
        arrays[f"cell{n}_lengths"] = np.array([len(bins) for bins in cell.bins])
        for k, groups in enumerate(cell.groups):
            arrays[f"cell{n}_groups{k}"] = groups
    for n, counts in enumerate(usage):
        arrays[f"cell{n}_usage"] = counts
    for n, pair in enumerate(tallies.pairs):
        arrays[f"pair{n}_sums"] = np.array([[str(x) for x in row] for row in pair.sums])
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
