"""Mint Tin Mini Apocalypse, whole: knobs, state, decisions, dice, the monster, outcome.

Source: the English rulebook as printed (`docs/games/mint_tin.md` lists every reading). Two seats race to get
their meeples into the fallout shelter, drag in a supply box and close the lid, before the monster's die runs out.

Events. In simultaneous rolling each seat's action rolls, doubles and idle rolls are independent Poisson
processes, so only the rolls that can matter are played one by one: action rolls, and the double of the
monster die's face (any double when any wakes the monster). The time they took and the idle rolls in between
are drawn together when needed: `g` events at rate `r·q` take Gamma(g)/(r·q) seconds, and, given
that time, the idle rolls are Poisson. In alternate rolling the gap to the next such roll is geometric.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from sim.jit import jit
from sim.knobs import Rules as BaseRules
from sim.knobs import knob
from sim.outcomes import MISSING, Column, Exact, Highlight, Metric
from sim.rng import draw_below, draw_exponential, draw_gamma, draw_poisson, draw_trials, next_word

TITLE = "Mint Tin Mini Apocalypse"
VERSION = 1  # raised only when some outcome changes
SEATS = (2,)

# ---------------------------------------------------------------- knobs

LONGEST_GAME_SECONDS = 10_000_000  # keeps the seconds column, in hundredths, below 2³¹


WITH_COVER = {"manhole": True}


class Rules(BaseRules):
    """The house rules of Mint Tin; every default is the English rulebook's."""

    mode: Literal["uh-oh", "omg", "cra-cra"] = knob(
        "uh-oh", "when the monster die wakes: with the first box, from the start, or as uh-oh and action rolls may turn it", "What About the Monster?"
    )
    monster_die: int = knob(6, "the face the monster die starts on", "Game Setup; Dial the difficulty", ge=1, le=6)
    manhole: bool = knob(False, "play with the Manhole Expansion", "Manhole Expansion Rules")
    cover_throws: Literal["once", "unlimited"] = knob("once", "how often the manhole cover may be thrown", "Manhole Expansion, Update", only_if=WITH_COVER)
    pry_window: Literal["until_monster", "one_roll", "none"] = knob(
        "until_monster",
        "how long a seat shut out with the cover may try to pry the shelter open",
        "Manhole Expansion: pry open the closed FoS",
        only_if=WITH_COVER,
    )
    holder_knockable: bool = knob(True, "may a meeple on the cover be knocked down", "Knock down 1 standing opponent (silent on the cover)", only_if=WITH_COVER)
    wake: Literal["matching", "any"] = knob(
        "matching", "which double puts a knocked-down monster back on its feet", "Manhole Expansion (English: matching; Italian: any)"
    )
    enter: Literal["walk", "lift", "either"] = knob(
        "walk",
        "who enters the shelter: a standing meeple, one that a standing one lifts, or either",
        "Help 1 standing meep into FoS (Italian: up inside)",
    )
    stand_any: bool = knob(False, "may a meeple be stood up while another stands", "Stand up 1 meep (if none standing)")
    recon_needs_helper: bool = knob(False, "does standing up a recon meeple need a standing helper outside", "you need 1 standing meep to help your meeps")
    turn_on_activation: bool = knob(
        False,
        "does activating the monster by an action also turn its die",
        "CRA-CRA allows either player to activate and turn down",
        only_if={"mode": "cra-cra"},
    )
    action_sums: tuple[int, ...] = knob(
        (7,), "the sums that give an action", "On a roll of a 7 you can", min_length=1, max_length=5, allowed="a list of distinct odd sums, 3 to 11"
    )
    rolling: Literal["simultaneous", "alternate"] = knob("simultaneous", "how the seats roll", "The standard game is simultaneous rolling")
    first_roller: Literal["random", 0, 1] = knob(
        "random", "who rolls first in alternate rolling", "you can play turn-based (silent on who starts)", only_if={"rolling": "alternate"}
    )
    rolls_per_second: tuple[float, float] = knob(
        (0.5, 0.5), "rolls a second of each seat", "not in the book", unit="1/s", allowed="two numbers above 0", assumed=True, min_length=2, max_length=2
    )
    meeples: int = knob(5, "meeples of each seat", "Game Setup", ge=2, le=10)
    shelter_capacity: int = knob(7, "meeples the shelter holds", "FoS holds a maximum of 7 meeps", ge=1, le=20)
    meeples_to_close: int = knob(4, "own meeples inside needed to close", "Close the FoS with at least 4 of your meeps", ge=1, le=10)
    boxes_to_close: int = knob(1, "boxes inside needed to close", "and 1 supply box inside", ge=0, le=4)
    supply_boxes: int = knob(2, "supply boxes in play", "Place 2 white supply boxes", ge=1, le=4)
    sacrifice: bool = knob(True, "may a meeple be thrown to the monster at snake eyes", "either player can be a hero")
    points: tuple[int, int, int, int, int] = knob(
        (4, 3, 2, 1, 0),
        "points of Humanity's Hope, Survivor, Selfless Hero, a plain loser, both eaten",
        "Endgame Scoring",
        unit="points",
        min_length=5,
        max_length=5,
        allowed="five whole numbers, each 0 to 1000",
    )
    max_rolls: int = knob(20_000, "rolls after which a game counts as unfinished", "not in the book", unit="rolls", ge=1, le=1_000_000)

    @model_validator(mode="after")
    def check_together(self) -> Rules:
        """Refuse lists out of range, and settings under which nobody can ever close."""
        sums = self.action_sums
        if len(set(sums)) != len(sums) or any(s % 2 == 0 or not 3 <= s <= 11 for s in sums):
            raise ValueError(f"rules.action_sums = {list(sums)}: allowed is a list of distinct odd sums, 3 to 11")
        if not all(0 < rate < float("inf") for rate in self.rolls_per_second):
            raise ValueError(f"rules.rolls_per_second = {list(self.rolls_per_second)}: allowed are two numbers above 0")
        if not all(0 <= p <= 1000 for p in self.points):
            raise ValueError(f"rules.points = {list(self.points)}: allowed are five whole numbers, each 0 to 1000")
        if self.meeples_to_close > self.meeples:
            raise ValueError(
                f"rules.meeples_to_close = {self.meeples_to_close} with rules.meeples = {self.meeples}: nobody could ever close; allowed: 1 to meeples"
            )
        if self.shelter_capacity < self.meeples_to_close:
            raise ValueError(
                f"rules.shelter_capacity = {self.shelter_capacity} with rules.meeples_to_close = {self.meeples_to_close}: nobody could ever close; "
                "shelter_capacity must be at least meeples_to_close"
            )
        if self.shelter_capacity < 2 and self.boxes_to_close > 0:
            raise ValueError(
                f"rules.shelter_capacity = {self.shelter_capacity} with rules.boxes_to_close = {self.boxes_to_close}: nobody could ever close; "
                "a recon pair needs room for 2"
            )
        if self.boxes_to_close > self.supply_boxes:
            raise ValueError(
                f"rules.boxes_to_close = {self.boxes_to_close} with rules.supply_boxes = {self.supply_boxes}: nobody could ever close; "
                "allowed: 0 to supply_boxes"
            )
        if self.max_rolls / min(self.rolls_per_second) > LONGEST_GAME_SECONDS:
            raise ValueError(
                f"rules.rolls_per_second = {list(self.rolls_per_second)} with rules.max_rolls = {self.max_rolls}: "
                f"a game could last over {LONGEST_GAME_SECONDS:,} s; roll faster or lower max_rolls"
            )
        return self

    def derived(self) -> dict[str, int | float]:
        """What the dice need: ways out of 36 of an action, chances, and how many events may share one draw of idle rolls."""
        action_ways = sum(6 - abs(7 - s) for s in self.action_sums)
        ways = action_ways + (6 if self.wake == "any" else 1)
        events_expected = self.max_rolls * ways / 36
        first, second = self.rolls_per_second
        return {
            "action_ways": action_ways,
            "ways": ways,  # of a roll that is played as an event
            "event_chance": ways / 36,
            "log_no_event": float(np.log1p(-ways / 36)),
            # P(fewer than an eighth of the expected events in max_rolls rolls) < e^-61 from 100 expected (Chernoff).
            "events_in_bulk": int(events_expected / 8) if events_expected >= 100 else 0,
            "first_seat_below": round(first / (first + second) * 2**32),
        }


