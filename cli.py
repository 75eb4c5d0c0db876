"""housecarlo's command line: parse, call, print. No logic; heavy imports wait until a command needs them."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup


class _OneLineErrors(TyperGroup):
    """A mistake in the options is one line on standard error, as one in a file."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Parse, call, exit; with `standalone_mode` False as its parent."""
        if not extra.get("standalone_mode", True) or len(sys.argv) < 2:  # of no arguments the help is shown
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except OSError as error:
            if error.errno != errno.ENOSPC:  # no full disk, but a fault to be seen whole
                raise
            typer.echo(f"housecarlo: the output cannot be written ({error.strerror})", err=True)
            sys.exit(2)
        except Exception as error:
            if not hasattr(error, "format_message"):  # no mistake in the options
                raise
            said = " ".join(str(error.format_message()).split()).rstrip(".").replace("Value error, ", "").replace("Input should be", "must be")
            typer.echo(f"housecarlo: {said}; see housecarlo --help", err=True)
            sys.exit(2)
        sys.exit(code)


app = typer.Typer(
    name="housecarlo",
    cls=_OneLineErrors,
    help="House rules + Monte Carlo: play a tabletop game by the million and see whether its rules are fair.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

STUCK_SECONDS = 120  # without any block finished

ExperimentFile = Annotated[Path, typer.Argument(metavar="FILE", help="An experiment file (TOML), for example configs/mint_tin/quick.toml.", show_default=False)]
Settings = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, for example rules.monster_die=4. May be repeated.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Random seed, in place of the file's.", show_default=False)]
Games = Annotated[int | None, typer.Option("--games", min=1, help="Games per cell, in place of the file's; with \\[stop] at most so many.", show_default=False)]
Jobs = Annotated[int, typer.Option("--jobs", min=0, help="Threads or processes that play. 0: one per core.")]
Backend = Annotated[Literal["threads", "processes", "dask"], typer.Option("--backend", help="Who plays: threads, processes, or the workers of a dask cluster.")]
Scheduler = Annotated[str, typer.Option("--scheduler", metavar="ADDRESS", help="The dask scheduler, for example tcp://10.0.0.1:8786.", show_default=False)]
HouseRules = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="A house rule to try, as rules.monster_die=4. May be repeated.")]
Versus = Annotated[list[str], typer.Option("--vs", metavar="KEY=VALUE", help="Compare with this instead of the rulebook. May be repeated.")]
LineUp = Annotated[
    list[str],
    typer.Option("--policies", metavar="NAME", help="Who plays, once for every seat or once per seat. [default: the game's usual policy]"),
]
Rivals = Annotated[
    list[str], typer.Option("--policies", metavar="NAME", help="One of those who play each other. May be repeated. [default: the game's policies]")
]
HalfWidths = Annotated[
    list[str], typer.Option("--precision", metavar="FIGURE=WIDTH", help="Play until known to ± so much, as delta.mean_minutes=0.05. May be repeated.")
]
Language = Annotated[Literal["en", "it"], typer.Option("--lang", help="Language of the report: English or Italian.")]
Plots = Annotated[bool, typer.Option("--plots/--no-plots", help="Draw plots and write the report, or only tables.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _complete_game(incomplete: str) -> list[str]:
    from sim.games import GAMES

    return [name for name in GAMES if name.startswith(incomplete)]


GameName = Annotated[str, typer.Argument(metavar="GAME", help="A game, as `housecarlo games` lists it.", autocompletion=_complete_game, show_default=False)]


@contextmanager
def _user_errors() -> Iterator[None]:
    """A user's mistake becomes one line on standard error and exit code 2; no command lets a traceback through for one."""
    from reports.run import RunError
    from sim.errors import InputError
    from sim.interrupts import Interrupted, end_now, end_on_signals

    try:
        with end_on_signals():
            yield
    except (InputError, RunError) as error:
        typer.echo(f"housecarlo: {error}", err=True)
        raise typer.Exit(2) from None
    except Interrupted as signal:
        typer.echo(f"housecarlo: interrupted ({signal}); what `run` has finished is stored, and the same command goes on from it", err=True)
        end_now(signal.number)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"housecarlo {version('housecarlo')}")
        raise typer.Exit


@app.callback()
def main(version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = False) -> None:
    """House rules + Monte Carlo: play a tabletop game by the million and see whether its rules are fair."""


@app.command()
def run(
    file: ExperimentFile,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to. [default: out/<name of the file>]", show_default=False)] = None,
    games: Games = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    settings: Settings = [],
    plots: Plots = True,
    lang: Language = "en",
    fresh: Annotated[bool, typer.Option("--fresh", help="Drop the run that the folder holds and start over.")] = False,
    keep_games: Annotated[bool, typer.Option("--keep-games", help="Also write every game's outcome, as Parquet in DIR/games.")] = False,
    backend: Backend = "threads",
    scheduler: Scheduler = "",
) -> None:
    """Play an experiment and write tables, plots and a balance report. Exit code as of `check`.

    Finished games are stored as it goes: stopped or killed, the same command goes on from them.
    """
    with _user_errors():
        from policies.loading import carry_files, load_line_ups
        from sim.errors import InputError
        from sim.experiment import read_experiment
        from sim.rows import RowWriter
        from sim.store import identify, open_run
        from sim.usage import count_usage

        experiment = read_experiment(file, games, seed, settings)
        folder = out or Path("out") / experiment.name
        _say_compiling()
        line_ups = load_line_ups(experiment)
        identity = identify(experiment, carry_files(experiment), keep_games)
        with open_run(folder, experiment, identity, _write_command(file, games, seed, settings, keep_games), fresh) as place:
            if not place.finished:
                writer = RowWriter(folder, experiment) if keep_games else None
                tallies, failures = _play(experiment, line_ups, (backend, jobs, scheduler), place, writer)
                if len(failures) == len(experiment.cells):
                    place.discard()
                    raise InputError(failures[0])
                if writer:
                    writer.drop(failures)
                typer.echo("watching the decisions of a sample of games")
                place.finish(tallies, failures, count_usage(experiment, line_ups, failures, jobs))
            _report(folder, plots, lang)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `housecarlo run` wrote.", show_default=False)],
    plots: Plots = True,
    lang: Language = "en",
) -> None:
    """Write tables, plots and report again from what a run stored, finished or not, without playing. Exit code as of `check`."""
    with _user_errors():
        _report(folder, plots, lang)


