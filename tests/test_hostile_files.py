"""Experiment files nobody would write on purpose, names made to break out, and a slice of the mutants that bench/fuzz_configs.py makes."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.fuzz_configs import fuzz
from reports.report import build_report
from reports.tables import guard_cell
from sim.errors import InputError
from sim.experiment import parse_experiment, read_experiment
from tests.test_cli import housecarlo
from tests.test_reports import play, store, watch_in_chromium

CONFIGS = Path(__file__).parent.parent / "configs"
GOOD = 'game = "mint-tin"\npolicies = ["racer"]\ngames = 5\n'


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_experiment(path, **options)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 2100
    return message


# ---------------------------------------------------------------- files


def test_what_is_no_text_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe, large, locked = tmp_path / "pipe", tmp_path / "large.toml", tmp_path / "locked.toml"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(100_000_000)
    locked.symlink_to(locked)
    said = {
        tmp_path: "it is a folder",
        pipe: "not a regular file",
        Path("/dev/zero"): "not a regular file",
        large: "100,000,000 bytes; at most",
        locked: "cannot be read",
    }
    for path, words in said.items():
        assert words in refusal(path)
        cards = tmp_path / "kitty.toml"
        cards.write_text(f'game = "kitty-paw"\npolicies = ["plain"]\n[rules]\ncard_file = "{path}"\n')
        assert words in refusal(cards)
    for name in ("a\0b", "a" * 5000, "\udcff"):
        refusal(tmp_path / name)


def test_byte_order_marks_and_any_ends_of_lines_are_read(tmp_path: Path) -> None:
    plain = read_experiment(write(tmp_path / "plain.toml", GOOD.encode()))
    for name, text in (("bom", b"\xef\xbb\xbf" + GOOD.encode()), ("crlf", GOOD.replace("\n", "\r\n").encode())):
        assert read_experiment(write(tmp_path / f"{name}.toml", text)).cells == plain.cells
    cards = (CONFIGS / "kitty_paw" / "cards.csv").read_bytes()
    write(tmp_path / "cards.csv", b"\xef\xbb\xbf" + cards.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    read_experiment(write(tmp_path / "kitty.toml", b'game = "kitty-paw"\npolicies = ["plain"]\n[rules]\ncard_file = "cards.csv"\n'))


@pytest.mark.parametrize(
    "cards", [b"\0", b"level,set,kittens,boxes,count\n" + b"9" * 200_000, b"level,set,kittens,boxes,count\n1,,5,0," + b"9" * 5000, b'"' * 131_073, b"\xff"]
)
def test_a_broken_card_file_is_one_line(cards: bytes, tmp_path: Path) -> None:
    write(tmp_path / "cards.csv", cards)
    assert "card_file" in refusal(write(tmp_path / "kitty.toml", b'game = "kitty-paw"\npolicies = ["plain"]\n[rules]\ncard_file = "cards.csv"\n'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("games = 5\ngames = 6", "not valid TOML"),
        ('[sweep]\nrules.mode = ["omg"]\n"rules.mode" = ["uh-oh"]', "sweep.rules.mode: stands there twice"),
        ("games = " + "9" * 5000, "not valid TOML"),
        ("title = " + "[" * 5000, "nested too deeply"),
        ("[rules]\nmonster_die = " + "9" * 400, "rules.monster_die"),
        ("seed = 2024-01-01", "seed"),
        ('[sweep]\n"rules.monster_die" = [' + "1," * 50_000 + "]", "stands there twice"),
        ("[sweep]\n\"policies[99999999999999999999]\" = ['racer']", "unknown setting"),
        ("policies = [{ name = 'racer', caution = nan }]", "not valid TOML"),
        ("ideal_minutes = 1e-300", "ideal_minutes"),
        ("max_decisions = 0", "max_decisions = 0"),
        ("[targets]\nboth_lose_rate = { at_most = " + "9" * 400 + " }", "a bound must be a number"),
        ("[rules]\n'\\n' = 1", "unknown key"),
        ("title = '''" + "x" * 3_000_000 + "'''", "at most"),
    ],
)
def test_what_toml_allows_and_nobody_means_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    assert words in refusal(write(tmp_path / "e.toml", (GOOD + text).encode()))


@pytest.mark.parametrize(
    "override",
    ["title=\udcff", "rules.monster_die=" + "[" * 5000, "rules.monster_die=" + "9" * 5000, "=", "rules.=1", "sweep.mode=\n", "games=1e400", "seed=nan"],
)
def test_settings_on_the_command_line_are_as_safe(override: str, tmp_path: Path) -> None:
    refusal(write(tmp_path / "e.toml", GOOD.encode()), overrides=[override])


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


# ---------------------------------------------------------------- names

NAMES = ["..", "...", "con", "NUL.x", "a\nb", "a b", "=1+1", "\u202exmt", "$x$", "<b>", "ü", "a" * 250, "-", "'", "`id`", "\x07"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_by_any_name_is_run_into_one_plain_folder_below(name: str, tmp_path: Path) -> None:
    folder = read_experiment(write(tmp_path / f"{name}.toml", GOOD.encode())).name
    assert re.fullmatch(r"[\w-][\w.-]*", folder)
    assert folder.lower() not in ("con", "nul", "nul.x")
    assert (tmp_path / "out" / folder).resolve().parent == tmp_path / "out"


def test_a_run_of_hostile_names_stays_in_its_folder(tmp_path: Path) -> None:
    name = "..\n$(id) <b>\udcff.toml"
    text = GOOD + "title = '../../../x'\nquestion = '''=cmd|' /C calc'!A0\n<script>'''\n"
    write(tmp_path / name, text.encode())
    before = set(tmp_path.iterdir())
    done = housecarlo("run", name, "--no-plots", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (out,) = set(tmp_path.iterdir()) - before
    assert out.name == "out"
    (run,) = out.iterdir()
    assert {path.name for path in run.iterdir()} - {".lock"} == {
        "metrics.csv",
        "metrics.parquet",
        "cells.csv",
        "differences.csv",
        "manifest.json",
        "tallies.npz",
    }
    again = housecarlo("report", str(run), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "..\\n$(id) &lt;b&gt;\\udcff.toml" in (run / "report.html").read_text(encoding="utf-8")


def test_a_parameter_swept_one_at_a_time_begins_at_its_default(tmp_path: Path) -> None:
    sweep = '[sweep]\nmode = "one-at-a-time"\n"policies[0].caution" = [1, 3]\n'
    shutil.copyfile(CONFIGS / "mint_tin" / "my_policy.py", tmp_path / "my_policy.py")
    write(tmp_path / "e.toml", (GOOD.replace('"racer"', '"my_policy.py:cautious", "racer"') + sweep).encode())
    done = housecarlo("run", "e.toml", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert list(pd.read_csv(tmp_path / "out" / "e" / "cells.csv")["policies[0].caution"])[:3] == ["default", "1", "3"]


BREAKING = [
    "<script>document.title='hacked'</script>",
    "</code></pre><img src=x onerror=alert(1)>",
    "a & b \"c\" 'd' ]]> -->",
    "`$x_1^2$` **a** _b_ | c",
    "$\\frac{1}{2}$ $",
    "=HYPERLINK(A1)",
    "@SUM(1)",
    "+1",
    "-1 ",
    "\t=1",
    "\r=1",
    "bidi \u202e txt \u2066",
    "bell \x07 nul \x00 esc \x1b[31m",
    "lines\none\u2028two",
    "lone \ud800",
    "long " * 60,
    "_hidden",
]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run whose every text of a user's is made to break something."""
    folder = tmp_path_factory.mktemp("breaking")
    cells: list[Any] = [({"rules.mode": text, "rules.die": n % 2}, play(200, draws=0.1 + n / 40)) for n, text in enumerate(BREAKING)]
    texts = {key: " ".join(BREAKING) for key in ("title", "question", "experiment", "command", "experiment_path", "name")}
    policies = [{"name": text, "label": text, "parameters": {}} for text in BREAKING[:2]]
    store(folder, cells, **texts)
    manifest = json.loads((folder / "manifest.json").read_text())
    for cell in manifest["cells"]:
        cell["policies"] = policies
        cell["failed"] = BREAKING[cell["cell"]]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    build_report(folder)
    return folder