RULES = Rules.dtype()

# ---------------------------------------------------------------- words


class Action(IntEnum):
    """What a seat may choose: on an action roll (PASS … PRY_OPEN), or when snake eyes ask for a sacrifice."""

    PASS = 0
    STAND_UP = 1
    ENTER_SHELTER = 2
    LIFT_INTO_SHELTER = 3
    KNOCK_DOWN = 4
    KNOCK_OFF_COVER = 5
    TOSS_OUT = 6
    SEND_RECON = 7
    STAND_RECON = 8
    KNOCK_RECON = 9
    DRAG_BOX = 10
    CLOSE_SHELTER = 11
    TURN_MONSTER = 12
    CLAIM_COVER = 13
    PUSH_OFF_COVER = 14
    THROW_COVER = 15
    PRY_OPEN = 16
    DECLINE = 17
    SACRIFICE_OUTSIDE = 18
    SACRIFICE_INSIDE = 19
    SACRIFICE_RECON = 20


# The choices of the knobs as the compiled code sees them: their index in the declaration above.
OMG, CRA_CRA = 1, 2
UNLIMITED = 1
UNTIL_MONSTER, ONE_ROLL, NO_WINDOW = 0, 1, 2
ANY_DOUBLE = 1
WALK, LIFT = 0, 1
ALTERNATE = 1
RANDOM_FIRST = 0

# Where the manhole cover is: with seat 0, with seat 1, free, or out of play (also when the expansion is not used).
FREE, OUT = 2, 3
NO_PAIR = -1
NOBODY = 2  # as a leader
BOTH_EATEN, UNFINISHED = 2, 3  # as an ending; 0 and 1: that seat closed the shelter
ROLLING, ACTING, ASKING, OVER = 0, 1, 2, 3
CHANCE, NO_TURN = -1, -2  # what `turn` says besides a seat
DICE, CLOCK = 0, 1  # purposes of random streams
PURPOSES = 2
UNREACHABLE = 1000
LEADS = 4096  # the lead is kept after every event; past this many, after every second, fourth, …
DISTANT = 20  # rolls that a seat which cannot close at all counts as behind
TENTHS = (1, 2, 3, 4, 6, 7, 8, 9)  # at five, the half of the game, there is a column already
IDEAL_MINUTES = 10  # not in the book; an experiment file may say otherwise

# ---------------------------------------------------------------- state, view, outcome