@app.command()
def check(
    file: ExperimentFile,
    games: Games = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    settings: Settings = [],
    backend: Backend = "threads",
    scheduler: Scheduler = "",
) -> None:
    """Play an experiment and print its targets and controls, one line each.

    Exit code 0: all targets pass; 1: some fail; 3: none fails, some are undecided; 4: a control fails; 2: a mistake in the file.
    """
    with _user_errors():
        from sim.experiment import read_experiment

        experiment = read_experiment(file, games, seed, settings)
        _answer(experiment, (backend, jobs, scheduler))


@app.command()
def compare(
    game: GameName,
    settings: HouseRules = [],
    versus: Versus = [],
    policies: LineUp = [],
    precision: HalfWidths = [],
    games: Games = None,
    seed: Seed = None,
    jobs: Jobs = 0,
) -> None:
    """Answer one question on the terminal: what does a house rule change? No file is read or written."""
    with _user_errors():
        from policies.loading import usual_policy
        from reports.answers import tell_comparison
        from reports.verdicts import changes_anything
        from sim.experiment import parse_comparison

        experiment = parse_comparison(game, settings, versus, policies or [usual_policy(_load_game(game))], precision, games, seed)
        _answer(experiment, ("threads", jobs, ""), tell_comparison, lambda found: not changes_anything(found))


@app.command()
def ladder(
    game: GameName,
    policies: Rivals = [],
    settings: HouseRules = [],
    games: Games = None,
    seed: Seed = None,
    jobs: Jobs = 0,
) -> None:
    """Play each policy against each on both seats: who is how strong, and how much of a win is skill. No file is read or written."""
    with _user_errors():
        from policies.loading import shipped_policies
        from reports.answers import tell_ladder
        from sim.experiment import parse_ladder

        experiment = parse_ladder(game, policies or list(shipped_policies(_load_game(game))), settings, games, seed)
        _answer(experiment, ("threads", jobs, ""), tell_ladder)


