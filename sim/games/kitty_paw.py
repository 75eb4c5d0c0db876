"""Kitty Paw (Micio Mao), whole: knobs, cards, human times, decisions, penalties, outcome.

Source: the Italian rulebook and the model in `docs/games/kitty_paw.md`. Two to four seats grab a card each, build the
kittens it shows as fast as they can and shout MIAO; who touches the shouter's palm last turns its card over.

Hands take modelled times instead of throwing dice. A round is a few draws (reactions, a noise factor for each seat's
building, flips, an error or none, touches), each from a stream of its own seat and purpose, and the decisions between
them: card and tempo while drafting; shout or check when done. Every time is in seconds since "Micio Mao!" of its round,
and every human figure is a knob. Noise is lognormal with mean 1, so a mean is kept whatever its spread.
"""

from __future__ import annotations

import csv
import math
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, PrivateAttr, ValidationInfo, model_validator

from sim.files import read_text
from sim.jit import ROOT, jit
from sim.knobs import Rules as BaseRules
from sim.knobs import knob
from sim.outcomes import MISSING, Column, Highlight, Metric
from sim.rng import draw_below, draw_normal, draw_unit

TITLE = "Kitty Paw (Micio Mao)"
VERSION = 1  # raised only when some outcome changes
SEATS = (2, 3, 4)

SEATS_MOST = 4
FACE_UP = 4  # cards face up in a round
CAT_IN_BOX_CARDS = 8
CARDS = 48
ROUNDS_MOST = CARDS // FACE_UP  # before a tie-break
KITTENS_MOST = 7  # shown on a card, and so points for it
TENTHS = (1, 2, 3, 4, 6, 7, 8, 9)  # at five, the half of the game, there is a column already

# ---------------------------------------------------------------- the cards

SHIPPED_CARDS = ROOT / "configs" / "kitty_paw" / "cards.csv"
CARD_COLUMNS = ("level", "set", "kittens", "boxes", "count")
LEVEL_CARDS = {1: 24, 2: 16, 3: 8}  # Componenti del Gioco
LEVEL_CARDS_1, LEVEL_CARDS_3 = LEVEL_CARDS[1], LEVEL_CARDS[3]  # compiled code reads no dict
SET_CARDS = 8
SETS = ("A", "B")
KITTENS = {1: (5, 7), 2: (4, 7), 3: (6, 7)}


class Card(NamedTuple):
    """One kitty card: its level, colour set (level II only, 0 or 1), kittens shown, and how many of them are in boxes."""

    level: int
    colour: int
    kittens: int
    boxes: int


def read_cards(path: Path) -> tuple[Card, ...]:
    """The 48 cards of a card file, by level and set. Raises ValueError naming file, line and column."""
    try:
        lines = list(csv.reader(read_text(path).splitlines()))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from None
    if not lines or tuple(lines[0]) != CARD_COLUMNS:
        raise ValueError(f"{path}, line 1: the columns must be {','.join(CARD_COLUMNS)}")
    cards: list[Card] = []
    for number, cells in enumerate(lines[1:], start=2):
        if cells:
            cards += _cards_of_line(cells, f"{path}, line {number}")
    for level, count in LEVEL_CARDS.items():
        for colour in range(len(SETS) if level == 2 else 1):
            found, allowed = sum(card[:2] == (level, colour) for card in cards), SET_CARDS if level == 2 else count
            if found != allowed:
                which = f"level {level} set {SETS[colour]}" if level == 2 else f"level {level}"
                raise ValueError(f"{path}: column count: {which} has {found} cards; allowed: exactly {allowed}")
    return tuple(sorted(cards, key=lambda card: card[:2]))


def _cards_of_line(cells: list[str], where: str) -> list[Card]:
    if len(cells) != len(CARD_COLUMNS):
        raise ValueError(f"{where}: {len(cells)} columns; allowed: {len(CARD_COLUMNS)} ({','.join(CARD_COLUMNS)})")
    row = {name: cell.strip() for name, cell in zip(CARD_COLUMNS, cells, strict=True)}

    def number(column: str, low: int, high: int) -> int:
        text = row[column]
        if not (text.isascii() and text.isdigit() and len(text) < 10) or not low <= int(text) <= high:
            raise ValueError(f'{where}, column {column} = "{text}": allowed: {low} to {high}')
        return int(text)

    level = number("level", 1, 3)
    sets = SETS if level == 2 else ("",)
    if row["set"] not in sets:
        raise ValueError(f'{where}, column set = "{row["set"]}": allowed: {" or ".join(sets) if level == 2 else "nothing, sets are for level 2"}')
    kittens = number("kittens", *KITTENS[level])
    boxes = number("boxes", 0, 0) if level == 1 else number("boxes", 1, kittens)
    return [Card(level, sets.index(row["set"]), kittens, boxes)] * number("count", 1, CARDS)


# ---------------------------------------------------------------- knobs

LONGEST_GAME_SECONDS = 20_000_000  # keeps the seconds column, in hundredths, below 2³¹
NOISE_MOST = 8.6  # no standard normal drawn from 53 bits lies further out

Factor = Annotated[float, Field(ge=0.05, le=20)]
Seconds = Annotated[float, Field(ge=0, le=600)]
Spared = Annotated[int, Field(ge=0, le=6)]
NOT_IN_BOOK = "not in the book"
HOUSE = "not in the book (house rule)"