STATE = np.dtype(
    [
        ("standing", np.int64, (2,)),  # singles on their feet, the one on the cover included
        ("down", np.int64, (2,)),
        ("inside", np.int64, (2,)),
        ("pair", np.int64, (2,)),  # standing members of the recon pair, or NO_PAIR
        ("sacrificed", np.int64, (2,)),
        ("to_close", np.int64, (2,)),  # fewest action rolls still needed, see rolls_to_close
        ("boxes", np.int64),
        ("die", np.int64),
        ("active", np.int64),
        ("monster_down", np.int64),
        ("cover", np.int64),
        ("closed_by", np.int64),  # NOBODY while the shelter is open
        ("pried", np.int64),
        ("phase", np.int64),
        ("seat", np.int64),  # who decides
        ("roller", np.int64),  # who rolled last, and what: a double's number or 0; an action roll or not
        ("double", np.int64),
        ("action_roll", np.int64),
        ("asked", np.int64),  # questions asked at these snake eyes: 1 roller, 2 opponent, 3 roller again
        ("next_roller", np.int64),  # in alternate rolling
        ("ending", np.int64),
        ("lead", np.int64),  # action rolls seat 0 is ahead; UNREACHABLE, with its sign, for the seat that has closed
        ("last_leader", np.int64),
        ("lead_changes", np.int64),
        ("events", np.int64),
        ("untimed", np.int64),  # latest events whose time and idle rolls are still to be drawn
        ("rolls", np.int64),
        ("seconds", np.float64),
        ("lead_shift", np.int64),  # the lead is noted after every 2 ** lead_shift events
        ("leads", np.int64, (LEADS,)),
    ],
    align=True,
)

UNTOLD = ("leads",)  # fields too long to tell

VIEW = np.dtype(
    [
        ("standing", np.int64),
        ("down", np.int64),
        ("inside", np.int64),
        ("pair", np.int64),
        ("sacrificed", np.int64),
        ("to_close", np.int64),
        ("their_standing", np.int64),
        ("their_down", np.int64),
        ("their_inside", np.int64),
        ("their_pair", np.int64),
        ("their_sacrificed", np.int64),
        ("their_to_close", np.int64),
        ("boxes", np.int64),
        ("die", np.int64),
        ("active", np.int64),
        ("monster_down", np.int64),
        ("my_cover", np.int64),
        ("their_cover", np.int64),
        ("closed", np.int64),
        ("asked", np.int64),  # 0 on an action roll; at snake eyes the number of the question, 3 being the last
        ("rolled", np.int64),  # at snake eyes: did this seat roll them
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("ending", np.int64),
        ("points", np.int64, (2,)),
        ("rolls", np.int64),
        ("seconds", np.int64),
        ("boxes_inside", np.int64),
        ("final_die", np.int64),
        ("sacrifices", np.int64, (2,)),
        ("pried", np.int64),
        ("lead_changes", np.int64),
        ("leader_at_quarter", np.int64),
        ("leader_at_half", np.int64),
        ("leader_at_three_quarters", np.int64),
        ("leader_at_quarter_won", np.int64),
        ("leader_at_half_won", np.int64),
        ("leader_at_three_quarters_won", np.int64),
        ("winner_led_at_half", np.int64),
        ("margin", np.int64),
        ("finished", np.int64),
        *((f"leader_at_{10 * tenth}_won", np.int64) for tenth in TENTHS),
        ("winner_behind_mean", np.int64),
        ("winner_behind_most", np.int64),
        ("decisive_moment", np.int64),
    ],
    align=True,
)

_SEAT_OR_NOBODY = ("seat 0", "seat 1", "nobody")

COLUMNS = (
    Column("ending", "who closed the shelter, or why nobody did", labels=("seat 0 closes", "seat 1 closes", "both eaten", "unfinished")),
    Column("points", "points of the game; none if unfinished", "points", per_seat=True),
    Column("rolls", "rolls of two dice by both seats; none if unfinished", "rolls"),
    Column("seconds", "playing time; none if unfinished", "s", scale=0.01),
    Column("boxes_inside", "supply boxes in the shelter at the end"),
    Column("final_die", "face of the monster die at the end"),
    Column("sacrifices", "meeples thrown to the monster", "meeples", per_seat=True),
    Column("pried", "times the shelter was pried open"),
    Column("lead_changes", "times the lead went from one seat to the other"),
    Column("leader_at_quarter", "who was ahead at a quarter of the game", labels=_SEAT_OR_NOBODY),
    Column("leader_at_half", "who was ahead at half of the game", labels=_SEAT_OR_NOBODY),
    Column("leader_at_three_quarters", "who was ahead at three quarters of the game", labels=_SEAT_OR_NOBODY),
    Column("leader_at_quarter_won", "did the leader at a quarter close the shelter; none without a leader"),
    Column("leader_at_half_won", "did the leader at half close the shelter; none without a leader"),
    Column("leader_at_three_quarters_won", "did the leader at three quarters close the shelter; none without a leader"),
    Column("winner_led_at_half", "was who closed the shelter ahead at half; none if nobody closed"),
    Column("margin", "action rolls the loser still needed when the other closed; none if nobody closed or it no longer could", "action rolls"),
    Column("finished", "did the game end within max_rolls"),
    *(Column(f"leader_at_{10 * tenth}_won", f"did the leader at {10 * tenth}% of the game close the shelter; none without a leader") for tenth in TENTHS),
    Column("winner_behind_mean", "action rolls the winner was behind, on average over the game; none if nobody closed", "action rolls", scale=0.01),
    Column("winner_behind_most", "most action rolls the winner was behind; none if nobody closed", "action rolls"),
    Column("decisive_moment", "when the winner took the lead for good, as a part of the game; none if nobody closed", "%", scale=0.1),
)

_MINUTE = 1 / 60  # of a second

