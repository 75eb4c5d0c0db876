"""A stored run that somebody edited, cut short or made up: one line, nothing executed, nothing believed unchecked."""

from __future__ import annotations

import copy
import json
import pickle
import random
import shutil
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.answers import answer, tell_comparison
from reports.report import build_context, build_report
from reports.results import Results
from reports.run import FORMAT, Run, RunError, read_folder
from reports.stored import check_stored
from tests.test_cli import housecarlo
from tests.test_reports import play, store

QUANTITY = {"name": "draw_rate", "metric": "draw_rate", "seat": None, "delta": False}
EXTREMES: list[Any] = [
    None, True, 0, 1, -1, 2, 3, 64, 65, 10**15, 2**63, 10**400, 1.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"),
    "", "x", "=1", "\ud800", "\u202e", "win_rate", "../../x", [], [0], ["x"], [[]], [None], {}, {"x": 1}, {"name": "x"}, {"name": "x", "p": "y"},
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run with everything in it: a sweep, pairs, targets, precision, a figure known exactly, the use of actions."""
    cells = [({"rules.die": d, "rules.mode": m}, play(60, draws=d / 10)) for d in (6, 5) for m in ("calm", "wild")]
    asked: dict[str, Any] = {
        "targets": [
            {"quantity": QUANTITY, "at_least": 0.1, "at_most": None},
            {"quantity": QUANTITY | {"metric": "seat_gap"}, "at_least": None, "at_most": 0.5},
        ],
        "precision": [{"quantity": QUANTITY, "half_width": 0.001}],
        "exact": [{"policies": ["plain", "plain"], "rules": {"die": 6, "mode": "calm", "lid": True}, "values": {"win_rate[0]": [0.45, 0.001]}}],
        "actions": ["go", "", "stay"],
        "without_games": 5,
        "tells_out": True,
        "usage_games": 60,
        "ideal_minutes": 5.0,
    }
    made = store(tmp_path_factory.mktemp("stored") / "run", cells, **asked)
    _, arrays = read_folder(made)
    use = np.arange(5 * 2 * 3).reshape(5, 2, 3) % 4
    np.savez_compressed(made / "tallies.npz", **arrays, **{name: array for n in range(4) for name, array in sample(n, np.sort(use, axis=1)[:, ::-1]).items()})
    return made


def sample(cell: int, use: Any) -> dict[str, Any]:
    """What was watched of a cell's decisions: legal and chosen, games without an action, games with a seat out of the race."""
    return {f"cell{cell}_usage": use, f"cell{cell}_effects": np.array([[5, 2], [0, 0], [5, 0]]), f"cell{cell}_race": np.array([60, 20, 10, 3])}


def use_up(manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Everything a report does with a run, short of drawing."""
    run = Run((manifest, arrays))
    build_context(Results(run), [])
    answer(run)
    tell_comparison(run)


def refuse(manifest: dict[str, Any], arrays: dict[str, Any]) -> str:
    """What is wrong with a run; empty if nothing is."""
    try:
        check_stored(manifest, arrays)
    except ValueError as error:
        return str(error)
    return ""


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    found: list[tuple[Any, Any]] = []
    for key, inner in list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []:
        found += [(value, key), *places_in(inner)]
    return found


def spoil_manifest(manifest: dict[str, Any], luck: random.Random) -> None:
    for _ in range(luck.choice((1, 1, 2))):
        places = places_in(manifest)
        top = [place for place in places if place[0] is manifest]
        container, key = luck.choice(luck.choice((places, top)) or places)
        _, other = donor = luck.choice(places)
        match luck.randrange(5):
            case 0:
                del container[key]
            case 1:
                container[key] = copy.deepcopy(donor[0][other])
            case 2 if isinstance(container[key], list) and container[key]:
                container[key].append(copy.deepcopy(luck.choice(container[key])))
            case _:
                container[key] = copy.deepcopy(luck.choice(EXTREMES))


def spoil_arrays(arrays: dict[str, Any], luck: random.Random) -> None:
    name = luck.choice(list(arrays))
    array = np.array(arrays[name])
    match luck.randrange(8):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = array[:-1]
        case 2:
            arrays[name] = array.reshape(-1)
        case 3:
            arrays[name] = array.astype(luck.choice(["U30", "f8", "S30"]))
        case 4:
            arrays[name] = arrays[luck.choice(list(arrays))]
        case 5:
            arrays[name] = np.zeros_like(array)
        case _ if array.size:
            value = luck.choice(["-1", "0", "1", "9" * 30, "9" * 50, "x", "1.5"] if array.dtype.kind == "U" else [-1, 0, 1, 7, 10**12, 2**62])
            wide = array.astype("U60") if array.dtype.kind == "U" else array
            wide.reshape(-1)[luck.randrange(array.size)] = value
            arrays[name] = wide


def test_no_tampering_gets_beyond_one_line(folder: Path) -> None:
    manifest, arrays = read_folder(folder)
    use_up(manifest, arrays)
    luck = random.Random(1)
    counts: Counter[str] = Counter()
    for number in range(1000):
        spoiled, changed = copy.deepcopy(manifest), dict(arrays)
        if number % 3:
            spoil_manifest(spoiled, luck)
        else:
            spoil_arrays(changed, luck)
        told = refuse(spoiled, changed)
        assert "\n" not in told
        counts["refused" if told else "accepted"] += 1
        if told:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            use_up(spoiled, changed)
    assert counts["refused"] > 500
    assert counts["accepted"] > 50


class Trap:
    """Unpickled, it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self.path, "executed"))


