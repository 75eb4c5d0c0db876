"""Finding policies: the shipped ones by name, a user's own as `path/to/file.py:name`."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import inspect
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import types

from sim.engine import PARAMETERS_MOST, policy_signature
from sim.errors import InputError, one_line, suggest
from sim.experiment import Experiment, PolicyChoice
from sim.jit import PURE, ROOT, bind, guarded, jit

LEADING = ("view", "legal", "rules", "stream")

chosen: Any = None  # filled in by `bind`
COUNT = 0


@dataclass(frozen=True)
class Policy:
    """A loaded policy: its compiled function, its parameters with their defaults, and where it is written (file and line)."""

    name: str
    call: Any
    defaults: tuple[tuple[str, float], ...]
    summary: str
    place: str

    def values(self, given: Sequence[tuple[str, float]]) -> tuple[float, ...]:
        """Parameter values in order, `given` ones in place of the defaults."""
        return tuple({**dict(self.defaults), **dict(given)}.values())


def call_policy(view, legal, rules, parameters, stream):
    """Hand a policy its parameters as arguments; compiled once per policy, under the signature all share."""
    given = (
        parameters.p0, parameters.p1, parameters.p2, parameters.p3, parameters.p4, parameters.p5,
        parameters.p6, parameters.p7, parameters.p8, parameters.p9, parameters.p10, parameters.p11,
    )  # fmt: skip
    return chosen(view, legal, rules, stream, *given[:COUNT])


def shipped_policies(module: ModuleType) -> dict[str, Any]:
    """The policies that come with a game, by name."""
    home = importlib.import_module(f"policies.{module.__name__.rpartition('.')[2]}")
    return {name: function for name, function in vars(home).items() if _is_policy(function, home.__name__)}


def usual_policy(module: ModuleType) -> str | dict[str, Any]:
    """The policy that plays if nobody is named, as an experiment file has it: the game's own choice, quick and good."""
    home: Any = importlib.import_module(f"policies.{module.__name__.rpartition('.')[2]}")
    usual: str | dict[str, Any] = home.USUAL
    return usual


def describe_policies(module: ModuleType) -> list[dict[str, Any]]:
    """One row per shipped policy: policy, parameters with defaults, summary (the docstring's first line), usual (what the usual one plays with)."""
    usual = usual_policy(module)
    name_of_usual = usual if isinstance(usual, str) else usual["name"]
    given = {} if isinstance(usual, str) else {key: value for key, value in usual.items() if key != "name"}
    return [
        {
            "policy": name,
            "parameters": dict(_defaults(function)),
            "summary": _summary(function),
            "usual": dict(_defaults(function)) | given if name == name_of_usual else None,
        }
        for name, function in shipped_policies(module).items()
    ]


def load_policy(module: ModuleType, choice: PolicyChoice, where: str, folder: Path) -> Policy:
    """Load and compile the policy of a choice; files are looked for from `folder`. Raises InputError."""
    file, colon, name = choice.name.rpartition(":")
    if colon:
        path, modified_ns = _find_file(folder / file, where)
        policy = _load_own(module, path, name, where, modified_ns)
    else:
        policy = _load_shipped(module, choice.name, where)
    known = [key for key, _ in policy.defaults]
    for key, _ in choice.parameters:
        if key not in known:
            raise InputError(f"{where}: policies: {choice.name} has no parameter {key}; {suggest(key, known) if known else 'it has none'}")
    return policy


def load_line_ups(experiment: Experiment) -> list[tuple[tuple[Policy, ...], tuple[tuple[float, ...], ...]]]:
    """Per cell the policies of its seats and their parameter values."""
    where, folder = str(experiment.path), experiment.path.parent
    loaded = []
    for cell in experiment.cells:
        policies = tuple(load_policy(experiment.module, choice, where, folder) for choice in cell.policies)
        values = tuple(policy.values(choice.parameters) for policy, choice in zip(policies, cell.policies, strict=True))
        loaded.append((policies, values))
    return loaded


def carry_files(experiment: Experiment) -> dict[str, str]:
    """Name to source of the user's policy files of an experiment whose policies are loaded, and of the modules beside them that they import."""
    carried: dict[str, str] = {}
    files = {choice.name.rpartition(":")[0] for cell in experiment.cells for choice in cell.policies} - {""}
    loaded = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    for file in sorted(files):
        path = (experiment.path.parent / file).resolve()
        beside = sorted(other for other in loaded if other.parent == path.parent and other.suffix == ".py" and other != path and other.parent != ROOT)
        carried |= {str(Path(file).with_name(one.name)): one.read_text(encoding="utf-8", errors="surrogateescape") for one in (path, *beside)}
    return carried