METRICS = (
    Metric("win_rate", "share of games this seat wins by closing the shelter", "ending", "share", per_seat=True, unit="%"),
    Metric("both_lose_rate", "share of games in which the monster eats both", "ending", "share", equals=BOTH_EATEN, unit="%"),
    Metric("unfinished_rate", "share of games stopped at max_rolls", "ending", "share", equals=UNFINISHED, unit="%"),
    Metric("mean_points", "mean points of finished games", "points", "mean", unit="points", per_seat=True),
    *(Metric(f"points_share_{p}", f"share of finished games with {p} points", "points", "share", equals=p, unit="%", per_seat=True) for p in range(5)),
    Metric("mean_rolls", "mean rolls of finished games", "rolls", "mean", unit="rolls"),
    Metric("mean_minutes", "mean playing time of finished games", "seconds", "mean", unit="min", scale=_MINUTE, assumed=True),
    Metric("minutes_q10", "a tenth of the finished games are no longer", "seconds", "quantile", level=0.1, unit="min", scale=_MINUTE, assumed=True),
    Metric("minutes_q50", "half of the finished games are no longer", "seconds", "quantile", level=0.5, unit="min", scale=_MINUTE, assumed=True),
    Metric("minutes_q90", "nine tenths of the finished games are no longer", "seconds", "quantile", level=0.9, unit="min", scale=_MINUTE, assumed=True),
    Metric("lead_changes", "mean changes of the lead", "lead_changes", "mean", unit="changes"),
    Metric("leader_at_quarter_wins", "of the games with a leader at a quarter, share that leader wins", "leader_at_quarter_won", "share", equals=1, unit="%"),
    Metric("leader_at_half_wins", "of the games with a leader at half, share that leader wins", "leader_at_half_won", "share", equals=1, unit="%"),
    Metric(
        "leader_at_three_quarters_wins",
        "of the games with a leader at three quarters, share that leader wins",
        "leader_at_three_quarters_won",
        "share",
        equals=1,
        unit="%",
    ),
    Metric("winner_led_at_half", "of the games somebody wins, share in which the winner led at half", "winner_led_at_half", "share", equals=1, unit="%"),
    *(
        Metric(
            f"leader_at_{10 * tenth}_wins",
            f"of the games with a leader at {10 * tenth}% of the game, share that leader wins",
            f"leader_at_{10 * tenth}_won",
            "share",
            equals=1,
            unit="%",
        )
        for tenth in TENTHS
    ),
    Metric("mean_drama", "mean action rolls the winner was behind over the game", "winner_behind_mean", "mean", unit="action rolls"),
    Metric("most_drama", "mean of the most action rolls the winner was behind", "winner_behind_most", "mean", unit="action rolls"),
    Metric("winner_never_behind", "of the games somebody wins, share in which the winner was never behind", "winner_behind_most", "share", equals=0, unit="%"),
    Metric("decisive_moment", "mean part of the game after which the winner is ahead to the end", "decisive_moment", "mean", unit="%"),
    Metric("sacrifices", "mean meeples sacrificed", "sacrifices", "mean", unit="meeples", per_seat=True),
    Metric("pried_rate", "mean times the shelter is pried open", "pried", "mean", unit="times"),
    Metric("final_die", "mean face of the monster die at the end", "final_die", "mean", unit="face"),
    Metric("mean_margin", "mean action rolls the loser still needed", "margin", "mean", unit="action rolls"),
    Metric("narrow_wins", "of the games somebody wins, share in which the loser lacked one action roll", "margin", "share", equals=1, unit="%"),
)

HIGHLIGHTS = (
    Highlight("longest", "the most rolls", (("rolls", -1),)),
    Highlight("shortest", "the fewest rolls", (("rolls", 1),)),
    Highlight("closest", "the loser nearest to closing, then the most changes of the lead", (("margin", 1), ("lead_changes", -1))),
)

HEADLINES = ("both_lose_rate", "win_rate", "mean_minutes", "mean_points", "leader_at_half_wins", "unfinished_rate")

DISTRIBUTIONS = ("margin",)

ASSUMPTIONS = (
    "Each seat rolls at a steady average pace (rolls_per_second, default one roll every 2 s); playing time in minutes rests on it, rates of winning do not.",
    "Both seats see everything on the table and choose at once; nobody misses a roll, a turn of the monster die or a question.",
    "A seat's play is its policy's: a finding holds for the policies named, and should be tried with others.",
    "Where the two rulebooks differ or are silent, the English one as printed is played; every other reading is a knob (`housecarlo rules mint-tin`).",
)


def _solved(policies: tuple[str, str], rules: dict[str, Any], *values: float) -> Exact:
    names = ("win_rate[0]", "win_rate[1]", "both_lose_rate", "mean_points[0]", "mean_points[1]", "mean_rolls")
    digits = (6, 6, 6, 6, 6, 4)
    return Exact(policies, rules, {name: (value, 0.5 * 10.0**-n) for name, value, n in zip(names, values, digits, strict=True)})


# Solved as Markov chains, from the rules alone.
EXACT = (
    _solved(("racer", "racer"), {}, 0.499878, 0.499878, 0.000244, 2.017509, 2.017509, 104.1295),
    _solved(("racer", "racer"), {"monster_die": 4}, 0.498047, 0.498047, 0.003906, 2.010119, 2.010119, 104.0856),
    _solved(("hero", "hero"), {"mode": "omg"}, 0.495170, 0.495170, 0.009660, 2.051813, 2.051813, 107.1097),
    _solved(("racer", "brawler"), {}, 0.454152, 0.434538, 0.111310, 1.796994, 1.757765, 337.8535),
    _solved(("racer", "brawler"), {"mode": "omg"}, 0.164540, 0.132046, 0.703414, 0.625667, 0.560677, 186.9523),
    _solved(("racer", "racer"), {"enter": "lift"}, 0.499878, 0.499878, 0.000244, 2.043934, 2.043934, 73.0049),
)


