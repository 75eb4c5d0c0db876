"""What the conformance suite must know of Mint Tin: random rules, invariants, what a knob changes, what is hidden."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sim.games import mint_tin

POLICIES = ("random", "racer", "hero", "brawler", "strategist")

# Per knob: settings under which it matters, and the value that must change something there.
ALIVE: dict[str, tuple[dict[str, Any], Any]] = {
    "mode": ({}, "omg"),
    "monster_die": ({}, 3),
    "manhole": ({}, True),
    "cover_throws": ({"manhole": True}, "unlimited"),
    "pry_window": ({"manhole": True}, "one_roll"),
    "holder_knockable": ({"manhole": True}, False),
    "wake": ({"manhole": True}, "any"),
    "enter": ({}, "lift"),
    "stand_any": ({}, True),
    "recon_needs_helper": ({}, True),
    "turn_on_activation": ({"mode": "cra-cra"}, True),
    "action_sums": ({}, (7, 11)),
    "rolling": ({}, "alternate"),
    "first_roller": ({"rolling": "alternate"}, 1),
    "rolls_per_second": ({}, (0.5, 0.7)),
    "meeples": ({}, 6),
    "shelter_capacity": ({}, 5),
    "meeples_to_close": ({}, 3),
    "boxes_to_close": ({}, 2),
    "supply_boxes": ({}, 1),
    "sacrifice": ({}, False),
    "points": ({}, (5, 3, 2, 1, 0)),
    "max_rolls": ({}, 300),
}

HIDDEN = ("untimed", "rolls", "seconds", "events", "leads", "double")  # bookkeeping no seat is shown


@st.composite
def knobs(draw: st.DrawFn) -> dict[str, Any]:
    """Any setting of all knobs that the rules allow."""
    meeples = draw(st.integers(2, 7))
    to_close = draw(st.integers(1, meeples))
    supply = draw(st.integers(1, 4))
    boxes = draw(st.integers(0, supply))
    return {
        "mode": draw(st.sampled_from(["uh-oh", "omg", "cra-cra"])),
        "monster_die": draw(st.integers(1, 6)),
        "manhole": draw(st.booleans()),
        "cover_throws": draw(st.sampled_from(["once", "unlimited"])),
        "pry_window": draw(st.sampled_from(["until_monster", "one_roll", "none"])),
        "holder_knockable": draw(st.booleans()),
        "wake": draw(st.sampled_from(["matching", "any"])),
        "enter": draw(st.sampled_from(["walk", "lift", "either"])),
        "stand_any": draw(st.booleans()),
        "recon_needs_helper": draw(st.booleans()),
        "turn_on_activation": draw(st.booleans()),
        "action_sums": draw(st.lists(st.sampled_from([3, 5, 7, 9, 11]), min_size=1, max_size=5, unique=True)),
        "rolling": draw(st.sampled_from(["simultaneous", "alternate"])),
        "first_roller": draw(st.sampled_from(["random", 0, 1])),
        "meeples": meeples,
        "shelter_capacity": draw(st.integers(max(to_close, 2 if boxes else 1), 12)),
        "meeples_to_close": to_close,
        "boxes_to_close": boxes,
        "supply_boxes": supply,
        "sacrifice": draw(st.booleans()),
        "points": draw(st.lists(st.integers(0, 9), min_size=5, max_size=5)),
        "max_rolls": draw(st.sampled_from([1, 20, 149, 149, 149, 800])),  # idle rolls of longer games are drawn in bulk
    }


def check_state(state: dict[str, Any], rules: mint_tin.Rules) -> None:
    """Meeples and boxes conserved, the shelter never over its capacity, the die and the cover where they may be."""
    pairs = [0 if pair == mint_tin.NO_PAIR else 2 for pair in state["pair"]]
    for seat in range(2):
        counts = [state[name][seat] for name in ("standing", "down", "inside", "sacrificed")]
        assert min(counts) >= 0
        assert sum(counts) + pairs[seat] == rules.meeples
        assert state["pair"][seat] in (mint_tin.NO_PAIR, 0, 1, 2)
        assert state["cover"] != seat or state["standing"][seat] > 0
    assert sum(state["inside"]) <= rules.shelter_capacity
    assert 0 <= state["boxes"] <= rules.supply_boxes
    assert state["boxes"] + sum(pairs) // 2 <= rules.supply_boxes
    assert 1 <= state["die"] <= rules.monster_die
    assert rules.manhole or state["cover"] == mint_tin.OUT


def mirror(state: dict[str, Any]) -> dict[str, Any]:
    """The same state with the seats exchanged."""
    swapped = {name: value[::-1] if isinstance(value, list) else value for name, value in state.items()}
    for name in ("cover", "closed_by", "seat", "roller", "next_roller", "ending", "last_leader"):
        swapped[name] = 1 - state[name] if state[name] in (0, 1) else state[name]
    return swapped | {"lead": -state["lead"]}