class Rules(BaseRules):
    """The house rules of Kitty Paw and the human figures its times rest on; every default is the model's."""

    deck_order: Literal["by_level", "shuffled"] = knob("by_level", "easy levels first, or all cards mixed", "Preparare la Partita 4; Variante")
    shuffled_deck: Literal[48, 40] = knob(
        48, "cards mixed: both sets of level II, or one", "Variante: mescolare TUTTE le Carte Micio", unit="cards", only_if={"deck_order": "shuffled"}
    )
    levels: tuple[int, ...] = knob((1, 2, 3), "levels whose cards are played", HOUSE, min_length=1, max_length=3, allowed="a list of distinct levels, 1 to 3")
    card_file: str = knob(
        "", "card file (CSV), from the experiment file's folder; empty: the shipped one", "Carte Micio così suddivise", allowed="a path", assumed=True
    )
    boxes_contended: bool = knob(False, "are boxes found by those who grabbed earlier out of reach", "Turni di Gioco (silent)")
    wrong_call: Literal["caller_and_last", "caller", "last"] = knob(
        "caller_and_last", "who turns a card over after a wrong call", "L'ultimo a toccare; Se invece la composizione non è corretta"
    )
    last_to_touch: Literal["last", "all_others"] = knob("last", "who turns a card over at a shout", "L'ultimo a toccare il palmo fortunato")
    cards_to_win: int = knob(5, "cards that end the game", "Fine della Partita 1", unit="cards", ge=1, le=12)
    five_counts: Literal["completed", "all"] = knob("completed", "which cards count for that: completed ones, or all", "ha ottenuto 5 Carte Micio")
    tie_break: bool = knob(True, "do tied seats play extra rounds", "Fine della Partita 3")
    max_tie_breaks: int = knob(10, "extra rounds after which the win is shared", NOT_IN_BOOK, unit="rounds", only_if={"tie_break": True}, ge=1, le=100)
    penalty_points: tuple[int, int, int] = knob(
        (1, 2, 3), "points lost with a penalty card of level I, II, III", "-1, -2, -3 PV sul retro", unit="points", min_length=3, max_length=3,
        allowed="three whole numbers, each 0 to 20",
    )  # fmt: skip
    penalties: tuple[bool, ...] = knob((True,), "does this seat turn cards over", HOUSE, seats=SEATS_MOST)
    head_start_seconds: tuple[Seconds, ...] = knob((0.0,), "seconds this seat builds before a seat without a head start may", HOUSE, unit="s", seats=SEATS_MOST)
    spared_kittens: tuple[Spared, ...] = knob((0,), "loose kittens this seat may leave out of its composition", HOUSE, unit="kittens", seats=SEATS_MOST)
    speed: tuple[Factor, ...] = knob((1.0,), "speed of this seat's hands and eyes: building times are divided by it", NOT_IN_BOOK, unit="×", seats=SEATS_MOST)
    error_factor: tuple[Factor, ...] = knob((1.0,), "this seat's errors per kitten are multiplied by it", NOT_IN_BOOK, unit="×", seats=SEATS_MOST)
    reaction_factor: tuple[Factor, ...] = knob((1.0,), "this seat's reaction and reach times are multiplied by it", NOT_IN_BOOK, unit="×", seats=SEATS_MOST)
    reaction_seconds: float = knob(0.23, "mean reaction to a shout (published simple reaction times)", NOT_IN_BOOK, unit="s", ge=0.01, le=5)
    reaction_sd: float = knob(0.05, "standard deviation of the reaction", NOT_IN_BOOK, unit="s", ge=0, le=1)
    reach_seconds: float = knob(0.46, "mean reach and touch of the palm (Fitts' law, 25 cm to 3 cm)", NOT_IN_BOOK, unit="s", ge=0.01, le=5)
    reach_sd: float = knob(0.08, "standard deviation of reach and touch", NOT_IN_BOOK, unit="s", ge=0, le=1)
    grasp_seconds: float = knob(0.75, "grasp, carry and drop a tile (Box and Block norms)", NOT_IN_BOOK, unit="s", ge=0, le=30)
    search_seconds: float = knob(1.0, "search a tile", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=30)
    orient_seconds: float = knob(1.0, "orient a tile", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=30)
    flip_seconds: float = knob(1.0, "turn over a cat-in-box card", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=30)
    level_3_factor: float = knob(1.3, "building times of level III, which overlaps, are multiplied by it", NOT_IN_BOOK, unit="×", assumed=True, ge=0.1, le=10)
    noise_cv: float = knob(0.30, "coefficient of variation of a person's building times", NOT_IN_BOOK, assumed=True, ge=0, le=1)
    error_per_kitten: float = knob(0.015, "chance of placing a kitten wrong, at normal tempo", NOT_IN_BOOK, assumed=True, ge=0, le=1)
    tempo_time: tuple[Factor, Factor, Factor] = knob(
        (1.37, 1.0, 0.8), "building times when careful, normal, in a rush (speed–accuracy experiments)", NOT_IN_BOOK, unit="×",
        allowed="three numbers, each 0.05 to 20",
    )  # fmt: skip
    tempo_error: tuple[float, float, float] = knob(
        (0.39, 1.0, 2.0), "errors per kitten when careful, normal, in a rush (speed–accuracy experiments)", NOT_IN_BOOK, unit="×",
        allowed="three numbers, each 0 to 100",
    )  # fmt: skip
    bluff_seconds: float = knob(2.0, "a seat that bluffs shouts so long after its clock starts", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=60)
    check_seconds: float = knob(2.0, "a check before the shout", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=60)
    check_hit_rate: float = knob(0.8, "chance that a check notices a wrong composition", NOT_IN_BOOK, assumed=True, ge=0, le=1)
    max_checks: int = knob(10, "checks in a round after which a seat must shout", NOT_IN_BOOK, unit="checks", ge=0, le=100)
    reset_seconds: float = knob(30.0, "reset and talk between rounds, for the length in minutes only", NOT_IN_BOOK, unit="s", assumed=True, ge=0, le=600)

    _cards: tuple[Card, ...] = PrivateAttr(())

    @model_validator(mode="after")
    def check_together(self, info: ValidationInfo) -> Rules:
        """Read the card file (found from `context["folder"]`); refuse lists out of range and games too long to be counted."""
        if len(set(self.levels)) != len(self.levels) or not set(self.levels) <= set(LEVEL_CARDS):
            raise ValueError(f"rules.levels = {list(self.levels)}: allowed is a list of distinct levels, 1 to 3")
        if not all(0 <= points <= 20 for points in self.penalty_points):
            raise ValueError(f"rules.penalty_points = {list(self.penalty_points)}: allowed are three whole numbers, each 0 to 20")
        if not all(0 <= factor <= 100 for factor in self.tempo_error):
            raise ValueError(f"rules.tempo_error = {list(self.tempo_error)}: allowed are three numbers, each 0 to 100")
        try:
            self._cards = read_cards((info.context or {}).get("folder", Path()) / self.card_file if self.card_file else SHIPPED_CARDS)
        except ValueError as error:
            raise ValueError(f"rules.card_file: {error}") from None
        if self._longest_seconds() > LONGEST_GAME_SECONDS:
            raise ValueError(f"rules: a game could last over {LONGEST_GAME_SECONDS:,} s; lower noise_cv, the times or max_tie_breaks, or raise speed")
        return self

    def _longest_seconds(self) -> float:
        """No game lasts longer, whatever is drawn."""
        slowness = max(self.tempo_time) / min(self.speed)
        tile = (self.search_seconds + self.grasp_seconds + self.orient_seconds) * slowness
        flips = sum(range(2, CAT_IN_BOX_CARDS + 1)) * self.flip_seconds * slowness
        build = max(1.0, self.level_3_factor) * (7 * tile + flips) * math.exp(NOISE_MOST * sigma_of(self.noise_cv))
        hands = max(self.reaction_factor) * sum(
            mean * math.exp(NOISE_MOST * sigma_of(sd / mean)) for mean, sd in ((self.reaction_seconds, self.reaction_sd), (self.reach_seconds, self.reach_sd))
        )
        each = max(self.head_start_seconds) + build + self.bluff_seconds + self.max_checks * self.check_seconds + tile + 2 * hands + self.reset_seconds
        return each * (ROUNDS_MOST + self.max_tie_breaks)

    def derived(self) -> dict[str, Any]:
        """The cards in order of level and set, which levels are played, and what the times are drawn from."""
        return {
            "card_level": [card.level for card in self._cards],
            "card_kittens": [card.kittens for card in self._cards],
            "card_boxes": [card.boxes for card in self._cards],
            "plays_level": [int(level in self.levels) for level in LEVEL_CARDS],
            "kitten_seconds": float(self.search_seconds + self.grasp_seconds + self.orient_seconds),
            "noise_sigma": sigma_of(self.noise_cv),
            "reaction_sigma": sigma_of(self.reaction_sd / self.reaction_seconds),
            "reach_sigma": sigma_of(self.reach_sd / self.reach_seconds),
        }