def is_symmetric(rules: Rules) -> bool:
    """Do these rules treat both seats alike? Not if one rolls faster, or is the one to begin."""
    return rules.rolls_per_second[0] == rules.rolls_per_second[1] and (rules.rolling == "simultaneous" or rules.first_roller == "random")


# ---------------------------------------------------------------- set-up and turns


@jit
def set_up(state, rules, streams):
    """Lay out the start: 1 meeple standing, the others down; the die on its face (rulebook: Game Setup)."""
    for seat in range(2):
        state.standing[seat] = 1
        state.down[seat] = rules.meeples - 1
        state.inside[seat] = 0
        state.pair[seat] = NO_PAIR
        state.sacrificed[seat] = 0
    state.boxes = 0
    state.die = rules.monster_die
    state.active = 1 if rules.mode == OMG else 0
    state.monster_down = 0
    state.cover = FREE if rules.manhole else OUT
    state.closed_by = NOBODY
    state.pried = 0
    state.phase = ROLLING
    state.seat = 0
    state.roller = 0
    state.double = 0
    state.action_roll = 0
    state.asked = 0
    state.ending = UNFINISHED
    state.events = 0
    state.untimed = 0
    state.rolls = 0
    state.seconds = 0.0
    state.lead_changes = 0
    state.lead_shift = 0
    state.last_leader = NOBODY
    state.next_roller = 0
    if rules.rolling == ALTERNATE:
        state.next_roller = draw_below(streams[CLOCK], 2) if rules.first_roller == RANDOM_FIRST else rules.first_roller - 1
    _update_lead(state, rules)


@jit
def turn(state):
    """Whose decision it is: a seat, CHANCE (dice are rolled) or NO_TURN (the game is over)."""
    if state.phase == ROLLING:
        return CHANCE
    if state.phase == OVER:
        return NO_TURN
    return state.seat


@jit
def look(state, rules, seat, view):
    """Fill `view` with what `seat` sees: everything on the table, its own first. Nothing in this game is hidden."""
    other = 1 - seat
    view.standing = state.standing[seat]
    view.down = state.down[seat]
    view.inside = state.inside[seat]
    view.pair = state.pair[seat]
    view.sacrificed = state.sacrificed[seat]
    view.to_close = state.to_close[seat]
    view.their_standing = state.standing[other]
    view.their_down = state.down[other]
    view.their_inside = state.inside[other]
    view.their_pair = state.pair[other]
    view.their_sacrificed = state.sacrificed[other]
    view.their_to_close = state.to_close[other]
    view.boxes = state.boxes
    view.die = state.die
    view.active = state.active
    view.monster_down = state.monster_down
    view.my_cover = 1 if state.cover == seat else 0
    view.their_cover = 1 if state.cover == other else 0
    view.closed = 1 if state.closed_by != NOBODY else 0
    view.asked = state.asked
    view.rolled = 1 if state.roller == seat else 0


# ---------------------------------------------------------------- actions


@jit
def legal_actions(state, rules):
    """Bit mask (int64, bit `a` for action `a`) of what the seat to decide may do; never empty (the model: Actions)."""
    seat = state.seat
    other = 1 - seat
    if state.phase == ASKING:
        mask = 1 << Action.DECLINE
        if state.standing[seat] > 0:
            mask |= 1 << Action.SACRIFICE_OUTSIDE
        if state.inside[seat] > 0 and state.closed_by == NOBODY:
            mask |= 1 << Action.SACRIFICE_INSIDE
        if state.pair[seat] > 0:
            mask |= 1 << Action.SACRIFICE_RECON
        return mask
    mask = 1 << Action.PASS
    if state.closed_by != NOBODY:
        if state.cover == seat:
            mask |= 1 << Action.PRY_OPEN
        return mask
    down = state.down[seat]
    inside = state.inside[seat]
    pair = state.pair[seat]
    room = rules.shelter_capacity - inside - state.inside[other]
    if state.standing[seat] > 0:
        if room > 0:
            if rules.enter != LIFT or down == 0:
                mask |= 1 << Action.ENTER_SHELTER
            if rules.enter != WALK and down > 0:
                mask |= 1 << Action.LIFT_INTO_SHELTER
        if state.standing[other] > (1 if state.cover == other else 0):
            mask |= 1 << Action.KNOCK_DOWN
        if state.pair[other] > 0:
            mask |= 1 << Action.KNOCK_RECON
        if state.cover == FREE:
            mask |= 1 << Action.CLAIM_COVER
        if state.cover == other:
            mask |= 1 << Action.PUSH_OFF_COVER
            if rules.holder_knockable:
                mask |= 1 << Action.KNOCK_OFF_COVER
    if down > 0 and (state.standing[seat] == 0 or rules.stand_any):
        mask |= 1 << Action.STAND_UP
    if inside > 0 and state.inside[other] > 0:
        mask |= 1 << Action.TOSS_OUT
    if pair == NO_PAIR:
        if inside >= 2 and state.boxes + (1 if state.pair[other] != NO_PAIR else 0) < rules.supply_boxes:
            mask |= 1 << Action.SEND_RECON
    elif pair == 2:
        if room >= 2:
            mask |= 1 << Action.DRAG_BOX
    elif not rules.recon_needs_helper or state.standing[seat] > 0:
        mask |= 1 << Action.STAND_RECON
    if inside >= rules.meeples_to_close and state.boxes >= rules.boxes_to_close:
        mask |= 1 << Action.CLOSE_SHELTER
    if rules.mode == CRA_CRA and (not state.active or (state.die > 1 and not state.monster_down)):
        mask |= 1 << Action.TURN_MONSTER
    if state.cover == seat and state.active and not state.monster_down:
        mask |= 1 << Action.THROW_COVER
    return mask