def test_a_damaged_folder_is_one_line_and_exit_code_2(folder: Path, tmp_path: Path) -> None:
    manifest, arrays = (folder / "manifest.json").read_bytes(), (folder / "tallies.npz").read_bytes()
    executed = tmp_path / "executed"
    bomb = tmp_path / "bomb.npz"
    header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,), }" + b" " * 47 + b"\n"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("cell0_sums.npy", header)
    wide = tmp_path / "wide.npz"
    with zipfile.ZipFile(wide, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("cell0_sums.npy", header)
        packed.filelist[0].file_size = 2**40
    objects = tmp_path / "objects.npz"
    np.savez(objects, cell0_sums=np.array([[Trap(executed)]], dtype=object))
    bare = tmp_path / "bare.npy"
    np.save(bare, np.zeros(3))
    spoiled: dict[str, tuple[bytes | None, bytes | None]] = {
        "no arrays": (None, b""),
        "half the arrays": (None, arrays[: len(arrays) // 2]),
        "a pickle": (None, pickle.dumps(Trap(executed))),
        "pickled objects": (None, objects.read_bytes()),
        "no zip": (None, bare.read_bytes()),
        "a huge shape": (None, bomb.read_bytes()),
        "a huge size": (None, wide.read_bytes()),
        "half the manifest": (manifest[: len(manifest) // 2], None),
        "no JSON": (b"\xff\xfe", None),
        "a list": (b"[]", None),
        "deep": (b"[" * 200_000, None),
        "a long number": (b'{"format": ' + b"9" * 10_000 + b"}", None),
        "another format": (b'{"format": 1}', None),
        "nothing else": (b'{"format": 4}', None),
    }
    for name, (new_manifest, new_arrays) in spoiled.items():
        here = tmp_path / name
        shutil.copytree(folder, here)
        if new_manifest is not None:
            (here / "manifest.json").write_bytes(new_manifest)
        if new_arrays is not None:
            (here / "tallies.npz").write_bytes(new_arrays)
        with pytest.raises(RunError) as caught:
            build_report(here)
        assert "\n" not in str(caught.value)
        assert str(here) in str(caught.value)
        assert {path.name for path in here.iterdir()} == {"manifest.json", "tallies.npz"}
    assert not executed.exists()
    done = housecarlo("report", str(tmp_path / "nothing else"), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"housecarlo: {tmp_path / 'nothing else'}: the stored run is damaged (manifest.json, ")


def test_bytes_changed_in_the_arrays_give_a_run_or_one_line(folder: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    arrays = (folder / "tallies.npz").read_bytes()
    luck, refused = random.Random(2), []
    for _ in range(300):
        changed = bytearray(arrays)
        for _ in range(luck.choice((1, 3, 20))):
            changed[luck.randrange(len(changed))] = luck.randrange(256)
        (here / "tallies.npz").write_bytes(changed)
        try:
            read_folder(here)
        except RunError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 300
    assert all("\n" not in told and str(here) in told for told in refused)


def test_a_link_in_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    (elsewhere / "mine.png").write_text("mine")
    shutil.copytree(folder, here)
    (here / "plots").symlink_to(elsewhere)
    (here / "report.md").symlink_to(elsewhere / "mine.png")
    manifest = json.loads((here / "manifest.json").read_text())
    assert manifest["format"] == FORMAT
    build_report(here)
    assert [path.name for path in elsewhere.iterdir()] == ["mine.png"]
    assert (elsewhere / "mine.png").read_text() == "mine"
