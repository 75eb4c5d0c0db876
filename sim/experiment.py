"""From an experiment file (TOML) to a checked, frozen Experiment and its cells.

A cell is one combination of rules and policies. `grid` sweeps make every combination, the last
knob changing fastest; `one-at-a-time` varies one knob at a time around the rules given in the file.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sim.engine import DECISIONS_MOST, PARAMETERS_MOST, load_game
from sim.errors import InputError, suggest
from sim.files import read_text
from sim.games import GAMES
from sim.knobs import Rules, allowed, simplify
from sim.questions import OF_SEATS, Precision, Target, is_number, read_precision, read_targets

GAMES_MOST = 10**12
CELLS_MOST = 10_000
LADDER_GAMES = 20_000  # per pairing, if not said otherwise
DEFAULT = "default"  # a swept parameter where the sweep starts, if the file gives it no value
BASELINE, CONTROL = "baseline", "control"  # what cells are for that no sweep asks for
TABLES = ("rules", "sweep", "baseline.rules", "baseline", "stop.precision", "stop", "targets", "robust")  # the longer name first
LINE_UP = "line_up"  # the sweep that `[robust]` adds: the same question under each line-up
SETTING = re.compile(r"rules\.(?P<knob>\w+)|policies(\[(?P<seat>[0-9]{1,3})\](\.(?P<parameter>\w+))?)?|seats")
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)  # names that Windows gives no folder


@dataclass(frozen=True)
class PolicyChoice:
    """A policy by name (`racer`) or by file (`my_policies.py:cautious`), and the parameters given for it."""

    name: str
    parameters: tuple[tuple[str, float], ...] = ()

    def label(self) -> str:
        """The name with its parameters, as shown in tables."""
        given = ", ".join(f"{key}={value:g}" for key, value in self.parameters)
        return f"{self.name}({given})" if given else self.name


@dataclass(frozen=True)
class Cell:
    """One combination of rules and policies; `swept` holds the swept settings that make it.

    `baseline` is the number of the cell it is compared with, its own if with none. `purpose` is empty for a swept cell;
    else what it is played for besides: BASELINE or CONTROL.
    """

    number: int
    swept: tuple[tuple[str, Any], ...]
    rules: Rules
    policies: tuple[PolicyChoice, ...]
    baseline: int
    purpose: str = ""

    def label(self) -> str:
        """The swept settings in one line."""
        settings = [f"{short_name(key)} {show_level(value)}" for key, value in self.swept]
        return ", ".join([self.purpose, *settings] if self.purpose else settings) or "rules as given"


@dataclass(frozen=True)
class Pair:
    """Two cells compared game by game, `cell` with `reference`: they differ in one swept setting, or (BASELINE) at will."""

    cell: int
    reference: int
    setting: str


@dataclass(frozen=True)
class Experiment:
    """A checked experiment: what is played, how often, and from which seed."""

    name: str
    path: Path
    text: str
    game: str
    title: str
    question: str
    games: int
    seed: int
    ideal_minutes: float | None
    sweep_mode: str
    sweep: tuple[tuple[str, tuple[Any, ...]], ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]
    targets: tuple[Target, ...] = ()
    precision: tuple[Precision, ...] = ()
    until_decided: bool = False  # play on until no target is UNDECIDED
    overrides: tuple[str, ...] = ()
    max_decisions: int = DECISIONS_MOST  # of a game: one that goes on is a policy's mistake

    @property
    def swept_cells(self) -> tuple[Cell, ...]:
        """The cells the file asks for, without those played only to compare with."""
        return tuple(cell for cell in self.cells if not cell.purpose)

    @property
    def is_sequential(self) -> bool:
        """Does play stop when enough is known, rather than after a number of games fixed beforehand?"""
        return bool(self.precision) or self.until_decided

    @property
    def module(self) -> ModuleType:
        """The game's module."""
        return load_game(self.game)


