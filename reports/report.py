"""Writes what a run says: tables, plots, report.md and report.html, the last two from one context."""

from __future__ import annotations

import base64
import math
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from reports.answers import tabulate_answers, tell_sequences, tell_simultaneous
from reports.findings import Finding, find
from reports.ladder import Ladder, find_ladder
from reports.languages import language, load_speech, localize, say, speak, word, write_count
from reports.results import LINE_UP, Change, Figure, Results, adapt_digits, choose_digits, name_setting, show_apart, write_interval, write_level, write_number
from reports.run import EXACT, Run
from reports.statistics import Interval
from reports.tables import beside, move_files, write_tables
from reports.verdicts import write_ratio

if TYPE_CHECKING:
    from reports.plots import Plot

TEMPLATES = Path(__file__).parent / "templates"
ROWS_MOST = 2000  # rows of one table in the report; the CSV files hold all


def list_methods(run: Run) -> list[str]:
    """How the figures come about, with sources."""
    games = run.manifest.get("usage_games", 0)
    return [
        say(
            "Every cell plays the same numbered games: game i draws its dice from the same random streams under every setting, so settings are compared "
            "game by game and their differences are mostly known better than the figures themselves "
            "(common random numbers; Law, Simulation Modeling and Analysis, ch. 11)."
        ),
        *(tell_sequences() if run.anytime else tell_intervals()),
        say(
            "Ratings are those of Bradley and Terry (Biometrika 39, 1952) by maximum likelihood (Hunter, Annals of Statistics 32, 2004) with an advantage "
            "of the first seat, in Elo's points; their intervals allow for any correlation between cells that share dice."
        ),
        say(
            "How actions are used is counted in the first {games} games of a cell, with intervals from batches of games. Of those in which an action was "
            "chosen, up to {again} are played again on the same streams with it forbidden wherever another is legal (a policy that insists on it is given "
            "another by lot); the share that ends otherwise has the exact interval of Clopper and Pearson (Biometrika 26, 1934).",
            games=write_count(games),
            again=write_count(run.manifest.get("without_games", 0)),
        ),
        *([tell_simultaneous()] if run.manifest["targets"] else []),
        say(
            "Controls have limits of five sigma that hold wherever play stops (an error of 6 in 10 million), so that none fails by chance; they are wider "
            "than the intervals of the same figures elsewhere."
        ),
        say("Every other interval is a 95% interval of its own: they cover the chance of the dice, not the choice of policies or assumptions."),
    ]