def test_a_page_shows_every_text_as_typed_and_runs_none_of_it(broken: Path, tmp_path: Path) -> None:
    counts = ["img[src=x], b", "#cells tbody tr"]
    found = ", ".join(f"shown.querySelectorAll('{what}').length" for what in counts)
    measure = f"[shown.title.startsWith('<script>'), shown.scripts.length, {found}]"
    assert json.loads(watch_in_chromium(broken / "report.html", tmp_path, measure)) == [True, 1, 0, len(BREAKING)]
    page = (broken / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    assert r"bell \x07 nul \x00 esc \x1b[31m" in page
    assert "[hidden" not in page


def test_plots_are_well_formed_and_write_dollars_as_typed(broken: Path) -> None:
    plots = sorted((broken / "plots").glob("*.svg"))
    assert plots
    for plot in plots:
        ElementTree.parse(plot)
    assert r"$\frac{1}{2}$" in "".join(plot.read_text(encoding="utf-8") for plot in plots)


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay(broken: Path) -> None:
    for name in ("metrics.csv", "cells.csv", "differences.csv"):
        table = pd.read_csv(broken / name)
        texts = [value for column in table.columns for value in [column, *table[column]] if isinstance(value, str)]
        assert texts
        assert not [text for text in texts if text[:1] in "=+-@\t\r"]
    assert pd.api.types.is_float_dtype(pd.read_csv(broken / "differences.csv")["value"])
    assert (pd.read_csv(broken / "differences.csv")["value"] < 0).any()
    assert "'=HYPERLINK(A1)" in set(pd.read_csv(broken / "cells.csv")["rules.mode"])
    assert [guard_cell(value) for value in (-1, -1.5, "-1", "＝1", "1-1", "", None)] == [-1, -1.5, "'-1", "'＝1", "1-1", "", None]


# ---------------------------------------------------------------- fuzz

TEXTS = st.sampled_from(
    ["mint-tin", "scoundrel", "kitty-paw", "racer", "first", "plain", "grid", "one-at-a-time", "omg", "", "=1", "a.py:b", "\0", "\ud800"]
) | st.text(max_size=5)
SCALARS = st.none() | st.booleans() | st.integers(-5, 12) | st.sampled_from([2**63, -(2**70), 10**400]) | st.floats() | TEXTS | st.dates() | st.times()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8)
KNOBS = st.sampled_from(["monster_die", "manhole", "mode", "points", "speed", "card_file", "health", "rolls_per_second", "nothing"])
FIGURES = st.sampled_from(["both_lose_rate", "win_rate", "win_rate[0]", "win_rate[7]", "seat_gap", "delta.mean_rolls", "delta", "mean_minutes", "x y"])
SWEPT = st.builds(lambda knob: f"rules.{knob}", KNOBS) | st.sampled_from(
    ["policies", "policies[0]", "policies[1].caution", "policies[9]", "seats", "mode", "rules", "x"]
)
POLICIES = st.lists(TEXTS | st.fixed_dictionaries({"name": TEXTS}, optional={"caution": SCALARS}), max_size=3)
BANDS = st.dictionaries(st.sampled_from(["between", "at_least", "at_most", "x"]), SCALARS | st.lists(SCALARS, max_size=3), max_size=2)