@app.command()
def replay(
    file: ExperimentFile,
    game: Annotated[int, typer.Option("--game", min=0, max=10**12, help="Index of the game, from 0.", show_default=False)],
    cell: Annotated[int, typer.Option("--cell", min=0, help="Number of the cell, from 0.")] = 0,
    seed: Seed = None,
    settings: Settings = [],
    as_json: AsJson = False,
) -> None:
    """Tell one game move by move."""
    with _user_errors():
        import json

        from policies.loading import load_line_ups
        from sim.errors import InputError
        from sim.experiment import read_experiment
        from sim.replay import replay_game, tell

        experiment = read_experiment(file, None, seed, settings)
        if cell >= len(experiment.cells):
            raise InputError(f"{file}: --cell {cell}: there is no such cell; allowed: 0 to {len(experiment.cells) - 1}")
        line_ups = load_line_ups(experiment)
        for line, text in tell(experiment, cell, game, replay_game(experiment, line_ups, cell, game)):
            typer.echo(json.dumps(line) if as_json else text)


@app.command()
def games() -> None:
    """List the games."""
    from sim.engine import load_game
    from sim.games import GAMES

    for name in GAMES:
        module = load_game(name)
        seats = f"{module.SEATS[0]}" if len(module.SEATS) == 1 else f"{module.SEATS[0]} to {module.SEATS[-1]}"
        typer.echo(f"{name}  {module.TITLE}, {seats} {'seat' if seats == '1' else 'seats'}, rules version {module.VERSION}")


@app.command()
def rules(game: GameName, as_json: AsJson = False) -> None:
    """List a game's knobs: meaning, type, range, default, clause of the rulebook."""
    from sim.knobs import describe

    _print_rows(game, lambda module: describe(module.Rules), _tell_knob, as_json)


@app.command()
def policies(game: GameName, as_json: AsJson = False) -> None:
    """List a game's policies and their parameters."""
    from policies.loading import describe_policies

    _print_rows(game, describe_policies, _tell_policy, as_json)


def _load_game(game: str) -> Any:
    from sim.engine import load_game
    from sim.errors import InputError, suggest
    from sim.games import GAMES

    if game not in GAMES:
        raise InputError(f'"{game}": no such game; {suggest(game, GAMES)}')
    return load_game(game)


def _print_rows(game: str, rows_of: Callable[[Any], list[dict[str, Any]]], tell: Callable[[dict[str, Any]], list[str]], as_json: bool) -> None:
    """Rows as JSON, or told one below the other: a line that begins with the row's name, then lines indented."""
    with _user_errors():
        import json

        rows = rows_of(_load_game(game))
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, 100)
    for row in rows:
        name = str(next(iter(row.values())))
        head, *below = tell(row)
        lines = textwrap.wrap(f"{name}  {head}", width, subsequent_indent="        ")
        lines += [line for text in below for line in textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="    ")]
        typer.echo("\n".join([typer.style(name, bold=True) + lines[0].removeprefix(name), *lines[1:]]))


def _tell_knob(row: dict[str, Any]) -> list[str]:
    default = f"{_show(row['default'])} {row['unit']}".rstrip()
    wanted = "".join(f"; only with {name} = {_show(value)}" for name, value in row["only_if"].items())
    return [f"{row['type']}: {row['allowed']}; default {default}{' (assumed)' if row['assumed'] else ''}{wanted}", row["meaning"], f"[{row['clause']}]"]


def _tell_policy(row: dict[str, Any]) -> list[str]:
    given, usual = (", ".join(f"{name}={value:g}" for name, value in (parameters or {}).items()) for parameters in (row["parameters"], row["usual"]))
    seats = f"The usual player of `compare`{f', with {usual}' if usual != given else ''}." if row["usual"] is not None else ""
    return [row["summary"], given, seats]


