"""The command line as a user meets it: a process of its own, its output, its exit code, what it leaves on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sim.games import GAMES, mint_tin

ROOT = Path(__file__).parent.parent
QUICK = str(ROOT / "configs" / "mint_tin" / "quick.toml")


def housecarlo(*arguments: str, cwd: Path, columns: int = 200) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns)}
    return subprocess.run([sys.executable, "-m", "cli", *arguments], capture_output=True, text=True, cwd=cwd, env=environment, check=False)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of quick.toml."""
    folder = tmp_path_factory.mktemp("run")
    done = housecarlo("run", QUICK, "--games", "1000", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 cells × 1,000 games" in done.stdout
    return folder / "out" / "quick"


def test_a_run_writes_every_file_it_promises(run_folder: Path) -> None:
    names = {path.name for path in run_folder.iterdir()} - {".lock"}
    assert names == {"metrics.csv", "metrics.parquet", "cells.csv", "differences.csv", "plots", "report.md", "report.html", "manifest.json", "tallies.npz"}
    plots = {path.name for path in (run_folder / "plots").iterdir()}
    assert {p.removesuffix(".png") for p in plots if p.endswith(".png")} == {p.removesuffix(".svg") for p in plots if p.endswith(".svg")}
    assert len(plots) >= 6


def test_metrics_are_tidy_and_hold_every_metric_promised(run_folder: Path) -> None:
    table = pd.read_csv(run_folder / "metrics.csv", dtype={"seat": "Int64"})
    assert list(table.columns) == ["cell", "rules.monster_die", "metric", "seat", "value", "low", "high", "games", "assumed"]
    promised = {"win_rate", "both_lose_rate", "unfinished_rate", "mean_points", "mean_rolls", "mean_minutes", "minutes_q10", "minutes_q50", "minutes_q90"}
    promised |= {f"points_share_{p}" for p in range(5)} | {"lead_changes", "leader_at_half_wins", "sacrifices"}
    assert promised <= set(table["metric"])
    known = table[table["value"].notna()]
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    assert set(table["metric"]) - set(known["metric"]) <= {
        f"{of}_{action.name.lower()}" for of in ("use", "effect") for action in mint_tin.Action
    }  # never legal under these rules
    wins = table[table["metric"].isin(["win_rate", "both_lose_rate", "unfinished_rate"])]
    assert (wins.groupby("cell")["value"].sum() - 1).abs().max() < 1e-8
    pd.testing.assert_frame_equal(pd.read_parquet(run_folder / "metrics.parquet"), table, check_dtype=False, rtol=1e-8)
    assert len(pd.read_csv(run_folder / "cells.csv")) == 3


def test_a_ladder_ranks_the_policies_and_says_what_is_skill(tmp_path: Path) -> None:
    done = housecarlo("ladder", "kitty-paw", "--policies", "plain", "--policies", "quick", "--policies", "greedy", "--games", "500", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("rating ")] == ["quick", "plain", "greedy"]
    assert any(line.startswith("seat 0  is worth ") for line in lines)
    assert any(line.startswith("skill   the better of two unlike policies wins ") for line in lines)
    for arguments, said in (
        (("scoundrel",), "scoundrel is played by one: a ladder needs a game for two seats"),
        (("mint-tin", "--policies", "racer"), "--policies: a ladder needs at least two; name each with a --policies of its own"),
        (("mint-tin", "--set", "games=5"), "--set games=5: allowed: rules.…, as key=value, for example rules.monster_die=4"),
    ):
        wrong = housecarlo("ladder", *arguments, cwd=tmp_path)
        assert (wrong.returncode, wrong.stderr) == (2, f"housecarlo: {said}\n")


def test_report_writes_the_same_files_again_without_playing(run_folder: Path) -> None:
    kept = {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()}
    (run_folder / "report.html").unlink()
    (run_folder / "metrics.csv").write_text("spoiled")
    done = housecarlo("report", str(run_folder), cwd=run_folder)
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()} == kept


def test_the_report_names_the_command_that_makes_it_again(run_folder: Path) -> None:
    manifest = json.loads((run_folder / "manifest.json").read_text())
    assert manifest["command"] == f"housecarlo run {QUICK} --games 1000"
    assert manifest["command"] in (run_folder / "report.md").read_text()
    assert manifest["seed"] == 20_261_130
    assert {"housecarlo", "numba", "python"} <= set(manifest["versions"])


def test_replay_tells_the_highlights_as_the_report_names_them(run_folder: Path) -> None:
    manifest = json.loads((run_folder / "manifest.json").read_text())
    assert {h["name"] for h in manifest["highlights"]} == {"longest", "shortest", "closest"}
    for highlight in manifest["highlights"][:3]:
        done = housecarlo("replay", QUICK, "--game", str(highlight["game"]), "--cell", str(highlight["cell"]), "--json", cwd=run_folder)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        outcome = lines[-1]["outcome"]
        for column, value in highlight["values"].items():
            assert outcome[column] == value
    text = housecarlo("replay", QUICK, "--game", "0", cwd=run_folder).stdout
    assert "rolls" in text
    assert "minutes." in text.splitlines()[-1]