class _Baseline(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    rules: dict[str, Any] = {}
    policies: Annotated[list[str | dict[str, Any]], Field(min_length=1)] | None = None


class _Stop(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    precision: dict[str, Any] = {}
    until: Literal["decided"] | None = None
    max_games: Annotated[int, Field(ge=1, le=GAMES_MOST)] = 10_000_000


class _Robust(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    line_ups: Annotated[list[Annotated[list[str | dict[str, Any]], Field(min_length=1)]], Field(min_length=2)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    game: str
    games: Annotated[int, Field(ge=1, le=GAMES_MOST)] = 100_000
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    seats: Annotated[int, Field(ge=1)] | None = None
    policies: Annotated[list[str | dict[str, Any]], Field(min_length=1)]
    title: str = ""
    question: str = ""
    rules: dict[str, Any] = {}
    sweep: dict[str, Any] = {}
    baseline: _Baseline = _Baseline()
    stop: _Stop | None = None
    targets: dict[str, Any] = {}
    robust: _Robust | None = None
    ideal_minutes: Annotated[float, Field(ge=0.01, le=1e6)] | None = None
    max_decisions: Annotated[int, Field(ge=1, le=10**9)] = DECISIONS_MOST


PLAIN = {  # pydantic's kinds of errors in the words of a TOML file
    "dict_type": "must be a table, as under [rules]",
    "model_type": "must be a table, as under [stop]",
    "list_type": "must be a list, in brackets",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text, in quotes",
    "too_short": "must have at least {min_length} in the list",
    "literal_error": "allowed: {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
INNER: dict[str | int, type[BaseModel]] = {"baseline": _Baseline, "stop": _Stop, "robust": _Robust}


def read_experiment(path: Path, games: int | None = None, seed: int | None = None, overrides: Sequence[str] = ()) -> Experiment:
    """Read and check an experiment file; `overrides` are `key=value` settings. Raises InputError, one line."""
    try:
        text = read_text(path)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    try:
        data = tomllib.loads(text)
    except ValueError as error:  # also of numbers too long to be read
        raise InputError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: not valid TOML: nested too deeply") from None
    return parse_experiment(data, path, text, games, seed, overrides)


def parse_experiment(
    data: dict[str, Any], path: Path, text: str = "", games: int | None = None, seed: int | None = None, overrides: Sequence[str] = ()
) -> Experiment:
    """Check the tables of an experiment file. Raises InputError naming file, key, what was found and what is allowed."""
    where = str(path)
    for override in overrides:
        _override(data, override, where)
    if games is not None:
        data["games"] = games
        if isinstance(data.get("stop"), dict):
            data["stop"]["max_games"] = games
    if seed is not None:
        data["seed"] = seed
    if isinstance(data.get("game"), str) and data["game"] not in GAMES:
        raise InputError(f'{where}: game = "{data["game"]}": no such game; {suggest(data["game"], GAMES)}')
    if isinstance(data.get("robust"), dict) and isinstance(data["robust"].get("line_ups"), list) and data["robust"]["line_ups"]:
        data.setdefault("policies", data["robust"]["line_ups"][0])
    if isinstance(data.get("policies"), str):
        data["policies"] = [data["policies"]]  # one for every seat
    if isinstance(data.get("baseline"), dict) and isinstance(data["baseline"].get("policies"), str):
        data["baseline"]["policies"] = [data["baseline"]["policies"]]
    if isinstance(data.get("sweep"), dict) and isinstance(data["sweep"].get("rules"), dict):  # keys written without quotes
        for knob, levels in data["sweep"].pop("rules").items():
            if data["sweep"].setdefault(f"rules.{knob}", levels) is not levels:
                raise InputError(f"{where}: sweep.rules.{knob}: stands there twice, with and without quotes")
    seated = _pop_seated(data)
    seated_baseline = _pop_seated(data["baseline"]) if isinstance(data.get("baseline"), dict) else {}
    for key in data.keys() - _File.model_fields.keys():
        if isinstance(data.get("game"), str) and key in load_game(data["game"]).Rules.model_fields:
            raise InputError(f"{where}: {key}: this is a rule; write it under [rules], or --set rules.{key}=…")
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{where}: {_explain(error, list(_File.model_fields))}") from None
    module = load_game(file.game)
    sweep = dict(file.sweep)
    mode = sweep.pop("mode", "grid")
    if mode not in ("grid", "one-at-a-time"):
        raise InputError(f"{where}: sweep.mode = {show_level(mode)}: allowed: grid, one-at-a-time")
    for key, levels in sweep.items():
        sweep[key] = _check_sweep(key, levels, module, where)
    twice = next((key for key in file.rules if mode == "grid" and f"rules.{key}" in sweep), None)
    if twice:
        raise InputError(f"{where}: rules.{twice}: fixed under [rules] and swept; drop one of them")
    if file.robust:
        chosen = next((override for override in overrides if override.startswith("policies")), None)
        _check_line_ups(file.robust.line_ups, [*(f"sweep.{key}" for key in sweep), *seated, *([f"--set {chosen}"] if chosen else [])], where)
    base = {"rules": file.rules, "policies": [_choice(entry, where) for entry in file.policies], "seats": file.seats, "seated": seated}
    combinations = _combine(sweep, mode, base, module, where)
    if file.robust:
        sweep[LINE_UP] = file.robust.line_ups
        combinations = [(*swept, (LINE_UP, line_up)) for swept in combinations for line_up in file.robust.line_ups]
    cells = [_cell(number, swept, base, module, where) for number, swept in enumerate(combinations)]
    precision = read_precision(file.stop.precision, module, where) if file.stop else ()
    pairs = _pairs(cells)
    cells = _find_baselines(cells, file, seated_baseline, base, module, where)
    compared = {(pair.cell, pair.reference) for pair in pairs}
    pairs += [Pair(c.number, c.baseline, BASELINE) for c in cells if c.baseline != c.number and (c.number, c.baseline) not in compared]
    ideal_minutes = getattr(module, "IDEAL_MINUTES", None) if file.ideal_minutes is None else file.ideal_minutes
    targets = read_targets(file.targets, module, where)
    asked = [(f"targets.{target.quantity.name}", target.quantity) for target in targets]
    asked += [(f"stop.precision.{one.quantity.name}", one.quantity) for one in precision]
    for key, quantity in asked:
        if quantity.delta and all(cell.baseline == cell.number for cell in cells):
            raise InputError(f"{where}: {key}: every cell is its own baseline, the same rules and players; change or sweep a rule, or give another [baseline]")
        if quantity.metric == "ideal_duration" and ideal_minutes is None:
            raise InputError(f"{where}: {key}: no ideal length; write ideal_minutes")
        if quantity.metric in OF_SEATS and all(len(cell.policies) == 1 for cell in cells):
            raise InputError(f"{where}: {key}: there is one seat only")
        if quantity.seat is not None and all(quantity.seat >= len(cell.policies) for cell in cells):
            raise InputError(f"{where}: {key}: there is no seat {quantity.seat}; seats are 0 to {max(len(cell.policies) for cell in cells) - 1}")
    if file.stop and file.stop.until and not targets:
        raise InputError(f'{where}: stop.until = "decided": nothing to decide; write [targets]')
    if file.stop and not precision and not file.stop.until:
        raise InputError(f'{where}: stop.precision: missing; it must be given, or until = "decided"')
    _add_swap(cells, module)
    return Experiment(
        name=_name_folder(path.stem),
        path=path,
        text=text,
        game=file.game,
        title=file.title,
        question=file.question,
        games=file.stop.max_games if file.stop else file.games,
        seed=file.seed,
        ideal_minutes=ideal_minutes,
        sweep_mode=mode,
        sweep=tuple((key, tuple(levels)) for key, levels in sweep.items()),
        cells=tuple(cells),
        pairs=tuple(pairs),
        targets=targets,
        precision=precision,
        until_decided=bool(file.stop and file.stop.until),
        overrides=tuple(overrides),
        max_decisions=file.max_decisions,
    )


def parse_comparison(
    game: str,
    settings: Sequence[str],
    versus: Sequence[str],
    policies: Sequence[str | dict[str, Any]],
    precision: Sequence[str] = (),
    games: int | None = None,
    seed: int | None = None,
) -> Experiment:
    """An experiment of one cell, `settings`, against a baseline, `versus`: both lists of `key=value`, of rules or policies. Raises InputError."""
    data: dict[str, Any] = {"game": game, "policies": list(policies)}
    path = Path("compare")
    for key_value in precision:
        _override(data, f"stop.precision.{key_value}", "--precision")
    for option, prefix, given in (("--set", "", settings), ("--vs", "baseline.", versus)):
        for key_value in given:
            if not key_value.startswith(("rules.", "policies")):
                raise InputError(f"{option} {key_value}: allowed: rules.… and policies, as key=value, for example rules.monster_die=4")
            _override(data, prefix + key_value, option)
    if not settings and not versus:
        raise InputError("compare: nothing to compare; give --set, for example --set rules.monster_die=4, or --vs")
    if any(key_value.startswith("policies") for key_value in settings) and not any(key_value.startswith("policies") for key_value in versus):
        data.setdefault("baseline", {})["policies"] = list(policies)  # what is asked is what those players change
    experiment = parse_experiment(data, path, "", games, seed)
    return replace(experiment, pairs=experiment.pairs or (Pair(0, 0, BASELINE),))  # a rule compared with itself


def parse_ladder(game: str, policies: Sequence[str], settings: Sequence[str] = (), games: int | None = None, seed: int | None = None) -> Experiment:
    """An experiment of each policy against each on both of two seats, under the rules that `settings` (`key=value`) make. Raises InputError."""
    if 2 not in load_game(game).SEATS:
        raise InputError(f"{game} is played by one: a ladder needs a game for two seats")
    if len(policies) < 2:
        raise InputError("--policies: a ladder needs at least two; name each with a --policies of its own")
    sweep = {f"policies[{seat}]": list(policies) for seat in range(2)}
    data: dict[str, Any] = {"game": game, "seats": 2, "games": LADDER_GAMES, "policies": list(policies[:1]), "sweep": sweep}
    for key_value in settings:
        if not key_value.startswith("rules."):
            raise InputError(f"--set {key_value}: allowed: rules.…, as key=value, for example rules.monster_die=4")
        _override(data, key_value, "--set")
    data["baseline"] = {"rules": data.get("rules", {})}  # one of the cells: nothing more is played
    return replace(parse_experiment(data, Path("ladder"), "", games, seed), pairs=())


def short_name(setting: str) -> str:
    """A setting without its table: `rules.monster_die` → `monster_die`."""
    return setting.removeprefix("rules.")


def show_level(value: Any) -> str:
    """A setting's value as a person would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        given = ", ".join(f"{k}={show_level(v)}" for k, v in value.items() if k != "name")
        return f"{value.get('name', '?')}({given})" if given else str(value.get("name", value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(show_level(item) for item in value) + "]"
    return str(value)


def _name_folder(stem: str) -> str:
    """What a run of a file of that name writes to: never a folder above or one that some system lacks."""
    name = re.sub(r"[^\w.-]+", "_", stem).strip(".") or "experiment"
    return f"_{name}" if RESERVED.fullmatch(name) else name


def _override(data: dict[str, Any], override: str, where: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in override):  # what a shell hands over that is not UTF-8
        raise InputError(f"{where}: {override}: not UTF-8 text")
    key, equals, word = override.partition("=")
    key, word = key.strip(), word.strip()
    if not equals or not key:
        raise InputError(f'{where}: {override}: write key=value, for example "rules.monster_die=4"')
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except (ValueError, KeyError, RecursionError):
        value = {"True": True, "False": False}.get(word, word)
    path = next((table for table in TABLES if key.startswith(f"{table}.") and key != f"{table}."), "")
    if path:
        inner = data
        for table in path.split("."):
            inner = inner.setdefault(table, {})
            if not isinstance(inner, dict):
                raise InputError(f"{where}: {table}: must be a table")
        inner[key.removeprefix(f"{path}.").strip('"')] = value
        _settle(data, key if path == "rules" else "")
    elif key in _File.model_fields or _is_seated(key):
        data[key] = value
        _settle(data, key)
    else:
        raise InputError(f"{where}: --set {key}: no such key; {suggest(key, [*_File.model_fields, *(f'{table}.…' for table in TABLES)])}")


def _is_seated(key: str) -> bool:
    """Is this the policy of one seat, or a parameter of it?"""
    match = SETTING.fullmatch(key)
    return bool(match and match["seat"])


def _pop_seated(data: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of single seats out of a file's table: policies first, then their parameters."""
    return {key: data.pop(key) for key in sorted((key for key in data if _is_seated(key)), key=lambda key: key.endswith("]"), reverse=True)}


def _settle(data: dict[str, Any], setting: str) -> None:
    """A setting given on the command line is swept no longer; in a one-at-a-time sweep it is where the sweep starts from."""
    sweep = data.get("sweep")
    if isinstance(sweep, dict) and sweep.get("mode") != "one-at-a-time":
        for key in [key for key in sweep if key == setting or (setting == "policies" and key.startswith("policies["))]:
            del sweep[key]


def _explain(error: ValidationError, known: Sequence[str], prefix: str = "", rules: type[Rules] | None = None) -> str:
    """The first of pydantic's errors in one line: key = found: what is wrong; allowed."""
    first = error.errors(include_url=False)[0]
    location = [part for part in first["loc"] if isinstance(part, str | int)]
    key = prefix + (str(location[0]) if location else "")
    if len(location) > 1 and location[0] in INNER:
        known = list(INNER[location[0]].model_fields)
        location = location[1:]
        key = f"{key}.{location[0]}"
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key; {suggest(str(location[0]), known)}"
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if not location:
        return f"{prefix.rstrip('.') or 'the file'}: a name there is not UTF-8 text"
    if rules is not None:
        quoted = " (a number, without quotes)" if isinstance(first["input"], str) and first["type"].startswith(("int", "float")) else ""
        quoted = " (a whole number)" if first["type"].startswith("int") and isinstance(first["input"], float) else quoted
        return f"{key} = {json.dumps(first['input'], default=str, ensure_ascii=False)}: allowed: {allowed(rules, str(location[0]))}{quoted}"
    if first["type"] == "missing":
        return f"{key}: missing; it must be given"
    found = json.dumps(first["input"], default=str, ensure_ascii=False)
    plain = PLAIN.get(first["type"])
    told = plain.format(**first.get("ctx", {})) if plain else f"{first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{key} = {found if len(found) <= 80 else found[:77] + '…'}: {told}"


def _choice(entry: Any, where: str) -> PolicyChoice:
    if isinstance(entry, str):
        return PolicyChoice(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise InputError(f'{where}: policies: {show_level(entry)} is no policy; allowed: a name, or a table like {{ name = "racer" }} with its parameters')
    name, parameters = entry["name"], {key: value for key, value in entry.items() if key != "name"}
    for key, value in parameters.items():
        if not is_number(value):
            raise InputError(f"{where}: policies: {name}.{key} = {show_level(value)}: a parameter must be a number")
    if len(parameters) > PARAMETERS_MOST:
        raise InputError(f"{where}: policies: {name} has {len(parameters)} parameters; at most {PARAMETERS_MOST} are allowed")
    return PolicyChoice(name, tuple((key, float(value)) for key, value in parameters.items()))


def _check_sweep(key: str, levels: Any, module: ModuleType, where: str) -> list[Any]:
    """The levels of a sweep, checked and each as short as it may be."""
    match = SETTING.fullmatch(key)
    knobs = list(module.Rules.model_fields)
    if not match:
        raise InputError(f"{where}: sweep.{key}: unknown setting; {suggest(key, [f'rules.{k}' for k in knobs] + ['policies', 'policies[0]', 'seats', 'mode'])}")
    if match["knob"] and match["knob"] not in knobs:
        raise InputError(f"{where}: sweep.{key}: unknown knob; {suggest(match['knob'], knobs)}")
    if not isinstance(levels, list) or not levels:
        raise InputError(f"{where}: sweep.{key} = {show_level(levels)}: must be a list of at least one value")
    shortest = [simplify(module.Rules, match["knob"], level) for level in levels] if match["knob"] else levels
    if _has_twice(shortest):
        raise InputError(f"{where}: sweep.{key} = {show_level(levels)}: a value stands there twice")
    return shortest


def _has_twice(values: Sequence[Any]) -> bool:
    """Does a value stand there twice? 1 and 1.0 are the same, 1 and true are not."""
    return len({_frozen(value) for value in values}) < len(values)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _frozen(inner)) for key, inner in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else (type(value) is bool, value)


def _check_line_ups(line_ups: Sequence[Any], settings: Sequence[str], where: str) -> None:
    if _has_twice(line_ups):
        raise InputError(f"{where}: robust.line_ups = {show_level(line_ups)}: a line-up stands there twice")
    other = next((key for key in settings if "policies" in key), None)
    if other:
        raise InputError(f"{where}: robust.line_ups with {other}: both would choose who plays; drop one of them")


def _combine(sweep: dict[str, Any], mode: str, base: dict[str, Any], module: ModuleType, where: str) -> list[tuple[tuple[str, Any], ...]]:
    """The swept settings of each cell."""
    lengths = [len(levels) for levels in sweep.values()]
    if (math.prod(lengths) if mode == "grid" else sum(lengths)) > CELLS_MOST:
        raise InputError(f"{where}: sweep: more than {CELLS_MOST:,} cells; sweep fewer settings or values")
    if mode == "grid":
        return [tuple(zip(sweep, levels, strict=True)) for levels in itertools.product(*sweep.values())]
    at_base = {key: _value_of(key, base, module, where) for key in sweep}
    changes = [(key, level) for key, levels in sweep.items() for level in levels if level != at_base[key]]
    return [tuple(at_base.items())] + [tuple({**at_base, key: level}.items()) for key, level in changes]


def _value_of(key: str, base: dict[str, Any], module: ModuleType, where: str) -> Any:
    """What a setting is before the sweep."""
    match = SETTING.fullmatch(key)
    if match and match["knob"]:
        value = base["rules"].get(match["knob"], module.Rules.model_fields[match["knob"]].default)
        value = simplify(module.Rules, match["knob"], value)
        return list(value) if isinstance(value, tuple) else value
    if key in base["seated"]:
        return base["seated"][key]
    if key == "seats":
        return base["seats"] or _seats_of(base["policies"], module)
    line_up = [_entry(choice) for choice in _seat_everyone(base["policies"], base["seats"] or _seats_of(base["policies"], module), where)]
    if match and match["seat"] and int(match["seat"]) < len(line_up):
        entry = line_up[int(match["seat"])]
        if match["parameter"]:
            return entry.get(match["parameter"], DEFAULT) if isinstance(entry, dict) else DEFAULT
        return entry
    return line_up


def _entry(choice: PolicyChoice) -> Any:
    return {"name": choice.name, **dict(choice.parameters)} if choice.parameters else choice.name


def _cell(number: int, swept: tuple[tuple[str, Any], ...], base: dict[str, Any], module: ModuleType, where: str) -> Cell:
    settings = dict(swept)
    rules = _read_rules({**base["rules"], **{key.removeprefix("rules."): value for key, value in settings.items() if key.startswith("rules.")}}, module, where)
    seats = settings.get("seats", base["seats"])
    if seats is not None and (type(seats) is not int or seats not in module.SEATS):
        raise InputError(f"{where}: seats = {show_level(seats)}: allowed: {', '.join(map(str, module.SEATS))}")
    policies = base["policies"]
    line_up = settings.get("policies", settings.get(LINE_UP))
    if line_up is not None:
        entries = line_up if isinstance(line_up, list) else [line_up]
        policies = [_choice(entry, where) for entry in entries]
    policies = list(_seat_everyone(policies, seats or _seats_of(policies, module), where))
    _check_seats(rules, len(policies), where)
    for key, value in {**base["seated"], **settings}.items():
        match = SETTING.fullmatch(key)
        if match and match["seat"]:
            seat = int(match["seat"])
            if seat >= len(policies):
                raise InputError(f"{where}: {'sweep.' if key in settings else ''}{key}: there is no seat {seat}; seats are 0 to {len(policies) - 1}")
            if match["parameter"]:
                changed = {**dict(policies[seat].parameters), match["parameter"]: value}
                policies[seat] = _choice({"name": policies[seat].name, **{k: v for k, v in changed.items() if v != DEFAULT}}, where)
            else:
                policies[seat] = _choice(value, where)
    return Cell(number, swept, rules, tuple(policies), number)


def _read_rules(knobs: dict[str, Any], module: ModuleType, where: str) -> Rules:
    try:
        rules: Rules = module.Rules.model_validate(knobs, context={"folder": Path(where).parent})
    except ValidationError as error:
        raise InputError(f"{where}: {_explain(error, list(module.Rules.model_fields), 'rules.', module.Rules)}") from None
    return rules


def _check_seats(rules: Rules, seats: int, where: str) -> None:
    try:
        rules.check_seats(seats)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _seats_of(policies: Sequence[PolicyChoice], module: ModuleType) -> int:
    """The number of seats where the file does not say: one for each policy, or the fewest."""
    return len(policies) if len(policies) in module.SEATS else int(module.SEATS[0])


def _seat_everyone(policies: Sequence[PolicyChoice], seats: int, where: str) -> Sequence[PolicyChoice]:
    if len(policies) == 1:
        return list(policies) * seats
    if len(policies) != seats:
        raise InputError(f"{where}: policies: {len(policies)} given; allowed: one for every seat, or one for each of {seats} seats")
    return policies


def _find_baselines(cells: Sequence[Cell], file: _File, seated: dict[str, Any], base: dict[str, Any], module: ModuleType, where: str) -> list[Cell]:
    """The cells, each with its baseline: the baseline's rules with the cell's own players, unless `[baseline]` names who plays.

    A baseline that is none of the cells is added to them. `seated` are the settings of single seats that `[baseline]` gives.
    """
    try:
        if file.baseline.policies or seated:
            policies = [_choice(entry, where) for entry in file.baseline.policies] if file.baseline.policies else base["policies"]
            seated = {**({} if file.baseline.policies else base["seated"]), **seated}
            baselines = [_cell(0, (), {**base, "rules": file.baseline.rules, "policies": policies, "seated": seated}, module, where)] * len(cells)
        else:
            rules = _read_rules(file.baseline.rules, module, where)
            for seats in {len(cell.policies) for cell in cells}:
                _check_seats(rules, seats, where)
            baselines = [replace(cell, rules=rules, swept=tuple(one for one in cell.swept if not one[0].startswith("rules."))) for cell in cells]
    except InputError as error:
        raise InputError(str(error).replace(f"{where}: ", f"{where}: baseline.", 1)) from None
    numbers = {(cell.rules, cell.policies): cell.number for cell in reversed(cells)}
    added: list[Cell] = []
    for baseline in baselines:
        number = numbers.setdefault((baseline.rules, baseline.policies), len(cells) + len(added))
        if number == len(cells) + len(added):
            added.append(replace(baseline, number=number, baseline=number, purpose=BASELINE))
    found = [numbers[baseline.rules, baseline.policies] for baseline in baselines]
    return [*(replace(cell, baseline=number) for cell, number in zip(cells, found, strict=True)), *added]


def _add_swap(cells: list[Cell], module: ModuleType) -> None:
    """One more cell, if none is that: the first unlike line-up under rules alike for all seats, every policy one seat on."""
    first = next((cell for cell in cells if len(set(cell.policies)) > 1 and module.is_symmetric(cell.rules)), None)
    if first is None:
        return
    line_up = (first.policies[-1], *first.policies[:-1])
    if all((cell.rules, cell.policies) != (first.rules, line_up) for cell in cells):
        cells.append(Cell(len(cells), (), first.rules, line_up, len(cells), CONTROL))


def _pairs(cells: Sequence[Cell]) -> list[Pair]:
    """Each cell with the one that has the first level of one swept setting and is alike in the others; line-ups are not compared."""
    pairs = []
    by_settings = {json.dumps(cell.swept, default=str): cell.number for cell in cells}
    for cell in cells:
        for position, (setting, level) in enumerate(cell.swept):
            first = cells[0].swept[position][1]
            changed = list(cell.swept)
            changed[position] = (setting, first)
            reference = by_settings.get(json.dumps(tuple(changed), default=str))
            if level != first and reference is not None and setting != LINE_UP:
                pairs.append(Pair(cell.number, reference, setting))
    return pairs