def _show(value: Any) -> str:
    """A default as an experiment file has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_show, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value) or '""'


def _say_compiling() -> None:
    from sim.jit import cache_is_empty

    if cache_is_empty():
        typer.echo("compiling the rules and policies; this happens once after they change", err=True)


def _write_command(file: Path, games: int | None, seed: int | None, settings: list[str], keep_games: bool) -> str:
    """The command that plays these games again, without what changes no figure."""
    import shlex

    options = [part for name, value in (("--games", games), ("--seed", seed)) if value is not None for part in (name, str(value))]
    options += [part for setting in settings for part in ("--set", setting)]
    return shlex.join(["housecarlo", "run", str(file), *options, *(["--keep-games"] if keep_games else [])])


def _play(experiment: Any, line_ups: Any, crew: tuple[str, int, str], place: Any = None, writer: Any = None) -> tuple[Any, dict[int, str]]:
    """Play an experiment, all its games or until its figures are known as well as asked: tallies, and a line on each cell whose policy failed.

    `crew` is back end, jobs and scheduler; `place`, the run's folder, is what it goes on from and stores to; `writer` keeps the games' rows.
    """
    import time
    from contextlib import nullcontext

    from policies.loading import carry_files, load_carried
    from reports.verdicts import find_open
    from sim.batch import Ledger, Player, play_on
    from sim.replay import explain
    from sim.workers import hire

    count, asked = len(experiment.cells), len(experiment.swept_cells)
    most = "up to " if experiment.is_sequential else ""
    besides = f" and {count - asked} to compare with" if count > asked else ""
    cells = f"{asked} {'cell' if asked == 1 else 'cells'}{besides}"
    typer.echo(f"{experiment.name}: {cells} × {most}{experiment.games:,} games of {experiment.module.TITLE}")
    player = Player(experiment, line_ups)
    start = time.perf_counter()
    with (
        place.open_ledger(player.nothing()) if place else nullcontext(Ledger(player.nothing())) as ledger,
        hire(player, carry_files, load_carried, *crew, keep_rows=bool(writer)) as workers,
    ):
        before = sum(ledger.tallies.games)
        if before:
            typer.echo(f"going on from {before:,} games played before")
        with _progress(experiment.games * count, ledger) as advance:

            def keep(played: Any) -> None:
                if writer:
                    writer.write(played)
                advance()

            known = (lambda so_far: find_open(_run_of(experiment, so_far))) if experiment.is_sequential else None
            play_on(player, workers, ledger, known, keep, block_games=player.chunk_games if writer else None)
    seconds = time.perf_counter() - start
    tallies = ledger.tallies
    total = sum(tallies.games) - before
    typer.echo(f"played {total:,} games in {seconds:.1f} s ({_show_rate(total / seconds)})")
    failures = {cell: explain(experiment, line_ups, cell, failure) for cell, failure in sorted(tallies.failed.items())}
    return tallies.without_failed([(pair.cell, pair.reference) for pair in experiment.pairs]), failures


def _answer(
    experiment: Any,
    crew: tuple[str, int, str],
    tell: Callable[[Any, int], list[str]] = lambda *_: [],
    must_watch: Callable[[Any], bool] = lambda _: False,
) -> None:
    """Play an experiment, store nothing, and print what `tell` says of it and what it answers; if `must_watch`, with a look at decisions, too."""
    from policies.loading import load_line_ups

    _say_compiling()
    line_ups = load_line_ups(experiment)
    tallies, failures = _play(experiment, line_ups, crew)
    found = _run_of(experiment, tallies, failures)
    if not failures and must_watch(found):
        from sim.usage import count_usage

        found = _run_of(experiment, tallies, failures, count_usage(experiment, line_ups, jobs=crew[1]))
    _print_lines(tell(found, _find_width()))
    _print_answers(found)


def _run_of(experiment: Any, tallies: Any, failures: dict[int, str] | None = None, usage: Sequence[Any] = ()) -> Any:
    """What was played so far, as the reports read it."""
    from reports.run import Run
    from sim.store import build_arrays, build_manifest, fill_manifest

    return Run((fill_manifest(build_manifest(experiment, ""), tallies, failures), build_arrays(tallies, usage)))


def _report(folder: Path, plots: bool, language: str) -> None:
    """Write a stored run's report or tables, print its verdicts, exit with their code."""
    from reports.run import Run
    from sim.store import read_unfinished

    unfinished = read_unfinished(folder)
    run = Run(unfinished or folder)
    if unfinished:
        typer.echo(f"{folder}: unfinished; the same command of `housecarlo run` goes on")
    _write_report(run, folder, plots, language)
    _print_answers(run)