@jit
def act(state, rules, streams, action):
    """Let the seat to decide take one legal action."""
    if state.phase == ASKING:
        _answer(state, rules, action)
        return
    seat = state.seat
    other = 1 - seat
    state.phase = ROLLING
    if action == Action.PASS:
        if state.closed_by != NOBODY and rules.pry_window == ONE_ROLL:
            _end(state, state.closed_by)
        return
    if action == Action.STAND_UP:
        state.down[seat] -= 1
        state.standing[seat] += 1
    elif action == Action.ENTER_SHELTER:
        state.standing[seat] -= 1
        state.inside[seat] += 1
        _free_cover_if_left(state, seat)
    elif action == Action.LIFT_INTO_SHELTER:
        state.down[seat] -= 1
        state.inside[seat] += 1
    elif action == Action.KNOCK_DOWN:
        state.standing[other] -= 1
        state.down[other] += 1
    elif action == Action.KNOCK_OFF_COVER:
        state.standing[other] -= 1
        state.down[other] += 1
        state.cover = FREE
    elif action == Action.TOSS_OUT:
        state.inside[other] -= 1
        state.standing[other] += 1
    elif action == Action.SEND_RECON:
        state.inside[seat] -= 2
        state.pair[seat] = 2
    elif action == Action.STAND_RECON:
        state.pair[seat] += 1
    elif action == Action.KNOCK_RECON:
        state.pair[other] -= 1
    elif action == Action.DRAG_BOX:
        state.pair[seat] = NO_PAIR
        state.inside[seat] += 2
        state.boxes += 1
        state.active = 1
    elif action == Action.CLOSE_SHELTER:
        _close(state, rules, streams, seat)
    elif action == Action.TURN_MONSTER:
        if state.active or (rules.turn_on_activation and state.die > 1):
            state.die -= 1
        state.active = 1
    elif action == Action.CLAIM_COVER or action == Action.PUSH_OFF_COVER:
        state.cover = seat
        state.active = 1
    elif action == Action.THROW_COVER:
        state.monster_down = 1
        _spend_cover(state, rules)
    elif action == Action.PRY_OPEN:
        _let_time_pass(state, rules, streams)
        state.closed_by = NOBODY
        state.pried += 1
        state.next_roller = other  # the opponent of the one who pried
        _spend_cover(state, rules)
    _update_lead(state, rules)


@jit
def _free_cover_if_left(state, seat):
    """The meeple on the cover goes last; when it goes, the cover lies free."""
    if state.standing[seat] == 0 and state.cover == seat:
        state.cover = FREE


@jit
def _spend_cover(state, rules):
    """A thrown cover leaves play, or lies free again (the Update to the Manhole Expansion)."""
    state.cover = FREE if rules.cover_throws == UNLIMITED else OUT


@jit
def _close(state, rules, streams, seat):
    """Close the lid. The game ends, unless the other seat may still pry it open."""
    _let_time_pass(state, rules, streams)  # from here on at most one seat rolls
    state.closed_by = seat
    may_pry = state.cover == 1 - seat and rules.pry_window != NO_WINDOW and (state.pried == 0 or rules.cover_throws == UNLIMITED)
    if not may_pry:
        _end(state, seat)


@jit
def _end(state, ending):
    state.phase = OVER
    state.ending = ending


# ---------------------------------------------------------------- the monster


@jit
def _double_rolled(state, rules, number):
    """Double `number` was rolled: the monster may answer (rulebook: What About the Monster?)."""
    if not state.active:
        return
    if state.monster_down:
        if number == state.die or rules.wake == ANY_DOUBLE:
            state.monster_down = 0
    elif number == state.die:
        if state.die > 1:
            state.die -= 1
        elif rules.sacrifice:
            state.asked = 0
            _ask_next(state)
        else:
            _monster_eats(state)


@jit
def _ask_next(state):
    """Ask the roller, the opponent, then the roller again; a seat shut out alone, once; nobody without an eligible meeple."""
    shut = state.closed_by != NOBODY
    while state.asked < (1 if shut else 3):
        state.asked += 1
        seat = 1 - state.closed_by if shut else (1 - state.roller if state.asked == 2 else state.roller)
        if state.standing[seat] > 0 or state.pair[seat] > 0 or (state.inside[seat] > 0 and not shut):
            state.phase = ASKING
            state.seat = seat
            return
    _monster_eats(state)


@jit
def _answer(state, rules, action):
    """The answer to snake eyes: decline, or a meeple from outside, inside or the recon pair."""
    seat = state.seat
    if action == Action.DECLINE:
        _ask_next(state)
        return
    state.phase = ROLLING
    state.asked = 0
    state.sacrificed[seat] += 1
    if action == Action.SACRIFICE_OUTSIDE:
        state.standing[seat] -= 1
        _free_cover_if_left(state, seat)
    elif action == Action.SACRIFICE_INSIDE:
        state.inside[seat] -= 1
    else:  # one standing member of the recon pair; its partner becomes a single
        if state.pair[seat] == 2:
            state.standing[seat] += 1
        else:
            state.down[seat] += 1
        state.pair[seat] = NO_PAIR
    _update_lead(state, rules)


@jit
def _monster_eats(state):
    """Everyone outside a closed shelter is eaten; with the shelter open, both lose."""
    state.asked = 0
    _end(state, BOTH_EATEN if state.closed_by == NOBODY else state.closed_by)