def sigma_of(cv: float) -> float:
    """Standard deviation of the logarithm of a lognormal with coefficient of variation `cv`."""
    return math.sqrt(math.log1p(cv * cv))


RULES = Rules.dtype()

# ---------------------------------------------------------------- words


class Action(IntEnum):
    """Grab one of the four cards and choose a tempo (4 × slot + tempo); when done, shout MIAO or check first."""

    FIRST_CAREFUL = 0
    FIRST_NORMAL = 1
    FIRST_RUSH = 2
    FIRST_BLUFF = 3
    SECOND_CAREFUL = 4
    SECOND_NORMAL = 5
    SECOND_RUSH = 6
    SECOND_BLUFF = 7
    THIRD_CAREFUL = 8
    THIRD_NORMAL = 9
    THIRD_RUSH = 10
    THIRD_BLUFF = 11
    FOURTH_CAREFUL = 12
    FOURTH_NORMAL = 13
    FOURTH_RUSH = 14
    FOURTH_BLUFF = 15
    SHOUT = 16
    CHECK = 17


CAREFUL, NORMAL, RUSH, BLUFF = 0, 1, 2, 3  # tempos; a card's four actions are 4 × slot + tempo
TEMPOS = 4

# The choices of the knobs as the compiled code sees them: their index in the declaration above.
SHUFFLED = 1
ALL_48 = 0
CALLER, LAST = 1, 2
ALL_OTHERS = 1
ALL_CARDS = 1

NOBODY = 4  # as a seat; as a winner: shared
NO_CARD = -1
DEALING, DRAFTING, BUILDING, DECIDING, CHECKING, CALLED, OVER = 0, 1, 2, 3, 4, 5, 6
CHANCE, NO_TURN = -1, -2  # what `turn` says besides a seat

# Purposes of random streams: two of the table, the rest one for each seat.
DECK, LOTS = 0, 1
GRABS, NOISES, FLIPS, ERRORS, CHECKS, TOUCHES = 2, 6, 10, 14, 18, 22
PURPOSES = 26

# ---------------------------------------------------------------- state, view, outcome

STATE = np.dtype(
    [
        ("deck", np.int64, (CARDS,)),
        ("deck_size", np.int64),
        ("dealt", np.int64),
        ("removed", np.int64, (CARDS,)),  # cards that nobody kept
        ("removed_size", np.int64),
        ("row", np.int64, (FACE_UP,)),  # cards face up this round, or NO_CARD
        ("taken_by", np.int64, (FACE_UP,)),  # seat or NOBODY
        ("phase", np.int64),
        ("seat", np.int64),  # who decides
        ("playing", np.int64, (SEATS_MOST,)),  # who plays this round: all seats, or those tied
        ("waiting", np.int64, (SEATS_MOST,)),  # who has not grabbed yet
        ("slot", np.int64, (SEATS_MOST,)),  # place in the row of a seat's card, or NO_CARD
        ("place", np.int64, (SEATS_MOST,)),  # in the order of grabbing, from 0
        ("tempo", np.int64, (SEATS_MOST,)),
        ("grab", np.float64, (SEATS_MOST,)),  # when a seat grabs
        ("start", np.float64, (SEATS_MOST,)),  # when its clock starts
        ("noise", np.float64, (SEATS_MOST,)),  # factor of mean 1 of its building time
        ("flips", np.int64, (SEATS_MOST,)),  # cat-in-box cards it turns over
        ("error_draw", np.float64, (SEATS_MOST,)),  # uniform; the composition is wrong below the chance of it
        ("wrong", np.int64, (SEATS_MOST,)),
        ("ready", np.float64, (SEATS_MOST,)),  # when it is done, and after a check when it is done again
        ("checks", np.int64, (SEATS_MOST,)),
        ("check_draw", np.float64),  # uniform; a wrong composition is noticed below check_hit_rate
        ("mended", np.int64, (SEATS_MOST,)),
        ("now", np.float64),
        ("caller", np.int64),
        ("reaction", np.float64, (SEATS_MOST,)),  # to the shout
        ("reach", np.float64, (SEATS_MOST,)),
        ("touch", np.float64, (SEATS_MOST,)),  # both together, the seat's factor included
        ("last", np.int64),  # to touch
        ("right", np.int64),  # was the call
        ("turned", np.int64, (SEATS_MOST,)),  # who turned its card over this round
        ("points", np.int64, (SEATS_MOST,)),
        ("completed", np.int64, (SEATS_MOST,)),
        ("penalty_cards", np.int64, (SEATS_MOST,)),
        ("right_calls", np.int64, (SEATS_MOST,)),
        ("wrong_calls", np.int64, (SEATS_MOST,)),
        ("last_touches", np.int64, (SEATS_MOST,)),
        ("close_rounds", np.int64),
        ("rounds", np.int64),  # with tie-breaks
        ("tie_breaks", np.int64),
        ("seconds", np.float64),
        ("leader", np.int64),
        ("last_leader", np.int64),
        ("lead_changes", np.int64),
        ("leads", np.int64, (ROUNDS_MOST + 1,)),  # the leader before the first round and after each
        ("history", np.int64, (SEATS_MOST * (ROUNDS_MOST + 1),)),  # the points of each seat then
        ("winner", np.int64),
    ],
    align=True,
)

