"""What the conformance suite must know of Scoundrel: random rules, invariants, what a knob changes, what is hidden."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sim.games import scoundrel

POLICIES = ("random", "first", "planner", "counter", "conformance/any_action.py:any_action")  # the last one also discards potions

# Per knob: settings under which it matters, and the value that must change something there.
ALIVE: dict[str, tuple[dict[str, Any], Any]] = {
    "monster_ranks": ({}, (2, 3, 4)),
    "weapon_ranks": ({}, (2, 3)),
    "potion_ranks": ({}, (2, 3)),
    "health": ({}, 15),
    "max_health": ({}, 25),
    "room_size": ({}, 5),
    "cards_per_room": ({}, 2),
    "avoids_in_a_row": ({}, 0),
    "avoid_order": ({}, "reversed"),
    "avoid_short_room": ({"monster_ranks": (2, 3)}, True),
    "last_room": ({"monster_ranks": (2, 3)}, "leave_one"),
    "weapon_limit": ({}, "none"),
    "bare_hands": ({}, "only_without_usable_weapon"),
    "potions_per_turn": ({}, 2),
    "potion_optional": ({}, True),
    "potion_bonus": ({"monster_ranks": (2, 3)}, False),
    "death_score": ({}, "dungeon_and_room"),
    "seconds_per_decision": ({}, 6),
}

HIDDEN = ("phase", "last_card", "killer", "faced", "avoided", "resolved", "damage_bare", "damage_armed", "absorbed", "healed", "wasted")  # bookkeeping


@st.composite
def knobs(draw: st.DrawFn) -> dict[str, Any]:
    """Any setting of all knobs that the rules allow."""
    ranks = st.lists(st.integers(2, 14), max_size=13, unique=True)
    room = draw(st.integers(1, 6))
    monsters = draw(ranks)
    weapons = draw(ranks)
    potions = draw(ranks)
    if 2 * len(monsters) + len(weapons) + len(potions) < max(room, 2):
        monsters = [2, 7, 11]
    return {
        "monster_ranks": monsters,
        "weapon_ranks": weapons,
        "potion_ranks": potions,
        "health": draw(st.integers(1, 60)),
        "max_health": draw(st.integers(1, 60)),
        "room_size": room,
        "cards_per_room": draw(st.integers(1, room)),
        "avoids_in_a_row": draw(st.integers(0, 3)),
        "avoid_order": draw(st.sampled_from(["as_dealt", "reversed", "shuffled"])),
        "avoid_short_room": draw(st.booleans()),
        "last_room": draw(st.sampled_from(["resolve_all", "leave_one", "leave_short"])),
        "weapon_limit": draw(st.sampled_from(["strict", "at_most", "none"])),
        "bare_hands": draw(st.sampled_from(["always", "only_without_usable_weapon"])),
        "potions_per_turn": draw(st.integers(0, 3)),
        "potion_optional": draw(st.booleans()),
        "potion_bonus": draw(st.booleans()),
        "death_score": draw(st.sampled_from(["dungeon", "dungeon_and_room", "life_minus_dungeon", "life_minus_dungeon_and_room"])),
        "seconds_per_decision": draw(st.integers(1, 10)),
    }


def check_state(state: dict[str, Any], rules: scoundrel.Rules) -> None:
    """No card twice or lost, the set of unseen cards is that of those never seen, health within its bounds."""
    dungeon = [state["dungeon"][(state["top"] + n) % scoundrel.RING] for n in range(state["face_down"])]
    here = dungeon + state["room"][: state["room_cards"]]
    assert len(set(here)) == len(here) == len(rules.deck()) - state["resolved"]
    assert set(here) <= set(rules.deck())
    assert state["unseen"] == sum(1 << card for card in dungeon[: state["never_seen"]])
    assert state["health"] <= max(rules.health, rules.max_health)
    assert state["room_cards"] <= rules.room_size
    assert state["avoids"] <= rules.avoids_in_a_row
    assert state["resolved_here"] <= rules.cards_per_room
