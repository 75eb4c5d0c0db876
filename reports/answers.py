"""What a run answers, line by line as on the terminal: comparison, targets, precision, controls; and the exit code."""

from __future__ import annotations

from reports.controls import control
from reports.run import Run
from reports.verdicts import align, compare, find_imprecise, judge, write_comparison, write_imprecise, write_verdict

FAILED, UNDECIDED, CONTROL_FAILED = 1, 3, 4  # exit codes; 0: all is well, 2: a user's mistake


def answer(run: Run) -> tuple[list[str], int]:
    """Targets, precision not reached and controls, one line each, and the exit code: the gravest of what was found."""
    verdicts, controls = judge(run), control(run)
    lines = align([write_verdict(run, verdict) for verdict in verdicts]) if verdicts else []
    lines += [f"not as precise as asked: {write_imprecise(run, *one)}" for one in find_imprecise(run)]
    lines += [f"{'control' if one.passed else 'CONTROL FAILED'}  {one.name}: {one.text}" for one in controls]
    words = {verdict.word for verdict in verdicts}
    if not all(one.passed for one in controls):
        return lines, CONTROL_FAILED
    return lines, FAILED if "FAIL" in words else UNDECIDED if "UNDECIDED" in words else 0


def tell_comparison(run: Run) -> list[str]:
    """The headline figures of the first cell against the baseline, one line each."""
    lines = compare(run)
    kind = "confidence sequences" if run.anytime else "intervals"
    note = f"{kind} of differences hold together with 95%; those of figures are 95% each; paired ×r: unpaired, r times the games would be needed"
    return [*align([write_comparison(run, line) for line in lines]), note]