UNTOLD = ("deck", "removed", "leads", "history")  # fields too long to tell

VIEW = np.dtype(
    [
        ("seat", np.int64),  # one's own; the lists of seats below are indexed by seat
        ("drafting", np.int64),  # 1: grab a card; 0: shout or check
        ("round", np.int64),  # from 1, tie-breaks included
        ("tie_break", np.int64),  # is this round one
        ("cards_left", np.int64),  # in the deck
        ("level", np.int64, (FACE_UP,)),  # of the cards face up, 0 where there is none
        ("kittens", np.int64, (FACE_UP,)),
        ("boxes", np.int64, (FACE_UP,)),
        ("taken_by", np.int64, (FACE_UP,)),  # seat or NOBODY
        ("playing", np.int64, (SEATS_MOST,)),
        ("slot", np.int64, (SEATS_MOST,)),  # place in the row of a seat's card, or NO_CARD
        ("start", np.float64, (SEATS_MOST,)),  # when the clock of a seat that has grabbed starts, else 0
        ("points", np.int64, (SEATS_MOST,)),
        ("completed", np.int64, (SEATS_MOST,)),
        ("penalty_cards", np.int64, (SEATS_MOST,)),
        ("now", np.float64),  # seconds into the round when one decides to shout or check
        ("tempo", np.int64),  # one's own
        ("checks", np.int64),  # one's own in this round
        ("mended", np.int64),  # has one of them found and mended an error
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("winner", np.int64),
        ("points", np.int64, (SEATS_MOST,)),
        ("completed", np.int64, (SEATS_MOST,)),
        ("penalty_cards", np.int64, (SEATS_MOST,)),
        ("right_calls", np.int64, (SEATS_MOST,)),
        ("wrong_calls", np.int64, (SEATS_MOST,)),
        ("wrong_call_share", np.int64),
        ("last_touches", np.int64, (SEATS_MOST,)),
        ("rounds", np.int64),
        ("seconds", np.int64),
        ("close_rounds", np.int64),
        ("tied", np.int64),
        ("tie_breaks", np.int64),
        ("lead_changes", np.int64),
        ("leader_at_half", np.int64),
        ("leader_at_half_won", np.int64),
        ("winner_led_at_half", np.int64),
        ("margin", np.int64),
        *((f"leader_at_{10 * tenth}_won", np.int64) for tenth in TENTHS),
        ("winner_behind_mean", np.int64),
        ("winner_behind_most", np.int64),
        ("decisive_moment", np.int64),
    ],
    align=True,
)

_SEATS = tuple(f"seat {seat}" for seat in range(SEATS_MOST))

COLUMNS = (
    Column("winner", "who won, or the win is shared", labels=(*_SEATS, "shared")),
    Column("points", "points at the end", "points", low=-240, per_seat=True),
    Column("completed", "cards completed", "cards", per_seat=True),
    Column("penalty_cards", "cards turned over", "cards", per_seat=True),
    Column("right_calls", "shouts with a right composition", "calls", per_seat=True),
    Column("wrong_calls", "shouts with a wrong composition", "calls", per_seat=True),
    Column("wrong_call_share", "share of the game's calls that were wrong", "%", scale=1e-4),
    Column("last_touches", "times last to touch the palm", "times", per_seat=True),
    Column("rounds", "rounds, tie-breaks included", "rounds"),
    Column("seconds", "playing time, reset and talk included", "s", scale=0.01),
    Column("close_rounds", "rounds in which the shout came less than a second before the next seat was done", "rounds"),
    Column("tied", "was the game tied before any tie-break"),
    Column("tie_breaks", "extra rounds", "rounds"),
    Column("lead_changes", "times the lead went from one seat to another, before any tie-break"),
    Column("leader_at_half", "who alone had most points after half of the rounds", labels=(*_SEATS, "nobody")),
    Column("leader_at_half_won", "did that leader win; none without a leader"),
    Column("winner_led_at_half", "did the winner lead at half; none if the win is shared"),
    Column("margin", "points of the winner above the next seat; none if the win is shared", "points"),
    *(Column(f"leader_at_{10 * tenth}_won", f"did the leader after {10 * tenth}% of the rounds win; none without a leader") for tenth in TENTHS),
    Column("winner_behind_mean", "points the winner was behind, on average over the rounds; none if the win is shared", "points", scale=0.01),
    Column("winner_behind_most", "most points the winner was behind; none if the win is shared", "points"),
    Column("decisive_moment", "when the winner took the lead for good, as a part of the rounds; none if the win is shared", "%", scale=0.1),
)

_ASSUMED: dict[str, Any] = {"assumed": True}  # all rest on modelled hands
_MINUTES: dict[str, Any] = {"unit": "min", "scale": 1 / 60, **_ASSUMED}

