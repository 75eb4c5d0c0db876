"""Kitty Paw told round by round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sim.games.kitty_paw import (
    BUILDING,
    CALLED,
    CHECKING,
    DEALING,
    DRAFTING,
    FACE_UP,
    NO_CARD,
    NOBODY,
    OVER,
    TEMPOS,
    Action,
    Card,
    Rules,
)

if TYPE_CHECKING:
    from sim.replay import Playthrough, Step

LEVELS = {1: "I", 2: "II", 3: "III"}
TEMPO_NAMES = ("careful", "normal", "rush", "bluff")
HOW = {"careful": "builds carefully", "normal": "builds", "rush": "builds in a rush", "bluff": "only pretends to build"}


def tell(play: Playthrough, rules: Rules, _seed: tuple[int, int]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each step as a JSON object (event, round, seconds, …, state) and as one line of text. Times are seconds into the round."""
    cards = cards_of(rules)
    seats = [seat for seat, plays in enumerate(play.start["playing"]) if plays]
    yield {"event": "start", "seats": len(seats), "cards": play.start["deck_size"]}, f"Set-up: {len(seats)} seats, {play.start['deck_size']} cards."
    for step in play.steps:
        state, phase = step.after, step.before["phase"]
        line: dict[str, Any] = {"event": "", "round": state["rounds"], "seat": step.seat}
        if phase == DEALING:
            row = [card_of(cards, state["row"][slot]) for slot in range(FACE_UP) if state["row"][slot] != NO_CARD]
            line |= {"event": "deal", "tie_break": state["tie_breaks"] > 0, "row": row, "grabs": _by_seat(state, "grab")}
            text = _tell_deal(state, row)
        elif phase == DRAFTING:
            slot, tempo = divmod(int(Action[str(step.action).upper()]), TEMPOS)
            card = card_of(cards, state["row"][slot])
            line |= {"event": "grab", "action": step.action, "legal": list(step.legal), "card": card, "tempo": TEMPO_NAMES[tempo]}
            line["seconds"] = round(state["grab"][step.seat or 0], 2)
            text = f"    {line['seconds']:.2f} s: seat {step.seat} grabs {_show(card)} and {HOW[TEMPO_NAMES[tempo]]}"
        elif phase == BUILDING:
            line |= {"event": "build", "ready": _by_seat(state, "ready"), "wrong": _by_seat(state, "wrong"), "flips": _by_seat(state, "flips")}
            text = f"    to be done: {', '.join(f'seat {s} at {t:.1f} s' + (' (wrong)' if line['wrong'][s] else '') for s, t in line['ready'].items())}"
        elif phase == CHECKING:
            seat = step.before["seat"]
            found = state["wrong"][seat] < step.before["wrong"][seat]
            line |= {"event": "checked", "seat": seat, "mended": found, "seconds": round(state["ready"][seat], 2)}
            text = f"    seat {seat} has checked{', finds a mistake and mends it' if found else ' and finds nothing'}, at {state['ready'][seat]:.1f} s"
        elif phase == CALLED:
            line |= _called(step)
            text = _tell_call(step, line, cards)
        else:
            line |= {"event": str(step.action), "action": step.action, "legal": list(step.legal), "seconds": round(state["now"], 2)}
            said = 'shouts "MIAO!"' if step.action == "shout" else "checks first"
            text = f"    {state['now']:.1f} s: seat {step.seat} {said}"
        yield {**line, "state": table_of(state)}, text
    yield play.end, _ending(play)


def cards_of(rules: Rules) -> list[Card]:
    """The cards by number, as compiled code has them."""
    columns = rules.derived()
    return [Card(level, 0, kittens, boxes) for level, kittens, boxes in zip(columns["card_level"], columns["card_kittens"], columns["card_boxes"], strict=True)]


def card_of(cards: list[Card], number: int) -> dict[str, int]:
    """A card as it looks."""
    return {"level": cards[number].level, "kittens": cards[number].kittens, "boxes": cards[number].boxes}


def table_of(state: dict[str, Any]) -> dict[str, Any]:
    """What each seat has kept, and what is left."""
    return {
        "points": _by_seat(state, "points", everyone=True),
        "completed": _by_seat(state, "completed", everyone=True),
        "penalty_cards": _by_seat(state, "penalty_cards", everyone=True),
        "cards_left": state["deck_size"] - state["dealt"],
        "removed": state["removed_size"],
    }


def _by_seat(state: dict[str, Any], name: str, everyone: bool = False) -> dict[int, Any]:
    """The values of the seats that play this round, or of all seats."""
    return {seat: round(value, 3) for seat, value in enumerate(state[name]) if everyone or state["playing"][seat]}


def _show(card: dict[str, int]) -> str:
    boxes = f", {card['boxes']} in boxes" if card["boxes"] else ""
    return f"a level {LEVELS[card['level']]} card ({card['kittens']} kittens{boxes})"


def _tell_deal(state: dict[str, Any], row: list[dict[str, int]]) -> str:
    if state["tie_breaks"]:
        who = " and ".join(str(seat) for seat, plays in enumerate(state["playing"]) if plays)
        title = f"Round {state['rounds']}, tie-break {state['tie_breaks']} of seats {who} with cards removed before"
    else:
        title = f"Round {state['rounds']}"
    return f'{title}, "Micio Mao!": {"; ".join(_show(card) for card in row)}'


def _called(step: Step) -> dict[str, Any]:
    state = step.after
    turned = [seat for seat, flag in enumerate(state["turned"]) if flag]
    return {
        "event": "call",
        "seat": state["caller"],
        "right": bool(state["right"]),
        "touches": {seat: time for seat, time in _by_seat(state, "touch").items() if seat != state["caller"]},
        "last": state["last"],
        "turned": turned,
    }


def _tell_call(step: Step, line: dict[str, Any], cards: list[Card]) -> str:
    before, after = step.before, step.after
    caller = line["seat"]
    card = card_of(cards, after["row"][after["slot"][caller]])
    parts = [f"seat {line['last']} is last to touch the palm"]
    if line["right"]:
        parts.append(f"seat {caller}'s composition is right: +{card['kittens']}")
    else:
        parts.append(f"seat {caller}'s composition is wrong")
    for seat in line["turned"]:
        lost = after["points"][seat] - before["points"][seat] - (card["kittens"] if seat == caller and line["right"] else 0)
        parts.append(f"seat {seat} turns its card over: {lost}")
    points = " : ".join(str(after["points"][seat]) for seat, time in enumerate(after["grab"]) if time > 0)
    return f"    {'; '.join(parts)}. [{points}]"


def _ending(play: Playthrough) -> str:
    if play.mistake:
        return str(play.mistake)
    state, outcome = play.steps[-1].after, play.outcome
    assert state["phase"] == OVER
    points = " : ".join(str(outcome[f"points[{seat}]"]) for seat in range(sum(f"points[{seat}]" in outcome for seat in range(len(state["points"])))))
    how = "The win is shared" if outcome["winner"] == NOBODY else f"Seat {outcome['winner']} wins"
    return f"{how}, {points}; {outcome['rounds']} rounds, {outcome['seconds'] / 6000:.1f} minutes."