def _print_answers(run: Any) -> None:
    """What a run answers, one line each: comparison, targets, precision, controls; exit with their code, or 2 if a policy failed."""
    from reports.answers import answer

    lines, code = answer(run, _find_width())
    _print_lines(lines)
    for _, failure in run.failed:
        typer.echo(f"housecarlo: {failure}", err=True)
    if run.failed or code:
        raise typer.Exit(2 if run.failed else code)


def _find_width() -> int:
    """Characters in a line of the terminal; 0 where there is none."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _print_lines(lines: Sequence[str]) -> None:
    """Print lines, on a terminal broken between words."""
    import textwrap

    width = _find_width()
    for line in lines:
        indent = "    " if line.startswith(" ") else "  "
        wrapped = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, replace_whitespace=False) if 0 < width < len(line) else [line]
        for part in wrapped:
            typer.echo(part)


@contextmanager
def _progress(games: int, ledger: Any) -> Iterator[Callable[[], None]]:
    """A live bar with games/s and time left on a terminal; a plain line every ten seconds elsewhere. `games`: of all cells.

    Where no block ends for STUCK_SECONDS, a line says so: a policy that never returns cannot be told from a slow one.
    """
    import threading

    def watch() -> threading.Timer:
        timer = threading.Timer(STUCK_SECONDS, _say_stuck)
        timer.daemon = True
        timer.start()
        return timer

    stuck = watch()
    try:
        with _show_progress(games, ledger) as advance:

            def advance_unstuck() -> None:
                nonlocal stuck
                stuck.cancel()
                stuck = watch()
                advance()

            yield advance_unstuck
    finally:
        stuck.cancel()


def _say_stuck() -> None:
    typer.echo(f"no block of games has ended for {STUCK_SECONDS} s: a policy is slow, or never returns; Ctrl-C stops, and keeps what is finished", err=True)


@contextmanager
def _show_progress(games: int, ledger: Any) -> Iterator[Callable[[], None]]:
    before = sum(ledger.tallies.games)
    if not sys.stderr.isatty():
        yield _plain_progress(games, ledger)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("playing"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=games, completed=before, rate="")

        def advance() -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=sum(ledger.tallies.games), rate=_show_rate(speed) if speed else "")

        yield advance


def _show_rate(games_per_second: float) -> str:
    return f"{games_per_second / 1e6:.2f} million games/s" if games_per_second >= 1e5 else f"{games_per_second:,.0f} games/s"


def _plain_progress(games: int, ledger: Any) -> Callable[[], None]:
    import time

    start = last = time.monotonic()
    before = sum(ledger.tallies.games)

    def advance() -> None:
        nonlocal last
        now = time.monotonic()
        played = sum(ledger.tallies.games)
        if now - last >= 10 and played > before:
            last = now
            left = (now - start) * (games - played) / (played - before)
            typer.echo(f"{played:,} of {games:,} games, {_show_rate((played - before) / (now - start))}, {left:.0f} s left", err=True)

    return advance


def _write_report(run: Any, folder: Path, plots: bool, language: str) -> None:
    if plots:
        from reports.report import build_report

        typer.echo("writing the report", err=True)
        build_report(folder, language, run)
        typer.echo(f"report: {folder / 'report.html'}")
    else:
        from reports.tables import build_tables

        build_tables(folder, run)
        typer.echo(f"tables: {folder / 'metrics.csv'}")


if __name__ == "__main__":
    app()