METRICS = (
    Metric("win_rate", "share of games this seat wins alone", "winner", "share", per_seat=True, unit="%", **_ASSUMED),
    Metric("shared_rate", "share of games whose win is shared", "winner", "share", equals=NOBODY, unit="%", **_ASSUMED),
    Metric("mean_points", "mean points", "points", "mean", per_seat=True, unit="points", **_ASSUMED),
    Metric("completed", "mean cards completed", "completed", "mean", per_seat=True, unit="cards", **_ASSUMED),
    Metric("penalty_cards", "mean cards turned over", "penalty_cards", "mean", per_seat=True, unit="cards", **_ASSUMED),
    Metric("right_calls", "mean right calls", "right_calls", "mean", per_seat=True, unit="calls", **_ASSUMED),
    Metric("wrong_calls", "mean wrong calls", "wrong_calls", "mean", per_seat=True, unit="calls", **_ASSUMED),
    Metric("wrong_call_rate", "share of a game's calls that are wrong, mean over games", "wrong_call_share", "mean", unit="%", scale=1.0, **_ASSUMED),
    Metric("last_touches", "mean times last to touch", "last_touches", "mean", per_seat=True, unit="times", **_ASSUMED),
    Metric("mean_rounds", "mean rounds", "rounds", "mean", unit="rounds", **_ASSUMED),
    Metric("mean_minutes", "mean playing time", "seconds", "mean", **_MINUTES),
    Metric("minutes_q10", "a tenth of the games are no longer", "seconds", "quantile", level=0.1, **_MINUTES),
    Metric("minutes_q50", "half of the games are no longer", "seconds", "quantile", level=0.5, **_MINUTES),
    Metric("minutes_q90", "nine tenths of the games are no longer", "seconds", "quantile", level=0.9, **_MINUTES),
    Metric("close_rounds", "mean rounds decided by less than a second", "close_rounds", "mean", unit="rounds", **_ASSUMED),
    Metric("tie_break_rate", "share of games tied before any tie-break", "tied", "share", equals=1, unit="%", **_ASSUMED),
    Metric("tie_breaks", "mean extra rounds", "tie_breaks", "mean", unit="rounds", **_ASSUMED),
    Metric("lead_changes", "mean changes of the lead", "lead_changes", "mean", unit="changes", **_ASSUMED),
    Metric("leader_at_half_wins", "of the games with a leader at half, share that leader wins", "leader_at_half_won", "share", equals=1, unit="%", **_ASSUMED),
    Metric("winner_led_at_half", "of the games won, share in which the winner led at half", "winner_led_at_half", "share", equals=1, unit="%", **_ASSUMED),
    *(
        Metric(
            f"leader_at_{10 * tenth}_wins",
            f"of the games with a leader after {10 * tenth}% of the rounds, share that leader wins",
            f"leader_at_{10 * tenth}_won",
            "share",
            equals=1,
            unit="%",
            **_ASSUMED,
        )
        for tenth in TENTHS
    ),
    Metric("mean_drama", "mean points the winner was behind over the rounds", "winner_behind_mean", "mean", unit="points", **_ASSUMED),
    Metric("most_drama", "mean of the most points the winner was behind", "winner_behind_most", "mean", unit="points", **_ASSUMED),
    Metric(
        "winner_never_behind", "of the games won, share in which the winner was never behind", "winner_behind_most", "share", equals=0, unit="%", **_ASSUMED
    ),
    Metric("decisive_moment", "mean part of the rounds after which the winner is ahead to the end", "decisive_moment", "mean", unit="%", **_ASSUMED),
    Metric("mean_margin", "mean points of the winner above the next seat", "margin", "mean", unit="points", **_ASSUMED),
)

HIGHLIGHTS = (
    Highlight("longest", "the most rounds, then the longest time", (("rounds", -1), ("seconds", -1))),
    Highlight("shortest", "the fewest rounds, then the shortest time", (("rounds", 1), ("seconds", 1))),
    Highlight("closest", "the smallest margin, then the most changes of the lead", (("margin", 1), ("lead_changes", -1))),
)

HEADLINES = ("win_rate", "shared_rate", "mean_points", "mean_minutes", "mean_rounds", "wrong_call_rate", "tie_break_rate")

DISTRIBUTIONS = ("rounds",)

ASSUMPTIONS = (
    "Hands and eyes are modelled by human figures. Those marked as assumed have no measurement behind them, and every finding rests on them: "
    "configs/kitty_paw/sensitivity.toml halves and doubles each.",
    "How kittens and boxes are spread over the cards is not printed: evenly over the ranges, one box for level II, one or two for level III (card_file).",
    "A completed card is worth the number of kittens it shows.",
    "A seat plays at one speed throughout: it neither learns nor tires, and all draws are independent.",
    "A seat's play is its policy's: a finding holds for the policies named, and should be tried with others.",
)

EXACT = ()

PER_SEAT = ("penalties", "head_start_seconds", "spared_kittens", "speed", "error_factor", "reaction_factor")


def is_symmetric(rules: Rules) -> bool:
    """Do these rules treat all seats alike? Not if some seat has a handicap or other hands."""
    return all(len(set(getattr(rules, knob))) == 1 for knob in PER_SEAT)


# ---------------------------------------------------------------- set-up and turns


@jit
def set_up(state, rules, streams):
    """Build the deck: easy levels first, one set of level II drawn at random, each level shuffled (Preparare la Partita)."""
    colour = draw_below(streams[DECK], len(SETS))
    both = rules.deck_order == SHUFFLED and rules.shuffled_deck == ALL_48
    state.deck_size = 0
    if rules.plays_level[0]:
        _add_to_deck(state, 0, LEVEL_CARDS_1)
    if rules.plays_level[1]:
        if both or colour == 0:
            _add_to_deck(state, LEVEL_CARDS_1, SET_CARDS)
        if both or colour == 1:
            _add_to_deck(state, LEVEL_CARDS_1 + SET_CARDS, SET_CARDS)
    if rules.plays_level[2]:
        _add_to_deck(state, CARDS - LEVEL_CARDS_3, LEVEL_CARDS_3)
    start = 0
    for card in range(1, state.deck_size + 1):
        if card == state.deck_size or (rules.deck_order != SHUFFLED and rules.card_level[state.deck[card]] != rules.card_level[state.deck[start]]):
            _shuffle(state.deck, start, card, card - start, streams[DECK])
            start = card
    for seat in range(SEATS_MOST):
        state.playing[seat] = 1 if seat < rules.seats else 0
        state.points[seat] = 0
        state.completed[seat] = 0
        state.penalty_cards[seat] = 0
        state.right_calls[seat] = 0
        state.wrong_calls[seat] = 0
        state.last_touches[seat] = 0
        state.grab[seat] = 0.0
        state.start[seat] = 0.0
        state.reaction[seat] = 0.0
        state.reach[seat] = 0.0
        state.touch[seat] = 0.0
        state.noise[seat] = 0.0
        state.error_draw[seat] = 0.0
        state.ready[seat] = 0.0
        state.place[seat] = 0
        state.tempo[seat] = NORMAL
        state.flips[seat] = 0
    state.dealt = 0
    state.removed_size = 0
    state.seat = 0
    state.check_draw = 0.0
    state.rounds = 0
    state.tie_breaks = 0
    state.seconds = 0.0
    state.close_rounds = 0
    state.lead_changes = 0
    state.leader = NOBODY
    state.last_leader = NOBODY
    state.leads[0] = NOBODY
    for seat in range(SEATS_MOST):
        state.history[seat] = 0
    state.winner = NOBODY
    state.phase = DEALING
    _clear_round(state)


