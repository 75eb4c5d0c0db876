"""What a run shows, in plain sentences, each figure with its 95% interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reports.languages import localize, say, word, write_count
from reports.results import (
    ASSUMED,
    BASELINE,
    LINE_UP,
    POLICY,
    Change,
    Figure,
    Results,
    describe_column,
    join_words,
    name_action,
    name_level,
    name_setting,
    quote,
    read_rows,
    round_up,
    start_capital,
    write_interval,
    write_level,
)
from reports.run import EFFECT, OF_RACE, UNFINISHED, USE, WIN, Run
from reports.statistics import Interval, share
from reports.tables import compare_seats, confidence_of, text_of

WINNER_LED = "winner_led_at_half"
DRAMA: Figure = ("mean_drama", None)
DECISIVE: Figure = ("decisive_moment", None)
SETTINGS_TOLD = 6  # swept settings with sentences of their own; the others are named
STEPS_TOLD = 4  # levels of a setting told one by one
COMBINATIONS_TOLD = 4  # cells that differ from the baseline in several settings told one by one
FIGURES_TOLD = 4  # further figures told for a setting
WATCHED_LEAST = 1000  # games in which decisions are watched; of fewer it is not said that an action is never chosen
RARE_MOST = 0.01  # of the games in which decisions are watched: an action chosen in fewer is hardly used
IDLE_MOST = 25.0  # percent of the games an action may yet decide and still be told to decide none
FAILURES_TOLD = 5  # cells that failed told one by one


@dataclass(frozen=True)
class Finding:
    """One bullet of the findings: what it is about and what is seen. A warning is marked as such, a note is about the figures."""

    kind: Literal["finding", "warning", "note"]
    subject: str
    text: str


def find(results: Results) -> list[Finding]:
    """The findings, most important first: warnings, effects (or the one cell's figures), balance of seats, lead, length, notes."""
    return [
        *_warn_of_partial(results),
        *_warn_of_failed(results),
        *_warn_of_unfinished(results),
        *_tell_robustness(results),
        *_tell_findings(results),
        *_tell_sensitivity(results),
        *_tell_balance(results),
        *_tell_lead(results),
        *_tell_drama(results),
        *_tell_dead_actions(results),
        *_tell_rare_actions(results),
        *_tell_idle_actions(results),
        *_tell_kingmaking(results),
        *_tell_lengths(results),
        *_note_idle(results),
        *_note_comparisons(results),
        *_note_assumed(results),
    ]


def _tell_findings(results: Results) -> list[Finding]:
    if LINE_UP in results.run.swept:
        return []  # told line-up by line-up
    figures = [] if len(results.run.cells) > 1 else _tell_figures(results)
    return figures + _tell_effects(results)


# ---------------------------------------------------------------- effects of swept settings


def _tell_effects(results: Results) -> list[Finding]:
    by_setting: dict[str, list[Change]] = {}
    for change in results.changes:
        by_setting.setdefault(change.setting, []).append(change)
    clear = {s: changes for s, changes in by_setting.items() if any(c.clear for c in changes)}
    ranked = sorted(clear, key=lambda s: -max(_weigh(results, c) for c in clear[s]))
    findings = [_tell_setting(results, clear[s]) for s in ranked[:SETTINGS_TOLD]]
    if ranked[SETTINGS_TOLD:]:
        strongest = [max(clear[s], key=lambda c: _weigh(results, c)) for s in ranked[SETTINGS_TOLD:]]
        others = [say("{setting} ({change})", setting=name_level(c.setting, c.end), change=_write_move(results, c)) for c in strongest]
        findings.append(
            Finding("finding", say("Further effects:"), say("seen of {settings}; the table of differences lists them.", settings=join_words(others)))
        )
    findings += [_tell_no_effect(results, changes) for s, changes in by_setting.items() if s not in clear]
    return findings + _tell_combinations(results)


def _tell_combinations(results: Results) -> list[Finding]:
    """What few cells change that differ from the baseline in more than one setting, all told."""
    by_cell: dict[int, list[Change]] = {}
    for change in results.deltas:
        if change.setting == BASELINE:
            by_cell.setdefault(change.cell, []).append(change)
    if len(by_cell) > COMBINATIONS_TOLD:
        return []
    return [
        Finding("finding", say("{cell}, against the baseline:", cell=results.place(cell)), _tell_moves(results, changes)) for cell, changes in by_cell.items()
    ]


def _tell_moves(results: Results, changes: Sequence[Change]) -> str:
    """Which headline figures a pair of cells moves, and which it is not seen to."""
    moved = sorted((c for c in changes if c.clear), key=lambda c: -_weigh(results, c))
    still = [c for c in changes if not c.clear and not c.same]
    parts = [join_words([_write_move(results, c) for c in moved])] if moved else []
    if still:
        names = list(dict.fromkeys(results.name((c.figure[0], None)) for c in still))
        parts.append(say("no effect seen on {figures} (within {bounds})", figures=join_words(names), bounds=_write_bounds(results, still)))
    return f"{'; '.join(parts)}." if parts else say("not one game came out differently.")


def _tell_setting(results: Results, changes: Sequence[Change]) -> Finding:
    """The figure that a setting moves most, level by level; how far that depends on the other settings; then the other figures."""
    lead = _choose_lead(results, changes)
    base = min(c.reference for c in changes if c.figure == lead)
    steps = [c for c in changes if c.figure == lead and c.reference == base]
    told = steps if len(steps) <= STEPS_TOLD else _choose_steps(steps)
    unit = results.unit(lead[0], difference=True)
    up, down = (all(_sign(c.interval) == sign for c in told) for sign in (1, -1))
    of_each = [(quote(c.end), _write_amount(c, up or down, unit if c is told[0] else "")) for c in told]
    amounts = [say("by {amount} with {end}", amount=a, end=end) if up or down else say("{amount} with {end}", amount=a, end=end) for end, a in of_each]
    before = {"figure": results.name(lead), "before": results.write(base, lead), "start": quote(told[0].start), "changes": join_words(amounts)}
    if up:
        text = say("{figure} at {before} with {start}, up {changes}", **before)
    elif down:
        text = say("{figure} at {before} with {start}, down {changes}", **before)
    else:
        text = say("{figure} at {before} with {start}; {changes}", **before)
    context = results.tell_cell(told[0].cell, told[0].setting)
    text += f"{say(' ({settings})', settings=context) if context else ''}."
    strongest = max(told, key=lambda c: abs(c.interval.value))
    some = "" if len(told) == len(steps) else say(" ({told} of {all} levels told)", told=len(told), all=len(steps))
    subject = f"{name_setting(told[0].setting)}{some}:"
    return Finding("finding", subject, text + _tell_range(results, changes, strongest) + _tell_others(results, changes, lead, base))


def _write_amount(change: Change, one_way: bool, unit: str) -> str:
    if change.same:
        return say("0 (no game differs)")
    return write_interval(_magnitude(change.interval), unit) if one_way else write_interval(change.interval, unit, signed=True)


def _tell_range(results: Results, changes: Sequence[Change], step: Change) -> str:
    """How a step's change differs over the levels of the other settings."""
    same = sorted((c for c in changes if c.figure == step.figure and c.end == step.end), key=lambda c: c.interval.value)
    if len(same) < 2:
        return ""
    unit = results.unit(step.figure[0], difference=True)
    others = [name_setting(s) for s in results.run.swept if s != step.setting]
    if len(others) == 1:
        over = say("{count} levels of {setting}", count=len(same), setting=others[0])
    else:
        over = say("{count} combinations of the other settings", count=len(same))
    if same[0].interval == same[-1].interval:
        return say(" The change with {end} is the same over the {levels}.", end=quote(step.end), levels=over)
    least, most = (
        say("{amount} with {end}", amount=write_interval(c.interval, of, signed=True), end=results.tell_cell(c.cell, c.setting) or results.place(c.cell))
        for c, of in ((same[0], unit), (same[-1], ""))
    )
    return say(" Over the {levels}, the change with {end} goes from {least} to {most}.", levels=over, end=quote(step.end), least=least, most=most)


def _tell_others(results: Results, changes: Sequence[Change], lead: Figure, base: int) -> str:
    """The further metrics that a setting moves, each by its strongest step; those that only the table tells; and those it is not seen to move."""
    seen = {lead}
    strongest: dict[str, Change] = {}
    still: dict[str, list[Figure]] = {}
    for figure in results.headlines:
        of_figure = [c for c in changes if c.figure == figure]
        if not all(c.same for c in of_figure) and not any(c.clear for c in of_figure):
            still.setdefault(figure[0], []).append(figure)
        told = [c for c in of_figure if c.reference == base and c.clear and figure != lead]
        strongest |= {figure[0]: max([*told, *([strongest[figure[0]]] if figure[0] in strongest else [])], key=lambda c: _weigh(results, c))} if told else {}
    moved: dict[str, list[str]] = {}
    for change in sorted(strongest.values(), key=lambda c: -_weigh(results, c))[:FIGURES_TOLD]:
        of_pair = [c for c in changes if (c.cell, c.reference) == (change.cell, change.reference)]
        of_step = [c for c in of_pair if c.figure[0] == change.figure[0] and c.figure != lead and c.clear]
        seen |= {c.figure for c in of_step}
        moved.setdefault(change.end, []).extend(_write_move(results, c) for c in of_step)  # of every seat, not of one alone
    if len({c.end for c in changes}) > 1:
        text = "".join(say(" Also with {end}: {changes}.", end=quote(end), changes=join_words(moves)) for end, moves in moved.items())
    else:
        text = "".join(say(" Also: {changes}.", changes=join_words(moves)) for moves in moved.values())
    unmoved = [
        say("{figure} (within {bounds})", figure=_name_seats(results, figures), bounds=_write_bounds(results, [c for c in changes if c.figure in figures]))
        for figures in still.values()
    ]
    more = list(dict.fromkeys(results.name(c.figure) for c in changes if c.clear and c.figure not in seen))
    text += say(" The table of differences has effects on {figures}, too.", figures=join_words(more)) if more else ""
    return text + (say(" No effect seen on {figures}.", figures=join_words(unmoved)) if unmoved else "")


def _name_seats(results: Results, figures: Sequence[Figure]) -> str:
    """A metric of some seats; of all that have it, its name alone."""
    of_metric = [f for f in results.headlines if f[0] == figures[0][0]]
    if len(figures) == 1 or len(figures) < len(of_metric):
        return join_words([results.name(f) for f in figures])
    return results.name((figures[0][0], None))


def _write_move(results: Results, change: Change) -> str:
    amount = write_interval(_magnitude(change.interval), results.unit(change.figure[0], difference=True))
    if change.interval.value > 0:
        return say("{figure} up by {amount}", figure=results.name(change.figure), amount=amount)
    return say("{figure} down by {amount}", figure=results.name(change.figure), amount=amount)


def _tell_no_effect(results: Results, changes: Sequence[Change]) -> Finding:
    steps = list({c.end: c for c in changes}.values())
    if not any((c.cell, c.reference) in results.differing for c in changes):
        text = say("no effect; not one of the {games} games came out differently.", games=write_count(results.run.cells[steps[0].cell]["games"]))
        text += explain_no_effect(results.run, {(c.cell, c.reference) for c in changes})
    else:
        text = say("no effect seen at this number of games: none larger than {bounds} in any headline figure.", bounds=_write_bounds(results, changes))
    ends = join_words([c.end for c in steps])
    return Finding("finding", say("{setting} from {start} to {end}:", setting=name_setting(steps[0].setting), start=steps[0].start, end=ends), text)


def explain_no_effect(run: Run, pairs: Iterable[tuple[int, int]]) -> str:
    """What the cells of pairs without any difference allow that nobody does; empty if nothing."""
    idle: set[int] = set()
    added: set[int] = set()
    games = run.manifest.get("usage_games", 0)
    for cell, reference in pairs if run.actions and games >= WATCHED_LEAST else ():
        if run.played[cell]["policies"] != run.played[reference]["policies"]:
            continue
        (legal, chosen), (legal_before, _) = (run.usage(number).sum(axis=0) for number in (cell, reference))
        idle |= {action for action in np.flatnonzero((legal > 0) & (chosen == 0)).tolist() if action < len(run.actions) and run.actions[action]}
        added |= {action for action in idle if not legal_before[action]}
    names = join_words([name_action(run.actions[action]) for action in sorted(added or idle)])
    if added:
        return say(" It allows {actions}, which nobody who plays here chose in {games} games; other policies may.", actions=names, games=write_count(games))
    if not idle or find_idle(run):  # a knob that matters with other rules only is told by itself
        return ""
    return say(" In {games} games nobody who plays here chose {actions}: a rule about that may matter to others.", actions=names, games=write_count(games))


def _write_bounds(results: Results, changes: Sequence[Change]) -> str:
    """How large a change may be, by the intervals: one bound for each unit."""
    bounds: dict[str, float] = {}
    for change in (c for c in changes if not c.same):
        unit = results.unit(change.figure[0], difference=True)
        if math.isnan(change.interval.low) or math.isnan(change.interval.high):
            return say("no bound: too few games")
        bounds[unit] = max(bounds.get(unit, 0.0), abs(change.interval.low), abs(change.interval.high))
    return join_words([f"±{round_up(bound)} {unit}".rstrip() for unit, bound in bounds.items()])


def _choose_lead(results: Results, changes: Sequence[Change]) -> Figure:
    """For the policy of a seat that seat's wins; else the first headline moved at least a third as much as the one moved most."""
    policy = POLICY.match(changes[0].setting)
    own = [c.figure for c in changes if policy and c.clear and c.figure == (WIN, int(policy["seat"]))]
    if own:
        return own[0]
    weights = {figure: max((_weigh(results, c) for c in changes if c.figure == figure), default=0.0) for figure in results.headlines}
    return next(figure for figure, weight in weights.items() if 3 * weight >= max(weights.values()))


def _choose_steps(steps: Sequence[Change]) -> list[Change]:
    """The steps with the least and the greatest change, and the last one, in order."""
    least, most = (choose(steps, key=lambda c: c.interval.value) for choose in (min, max))
    return [c for c in steps if c in (least, most, steps[-1])]


def _weigh(results: Results, change: Change) -> float:
    """How much a clear change matters: shares by their points, means by the part of the reference they change; 1 at most."""
    if not change.clear:
        return 0.0
    if results.run.metrics[change.figure[0]]["kind"] == "share":
        return abs(change.interval.value) / 100
    before = abs(results.figures[change.reference, change.figure].value)
    return min(abs(change.interval.value) / before, 1.0) if before else 1.0


def _magnitude(interval: Interval) -> Interval:
    """A change told by rises or falls: without its sign."""
    return interval if interval.value >= 0 else Interval(-interval.value, -interval.high, -interval.low)


# ---------------------------------------------------------------- the same question under each line-up


def _tell_robustness(results: Results) -> list[Finding]:
    """Of each step of a setting: which headline figures move one way under every line-up, and which turn with who plays."""
    if LINE_UP not in results.run.swept:
        return []
    steps: dict[tuple[str, str, str, str], dict[Figure, list[Change]]] = {}
    for change in results.changes:
        others = [level for s, level in zip(results.run.swept, results.levels[change.cell], strict=True) if s not in (change.setting, LINE_UP)]
        steps.setdefault((change.setting, change.start, change.end, ", ".join(others)), {}).setdefault(change.figure, []).append(change)
    return [_tell_step(results, figures) for figures in steps.values()]


def _tell_step(results: Results, figures: dict[Figure, list[Change]]) -> Finding:
    first = next(iter(figures.values()))[0]
    agree, turn = [], []
    some: dict[str, list[str]] = {}
    line_ups = {c.cell: results.line_up(c.cell) for changes in figures.values() for c in changes}
    alike = [line_up for cell, line_up in line_ups.items() if all(c.same for changes in figures.values() for c in changes if c.cell == cell)]
    for figure in (f for f in results.headlines if f in figures):
        changes = figures[figure]
        up = [results.line_up(c.cell) for c in changes if c.interval.low > 0]
        down = [results.line_up(c.cell) for c in changes if c.interval.high < 0]
        name = results.name(figure)
        if up and down:
            turn.append(say("{figure} up with {some} and down with {others}", figure=name, some=join_words(up), others=join_words(down)))
        elif len(up or down) == len(results.run.manifest["sweep"][LINE_UP]):
            least, most = (choose(changes, key=lambda c: abs(c.interval.value)) for choose in (min, max))
            unit = results.unit(figure[0], difference=True)
            span = {"figure": name, "least": write_interval(_magnitude(least.interval), unit), "most": write_interval(_magnitude(most.interval))}
            agree.append(say("{figure} up by {least} to {most}", **span) if up else say("{figure} down by {least} to {most}", **span))
        elif up or down:
            seen = [c for c in changes if c.clear]
            told = _write_move(results, max(seen, key=lambda c: abs(c.interval.value)))
            some.setdefault(join_words(up or down), []).append(told if len(seen) == 1 else say("{change} at most", change=told))
    parts = [
        say("with every line-up {changes}.", changes=join_words(agree)) if agree else "",
        say("The direction turns with who plays: {changes}.", changes="; ".join(turn)) if turn else "",
        *(say("With {line_ups} only: {changes}.", line_ups=names, changes=join_words(told)) for names, told in some.items()),
        say("With {line_ups} not one game came out differently.", line_ups=join_words(alike)) if 0 < len(alike) < len(line_ups) else "",
    ]
    text = " ".join(filter(None, parts)) or say("no effect is seen with any line-up.")
    context = results.describe_others(first.cell, first.setting, LINE_UP)
    subject = say("{setting} from {start} to {end}, under each line-up:", setting=name_setting(first.setting), start=first.start, end=first.end)
    return Finding("finding", subject, text + (say(" ({settings})", settings=context) if context else ""))


# ---------------------------------------------------------------- figures of cells


def _tell_figures(results: Results) -> list[Finding]:
    """For a run without comparisons: how the games of its cell end, and the headline figures."""
    if not results.run.cells[0]["games"]:
        return []
    findings = []
    column = results.run.ending
    if column:
        names = [word(column["labels"][value]) for value in results.run.endings_possible]
        endings = [f"{name} {write_interval(one, '%')}" for name, one in zip(names, share_endings(results.run, 0), strict=True)]
        mark = results.mark(WIN) if results.run.metrics.get(WIN, {}).get("column") == column["name"] else ""
        findings.append(Finding("finding", say("How games end") + mark, f"({describe_column(column)}): {join_words(endings)}."))
    told = [f for f in results.headlines if not (column and results.run.metrics[f[0]]["column"] == column["name"])]
    if told:
        figures = [f"{results.name(f)} {results.write(0, f)}" for f in told]
        findings.append(Finding("finding", say("Headline figures:"), f"{join_words(figures)}."))
    return findings


def share_endings(run: Run, cell: int) -> list[Interval]:
    """Share in percent of each of the run's `endings_possible`."""
    assert run.ending is not None
    sums = run.distribution(cell, run.ending["name"])
    return [Interval(*(100 * x for x in share(sums.count_of(value), sums.n, confidence_of(run)))) for value in run.endings_possible]


def _warn_of_partial(results: Results) -> list[Finding]:
    """How far a run is that is still being played, or was stopped."""
    manifest = results.run.manifest
    if manifest["finished"]:
        return []
    played, asked = sum(cell["games"] for cell in results.run.played), manifest["games"] * len(results.run.played)
    told = say(
        "{played} of {asked} games ({share}%) are played; the same command goes on from there.",
        played=write_count(played),
        asked=write_count(asked),
        share=localize(f"{100 * played / asked:.1f}"),
    )
    return [Finding("warning", say("This run is not finished:"), told)]


def _warn_of_failed(results: Results) -> list[Finding]:
    """Cells that a policy's mistake left without games, each with the mistake."""
    failed = results.run.failed
    told = [Finding("warning", say("Cell {cell} failed:", cell=cell), text) for cell, text in failed[:FAILURES_TOLD]]
    if failed[FAILURES_TOLD:]:
        more = say("{count} cells more have failed; metrics.csv says why.", count=write_count(len(failed) - FAILURES_TOLD))
        told.append(Finding("warning", say("Not all are shown:"), more))
    empty = [cell["cell"] for cell in results.run.played if not cell["games"] and not cell.get("failed")]
    if empty:
        text = say("{count} cells have not been played; their figures are missing.", count=write_count(len(empty)))
        told.append(Finding("warning", say("Without games:"), text))
    return told


def _warn_of_unfinished(results: Results) -> list[Finding]:
    cells = [(results.figures.get((cell["cell"], (UNFINISHED, None))), cell["cell"]) for cell in results.run.cells]
    found = [(interval, cell) for interval, cell in cells if interval and interval.value > 0]
    if not found:
        return []
    most, cell = max(found, key=lambda pair: pair[0].value)
    told = write_interval(most, "%")
    if len(cells) > 1:
        told = say("{share} with {cell}, the most; {some} of {all} cells have some", share=told, cell=results.place(cell), some=len(found), all=len(cells))
    remark = say("They count in shares of all games; means and lengths are over finished games only.")
    return [Finding("warning", say("Unfinished games:"), f"{told} ({results.meaning(UNFINISHED)}). {remark}")]


def _tell_sensitivity(results: Results) -> list[Finding]:
    """In a one-at-a-time sweep of assumed knobs: which of their values change who wins more often, seat 0 or seat 1."""
    run = results.run
    assumed = {f"rules.{knob['knob']}" for knob in run.manifest["knobs"] if knob["assumed"]}
    gaps = []
    for cell in run.cells:
        seats = {f["seat"]: f for f in run.figures(cell) if f["metric"] == WIN}
        changed = {s for s in run.swept if cell["swept"][s] != run.cells[0]["swept"][s]}
        gap = compare_seats(run, cell["cell"], seats[0], seats[1]) if {0, 1} <= seats.keys() and changed <= assumed else None
        if gap:
            gaps.append((Interval(*(100 * v for v in gap)), results.place(cell["cell"])))
    if run.manifest["sweep_mode"] != "one-at-a-time" or len(gaps) < 2 or not run.cells[0]["games"]:
        return []
    (base, _), *others = gaps
    turned = [f"{label}: {write_interval(gap, signed=True)}" for gap, label in others if _sign(gap) != _sign(base)]
    shown = write_interval(base, say("percentage points"), signed=True)
    told = say("the gap of the win rates, seat 0 minus seat 1, is {gap} at the assumed figures.", gap=shown)
    told += say(" Of {all} other values of assumed figures, {some} change whether it is above, below or not told from 0", all=len(others), some=len(turned))
    return [Finding("finding", say("What is assumed:"), f"{told}{': ' if turned else ''}{'; '.join(turned)}.")]


def _sign(interval: Interval) -> int:
    """1 above zero, −1 below it, 0 not told from it."""
    return (interval.low > 0) - (interval.high < 0)


def _tell_balance(results: Results) -> list[Finding]:
    """Win rate of seat 0 minus that of each other seat: for one policy in every seat, under rules alike for all seats or not, and for the others."""
    mirrors: list[tuple[Interval, str]] = []
    handicaps: list[tuple[Interval, str]] = []
    others: list[tuple[Interval, str]] = []
    for cell in results.run.cells:
        seats = {f["seat"]: f for f in results.run.figures(cell) if f["metric"] == WIN and f["seat"] is not None}
        policies = [p["label"] for p in cell["policies"]]
        where = "" if all(s.startswith("policies") for s in results.run.swept) else results.place(cell["cell"])
        for seat in sorted(seats.keys() - {0}):
            found = compare_seats(results.run, cell["cell"], seats[0], seats[seat])
            if found:
                gap = Interval(*(100 * x for x in found))
                alike = len(set(policies)) == 1
                group = mirrors if alike and cell["symmetric"] else handicaps if alike else others
                pair = say("seat 0 ({first}) minus seat {seat} ({other})", first=policies[0], seat=seat, other=policies[seat])
                if alike:
                    pair = say("seat 0 minus seat {seat}", seat=seat)
                group.append((gap, say("{amount} with {end}", amount=pair, end=where) if where else pair))
    findings = []
    if mirrors:
        even = sum(gap.low <= 0 <= gap.high for gap, _ in mirrors)
        gap, where = max(mirrors, key=lambda pair: abs(pair[0].value))
        seen = say("a gap is seen; cells share their dice, so their gaps are one piece of evidence: try another seed or more games")
        verdict = say("no difference between seats is seen") if even == len(mirrors) else seen
        text = say("with the same policy in every seat, {verdict}.", verdict=verdict)
        if len(mirrors) > 1:
            text += say(
                " The interval holds 0 in {even} of {all} comparisons; the largest gap of the win rates is {gap}.",
                even=even,
                all=len(mirrors),
                gap=_write_gap(gap, where),
            )
        else:
            text += say(" The gap of the win rates is {gap}.", gap=_write_gap(gap, where))
        findings.append(Finding("finding", say("Seat balance") + f"{results.mark(WIN)}:", text))
    if handicaps:
        text = say("with the same policy in every seat, {verdict}", verdict=_tell_gaps(handicaps))
        findings.append(Finding("finding", say("Seats of unequal rules") + f"{results.mark(WIN)}:", text))
    if others:
        findings.append(Finding("finding", say("Policies against each other") + f"{results.mark(WIN)}:", _tell_gaps(others)))
    return findings


def _tell_gaps(gaps: Sequence[tuple[Interval, str]]) -> str:
    extremes = dict.fromkeys(choose(gaps, key=lambda pair: pair[0].value) for choose in (min, max))
    least, *most = (_write_gap(gap, where) for gap, where in extremes)
    if most:
        return say("the gap of the win rates goes from {least} to {most}.", least=least, most=most[0])
    return say("the gap of the win rates is {gap}.", gap=least)


def _write_gap(gap: Interval, where: str) -> str:
    return say("{gap} for {seats}", gap=write_interval(gap, say("percentage points"), signed=True), seats=where)


def _tell_lead(results: Results) -> list[Finding]:
    told = _tell_extremes(results, (WINNER_LED, None))
    if not told:
        return []
    return [Finding("finding", say("Lead") + f"{results.mark(WINNER_LED)}:", say("share of won games whose winner led at half-time: {shares}.", shares=told))]


def _tell_drama(results: Results) -> list[Finding]:
    """How far behind winners were, and when the lead was settled: for games that report it."""
    behind, settled = _tell_extremes(results, DRAMA), _tell_extremes(results, DECISIVE)
    if not behind or not settled:
        return []
    text = say(
        "how far the winner was behind, on average over the game: {behind}. Part of the game after which the lead is settled: {settled}.",
        behind=behind,
        settled=settled,
    )
    return [Finding("finding", say("Drama") + f"{results.mark(DRAMA[0])}:", text)]


def _tell_dead_actions(results: Results) -> list[Finding]:
    """Actions that were legal somewhere and chosen nowhere, in the sample that counts them."""
    uses: dict[str, list[Interval]] = {}
    for (_, (metric, _)), interval in results.figures.items():
        if metric.startswith(USE) and not math.isnan(interval.value):
            uses.setdefault(metric, []).append(interval)
    dead = [name_action(metric) for metric, intervals in uses.items() if all(i.value == 0 for i in intervals)]
    if not dead:
        return []
    text = say("legal at times and never chosen: {actions}. Other policies may well use them.", actions=join_words(dead))
    return [Finding("finding", say("Unused actions:"), text)]


def _tell_rare_actions(results: Results) -> list[Finding]:
    """Actions that hardly any game of any cell's sample has, so that the figures say little of rules about them."""
    run, games = results.run, results.run.manifest.get("usage_games", 0)
    most = {
        action: max((int(run.effects(cell["cell"])[n, 0]) for cell in run.cells if not cell.get("failed")), default=0)
        for n, action in enumerate(run.actions)
        if action
    }
    rare = [
        say("{action} (in {some} of {games} games)", action=name_action(action), some=count, games=write_count(games))
        for action, count in most.items()
        if 0 < count < min(RARE_MOST * games, run.manifest.get("without_games", 0))
    ]
    if not rare:
        return []
    text = say("{actions}; figures say next to nothing of a rule about these.", actions=join_words(rare))
    return [Finding("finding", say("Hardly used actions:"), text)]


def _tell_idle_actions(results: Results) -> list[Finding]:
    """Actions that were chosen, and whose prohibition changed how no game ended: each with the most games of one cell, since cells share their luck."""
    tried: dict[str, list[tuple[Interval, int]]] = {}
    for metric, cell, games in read_rows(results.metrics, "metric", "cell", "games"):
        if metric.startswith(EFFECT) and games:
            tried.setdefault(metric, []).append((results.figures[cell, (metric, None)], games))
    idle = []
    for metric, found in tried.items():
        if all(interval.value == 0 for interval, _ in found):
            interval, games = max(found, key=lambda one: one[1])
            if interval.high > IDLE_MOST:  # too few games to speak of
                continue
            bound = say("{share} of the games at most", share=f"{round_up(interval.high)}%")
            idle.append(say("{action} (0 of {games} games; {bound})", action=name_action(metric), games=write_count(games), bound=bound))
    if not idle:
        return []
    text = say("chosen at times; forbidden in those games, they changed how none ended: {actions}.", actions=join_words(idle))
    return [Finding("finding", say("Actions without effect:"), text)]


def _tell_kingmaking(results: Results) -> list[Finding]:
    """How often a seat is out of the race with choices left, and how often those choices decide who wins."""
    out, decides = (_tell_extremes(results, (name, None)) for name in OF_RACE)
    if not out or not decides:
        return []
    text = say(
        "share of games in which a seat that can no longer win still has choices: {out}. Share of these in which such choices, made by lot, change "
        "who wins: {share}.",
        out=out,
        share=decides,
    )
    return [Finding("finding", say("Kingmaking") + f"{results.mark(WIN)}:", text)]


def _tell_lengths(results: Results) -> list[Finding]:
    """The median and the highest quantile that the game reports of each column."""
    by_column: dict[str, list[dict[str, Any]]] = {}
    for metric in results.run.metrics.values():
        if metric["kind"] == "quantile" and not metric["per_seat"]:
            by_column.setdefault(metric["column"], []).append(metric)
    findings = []
    for column, metrics in by_column.items():
        middle = min(metrics, key=lambda m: abs(m["level"] - 0.5))
        highest = max(metrics, key=lambda m: m["level"])
        parts = [
            say("median {values}", values=told)
            if metric["level"] == 0.5
            else say("{part}% of the games at or below: {values}", part=localize(f"{100 * metric['level']:g}"), values=told)
            for metric in ([middle] if middle is highest else [middle, highest])
            if (told := _tell_extremes(results, (metric["name"], None)))
        ]
        if parts:
            subject = start_capital(f"{describe_column(results.run.columns[column])}{results.mark(highest['name'])}:")
            findings.append(Finding("finding", subject, f"{'; '.join(parts)}."))
    return findings


def _tell_extremes(results: Results, figure: Figure) -> str:
    """A figure's value, or its least and greatest over the cells; empty if no cell has it."""
    found = [(i, cell) for cell in range(len(results.run.cells)) if (i := results.figures.get((cell, figure))) and not math.isnan(i.value)]
    if not found:
        return ""
    (least, low), (most, high) = (choose(found, key=lambda pair: pair[0].value) for choose in (min, max))
    if least.value == most.value or results.write(low, figure) == results.write(high, figure):
        everywhere = say(" in every cell") if len(found) == len(results.run.cells) else say(" in every cell that has one")
        return results.write(low, figure) + (everywhere if len(found) > 1 else "")
    return say(
        "from {least} with {lower} to {most} with {upper}",
        least=results.write(low, figure),
        lower=results.place(low),
        most=results.write(high, figure),
        upper=results.place(high),
    )


def find_idle(run: Run) -> list[str]:
    """The knobs that this run changes from the rulebook's and that change nothing in any of its cells, each with what it wants."""
    told = []
    for knob in run.manifest["knobs"]:
        changed = [cell["rules"] for cell in run.cells if cell["rules"][knob["knob"]] != knob["default"]]
        wanted = knob.get("only_if", {})
        if changed and wanted and not any(all(rules[name] == value for name, value in wanted.items()) for rules in changed):
            conditions = join_words([f"{name} {text_of(value)}" for name, value in wanted.items()])
            told.append(say("{knob} changes nothing: it matters only with {conditions}.", knob=knob["knob"], conditions=conditions))
    return told


def _note_idle(results: Results) -> list[Finding]:
    return [Finding("warning", say("Without effect:"), text) for text in find_idle(results.run)]


def _note_comparisons(results: Results) -> list[Finding]:
    count = len({(c.cell, c.reference, c.figure) for c in (*results.changes, *results.deltas, *results.balance) if not c.same})
    if count < 2:
        return []
    text = say("each with its own 95% interval: of 20 such intervals, one is expected to miss the true value.")
    remark = say(" Settings that a sentence does not name stand at their first value.") if results.names_few else ""
    return [Finding("note", say("{count} differences are shown,", count=write_count(count)), text + remark)]


def _note_assumed(results: Results) -> list[Finding]:
    """Which knobs the marked figures rest on, with their values in the first cell."""
    if not any(results.run.assumes(metric) for metric in results.run.metrics):
        return []
    rules = results.run.cells[0]["rules"]
    assumed = (knob for knob in results.run.manifest["knobs"] if knob["assumed"])
    knobs = [f"{knob['knob']} {write_level(text_of(rules[knob['knob']]))} {word(knob['unit'])}".rstrip() for knob in assumed]
    return [Finding("note", ASSUMED + say(" rests on assumed figures:"), f"{join_words(knobs)}.")]