# ---------------------------------------------------------------- dice and time


@jit
def roll_dice(state, rules, seat, double, action_roll):
    """`seat` rolled: double `double` (or 0), one of the action sums (`action_roll`), or neither, which does nothing.

    With `pry_window = "one_roll"` the first roll of a seat shut out ends the game unless it is an action roll.
    """
    state.roller = seat
    state.double = double
    state.action_roll = 1 if action_roll else 0
    if action_roll:
        state.seat = seat
        state.phase = ACTING
    elif state.closed_by != NOBODY and rules.pry_window == ONE_ROLL:
        _end(state, state.closed_by)
    elif double > 0:
        _double_rolled(state, rules, double)


@jit
def chance(state, rules, streams):
    """Roll until something can happen: an action roll, or a double that may move the monster."""
    shut = state.closed_by != NOBODY
    _record_lead(state)
    state.events += 1
    if shut and rules.pry_window == ONE_ROLL:
        seat = 1 - state.closed_by
        kind = draw_below(streams[DICE], 36)
        wait = draw_exponential(streams[CLOCK]) if rules.rolling != ALTERNATE else 1.0
        state.rolls += 1
        state.seconds += wait / rules.rolls_per_second[seat]
    else:
        word = next_word(streams[DICE])
        kind = _pick(streams[DICE], word, rules.ways)
        if rules.rolling == ALTERNATE:
            seat = _alternate(state, rules, streams[CLOCK])
        else:
            seat = 1 if np.int64(word >> np.uint64(32)) >= rules.first_seat_below else 0
            if shut:
                seat = 1 - state.closed_by
            state.untimed += 1
            if state.events > rules.events_in_bulk:
                _let_time_pass(state, rules, streams)
    if state.rolls > rules.max_rolls:
        _end(state, UNFINISHED)
    elif kind < rules.action_ways:
        roll_dice(state, rules, seat, 0, True)
    elif kind < rules.ways:
        roll_dice(state, rules, seat, kind - rules.action_ways + 1 if rules.wake == ANY_DOUBLE else state.die, False)
    else:
        roll_dice(state, rules, seat, 0, False)


@jit
def _pick(stream, word, ways):
    """Uniform integer in 0..ways−1 from the low half of `word`; the rare biased words are drawn again (Lemire)."""
    wide = np.uint64(ways)
    low = np.uint64(0xFFFFFFFF)
    product = (word & low) * wide
    if (product & low) < wide:
        least = (np.uint64(0x100000000) - wide) % wide
        while (product & low) < least:
            product = (next_word(stream) & low) * wide
    return np.int64(product >> np.uint64(32))


@jit
def _let_time_pass(state, rules, streams):
    """Draw time and idle rolls of the untimed events (simultaneous rolling), before who rolls changes."""
    if state.untimed == 0:
        return
    rates = rules.rolls_per_second
    rate = rates[0] + rates[1] if state.closed_by == NOBODY else rates[1 - state.closed_by]
    events_time = draw_gamma(streams[CLOCK], np.float64(state.untimed)) / rules.event_chance  # in mean rolls
    idle = draw_poisson(streams[CLOCK], events_time * (1.0 - rules.event_chance))
    state.rolls += state.untimed + idle
    state.seconds += events_time / rate
    state.untimed = 0