def load_carried(experiment: Experiment, carried: dict[str, str]) -> list[tuple[tuple[Policy, ...], tuple[tuple[float, ...], ...]]]:
    """As `load_line_ups`, on a machine that may not have the user's files: from their sources, written to a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="housecarlo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    places = {parent: str(n) for n, parent in enumerate(sorted({str(Path(name).parent) for name in carried}))}
    for name, source in carried.items():
        path = folder / places[str(Path(name).parent)] / Path(name).name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8", errors="surrogateescape")
    cells = []
    for cell in experiment.cells:
        choices = []
        for choice in cell.policies:
            file, colon, function = choice.name.rpartition(":")
            here = f"{places[str(Path(file).parent)]}/{Path(file).name}:{function}" if colon else function
            choices.append(replace(choice, name=here))
        cells.append(replace(cell, policies=tuple(choices)))
    return load_line_ups(replace(experiment, path=folder / experiment.path.name, cells=tuple(cells)))


@cache
def _load_shipped(module: ModuleType, name: str, where: str) -> Policy:
    known = shipped_policies(module)
    if name not in known:
        raise InputError(f'{where}: policies: "{name}": no such policy; or write "file.py:name" for one of your own; {suggest(name, known)}')
    return _compile(module, name, known[name], where)


def _find_file(path: Path, where: str) -> tuple[Path, int]:
    """The file, resolved, and when it was last modified (ns)."""
    try:
        path = path.resolve()
        if path.is_file():
            return path, path.stat().st_mtime_ns
    except (OSError, ValueError, RuntimeError):  # a name too long, one with a NUL, a loop of links
        pass
    raise InputError(f"{where}: policies: {path}: no such file")


@cache
def _load_own(module: ModuleType, path: Path, name: str, where: str, modified_ns: int) -> Policy:
    spec = importlib.util.spec_from_file_location(f"own_policies_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{where}: policies: {path}: not a Python file")
    own = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # so that the file may import its neighbours
    try:
        with guarded():
            spec.loader.exec_module(own)
    except (Exception, SystemExit) as error:
        line = next((f" (line {frame.lineno})" for frame in reversed(traceback.extract_tb(error.__traceback__)) if frame.filename == str(path)), "")
        raise InputError(f"{where}: policies: {path}: cannot be loaded: {type(error).__name__}: {error}{line}") from None
    finally:
        sys.path.remove(str(path.parent))
    own_names = [key for key, value in vars(own).items() if inspect.isfunction(_plain(value)) and _plain(value).__module__ == own.__name__]
    if name not in own_names:
        raise InputError(f"{where}: policies: {path} has no policy {name}; {suggest(name, own_names) if own_names else 'it has no function at all'}")
    with guarded():
        return _compile(module, f"{path.name}:{name}", getattr(own, name), where)


def _compile(module: ModuleType, name: str, function: Any, where: str) -> Policy:
    place = _place(function)
    where = f"{where}: policies: {name} ({place})"
    defaults = _defaults(function, where)
    signature = policy_signature(module)
    wrapper = bind(call_policy, f"{module.__name__},{name}", chosen=function, COUNT=len(defaults))
    if PURE:
        return Policy(name, wrapper, defaults, _summary(function), place)
    if function is _plain(function):
        function = wrapper.__globals__["chosen"] = jit(function)
    try:
        arguments = (*signature.args[:3], signature.args[4], *[types.float64] * len(defaults))
        function.compile(arguments)
        returned = function.overloads[arguments].signature.return_type
        if not isinstance(returned, types.Integer | types.IntEnumMember | types.Boolean):
            raise InputError(f"{where} may end without an action or return {one_line(str(returned), 80)}; it must return an action on every path")
        return Policy(name, jit(wrapper, signature), defaults, _summary(function), place)
    except KeyError as error:  # what numba raises for a record's unknown field
        raise InputError(f"{where} does not compile: neither view nor rules has a field {error}") from None
    except InputError:
        raise
    except Exception as error:  # numba fails in many ways, each its own class
        raise InputError(f"{where} does not compile: {_say_why(str(error))}") from None


def _say_why(error: str) -> str:
    """The lines of a compiler's message that a person can use: the reason, and the line of the file."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("Failed in", "During:", "File ", "def ", "<source", "@")) and "nopython" not in line]
    place = next((line.partition(" ")[2] for line in lines if line.startswith("File ") and "site-packages" not in line), "")
    return " ".join([*said[:1], *([f"({place.rstrip(':')})"] if place else [])])


def _defaults(function: Any, where: str = "") -> tuple[tuple[str, float], ...]:
    parameters = list(inspect.signature(_plain(function)).parameters.values())
    if tuple(p.name for p in parameters[: len(LEADING)]) != LEADING:
        raise InputError(f"{where} must begin ({', '.join(LEADING)}, …), but begins ({', '.join(p.name for p in parameters)})")
    own = parameters[len(LEADING) :]
    for parameter in own:
        if isinstance(parameter.default, bool) or not isinstance(parameter.default, int | float):
            raise InputError(f"{where}: parameter {parameter.name} needs a number as its default")
    if len(own) > PARAMETERS_MOST:
        raise InputError(f"{where} has {len(own)} parameters; at most {PARAMETERS_MOST} are allowed")
    return tuple((p.name, float(p.default)) for p in own)


def _place(function: Any) -> str:
    code = _plain(function).__code__
    return f"{code.co_filename}, line {code.co_firstlineno}"


def _plain(function: Any) -> Callable[..., Any]:
    """The Python function behind a compiled one."""
    plain: Callable[..., Any] = getattr(function, "py_func", function)
    return plain


def _is_policy(function: Any, home: str) -> bool:
    plain = _plain(function)
    return inspect.isfunction(plain) and plain.__module__ == home and tuple(inspect.signature(plain).parameters)[: len(LEADING)] == LEADING


def _summary(function: Any) -> str:
    return (inspect.getdoc(_plain(function)) or "").partition("\n")[0]
