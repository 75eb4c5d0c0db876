"""What a run answers, line by line as on the terminal: comparison, targets, precision, controls; and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reports.controls import control
from reports.findings import explain_no_effect, find_idle
from reports.ladder import find_ladder
from reports.languages import say
from reports.results import tell_apart, write_interval
from reports.run import OF_SEATS, Run
from reports.verdicts import (
    Comparison,
    align,
    changes_anything,
    compare,
    find_imprecise,
    judge,
    tell_agreement,
    translate_words,
    write_comparison,
    write_imprecise,
    write_verdict,
)

FAILED, UNDECIDED, CONTROL_FAILED = 1, 3, 4  # exit codes; 0: all is well, 2: a user's mistake


def tell_simultaneous() -> str:
    """How the intervals of targets hold together."""
    return say(
        "The intervals of the targets hold together: of m lines each errs with chance 5%/m (Bonferroni), so with 95% chance not one verdict of all is "
        "wrong. PASS: the interval lies within the band; FAIL: outside; UNDECIDED: neither."
    )


def tell_sequences() -> list[str]:
    """The intervals of a run that plays until enough is known."""
    return [
        say(
            "Play went on until what was asked was known or decided, so every interval is a confidence sequence: it holds at whatever number of games "
            "play stops, however often one looks."
        ),
        say(
            "Shares: beta-binomial mixture (Robbins, Annals of Mathematical Statistics 41, 1970; Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics "
            "49, 2021); quantiles: the same on the share of games not beyond them."
        ),
        say(
            "Means and paired differences: asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024); "
            "differences of shares from the limits of both shares and their correlation. Differences are over the games that both cells played; those of "
            "quantiles, from a paired bootstrap over 32 groups of games, are over all games of either."
        ),
    ]


def tabulate_answers(run: Run) -> dict[str, Any]:
    """Targets, precision not reached and controls, as the report shows them."""
    words, verdicts = translate_words(), judge(run)
    keys = ("verdict", "figure", "cell", "value", "band", "games")
    return {
        "verdicts": [dict(zip(keys, write_verdict(run, verdict), strict=True)) | {"word": words[verdict.word]} for verdict in verdicts],
        "agreement": tell_agreement(run, verdicts),
        "imprecise": [write_imprecise(run, *one) for one in find_imprecise(run)],
        "controls": control(run),
    }


def answer(run: Run, width: int = 0) -> tuple[list[str], int]:
    """Targets, precision not reached, knobs without effect and controls, one line each, and the exit code: the gravest of what was found.

    `width` as of `align`.
    """
    verdicts, controls = judge(run), control(run)
    lines = align([write_verdict(run, verdict) for verdict in verdicts], width) if verdicts else []
    lines += [f"robust?  {text}" for text in tell_agreement(run, verdicts)]
    lines += [f"not as precise as asked: {write_imprecise(run, *one)}" for one in find_imprecise(run)]
    lines += [f"note: {text}" for text in find_idle(run)]
    for one in controls:
        found = "CONTROL FAILED" if not one.passed else "control" if one.could_fail else "control (too few games to tell)"
        lines.append(f"{found}  {one.name}: {one.text}")
    words = {verdict.word for verdict in verdicts}
    if not all(one.passed for one in controls):
        return lines, CONTROL_FAILED
    return lines, FAILED if "FAIL" in words else UNDECIDED if "UNDECIDED" in words else 0


def tell_ladder(run: Run, width: int = 0) -> list[str]:
    """Ratings, best first, what seat 0 is worth, and how much of who wins is skill."""
    ladder = find_ladder(run)
    assert ladder is not None
    names = [("rating", name, write_interval(rating, signed=True)) for name, rating in ladder.ratings]
    return [
        *align([*names, ("seat 0", "is worth", write_interval(ladder.advantage, signed=True))], width),
        f"skill   the better of two unlike policies wins {write_interval(ladder.better_wins, '%')}; 50% would be luck alone, 100% skill alone",
        "ratings are points as of Elo, mean 0: 100 more win 64%, 200 more 76%; a game nobody wins counts as half a win for each; intervals are 95% each",
    ]


def tell_comparison(run: Run, width: int = 0) -> list[str]:
    """The headline figures of the first cell against the baseline, one line each; what changed, how even the seats are and how long a game is."""
    lines = compare(run)
    rows = [write_comparison(run, line) for line in lines]
    cell, baseline = run.cells[0], run.played[run.cells[0]["baseline"]]
    kind = "confidence sequences" if run.anytime else "intervals"
    note = f"{kind} of differences hold together with 95%; those of figures are 95% each; paired ×r: unpaired, r times the games would be needed"
    assumed = "; † rests on assumed figures: see `housecarlo rules`" if any(run.assumes(line.name.partition("[")[0]) for line in lines) else ""
    return [
        f"{' → '.join(filter(None, tell_apart(baseline, cell)))}, seed {run.manifest['seed']}",
        *(align(rows, width) if rows else []),
        *_sum_up(run, lines, rows),
        note + assumed,
    ]


def _sum_up(run: Run, lines: Sequence[Comparison], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """What changed and what is not seen to, and the two things people ask of a house rule; `rows` are the lines as texts."""
    if not lines:
        return
    words = {"HIGHER": "up", "LOWER": "down", "EQUAL": "the same in every game", "UNDECIDED": "no change seen"}
    names: dict[str, list[str]] = {word: [] for word in words}
    for found, name, *_ in rows:
        names[found].append(name)
    yield "in short: " + "; ".join(f"{words[word]}: {', '.join(among)}" for word, among in names.items() if among)
    if not changes_anything(run) and run.cells[0]["baseline"] != run.cells[0]["cell"]:
        yield f"not one game came out differently.{explain_no_effect(run, [(run.cells[0]['cell'], run.cells[0]['baseline'])])}"
    alike = len({policy["label"] for policy in run.cells[0]["policies"]}) == 1
    texts = {line.name: row for line, row in zip(lines, rows, strict=True) if alike or line.name not in OF_SEATS}
    for name, question, told in (("seat_gap", "fair?", "between the seats' win rates"), ("mean_minutes", "how long?", "on average")):
        if name in texts:
            found, _, change, figures, *_ = texts[name]
            yield f"{question} {figures.rpartition(' → ')[2]} {told}; {words[found]}{'' if found == 'EQUAL' else f': {change}'}"
