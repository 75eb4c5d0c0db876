"""Mint Tin Mini Apocalypse told roll by roll.

The engine draws idle rolls and time for many events at once, so where each event fell is told by drawing
from their exact law given the game's totals: idle rolls fall evenly before the last event, and the rolls'
times are ordered uniforms. Totals, order and outcome are the game's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from sim.games.mint_tin import BOTH_EATEN, FREE, NO_PAIR, NOBODY, OUT, UNFINISHED, Rules

if TYPE_CHECKING:
    from sim.replay import Playthrough, Step

WORDS = {
    "pass": "does nothing",
    "stand_up": "stands up 1 meeple",
    "enter_shelter": "helps 1 standing meeple into the shelter",
    "lift_into_shelter": "lifts 1 lying meeple into the shelter",
    "knock_down": "knocks down 1 standing opponent",
    "knock_off_cover": "knocks the opponent's meeple off the manhole cover",
    "toss_out": "tosses 1 opponent out of the shelter",
    "send_recon": "sends out a recon pair",
    "stand_recon": "stands up 1 meeple of the recon pair",
    "knock_recon": "knocks down 1 meeple of the opponent's recon pair",
    "drag_box": "drags a supply box into the shelter with the recon pair",
    "close_shelter": "closes the shelter",
    "turn_monster": "turns the monster die",
    "claim_cover": "claims the manhole cover",
    "push_off_cover": "pushes the opponent off the manhole cover and claims it",
    "throw_cover": "throws the manhole cover and knocks the monster down",
    "pry_open": "throws the manhole cover and pries the shelter open",
    "decline": "says no",
    "sacrifice_outside": "sacrifices a meeple from outside",
    "sacrifice_inside": "sacrifices a meeple from inside the shelter",
    "sacrifice_recon": "sacrifices a meeple of the recon pair",
}


def tell(play: Playthrough, rules: Rules, seed: tuple[int, int]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each step as a JSON object (roll, seconds, seat, event, dice, action, legal, state) and as one line of text."""
    luck = Random(f"{seed}")
    yield {"event": "start", "state": table_of(play.start)}, f"Set-up. {_show_table(play.start)}"
    moments = _place_rolls(play, luck)
    roll, seconds = 0, 0.0
    for step, moment in zip(play.steps, moments, strict=True):
        if moment is not None:
            roll, seconds = moment
        if step.action is not None:
            line = {"event": "action", "roll": roll, "seconds": seconds, "seat": step.seat, "action": step.action, "legal": list(step.legal)}
            text = f"    seat {step.seat} {WORDS[step.action]}{_consequence(step)}"
        else:
            dice = _dice(step, rules, luck)
            line = {"event": "roll", "roll": roll, "seconds": seconds, "seat": step.after["roller"], "dice": dice}
            text = f"roll {roll} ({_clock(seconds)}): seat {step.after['roller']} rolls {_show_dice(dice)}{_monster(step, rules)}"
        yield {**line, "state": table_of(step.after)}, text if step.action in (None, "pass", "decline") else f"{text}. {_show_table(step.after)}"
    yield play.end, _ending(play)


def table_of(state: dict[str, Any]) -> dict[str, Any]:
    """What lies on the table, by name."""
    return {
        "seats": [
            {
                "standing": state["standing"][s],
                "down": state["down"][s],
                "inside": state["inside"][s],
                "recon": None if state["pair"][s] == NO_PAIR else state["pair"][s],
                "sacrificed": state["sacrificed"][s],
                "rolls_to_close": state["to_close"][s],
            }
            for s in range(2)
        ],
        "boxes": state["boxes"],
        "die": state["die"],
        "active": bool(state["active"]),
        "monster_down": bool(state["monster_down"]),
        "cover": {FREE: "free", OUT: "out"}.get(state["cover"], state["cover"]),
        "closed_by": None if state["closed_by"] == NOBODY else state["closed_by"],
    }