@jit
def _alternate(state, rules, clock):
    """Let the seats roll in turn up to the next event; return who rolled it. A seat shut out rolls alone."""
    gap = draw_trials(clock, rules.log_no_event)
    state.rolls += gap
    if state.closed_by != NOBODY:
        seat = 1 - state.closed_by
        state.seconds += gap / rules.rolls_per_second[seat]
        return seat
    first = state.next_roller
    state.seconds += (gap - gap // 2) / rules.rolls_per_second[first] + (gap // 2) / rules.rolls_per_second[1 - first]
    state.next_roller = first if gap % 2 == 0 else 1 - first
    return 1 - state.next_roller


# ---------------------------------------------------------------- the lead


@jit
def rolls_to_close(state, rules, seat):
    """Fewest action rolls (int64) `seat` still needs to close if nobody interferes; UNREACHABLE if it cannot.

    The other seat's meeples stay where they are. 10 at the start of the rulebook's game.
    """
    other = 1 - seat
    standing = state.standing[seat]
    down = state.down[seat]
    inside = state.inside[seat]
    pair = state.pair[seat]
    boxes_needed = max(rules.boxes_to_close - state.boxes, 0)
    if boxes_needed > 0 and rules.boxes_to_close > rules.supply_boxes - (1 if state.pair[other] != NO_PAIR else 0):
        return UNREACHABLE
    least = UNREACHABLE
    for use_pair in range(2):
        if use_pair == (1 if pair == NO_PAIR else 0) and (use_pair or boxes_needed > 0):
            continue  # no pair to use, or its box is needed
        trips = boxes_needed - (1 if use_pair and boxes_needed > 0 else 0)
        goal = max(rules.meeples_to_close, 2) if trips > 0 else rules.meeples_to_close
        base = inside + 2 * use_pair
        entering = max(goal - base, 0)
        room = rules.shelter_capacity - inside - state.inside[other]
        if inside == 0 and use_pair and room < 2:
            entering = max(entering, 1)  # one must be inside to toss out
        if entering > standing + down or (inside == 0 and room <= 0):
            continue
        rolls = 1 + 2 * trips + max(2 * use_pair + entering - room, 0)
        if rules.enter == WALK:
            rolls += entering + max(entering - standing, 0)
        else:
            rolls += entering + (1 if standing == 0 and entering > 0 else 0)
        if use_pair:
            rolls += 3 - pair
            if pair < 2 and rules.recon_needs_helper and standing == 0 and entering == 0:
                if down == 0:
                    continue
                rolls += 1
        least = min(least, rolls)
    return least


@jit
def _update_lead(state, rules):
    """Who is ahead now: fewer action rolls still needed to close; the seat that has closed; nobody at a tie."""
    for seat in range(2):
        state.to_close[seat] = rolls_to_close(state, rules, seat)
    state.lead = state.to_close[1] - state.to_close[0]
    if state.closed_by != NOBODY:
        state.lead = UNREACHABLE if state.closed_by == 0 else -UNREACHABLE
    leader = _leader_of(state.lead)
    if leader != NOBODY:
        if state.last_leader == 1 - leader:
            state.lead_changes += 1
        state.last_leader = leader


@jit
def _leader_of(lead):
    if lead == 0:
        return NOBODY
    return 0 if lead > 0 else 1


@jit
def _record_lead(state):
    """Note the lead before the next event; when the list is full, keep every second entry."""
    entry = state.events >> state.lead_shift
    if entry << state.lead_shift != state.events:
        return
    if entry == LEADS:
        for k in range(LEADS // 2):
            state.leads[k] = state.leads[2 * k]
        state.lead_shift += 1
        entry = LEADS // 2
    state.leads[entry] = state.lead


@jit
def _lead_at(state, part, of):
    """The lead after `part` parts of `of` of the game's events (exact up to LEADS events)."""
    return state.leads[state.events * part // of >> state.lead_shift]


@jit
def _lead_won(lead, sign):
    """Was it the winner's (`sign` 1: seat 0, −1: seat 1, 0: nobody won)? MISSING without a lead."""
    return MISSING if lead == 0 else np.int64(sign * lead > 0)


@jit
def _score_drama(state, row, sign):
    """How far behind the winner was before each event, on average and at most, and when it took the lead for good."""
    moments = ((state.events - 1) >> state.lead_shift) + 1
    settled = moments
    while settled > 0 and sign * state.leads[settled - 1] > 0:
        settled -= 1
    total = 0
    most = 0
    for k in range(settled):
        behind = min(max(-sign * state.leads[k], 0), DISTANT)
        total += behind
        most = max(most, behind)
    row.winner_behind_mean = np.int64(100.0 * total / moments + 0.5)
    row.winner_behind_most = most
    row.decisive_moment = np.int64(1000.0 * settled / moments + 0.5)


# ---------------------------------------------------------------- outcome


@jit
def score(state, rules, streams, row):
    """Write the finished game's outcome to `row` (one OUTCOME record). Endgame Scoring."""
    _let_time_pass(state, rules, streams)
    if state.rolls > rules.max_rolls:
        state.ending = UNFINISHED
    winner = state.ending if state.ending < 2 else NOBODY
    sign = 0 if winner == NOBODY else 1 - 2 * winner
    finished = state.ending != UNFINISHED
    row.ending = state.ending
    row.finished = 1 if finished else 0
    row.rolls = state.rolls if finished else MISSING
    row.seconds = np.int64(round(state.seconds * 100.0)) if finished else MISSING
    row.boxes_inside = state.boxes
    row.final_die = state.die
    row.pried = state.pried
    row.lead_changes = state.lead_changes
    for seat in range(2):
        row.points[seat] = points_of(state, rules, seat) if finished else MISSING
        row.sacrifices[seat] = state.sacrificed[seat]
    row.leader_at_quarter = _leader_of(_lead_at(state, 1, 4))
    row.leader_at_half = _leader_of(_lead_at(state, 2, 4))
    row.leader_at_three_quarters = _leader_of(_lead_at(state, 3, 4))
    row.leader_at_quarter_won = _lead_won(_lead_at(state, 1, 4), sign)
    row.leader_at_half_won = _lead_won(_lead_at(state, 2, 4), sign)
    row.leader_at_three_quarters_won = _lead_won(_lead_at(state, 3, 4), sign)
    row.leader_at_10_won = _lead_won(_lead_at(state, 1, 10), sign)
    row.leader_at_20_won = _lead_won(_lead_at(state, 2, 10), sign)
    row.leader_at_30_won = _lead_won(_lead_at(state, 3, 10), sign)
    row.leader_at_40_won = _lead_won(_lead_at(state, 4, 10), sign)
    row.leader_at_60_won = _lead_won(_lead_at(state, 6, 10), sign)
    row.leader_at_70_won = _lead_won(_lead_at(state, 7, 10), sign)
    row.leader_at_80_won = _lead_won(_lead_at(state, 8, 10), sign)
    row.leader_at_90_won = _lead_won(_lead_at(state, 9, 10), sign)
    row.winner_led_at_half = MISSING if winner == NOBODY else (1 if row.leader_at_half == winner else 0)
    row.margin = MISSING if winner == NOBODY or state.to_close[1 - winner] == UNREACHABLE else state.to_close[1 - winner]
    if winner == NOBODY:
        row.winner_behind_mean = row.winner_behind_most = row.decisive_moment = MISSING
    else:
        _score_drama(state, row, sign)


@jit
def points_of(state, rules, seat):
    """Points of `seat` in a finished game: Humanity's Hope, Survivor, Selfless Hero, loser, or both eaten."""
    if state.ending == BOTH_EATEN:
        return rules.points[4]
    if state.ending == seat:
        return rules.points[0] if state.sacrificed[seat] > 0 or state.inside[seat] == rules.meeples else rules.points[1]
    return rules.points[2] if state.sacrificed[seat] > 0 else rules.points[3]