def near(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What is nearly right, and sometimes anything."""
    return strategy | strategy | strategy | VALUES


RULES = st.dictionaries(KNOBS, VALUES, max_size=2)
TABLES = st.fixed_dictionaries(
    {"game": near(st.sampled_from(["mint-tin", "scoundrel", "kitty-paw"])), "policies": near(POLICIES)},
    optional={
        "games": near(st.integers(1, 10)),
        "seed": near(st.integers(0, 10)),
        "seats": near(st.integers(1, 4)),
        "title": near(TEXTS),
        "rules": near(RULES),
        "sweep": near(st.dictionaries(SWEPT, VALUES | st.lists(VALUES, min_size=1, max_size=3), max_size=3)),
        "baseline": near(st.fixed_dictionaries({}, optional={"rules": near(RULES), "policies": near(POLICIES)})),
        "stop": near(st.fixed_dictionaries({"precision": near(st.dictionaries(FIGURES, SCALARS, max_size=2))}, optional={"max_games": SCALARS})),
        "targets": near(st.dictionaries(FIGURES, near(BANDS), max_size=2)),
        "robust": near(st.fixed_dictionaries({"line_ups": near(st.lists(near(POLICIES), max_size=3))})),
        "ideal_minutes": SCALARS,
        "max_decisions": SCALARS,
        "unknown": VALUES,
    },
)


@settings(max_examples=700, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=TABLES, overrides=st.lists(st.builds(lambda key, value: f"{key}={value}", SWEPT | FIGURES | TEXTS, TEXTS), max_size=2))
def test_any_table_is_an_experiment_or_one_line(table: dict[str, Any], overrides: list[str]) -> None:
    with contextlib.suppress(InputError):
        parse_experiment(copy.deepcopy(table), Path("my.toml"), overrides=overrides)
        return
    with pytest.raises(InputError, match=r"^my\.toml") as caught:
        parse_experiment(table, Path("my.toml"), overrides=overrides)
    assert str(caught.value).isprintable()


@pytest.mark.slow
def test_mutants_of_the_ready_experiments_run_or_give_one_line(tmp_path: Path) -> None:
    counts, wrong = fuzz(1200, 7, 3, tmp_path)
    assert not wrong, "\n".join(wrong[:10])
    assert counts["refused"] > 250
    assert counts["accepted"] > 100
