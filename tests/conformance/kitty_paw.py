"""What the conformance suite must know of Kitty Paw: random rules, invariants, what a knob changes, what is hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sim.games import kitty_paw
from sim.games.kitty_paw import FACE_UP, NO_CARD, NOBODY, SEATS_MOST

POLICIES = ("random", "plain", "quick", "greedy", "bluffer", "adaptive")
OTHER_CARDS = str(Path(__file__).parent / "kitty_paw_cards.csv")

# Per knob: settings under which it matters, and the value that must change something there.
ALIVE: dict[str, tuple[dict[str, Any], Any]] = {
    "deck_order": ({}, "shuffled"),
    "shuffled_deck": ({"deck_order": "shuffled"}, 40),
    "levels": ({}, (1, 2)),
    "card_file": ({}, OTHER_CARDS),
    "boxes_contended": ({}, True),
    "wrong_call": ({}, "caller"),
    "last_to_touch": ({}, "all_others"),
    "cards_to_win": ({}, 4),
    "five_counts": ({}, "all"),
    "tie_break": ({}, False),
    "max_tie_breaks": ({}, 2),
    "penalty_points": ({}, (0, 0, 0)),
    "penalties": ({}, (True, False)),
    "head_start_seconds": ({}, (0.0, 3.0)),
    "spared_kittens": ({}, (0, 1)),
    "speed": ({}, (1.0, 0.7)),
    "error_factor": ({}, (1.0, 2.0)),
    "reaction_factor": ({}, (1.0, 1.5)),
    "reaction_seconds": ({}, 0.3),
    "reaction_sd": ({}, 0.1),
    "reach_seconds": ({}, 0.5),
    "reach_sd": ({}, 0.1),
    "grasp_seconds": ({}, 1.0),
    "search_seconds": ({}, 0.5),
    "orient_seconds": ({}, 0.5),
    "flip_seconds": ({}, 2.0),
    "level_3_factor": ({}, 1.0),
    "noise_cv": ({}, 0.25),
    "error_per_kitten": ({}, 0.03),
    "tempo_time": ({}, (1.37, 1.0, 0.9)),
    "tempo_error": ({}, (0.39, 1.0, 3.0)),
    "bluff_seconds": ({}, 1.0),
    "check_seconds": ({}, 1.0),
    "check_hit_rate": ({}, 0.4),
    "max_checks": ({}, 0),
    "reset_seconds": ({}, 60.0),
}

HIDDEN = (
    "grab",
    "noise",
    "flips",
    "error_draw",
    "wrong",
    "ready",
    "check_draw",
    "reaction",
    "reach",
    "touch",
    "deck",
    "removed",
    "seconds",
    "leads",
    "history",
)  # fmt: skip - how others build, and bookkeeping no seat is shown


def per_seat(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A list of one value for each of one or two seats; the last holds for the rest."""
    return st.lists(values, min_size=1, max_size=2)


@st.composite
def knobs(draw: st.DrawFn) -> dict[str, Any]:
    """Any setting of all knobs that the rules allow, short of games that could last for years."""
    factor = st.sampled_from([0.5, 0.7, 1.0, 1.0, 1.3, 2.0])
    seconds = st.sampled_from([0.0, 0.5, 1.0, 2.5])
    return {
        "deck_order": draw(st.sampled_from(["by_level", "shuffled"])),
        "shuffled_deck": draw(st.sampled_from([48, 40])),
        "levels": draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3, unique=True)),
        "card_file": draw(st.sampled_from(["", OTHER_CARDS])),
        "boxes_contended": draw(st.booleans()),
        "wrong_call": draw(st.sampled_from(["caller_and_last", "caller", "last"])),
        "last_to_touch": draw(st.sampled_from(["last", "all_others"])),
        "cards_to_win": draw(st.integers(1, 12)),
        "five_counts": draw(st.sampled_from(["completed", "all"])),
        "tie_break": draw(st.booleans()),
        "max_tie_breaks": draw(st.integers(1, 12)),
        "penalty_points": draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)),
        "penalties": draw(per_seat(st.booleans())),
        "head_start_seconds": draw(per_seat(seconds)),
        "spared_kittens": draw(per_seat(st.integers(0, 3))),
        "speed": draw(per_seat(factor)),
        "error_factor": draw(per_seat(factor)),
        "reaction_factor": draw(per_seat(factor)),
        "reaction_sd": draw(st.sampled_from([0.0, 0.05])),
        "reach_sd": draw(st.sampled_from([0.0, 0.08])),
        "search_seconds": draw(seconds),
        "orient_seconds": draw(seconds),
        "flip_seconds": draw(seconds),
        "level_3_factor": draw(st.sampled_from([0.65, 1.0, 1.3, 2.6])),
        "noise_cv": draw(st.sampled_from([0.0, 0.25, 0.3, 0.6])),
        "error_per_kitten": draw(st.sampled_from([0.0, 0.015, 0.1, 1.0])),
        "bluff_seconds": draw(seconds),
        "check_seconds": draw(seconds),
        "check_hit_rate": draw(st.sampled_from([0.0, 0.4, 0.8, 1.0])),
        "max_checks": draw(st.integers(0, 3)),
    }


def check_state(state: dict[str, Any], rules: kitty_paw.Rules) -> None:
    """Cards conserved, each in one place; points are what the cards kept are worth at most and at least."""
    kept = sum(state["completed"]) + sum(state["penalty_cards"])
    on_table = sum(card != NO_CARD for card in state["row"])
    assert state["dealt"] <= state["deck_size"] <= (48 if rules.deck_order == "shuffled" else 40)
    if state["tie_breaks"] == 0:
        settled = state["phase"] in (kitty_paw.DEALING, kitty_paw.OVER)
        assert state["dealt"] == kept + state["removed_size"] + (0 if settled else on_table)
    taken = [seat for seat in state["taken_by"] if seat != NOBODY]
    assert len(set(taken)) == len(taken)
    for seat in range(SEATS_MOST):
        assert state["slot"][seat] == NO_CARD or state["taken_by"][state["slot"][seat]] == seat
        worst = max(rules.penalty_points) * state["penalty_cards"][seat]
        assert -worst <= state["points"][seat] <= 7 * state["completed"][seat]
        assert state["completed"][seat] == state["right_calls"][seat]
        assert rules.penalties[min(seat, len(rules.penalties) - 1)] or state["penalty_cards"][seat] == 0
    assert len(state["row"]) == FACE_UP
    assert state["tie_breaks"] <= rules.max_tie_breaks
    assert state["rounds"] - state["tie_breaks"] <= kitty_paw.ROUNDS_MOST
