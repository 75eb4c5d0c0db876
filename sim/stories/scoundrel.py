"""Scoundrel told card by card, the cards by name: J♠, 7♥."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sim.games.scoundrel import FRESH, NO_WEAPON, RING, Rules, is_monster, is_potion, value_of

if TYPE_CHECKING:
    from sim.replay import Playthrough, Step

SUITS = "♣♠♦♥"
RANKS = {11: "J", 12: "Q", 13: "K", 14: "A"}


def card_name(card: int) -> str:
    """J♠, 7♥."""
    return f"{RANKS.get(card & 15, card & 15)}{SUITS[card >> 4]}"


def tell(play: Playthrough, rules: Rules, seed: tuple[int, int]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each step as a JSON object (event, cards or action, card and legal actions, state after it) and as one line of text."""
    deck = _names(_dungeon(play.start))
    yield {"event": "start", "deck": deck, "state": table_of(play.start)}, f"The Dungeon, from the top: {' '.join(deck)}. Health {play.start['health']}."
    for step in play.steps:
        after = table_of(step.after)
        if step.action is None:
            dealt = _names(step.after["room"][step.before["room_cards"] : step.after["room_cards"]])
            yield {"event": "deal", "cards": dealt, "state": after}, f"room {step.after['faced'] + step.after['avoided'] + 1}: {_show_room(step.after)}"
        else:
            card = _card_of(step)
            line = {"event": "action", "action": step.action, "card": card and card_name(card), "legal": list(step.legal), "state": after}
            yield line, f"    {_show_action(step, card)}"
    yield play.end, _ending(play)


def table_of(state: dict[str, Any]) -> dict[str, Any]:
    """What lies on the table, the cards by name; the Dungeon in its true order, which no policy sees."""
    return {
        "health": state["health"],
        "weapon": None if state["weapon"] == NO_WEAPON else state["weapon"],
        "limit": None if state["limit"] == FRESH else state["limit"],
        "room": _names(state["room"][: state["room_cards"]]),
        "resolved_in_room": state["resolved_here"],
        "potions_this_turn": state["potions_here"],
        "avoids_in_a_row": state["avoids"],
        "dungeon": _names(_dungeon(state)),
        "never_seen": state["never_seen"],
    }


def _names(cards: Sequence[int]) -> list[str]:
    return [card_name(card) for card in cards]


def _dungeon(state: dict[str, Any]) -> list[int]:
    return [state["dungeon"][(state["top"] + n) % RING] for n in range(state["face_down"])]


def _card_of(step: Step) -> int | None:
    """The card an action is about; None for avoiding."""
    if step.action is None or step.action == "avoid":
        return None
    card: int = step.before["room"][int(step.action.rpartition("_")[2]) - 1]
    return card


def _show_room(state: dict[str, Any]) -> str:
    face_down = state["face_down"]
    return f"{' '.join(_names(state['room'][: state['room_cards']]))}  ({face_down} face down; health {state['health']}{_show_weapon(state)})"


def _show_weapon(state: dict[str, Any]) -> str:
    if state["weapon"] == NO_WEAPON:
        return ""
    return f", weapon {state['weapon']}" + ("" if state["limit"] == FRESH else f", last used on a {state['limit']}")


def _show_action(step: Step, card: int | None) -> str:
    before, after = step.before["health"], step.after["health"]
    if card is None:
        return "avoids the room: its cards go under the Dungeon"
    name = card_name(card)
    if is_monster(card):
        how = f"with the weapon {step.before['weapon']}" if step.action is not None and step.action.startswith("fight") else "bare-handed"
        return f"fights {name} {how}: {before - after} damage, health {after}"
    if not is_potion(card):
        return f"takes up {name}: weapon {value_of(card)}"
    if step.action is not None and step.action.startswith("discard"):
        return f"discards {name} without drinking it"
    return f"drinks {name}: health {after}" if after > before else f"drinks {name}, to no effect: health {after}"


def _ending(play: Playthrough) -> str:
    if play.mistake:
        return str(play.mistake)
    outcome = play.outcome
    if outcome["won"]:
        return f"The Dungeon is crossed with health {outcome['health']}. Score {outcome['score']}."
    return f"Dead of a {outcome['killer']} at card {outcome['died_at']}, {outcome['monsters_left']} monsters left. Score {outcome['score']}."