def tell_intervals() -> list[str]:
    """The intervals of a run that plays a number of games fixed beforehand."""
    return [
        say("Shares carry Wilson's score interval (Wilson, Journal of the American Statistical Association 22, 1927)."),
        say(
            "Means carry Student's t interval (Student, Biometrika 6, 1908) with two more games in the variance, one as far to either side as games lie, "
            "so that few unlike games, or none, do not seem certain (for shares: Bonett and Price, Journal of Educational and Behavioral Statistics 37, 2012)."
        ),
        say(
            "Quantiles are the smallest value that the stated share of games does not exceed, with the distribution-free interval between order statistics "
            "(Conover, Practical Nonparametric Statistics, section 3.2); above {exact} units of a column they are known to 1 part in {parts}.",
            exact=write_count(EXACT),
            parts=write_count(EXACT // 2),
        ),
        say(
            "Differences of shares carry the hybrid score interval for paired data (Newcombe, Statistics in Medicine 17, 1998); "
            "differences of means that of means, from the variance of the paired differences; differences of quantiles that of a paired bootstrap over "
            "32 groups of games (1,000 draws, the same for all cells), or, of few games or few values, the limits of both figures, each at half the error."
        ),
    ]


def build_report(folder: Path, language: str = "en", run: Run | None = None) -> list[Path]:
    """Write tables, plots/, report.md and report.html of a run, else of that stored in `folder`, to `folder`; the files written. Raises RunError.

    `language` is one of reports.languages.LANGUAGES; tables name their columns in English in every language.
    The folder plots/ is the report's own: plots of an earlier report are removed from it.
    """
    run = run or Run(folder)
    with speak(load_speech(language, run.manifest["game"])):
        return _write_files(Results(run), folder)


def _write_files(results: Results, folder: Path) -> list[Path]:
    from reports.plots import draw_plots

    with beside(folder) as made:
        write_tables(made, results.metrics, results.cells, results.differences)
        plots = draw_plots(results, made / "plots")
        context = build_context(results, plots)
        (made / "report.md").write_text(render("report.md", context), encoding="utf-8")
        images = {plot.name: _embed(made / "plots" / f"{plot.name}.svg") for plot in plots}
        (made / "report.html").write_text(render("report.html", context | {"images": images}), encoding="utf-8")
        return move_files(made, folder)


def write_replay(manifest: dict[str, Any], cell: int, game: int) -> str:
    """The command that tells one game of a run move by move."""
    settings = [part for override in manifest.get("overrides", []) for part in ("--set", override)]
    words = ["housecarlo", "replay", manifest["experiment_path"], "--game", str(game), "--cell", str(cell), "--seed", str(manifest["seed"])]
    return shlex.join(words + settings)


def render(template: str, context: dict[str, Any]) -> str:
    """A template filled in; whatever stands in the context is shown as typed, whether the template is HTML or Markdown."""
    import jinja2

    html = template.endswith(".html")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=html,
        finalize=None if html else lambda value: value if isinstance(value, Markup) else escape_markdown(str(value)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = mark_code_html if html else mark_code_markdown
    environment.globals |= {"say": say, "word": word, "write_count": write_count, "localize": localize, "language": language()}
    return environment.get_template(template).render(context)


def mark_code_html(text: str) -> Markup:
    """Text with what stands in backticks as code."""
    parts = re.split("`([^`]+)`", text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts))


def mark_code_markdown(text: str) -> Markup:
    """As `mark_code_html`; what would end a table's cell stays text."""
    parts = re.split("`([^`|]+)`", " ".join(text.split()))
    return Markup("".join(f"`{part}`" if n % 2 else escape_markdown(part) for n, part in enumerate(parts)))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as typed, on one line, also within a table."""
    text = re.sub(r"([\\`*\[\]<>&|~$#])|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", " ".join(text.split()))
    return re.sub(r"^(\d*)([-+.)])(?=\s)", r"\1\\\2", text)  # else a list


# ---------------------------------------------------------------- context


def build_context(results: Results, plots: Sequence[Plot]) -> dict[str, Any]:
    """All that both formats show, as plain texts and rows."""
    manifest = results.run.manifest
    ladder = find_ladder(results.run)
    return {
        "title": manifest["title"] or manifest["name"],
        "question": manifest["question"],
        "overrides": ", ".join(manifest.get("overrides", [])),
        "manifest": manifest,
        "cells": _count_cells(results),
        "games": results.games_per_cell,
        "answers": tabulate_answers(results.run),
        "compared_with": _name_baseline(results),
        "findings": [*find(results), *_tell_skill(ladder)],
        "headlines": _tabulate_cells(results),
        "baseline": _describe_baseline(results),
        "plots": plots,
        "differences": _tabulate_differences(results, results.changes, results.headlines),
        "deltas": [_tabulate_deltas(results), _tabulate_against_baseline(results, results.balance, _measures_of(results))],
        "highlights": _list_highlights(results),
        "rules": _list_rules(results),
        "policies": _list_policies(results),
        "ladder": _list_ladder(ladder),
        "method": list_methods(results.run),
        "metrics": _tabulate_metrics(results),
        "glossary": [(name, results.meaning(name), word(metric["unit"])) for name, metric in results.run.metrics.items()],
        "fence": "`" * max(3, 1 + max(map(len, re.findall("`+", manifest["experiment"])), default=0)),
    }


def _count_cells(results: Results) -> str:
    count, besides = len(results.run.cells), len(results.run.played) - len(results.run.cells)
    cells = say("1 cell") if count == 1 else say("{count} cells", count=write_count(count))
    if besides:
        cells = say("{cells} and {count} to compare with", cells=cells, count=write_count(besides))
    return f"{cells}, {results.games}"


def _limit(rows: list[dict[str, Any]], file: str) -> dict[str, Any]:
    """Rows of a table, and a visible note where some are left out."""
    note = say("The first {shown} of {all} rows; {file} holds all.", shown=write_count(ROWS_MOST), all=write_count(len(rows)), file=file)
    return {"rows": rows[:ROWS_MOST], "note": note if len(rows) > ROWS_MOST else ""}


def _head(results: Results, figure: Figure, difference: bool = False) -> dict[str, str]:
    return {"name": results.name(figure), "unit": results.unit(figure[0], difference), "meaning": results.meaning(figure[0])}


def _write_entry(interval: Interval | None, digits: int, signed: bool = False, clear: bool = False, ratio: float = math.nan) -> dict[str, Any]:
    """An entry of a table: the figure, its interval, whether it is set off from zero, and what pairing gained."""
    if interval is None:
        return {"value": "–", "interval": "", "bold": False, "ratio": ""}
    digits = adapt_digits(interval, digits)
    if clear:
        digits = max(digits, show_apart(interval))
    value, low, high = (write_number(x, digits, signed) for x in interval)
    return {"value": value, "interval": "" if low == high == "–" else say("{low} to {high}", low=low, high=high), "bold": clear, "ratio": write_ratio(ratio)}


def _write_figure(results: Results, cell: int, figure: Figure, digits: int) -> dict[str, Any]:
    """An entry of a cell's figure, if it has it; of a mean that never varied without an interval."""
    entry = _write_entry(results.figures.get((cell, figure)), digits)
    return entry | {"interval": results.never_varied(cell, figure) or entry["interval"]}


def _tabulate_cells(results: Results) -> dict[str, Any]:
    """One row a cell, one column a headline figure; decimals are alike within a column."""
    cells = range(len(results.run.played))
    digits = {f: choose_digits(i for cell in cells if (i := results.figures.get((cell, f)))) for f in results.headlines}
    rows = [
        {"cell": cell, "label": results.name_cell(cell), "entries": [_write_figure(results, cell, f, digits[f]) for f in results.headlines]} for cell in cells
    ]
    return {"heads": [_head(results, f) for f in results.headlines], **_limit(rows, "cells.csv")}


def _tabulate_deltas(results: Results) -> dict[str, Any]:
    """As `_tabulate_differences`, every cell against the baseline; no rows where that table holds all of them."""
    if set(map(_key, results.deltas)) <= set(map(_key, results.changes)):
        return {"heads": [], "rows": [], "note": ""}
    return _tabulate_against_baseline(results, results.deltas, results.headlines)


def _tabulate_against_baseline(results: Results, changes: Sequence[Change], figures: Sequence[Figure]) -> dict[str, Any]:
    table = _tabulate_differences(results, changes, figures)
    for row in table["rows"]:
        row["change"] = results.name_cell(row["cell"])
    return table


def _measures_of(results: Results) -> list[Figure]:
    """The measures of balance that are compared."""
    return list(dict.fromkeys(change.figure for change in results.balance))


def _key(change: Change) -> tuple[int, int]:
    return change.cell, change.reference


def _tabulate_differences(results: Results, changes: Sequence[Change], figures: Sequence[Figure]) -> dict[str, Any]:
    """One row a pair of cells, one column a figure."""
    digits = {f: choose_digits(c.interval for c in changes if c.figure == f and not c.same) for f in figures}
    pairs: dict[tuple[int, int, str], dict[str, Any]] = {}
    for c in changes:
        row = pairs.setdefault(
            (c.cell, c.reference, c.setting),
            {
                "cell": c.cell,
                "change": f"{name_setting(c.setting)}: {c.start}\u00a0→\u00a0{c.end}",
                "context": results.describe_others(c.cell, c.setting),
                "entries": {f: _write_entry(None, 0) for f in figures},
            },
        )
        entry = _write_entry(c.interval, digits[c.figure], True, c.clear, c.ratio)
        row["entries"][c.figure] = entry | {"value": "0", "interval": say("no game differs"), "bold": False, "ratio": ""} if c.same else entry
    rows = [row | {"entries": list(row["entries"].values())} for row in pairs.values()]
    return {"heads": [_head(results, f, difference=True) for f in figures], **_limit(rows, "differences.csv")}


def _tabulate_metrics(results: Results) -> dict[str, Any]:
    """Every figure of every cell."""
    rows = [
        {
            "cell": cell,
            "label": results.name_cell(cell),
            "figure": results.name(figure),
            "unit": results.unit(figure[0]),
            "games": write_count(results.counts[cell, figure]),
            **_write_figure(results, cell, figure, choose_digits([interval])),
        }
        for (cell, figure), interval in results.figures.items()
    ]
    return _limit(rows, "metrics.csv")


def _name_baseline(results: Results) -> str:
    """What every cell is compared with."""
    numbers = {change.reference for change in results.deltas}
    if len(numbers) > 1:
        return say("the baseline's rules with the same players")
    return ", ".join(results.name_cell(n) if results.run.played[n].get("purpose") else say("cell {numbers}", numbers=n) for n in numbers)


def _describe_baseline(results: Results) -> str:
    """What the cell called baseline is; empty in a grid."""
    if results.run.manifest["sweep_mode"] != "one-at-a-time" or not results.levels:
        return ""
    return ", ".join(f"{name_setting(s)} {level}" for s, level in zip(results.run.swept, results.levels[0], strict=True) if s != LINE_UP)


def _list_highlights(results: Results) -> dict[str, Any]:
    columns = results.run.columns
    rows = [
        {
            "cell": found["cell"],
            "label": results.name_cell(found["cell"]),
            "name": word(found["name"]),
            "meaning": word(found["meaning"]),
            "game": found["game"],
            "values": ", ".join(_write_outcome(columns[name], value) for name, value in found["values"].items()),
            "command": write_replay(results.run.manifest, found["cell"], found["game"]),
        }
        for found in results.run.manifest["highlights"]
    ]
    return _limit(rows, "manifest.json")


def _write_outcome(column: dict[str, Any], value: int) -> str:
    number = localize(f"{value * column['scale']:g}").replace("-", "−")
    return f"{word(column['name'].replace('_', ' '))} {number}"


def _list_rules(results: Results) -> list[dict[str, str]]:
    """Every knob: its value in this run, the rulebook's, and whether the run swept or changed it."""
    sweep = results.run.manifest["sweep"]
    rules = results.run.cells[0]["rules"]
    rows = []
    for knob in results.run.manifest["knobs"]:
        name = knob["knob"]
        swept = sweep.get(f"rules.{name}")
        value = rules[name]
        rows.append(
            {
                "knob": name,
                "value": " | ".join(map(_write_value, swept)) if swept else _write_value(value),
                "default": _write_value(knob["default"]),
                "unit": word(knob["unit"]),
                "meaning": word(knob["meaning"]),
                "clause": word(knob["clause"]),
                "mark": "swept" if swept else "changed" if value != knob["default"] else "",
                "marked": say("swept") if swept else say("changed"),
            }
        )
    return rows


def _write_value(value: Any) -> str:
    """A knob's value as an experiment file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(_write_value, value)) if isinstance(value, list) else write_level(value)


def _list_policies(results: Results) -> list[dict[str, Any]]:
    """Who plays each seat, and in which cells."""
    cells: dict[tuple[int, str], list[int]] = {}
    for cell in results.run.played:
        for seat, policy in enumerate(cell["policies"]):
            cells.setdefault((seat, policy["label"]), []).append(cell["cell"])
    count = len(results.run.played)
    return [{"seat": seat, "policy": label, "cells": _name_cells(among, count)} for (seat, label), among in sorted(cells.items(), key=lambda item: item[0])]


def _name_cells(among: Sequence[int], count: int) -> str:
    if len(among) == count:
        return say("all cells")
    return say("cell {numbers}", numbers=among[0]) if len(among) == 1 else say("cells {numbers}", numbers=_write_ranges(among))


def _tell_skill(ladder: Ladder | None) -> list[Finding]:
    if not ladder:
        return []
    text = say(
        "Over all pairings of two unlike policies the better one wins {share} of the games, a game nobody wins counting half: "
        "50% would be luck alone, 100% skill alone.",
        share=write_interval(ladder.better_wins, "%"),
    )
    return [Finding("finding", say("Skill and luck:"), text)]


def _list_ladder(ladder: Ladder | None) -> dict[str, Any] | None:
    """The skill ladder: a row a policy, and what the seats are worth."""
    if not ladder:
        return None
    rows = [{"policy": name, **_write_entry(rating, 0, signed=True)} for name, rating in ladder.ratings]
    note = say("Sitting on seat 0 is worth {points} points.", points=write_interval(ladder.advantage, signed=True))
    return {"rows": rows, "note": note}


def _write_ranges(numbers: Sequence[int]) -> str:
    """`0 to 3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(say("{first} to {last}", first=run[0], last=run[-1]) if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _embed(path: Path) -> str:
    """An image as a data URI, so that the report needs no other file."""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
