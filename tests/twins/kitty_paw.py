"""Kitty Paw again, naively, from the rules page alone: no code is shared with sim/, and every card is an object.

The twin draws nothing. It is told what was drawn and decided, checks that it could be, and works out what follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

CLOSE = 1e-9  # times this near each other count as the same instant


@dataclass(frozen=True)
class Card:
    """A kitty card; `number` tells apart cards that look alike."""

    number: int
    level: int
    colour: str
    kittens: int
    boxes: int


@dataclass
class Player:
    """A seat: what it has kept, and where it is in this round."""

    seat: int
    completed: list[Card] = field(default_factory=list)
    penalties: list[Card] = field(default_factory=list)
    right: int = 0
    wrong: int = 0
    last: int = 0
    grabbed_at: float = 0.0
    clock: float = 0.0
    card: Card | None = None
    order: int = 0
    tempo: str = ""
    done: float = 0.0
    composition_right: bool = True
    checks: int = 0
    touched: float = 0.0


class Twin:
    """One game. `knobs` are the settings by name, lists of one value per seat given whole."""

    def __init__(self, seats: int, cards: list[Card], **knobs: Any) -> None:
        self.knobs = knobs
        self.players = [Player(seat) for seat in range(seats)]
        self.in_round = list(self.players)
        self.unseen = [card for card in cards if card.level in knobs["levels"]]
        self.both_sets = knobs["deck_order"] == "shuffled" and knobs["shuffled_deck"] == 48
        self.left = sum(1 for card in self.unseen if card.level != 2 or self.both_sets) + (8 if 2 in knobs["levels"] and not self.both_sets else 0)
        self.removed: list[Card] = []
        self.row: list[Card] = []
        self.rounds = 0
        self.extra = 0
        self.clock = 0.0
        self.close = 0  # rounds decided by less than a second,
        self.hardly_close = 0  # and by just a second, which rounding may put on either side
        self.over = False
        self.winner: int | None = None
        self.leaders: list[int | None] = [None]
        self.standings: list[list[int]] = [[0] * seats]  # points before the first round and after each
        self.stage = "deal"

    # -- a round

    def deal(self, row: list[Card], reactions: dict[int, float]) -> None:
        """Cards turned up, and when each seat's hand reaches them."""
        assert self.stage == "deal"
        assert len(set(row)) == len(row)
        if self.rounds:
            self.clock += self.knobs["reset_seconds"]
        self.rounds += 1
        if self.extra:
            assert len(row) == min(4, len(self.removed))
            assert set(row) <= set(self.removed)
        else:
            assert len(row) == min(4, self.left)
            for card in row:
                assert card in self.unseen
                if self.knobs["deck_order"] == "by_level":
                    assert card.level == min(other.level for other in self.unseen)
                self.unseen.remove(card)
                if card.level == 2 and not self.both_sets:  # the other set stays in the tin
                    self.unseen = [other for other in self.unseen if other.level != 2 or other.colour == card.colour]
                self.left -= 1
                if self.knobs["deck_order"] == "by_level" and card.level == 2 and sum(other.level == 2 for other in self.unseen) == 0:
                    self.unseen = [other for other in self.unseen if other.level != 2]
        self.row = list(row)
        most = max(self.knobs["head_start_seconds"][player.seat] for player in self.in_round)
        for player in self.in_round:
            player.card = None
            player.checks = 0
            player.grabbed_at = reactions[player.seat]
            player.clock = player.grabbed_at + most - self.knobs["head_start_seconds"][player.seat]
        self.stage = "draft"

    def next_to_grab(self) -> set[int]:
        """Seats that may be first among those without a card."""
        waiting = [player for player in self.in_round if player.card is None]
        return {p.seat for p in waiting if p.grabbed_at <= min(q.grabbed_at for q in waiting) + CLOSE}

    def there(self) -> list[int]:
        """Places in the row whose card nobody has."""
        return [place for place, card in enumerate(self.row) if all(player.card != card for player in self.in_round)]

    def grab(self, seat: int, place: int, tempo: str) -> None:
        """A seat takes the card at a place in the row."""
        assert self.stage == "draft"
        assert seat in self.next_to_grab()
        assert place in self.there()
        player = self.players[seat]
        player.order = sum(other.card is not None for other in self.in_round)
        player.card = self.row[place]
        player.tempo = tempo
        if all(other.card for other in self.in_round):
            self.stage = "build"

    def most_flips(self, seat: int) -> tuple[int, int]:
        """Fewest and most cat-in-box cards this seat may turn over."""
        player = self.players[seat]
        assert player.card
        gone = sum(p.card.boxes for p in self.in_round if p.card and p.order < player.order) if self.knobs["boxes_contended"] else 0
        return player.card.boxes, sum(max(8 - gone - found, 1) for found in range(player.card.boxes))

    def build(self, flips: dict[int, int], noise: dict[int, float], luck: dict[int, float]) -> None:
        """Everyone builds; `luck` below the chance of an error is a wrong composition."""
        assert self.stage == "build"
        for player in self.in_round:
            seat, card = player.seat, player.card
            assert card
            fewest, most = self.most_flips(seat)
            assert fewest <= flips[seat] <= most
            if player.tempo == "bluff":
                player.done = player.clock + self.knobs["bluff_seconds"]
                player.composition_right = False
                continue
            loose = max(card.kittens - card.boxes - self.knobs["spared_kittens"][seat], 0)
            seconds = loose * self.one_kitten() + flips[seat] * self.knobs["flip_seconds"]
            seconds *= (self.knobs["level_3_factor"] if card.level == 3 else 1) * self.of_tempo("tempo_time", player) / self.knobs["speed"][seat]
            player.done = player.clock + seconds * noise[seat]
            each_right = 1 - min(1.0, self.knobs["error_per_kitten"] * self.of_tempo("tempo_error", player) * self.knobs["error_factor"][seat])
            all_right = 1.0
            for _ in range(loose + card.boxes):
                all_right *= each_right
            player.composition_right = luck[seat] >= 1 - all_right
        self.stage = "decide"

    def one_kitten(self) -> float:
        """Search, grasp and orient."""
        return float(self.knobs["search_seconds"] + self.knobs["grasp_seconds"] + self.knobs["orient_seconds"])

    def of_tempo(self, name: str, player: Player) -> float:
        """The factor of a player's tempo."""
        return float(self.knobs[name][["careful", "normal", "rush"].index(player.tempo)])

    def next_to_decide(self) -> set[int]:
        """Seats that may be done first."""
        return {p.seat for p in self.in_round if p.done <= min(q.done for q in self.in_round) + CLOSE}

    def legal(self, seat: int) -> set[str]:
        """What the seat that is done may do."""
        player = self.players[seat]
        return {"shout"} if player.tempo == "bluff" or player.checks >= self.knobs["max_checks"] else {"shout", "check"}

    def check(self, seat: int, luck: float) -> None:
        """A check costs time; it notices an error if `luck` is below the hit rate."""
        assert self.stage == "decide"
        assert seat in self.next_to_decide()
        assert "check" in self.legal(seat)
        player = self.players[seat]
        player.checks += 1
        player.done += self.knobs["check_seconds"]
        if not player.composition_right and luck < self.knobs["check_hit_rate"]:
            player.composition_right = True
            player.done += self.one_kitten() * self.of_tempo("tempo_time", player) / self.knobs["speed"][seat]

    def shout(self, seat: int, last: int, reactions: dict[int, float], reaches: dict[int, float]) -> None:
        """MIAO: the others touch, `last` being last of them, and the shouter's card is looked at."""
        assert self.stage == "decide"
        assert seat in self.next_to_decide()
        caller = self.players[seat]
        others = [player for player in self.in_round if player is not caller]
        for player in others:
            player.touched = (reactions[player.seat] + reaches[player.seat]) * self.knobs["reaction_factor"][player.seat]
        latest = max(player.touched for player in others)
        loser = self.players[last]
        assert loser in others
        assert loser.touched >= latest - CLOSE
        loser.last += 1
        self.clock += caller.done + latest
        ahead = min(player.done for player in others) - caller.done
        self.close += ahead < 1 - CLOSE
        self.hardly_close += abs(ahead - 1) <= CLOSE
        assert caller.card
        if caller.composition_right:
            caller.right += 1
            caller.completed.append(caller.card)
        else:
            caller.wrong += 1
        if not self.extra:
            self.turn_over(caller, others, loser)
            kept = [card for player in self.players for card in player.completed + player.penalties]
            self.removed += [card for card in self.row if card not in kept]
        self.end_round(caller)

    def turn_over(self, caller: Player, others: list[Player], loser: Player) -> None:
        """Who keeps a card as a penalty."""
        turning: list[Player] = []
        if caller.composition_right or self.knobs["wrong_call"] in ("caller_and_last", "last"):
            turning += others if self.knobs["last_to_touch"] == "all_others" else [loser]
        if not caller.composition_right and self.knobs["wrong_call"] in ("caller_and_last", "caller"):
            turning.append(caller)
        for player in turning:
            if self.knobs["penalties"][player.seat]:
                assert player.card
                player.penalties.append(player.card)

    # -- the end

    def points(self, player: Player) -> int:
        """What a seat's cards are worth."""
        return sum(card.kittens for card in player.completed) - sum(self.knobs["penalty_points"][card.level - 1] for card in player.penalties)

    def end_round(self, caller: Player) -> None:
        """Go on, end, or play an extra round."""
        self.stage = "deal"
        if self.extra:
            if caller.composition_right:
                self.finish(caller.seat)
            elif self.extra == self.knobs["max_tie_breaks"]:
                self.finish(None)
            else:
                self.extra += 1
            return
        totals = [self.points(player) for player in self.players]
        self.standings.append(totals)
        ahead = [player for player in self.players if self.points(player) == max(totals)]
        self.leaders.append(ahead[0].seat if len(ahead) == 1 else None)
        counted = [len(p.completed) + (len(p.penalties) if self.knobs["five_counts"] == "all" else 0) for p in self.players]
        if max(counted) < self.knobs["cards_to_win"] and self.left >= len(self.players):
            return
        if len(ahead) == 1:
            self.finish(ahead[0].seat)
        elif self.knobs["tie_break"] and len(self.removed) >= len(ahead):
            self.extra = 1
            self.in_round = ahead
        else:
            self.finish(None)

    def finish(self, winner: int | None) -> None:
        """The game is over; nobody wins alone if `winner` is None."""
        self.over = True
        self.winner = winner
        self.stage = "over"

    def behind(self) -> list[int]:
        """How many points the winner was behind before each round, tie-breaks aside."""
        assert self.winner is not None
        return [max(totals) - totals[self.winner] for totals in self.standings[:-1]]

    def decided(self) -> int:
        """The rounds after which the winner was ahead to the end; all of them if a tie-break decided."""
        ahead = [leader == self.winner for leader in self.leaders]
        return max((n for n in range(len(ahead)) if not all(ahead[n:])), default=-1) + 1 if ahead[-1] else len(ahead) - 1

    def lead_changes(self) -> int:
        """Times a seat took the lead over from another."""
        led = [seat for seat in self.leaders if seat is not None]
        return sum(a != b for a, b in pairwise(led))