@jit
def _add_to_deck(state, first, count):
    for card in range(first, first + count):
        state.deck[state.deck_size] = card
        state.deck_size += 1


@jit
def _shuffle(cards, start, end, count, stream):
    """Put `count` cards drawn from cards[start:end], in random order, at `start` (Fisher and Yates)."""
    for k in range(start, start + count):
        other = k + draw_below(stream, end - k)
        cards[k], cards[other] = cards[other], cards[k]


@jit
def turn(state):
    """Whose decision it is: a seat, CHANCE (cards or times are drawn) or NO_TURN (the game is over)."""
    if state.phase == DRAFTING or state.phase == DECIDING:
        return state.seat
    return NO_TURN if state.phase == OVER else CHANCE


@jit
def look(state, rules, seat, view):
    """Fill `view` with what `seat` sees: the cards and who took them, not how the others build nor whether it is right."""
    view.seat = seat
    view.drafting = 1 if state.phase == DRAFTING else 0
    view.round = state.rounds
    view.tie_break = 1 if state.tie_breaks > 0 else 0
    view.cards_left = state.deck_size - state.dealt
    for slot in range(FACE_UP):
        card = state.row[slot]
        view.level[slot] = rules.card_level[card] if card != NO_CARD else 0
        view.kittens[slot] = rules.card_kittens[card] if card != NO_CARD else 0
        view.boxes[slot] = rules.card_boxes[card] if card != NO_CARD else 0
        view.taken_by[slot] = state.taken_by[slot]
    for other in range(SEATS_MOST):
        view.playing[other] = state.playing[other]
        view.slot[other] = state.slot[other]
        view.start[other] = state.start[other] if state.slot[other] != NO_CARD or other == seat else 0.0
        view.points[other] = state.points[other]
        view.completed[other] = state.completed[other]
        view.penalty_cards[other] = state.penalty_cards[other]
    view.now = state.now
    view.tempo = state.tempo[seat] if state.slot[seat] != NO_CARD else NORMAL
    view.checks = state.checks[seat]
    view.mended = state.mended[seat]


# ---------------------------------------------------------------- actions


@jit
def legal_actions(state, rules):
    """Bit mask (int64, bit `a` for action `a`): any card still there at any tempo; shout, or check first."""
    if state.phase == DRAFTING:
        mask = 0
        for slot in range(FACE_UP):
            if state.row[slot] != NO_CARD and state.taken_by[slot] == NOBODY:
                mask |= 0b1111 << (TEMPOS * slot)
        return mask
    seat = state.seat
    if state.tempo[seat] == BLUFF or state.checks[seat] >= rules.max_checks:
        return 1 << Action.SHOUT
    return (1 << Action.SHOUT) | (1 << Action.CHECK)


@jit
def act(state, rules, streams, action):
    """Let the seat to decide take one legal action."""
    seat = state.seat
    if action == Action.SHOUT:
        state.caller = seat
        state.phase = CALLED
    elif action == Action.CHECK:
        state.checks[seat] += 1
        state.phase = CHECKING
    else:
        slot = action // TEMPOS
        state.taken_by[slot] = seat
        state.slot[seat] = slot
        state.tempo[seat] = action % TEMPOS
        state.waiting[seat] = 0
        state.place[seat] = _count(state.playing) - _count(state.waiting) - 1
        if _count(state.waiting) == 0:
            state.phase = BUILDING
        else:
            state.seat = _foremost(state.grab, state.waiting, 1.0, streams[LOTS])


@jit
def _count(flags):
    """How many of the seats' flags are set."""
    return flags[0] + flags[1] + flags[2] + flags[3]


@jit
def _foremost(times, among, sign, lots):
    """Seat of the least (`sign` 1) or greatest (−1) time of those flagged in `among`; at the same instant lots are drawn."""
    best, alike = NOBODY, 0
    for seat in range(SEATS_MOST):
        if among[seat] == 0:
            continue
        if best == NOBODY or sign * times[seat] < sign * times[best]:
            best, alike = seat, 1
        elif times[seat] == times[best]:
            alike += 1
            if draw_below(lots, alike) == 0:
                best = seat
    return best


@jit
def is_out(state, rules, seat):
    """Can `seat` surely no longer win? So if the rounds left cannot make good how far another is ahead.

    In each, `seat` gains at most KITTENS_MOST points, and in all no more cards than end the game; another loses at most its dearest penalty.
    """
    if state.tie_breaks > 0:
        return False
    left = state.deck_size - state.dealt
    rounds = 1 + left // FACE_UP + (1 if left % FACE_UP >= rules.seats else 0)
    cards = state.completed[seat] + (state.penalty_cards[seat] if rules.five_counts == ALL_CARDS else 0)
    gain = KITTENS_MOST * min(rounds, rules.cards_to_win - cards)
    loss = rounds * max(rules.penalty_points[0], rules.penalty_points[1], rules.penalty_points[2])
    beyond = 0  # what can be made good
    for other in range(rules.seats):
        beyond = max(beyond, state.points[other] - state.points[seat] - gain - (loss if rules.penalties[other] else 0))
    return beyond > 0


# ---------------------------------------------------------------- chance


@jit
def chance(state, rules, streams):
    """What is drawn now: a round's cards and reactions, the building, what a check finds, or the touches after a shout."""
    if state.phase == DEALING:
        _deal(state, rules, streams)
    elif state.phase == BUILDING:
        _build(state, rules, streams)
    elif state.phase == CHECKING:
        _check(state, rules, streams)
    else:
        _touch(state, rules, streams)
        _settle(state, rules)
        _go_on(state, rules)


@jit
def draw_noise(stream, sigma):
    """Lognormal float64 of mean 1; `sigma` is the standard deviation of its logarithm."""
    return math.exp(sigma * draw_normal(stream) - 0.5 * sigma * sigma)


@jit
def _clear_round(state):
    for slot in range(FACE_UP):
        state.row[slot] = NO_CARD
        state.taken_by[slot] = NOBODY
    for seat in range(SEATS_MOST):
        state.waiting[seat] = state.playing[seat]
        state.slot[seat] = NO_CARD
        state.wrong[seat] = 0
        state.checks[seat] = 0
        state.mended[seat] = 0
        state.turned[seat] = 0
    state.now = 0.0
    state.caller = NOBODY
    state.last = NOBODY
    state.right = 0


