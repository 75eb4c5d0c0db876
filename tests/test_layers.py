"""The layout's promise: imports run downward only, and the top level holds what it should."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"sim", "policies", "reports", "cli"}
MAY_IMPORT = {"sim": {"sim"}, "policies": {"sim", "policies"}, "reports": {"reports"}, "cli": OURS}
HEAVY = {"numba", "numpy", "pandas", "scipy", "matplotlib", "pydantic", "pyarrow", "jinja2", "joblib", "rich"}


def imports(path: Path, *, top_only: bool = False) -> set[str]:
    """Top-level packages a file imports."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_only else ast.walk(tree)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_downward_only(package: str) -> None:
    files = [ROOT / "cli.py"] if package == "cli" else sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        assert imports(path) & OURS <= MAY_IMPORT[package], path


def test_cli_starts_without_heavy_imports() -> None:
    assert not imports(ROOT / "cli.py", top_only=True) & (HEAVY | OURS)
    code = f"import sys, cli; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert set(ast.literal_eval(done.stdout)) <= {"rich"}


def test_numba_is_configured_in_one_place() -> None:
    for path in [*(ROOT / "sim").rglob("*.py"), *(ROOT / "policies").rglob("*.py")]:
        assert path.name == "jit.py" or "njit" not in path.read_text(), path