def test_lists_are_also_json(tmp_path: Path) -> None:
    knobs = json.loads(housecarlo("rules", "mint-tin", "--json", cwd=tmp_path).stdout)
    assert {"knob", "type", "allowed", "default", "meaning", "clause", "unit"} <= set(knobs[0])
    assert len(knobs) == 23
    told = housecarlo("policies", "kitty-paw", cwd=tmp_path).stdout
    assert "The usual player of `compare`, with spread=5, their_tempo=2, bluffs=0." in told
    policies = json.loads(housecarlo("policies", "mint-tin", "--json", cwd=tmp_path).stdout)
    assert [row["policy"] for row in policies if row["usual"] is not None] == ["strategist"]
    assert [p["policy"] for p in policies] == ["random", "racer", "hero", "brawler", "strategist"]
    assert "mint-tin" in housecarlo("games", cwd=tmp_path).stdout
    assert housecarlo("--version", cwd=tmp_path).stdout.startswith("housecarlo ")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("what", ["rules", "policies"])
def test_lists_read_at_80_columns_and_say_all_that_json_says(what: str, game: str, tmp_path: Path) -> None:
    told = housecarlo(what, game, cwd=tmp_path, columns=80).stdout
    assert max(map(len, told.splitlines())) <= 80
    words = " ".join(told.split())
    for row in json.loads(housecarlo(what, game, "--json", cwd=tmp_path).stdout):
        assert f"{row.get('knob') or row['policy']} " in told
        for text in (row.get(key, "") for key in ("allowed", "meaning", "clause", "summary")):
            assert text in words
        for name, value in row.get("parameters", {}).items():
            assert f"{name}={value:g}" in words


TARGETS = str(ROOT / "configs" / "mint_tin" / "targets.toml")
QUICKLY = ("--games", "2000", "--set", 'policies=["racer"]', "--set", "targets.both_lose_rate={ at_most = 1 }")


@pytest.mark.parametrize(
    ("target", "code", "word"),
    [("{ at_most = 0.9 }", 0, "PASS"), ("{ at_least = 0.9 }", 1, "FAIL"), ("{ between = [0.0, 0.001] }", 3, "UNDECIDED")],
)
def test_check_prints_a_line_per_target_and_its_exit_code(target: str, code: int, word: str, tmp_path: Path) -> None:
    done = housecarlo("check", TARGETS, *QUICKLY, "--set", f"targets.seat_gap={target}", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if " seat_gap " in line and "wanted:" in line]
    assert line.startswith(word)
    assert "  mirror line-up: " in done.stdout
    assert not list(tmp_path.iterdir())


def test_compare_answers_on_the_terminal(tmp_path: Path) -> None:
    done = housecarlo("compare", "mint-tin", "--set", "rules.enter=lift", "--policies", "racer", "--games", "3000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if " mean_minutes† " in line]
    assert line.startswith("LOWER")
    assert "3,000 games" in line and "paired ×" in line
    itself = housecarlo("compare", "mint-tin", "--vs", "rules.monster_die=6", "--policies", "racer", "--games", "300", cwd=tmp_path)
    assert {line.split()[0] for line in itself.stdout.splitlines() if "→" in line} == {"EQUAL"}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "none.toml"),
        ("check", QUICK, "--set", "targets.both_lose_rat={ at_most = 1 }"),
        ("compare", "chess"),
        ("compare", "mint-tin", "--set", "rules.monster_dye=4"),
        ("compare", "mint-tin", "--vs", "games=4"),
        ("compare", "mint-tin", "--precision", "fun=4"),
        ("run", QUICK, "--set", "rules.monster_dye=4"),
        ("run", QUICK, "--set", "rules.monster_die=9"),
        ("run", QUICK, "--set", "nonsense"),
        ("run", QUICK, "--set", 'policies=["racr"]'),
        ("run", QUICK, "--games", "0"),
        ("run", QUICK, "--out", "/proc/none/out"),
        ("rules", "chess"),
        ("policies", "chess"),
        ("report", "nowhere"),
        ("replay", QUICK, "--game", "1", "--cell", "99"),
        ("replay", QUICK),
    ],
)
def test_a_users_mistake_has_exit_code_2_no_traceback_and_writes_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = housecarlo(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
    assert not list(tmp_path.iterdir())


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    done = housecarlo("run", QUICK, "--games", "10", "--out", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_offered(shell: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "_HOUSECARLO_COMPLETE": f"complete_{shell}", "COMP_WORDS": "housecarlo re", "COMP_CWORD": "1"}
    environment |= {"_TYPER_COMPLETE_ARGS": "housecarlo re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "import sys, cli; sys.argv = ['housecarlo']; cli.app(prog_name='housecarlo')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert "report" in done.stdout
    assert "replay" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    ["run x.toml --games 0", "run x.toml --lang fr", "replay x.toml", "frob", "run --bogus", "replay x.toml --game 99999999999999999999", "compare mint-tin"],
)
def test_a_mistake_in_the_options_is_one_line_and_exit_code_2(arguments: str, tmp_path: Path) -> None:
    done = housecarlo(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("housecarlo: ") and done.stderr.count("\n") == 1