def _place_rolls(play: Playthrough, luck: Random) -> list[tuple[int, float] | None]:
    """Per step the number and second of its roll; None for actions. Events of one draw are spread over its rolls."""
    moments: list[tuple[int, float] | None] = [None] * len(play.steps)
    waiting: list[int] = []
    roll, seconds = 0, 0.0

    def place(new_roll: int, new_seconds: float) -> None:
        nonlocal roll, seconds
        rolls = new_roll - roll
        if waiting and rolls >= len(waiting):
            numbers = sorted(luck.sample(range(1, rolls), len(waiting) - 1))
            times = [*sorted(luck.random() for _ in range(rolls - 1)), 1.0]
            for index, number in zip(waiting, [*numbers, rolls], strict=True):
                moments[index] = (roll + number, round(seconds + times[number - 1] * (new_seconds - seconds), 2))
        waiting.clear()
        roll, seconds = new_roll, new_seconds

    for index, step in enumerate(play.steps):
        if step.action is None:
            waiting.append(index)
        if step.after["untimed"] == 0 and step.after["rolls"] > roll:
            place(step.after["rolls"], step.after["seconds"])
    if waiting:
        place(max(play.outcome.get("rolls", 0), roll + len(waiting)), max(play.outcome.get("seconds", 0) / 100, seconds))
    return moments


def _dice(step: Step, rules: Rules, luck: Random) -> list[int] | None:
    """Two dice that show what was rolled; None where any but an action roll did the same."""
    if step.after["double"]:
        return [step.after["double"]] * 2
    if step.after["action_roll"]:
        total = luck.choice(rules.action_sums)
        first = luck.randint(max(1, total - 6), min(6, total - 1))
        return [first, total - first]
    return None


def _show_dice(dice: Sequence[int] | None) -> str:
    if dice is None:
        return "no action roll"
    return f"double {dice[0]}" if dice[0] == dice[1] else f"{dice[0]} and {dice[1]}"


def _monster(step: Step, rules: Rules) -> str:
    """What a double did to the monster."""
    before, after = step.before, step.after
    if after["ending"] == BOTH_EATEN:
        return ": snake eyes, and the monster eats everyone"
    if after["ending"] == UNFINISHED and after["rolls"] > rules.max_rolls:
        return ": one roll too many, the game is left unfinished"
    if before["monster_down"] and not after["monster_down"]:
        return ": the monster gets back on its feet"
    if after["die"] != before["die"]:
        return f": the monster die turns down to {after['die']}"
    if after["asked"]:
        return f": snake eyes! Seat {after['seat']} is asked for a sacrifice"
    if after["ending"] in (0, 1):
        return f": the shelter stays closed, seat {after['ending']} has won"
    if after["double"]:
        return ": nothing happens"
    return ""


def _consequence(step: Step) -> str:
    """What followed from a seat's action besides its own effect."""
    if step.after["ending"] == BOTH_EATEN:
        return ": nobody gives a meeple, and the monster eats everyone"
    if step.action == "decline" and step.after["asked"]:
        return f"; seat {step.after['seat']} is asked"
    if step.after["active"] and not step.before["active"]:
        return ", and the monster wakes"
    return ""


def _show_table(state: dict[str, Any]) -> str:
    seats = []
    for s in range(2):
        parts = [f"{state[name][s]} {name}" for name in ("standing", "down", "inside", "sacrificed") if state[name][s] or name != "sacrificed"]
        if state["pair"][s] != NO_PAIR:
            parts.append(f"a recon pair with {state['pair'][s]} standing")
        seats.append(f"seat {s}: {', '.join(parts)}")
    monster = f"die {state['die']}{'' if state['active'] else ' (asleep)'}{' (knocked down)' if state['monster_down'] else ''}"
    cover = {FREE: "; cover free", OUT: ""}.get(state["cover"], f"; cover with seat {state['cover']}")
    return f"[{' | '.join(seats)} | boxes {state['boxes']} | {monster}{cover}]"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{seconds % 60:04.1f}"


def _ending(play: Playthrough) -> str:
    if play.mistake:
        return str(play.mistake)
    outcome = play.outcome
    if outcome["ending"] == UNFINISHED:
        return "Unfinished: the game passed max_rolls."
    points = f"{outcome['points[0]']} to {outcome['points[1]']}"
    how = "The monster eats both." if outcome["ending"] == BOTH_EATEN else f"Seat {outcome['ending']} has closed the shelter."
    return f"{how} Points {points}; {outcome['rolls']} rolls, {_clock(outcome['seconds'] / 100)} minutes."