@jit
def _deal(state, rules, streams):
    """Turn up four cards; everyone still to grab does so after its reaction time (Turni di Gioco). In a tie-break they come from those removed."""
    if state.rounds > 0:
        state.seconds += rules.reset_seconds
    state.rounds += 1
    _clear_round(state)
    if state.tie_breaks > 0:
        count = min(FACE_UP, state.removed_size)
        _shuffle(state.removed, 0, state.removed_size, count, streams[DECK])
        for slot in range(count):
            state.row[slot] = state.removed[slot]
    else:
        for slot in range(min(FACE_UP, state.deck_size - state.dealt)):
            state.row[slot] = state.deck[state.dealt]
            state.dealt += 1
    longest = 0.0
    for seat in range(SEATS_MOST):
        if state.playing[seat]:
            longest = max(longest, rules.head_start_seconds[seat])
    for seat in range(SEATS_MOST):
        if state.playing[seat]:
            state.grab[seat] = rules.reaction_seconds * rules.reaction_factor[seat] * draw_noise(streams[GRABS + seat], rules.reaction_sigma)
            state.start[seat] = state.grab[seat] + (longest - rules.head_start_seconds[seat])
    state.seat = _foremost(state.grab, state.waiting, 1.0, streams[LOTS])
    state.phase = DRAFTING


@jit
def loose_kittens(rules, seat, kittens, boxes):
    """Kittens (int64) `seat` gathers for a card: those shown less those in boxes and those it is spared."""
    return max(kittens - boxes - rules.spared_kittens[seat], 0)


@jit
def wrong_chance(rules, seat, kittens, boxes, tempo):
    """Chance (float64) that `seat` composes a card wrong at a tempo other than BLUFF."""
    error = min(rules.error_per_kitten * rules.tempo_error[tempo] * rules.error_factor[seat], 1.0)
    return 1.0 - (1.0 - error) ** (loose_kittens(rules, seat, kittens, boxes) + boxes)


@jit
def build_seconds(rules, seat, level, kittens, boxes, flips, tempo):
    """Mean seconds (float64) `seat` builds a card at a tempo other than BLUFF, with `flips` cat-in-box cards turned over."""
    work = loose_kittens(rules, seat, kittens, boxes) * rules.kitten_seconds + flips * rules.flip_seconds
    return (rules.level_3_factor if level == 3 else 1.0) * rules.tempo_time[tempo] * work / rules.speed[seat]


@jit
def _build(state, rules, streams):
    """Draw each seat's flips, noise and error: when it will be done, and whether its composition is right."""
    for seat in range(SEATS_MOST):
        if not state.playing[seat]:
            continue
        card = state.row[state.slot[seat]]
        level, kittens, boxes = rules.card_level[card], rules.card_kittens[card], rules.card_boxes[card]
        gone = 0
        if rules.boxes_contended:
            for other in range(SEATS_MOST):
                if state.playing[other] and state.place[other] < state.place[seat]:
                    gone += rules.card_boxes[state.row[state.slot[other]]]
        state.flips[seat] = 0
        for found in range(boxes):
            state.flips[seat] += 1 + draw_below(streams[FLIPS + seat], max(CAT_IN_BOX_CARDS - gone - found, 1))
        state.noise[seat] = draw_noise(streams[NOISES + seat], rules.noise_sigma)
        state.error_draw[seat] = draw_unit(streams[ERRORS + seat])
        tempo = state.tempo[seat]
        if tempo == BLUFF:
            state.wrong[seat] = 1
            state.ready[seat] = state.start[seat] + rules.bluff_seconds
        else:
            state.wrong[seat] = 1 if state.error_draw[seat] < wrong_chance(rules, seat, kittens, boxes, tempo) else 0
            state.ready[seat] = state.start[seat] + build_seconds(rules, seat, level, kittens, boxes, state.flips[seat], tempo) * state.noise[seat]
    _wait_for_next(state, streams)


@jit
def _wait_for_next(state, streams):
    """Whoever is done first decides."""
    state.seat = _foremost(state.ready, state.playing, 1.0, streams[LOTS])
    state.now = state.ready[state.seat]
    state.phase = DECIDING


@jit
def _check(state, rules, streams):
    """A check takes its time; if it notices an error, that is mended in the time of one loose kitten."""
    seat = state.seat
    state.check_draw = draw_unit(streams[CHECKS + seat])
    state.ready[seat] += rules.check_seconds
    if state.wrong[seat] and state.check_draw < rules.check_hit_rate:
        state.wrong[seat] = 0
        state.mended[seat] = 1
        state.ready[seat] += rules.kitten_seconds * rules.tempo_time[state.tempo[seat]] / rules.speed[seat]
    _wait_for_next(state, streams)


@jit
def _touch(state, rules, streams):
    """Everyone but the caller touches the palm after its reaction and reach: who is last? (L'ultimo a toccare)"""
    next_ready = math.inf
    for seat in range(SEATS_MOST):
        state.waiting[seat] = 1 if state.playing[seat] and seat != state.caller else 0
        if state.playing[seat]:  # the caller's draws keep rounds aligned between settings
            state.reaction[seat] = rules.reaction_seconds * draw_noise(streams[TOUCHES + seat], rules.reaction_sigma)
            state.reach[seat] = rules.reach_seconds * draw_noise(streams[TOUCHES + seat], rules.reach_sigma)
            state.touch[seat] = (state.reaction[seat] + state.reach[seat]) * rules.reaction_factor[seat]
        if state.waiting[seat]:
            next_ready = min(next_ready, state.ready[seat])
    state.last = _foremost(state.touch, state.waiting, -1.0, streams[LOTS])
    state.last_touches[state.last] += 1
    if next_ready - state.now < 1.0:
        state.close_rounds += 1
    state.seconds += state.now + state.touch[state.last]


# ---------------------------------------------------------------- scoring


@jit
def _settle(state, rules):
    """The call is right or wrong: who keeps a card, who turns one over, and what is removed. A tie-break knows no penalties."""
    caller = state.caller
    state.right = 1 - state.wrong[caller]
    if state.right:
        card = state.row[state.slot[caller]]
        state.points[caller] += rules.card_kittens[card]
        state.completed[caller] += 1
        state.right_calls[caller] += 1
    else:
        state.wrong_calls[caller] += 1
    if state.tie_breaks > 0:
        return
    if state.right or rules.wrong_call != CALLER:
        for seat in range(SEATS_MOST):
            if seat == state.last or (rules.last_to_touch == ALL_OTHERS and state.waiting[seat]):
                _turn_over(state, rules, seat)
    if not state.right and rules.wrong_call != LAST:
        _turn_over(state, rules, caller)
    for slot in range(FACE_UP):
        seat = state.taken_by[slot]
        kept = seat != NOBODY and (state.turned[seat] or (seat == caller and state.right))
        if state.row[slot] != NO_CARD and not kept:
            state.removed[state.removed_size] = state.row[slot]
            state.removed_size += 1


@jit
def _turn_over(state, rules, seat):
    """`seat` turns its card over and keeps it as a penalty, unless it plays without penalties."""
    if rules.penalties[seat]:
        state.turned[seat] = 1
        state.penalty_cards[seat] += 1
        state.points[seat] -= rules.penalty_points[rules.card_level[state.row[state.slot[seat]]] - 1]


@jit
def _go_on(state, rules):
    """The next round, the end, or a tie-break (Fine della Partita)."""
    state.phase = DEALING
    if state.tie_breaks > 0:
        if state.right:
            _end(state, state.caller)
        elif state.tie_breaks >= rules.max_tie_breaks:
            _end(state, NOBODY)
        else:
            state.tie_breaks += 1
        return
    _update_lead(state, rules)
    most = 0
    for seat in range(rules.seats):
        most = max(most, state.completed[seat] + (state.penalty_cards[seat] if rules.five_counts == ALL_CARDS else 0))
    if most < rules.cards_to_win and state.deck_size - state.dealt >= rules.seats:
        return
    if state.leader != NOBODY:
        _end(state, state.leader)
        return
    best = _most_points(state, rules)
    tied = 0
    for seat in range(rules.seats):
        tied += 1 if state.points[seat] == best else 0
    if not rules.tie_break or state.removed_size < tied:
        _end(state, NOBODY)
        return
    state.tie_breaks = 1
    for seat in range(rules.seats):
        state.playing[seat] = 1 if state.points[seat] == best else 0


@jit
def _end(state, winner):
    state.phase = OVER
    state.winner = winner


@jit
def _most_points(state, rules):
    best = state.points[0]
    for seat in range(1, rules.seats):
        best = max(best, state.points[seat])
    return best


@jit
def _update_lead(state, rules):
    """Who alone has most points after this round; nobody at a tie."""
    best = _most_points(state, rules)
    state.leader = NOBODY
    alike = 0
    for seat in range(rules.seats):
        if state.points[seat] == best:
            state.leader = seat
            alike += 1
    if alike > 1:
        state.leader = NOBODY
    else:
        if state.last_leader != NOBODY and state.last_leader != state.leader:
            state.lead_changes += 1
        state.last_leader = state.leader
    state.leads[state.rounds] = state.leader
    for seat in range(rules.seats):
        state.history[SEATS_MOST * state.rounds + seat] = state.points[seat]


# ---------------------------------------------------------------- outcome


@jit
def score(state, rules, streams, row):
    """Write the finished game's outcome to `row` (one OUTCOME record)."""
    winner = state.winner
    wrong = 0
    next_points = MISSING
    for seat in range(SEATS_MOST):
        row.points[seat] = state.points[seat]
        row.completed[seat] = state.completed[seat]
        row.penalty_cards[seat] = state.penalty_cards[seat]
        row.right_calls[seat] = state.right_calls[seat]
        row.wrong_calls[seat] = state.wrong_calls[seat]
        row.last_touches[seat] = state.last_touches[seat]
        wrong += state.wrong_calls[seat]
        if seat < rules.seats and seat != winner:
            next_points = max(next_points, state.points[seat])
    row.winner = winner
    row.wrong_call_share = np.int64(round(1e6 * wrong / state.rounds))
    row.rounds = state.rounds
    row.seconds = np.int64(round(100.0 * state.seconds))
    row.close_rounds = state.close_rounds
    row.tied = 1 if state.leader == NOBODY else 0
    row.tie_breaks = state.tie_breaks
    row.lead_changes = state.lead_changes
    row.leader_at_half = state.leads[(state.rounds - state.tie_breaks) // 2]
    row.leader_at_half_won = MISSING if row.leader_at_half == NOBODY else (1 if row.leader_at_half == winner else 0)
    row.winner_led_at_half = MISSING if winner == NOBODY else (1 if row.leader_at_half == winner else 0)
    row.margin = MISSING if winner == NOBODY else state.points[winner] - next_points
    row.leader_at_10_won = _leader_won(state, 1)
    row.leader_at_20_won = _leader_won(state, 2)
    row.leader_at_30_won = _leader_won(state, 3)
    row.leader_at_40_won = _leader_won(state, 4)
    row.leader_at_60_won = _leader_won(state, 6)
    row.leader_at_70_won = _leader_won(state, 7)
    row.leader_at_80_won = _leader_won(state, 8)
    row.leader_at_90_won = _leader_won(state, 9)
    if winner == NOBODY:
        row.winner_behind_mean = row.winner_behind_most = row.decisive_moment = MISSING
    else:
        _score_drama(state, rules, row)


@jit
def _leader_won(state, tenth):
    """Did the leader after so many tenths of the rounds win: 1 or 0; MISSING without a leader."""
    leader = state.leads[(state.rounds - state.tie_breaks) * tenth // 10]
    return MISSING if leader == NOBODY else (1 if leader == state.winner else 0)


@jit
def _score_drama(state, rules, row):
    """How far behind the winner was before each round, on average and at most, and when it took the lead for good; tie-breaks aside."""
    rounds = state.rounds - state.tie_breaks
    total = most = settled = 0
    for k in range(rounds):
        own = state.history[SEATS_MOST * k + state.winner]
        behind = 0
        for seat in range(rules.seats):
            behind = max(behind, state.history[SEATS_MOST * k + seat] - own)
        total += behind
        most = max(most, behind)
        if state.leads[k] != state.winner:
            settled = k + 1
    if state.leads[rounds] != state.winner:  # a tie-break settles it
        settled = rounds
    row.winner_behind_mean = np.int64(100.0 * total / rounds + 0.5)
    row.winner_behind_most = most
    row.decisive_moment = np.int64(1000.0 * settled / rounds + 0.5)
