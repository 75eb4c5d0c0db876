"""A Scoundrel game of the simulator played by hand, with the same words as the naive twin's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.games import scoundrel
from sim.games.scoundrel import Action
from sim.jit import int_columns, record_array, record_of
from sim.outcomes import MISSING
from sim.replay import action_names
from sim.rng import STREAM, open_stream
from sim.stories.scoundrel import RANKS, SUITS, card_name


def card_number(name: str) -> int:
    """The simulator's number of a card: K♠, 10♥."""
    ranks = {word: value for value, word in RANKS.items()}
    return SUITS.index(name[-1]) * 16 + (ranks[name[:-1]] if name[:-1] in ranks else int(name[:-1]))


class Engine:
    """One game from a given order of the deck, which may be any cards."""

    def __init__(self, deck: Sequence[str], **knobs: Any) -> None:
        self.rules = record_of(scoundrel.RULES, scoundrel.Rules(**knobs).as_values())[0]
        self.tables = record_array(scoundrel.STATE, 1)
        self.state = self.tables[0]
        self.streams = record_array(STREAM, scoundrel.PURPOSES)
        for purpose in range(scoundrel.PURPOSES):
            open_stream(self.streams[purpose], 1, 0, purpose)
        scoundrel.set_up(self.state, self.rules, self.streams)
        cards = [card_number(name) for name in deck]
        for place, card in enumerate(cards):
            self.state.dungeon[place] = card
        self.state.face_down = self.state.never_seen = len(cards)
        self.state.unseen = sum(1 << card for card in cards)
        self._deal()

    def _deal(self) -> None:
        while scoundrel.turn(self.state) == scoundrel.CHANCE:
            scoundrel.chance(self.state, self.rules, self.streams)

    def legal(self) -> set[str]:
        return set(action_names(scoundrel, int(scoundrel.legal_actions(self.state, self.rules))))

    def act(self, action: str) -> None:
        assert action in self.legal(), (action, self.legal())
        scoundrel.act(self.state, self.rules, self.streams, int(Action[action.upper()]))
        self._deal()

    @property
    def room(self) -> list[str]:
        return [card_name(int(card)) for card in self.state.room[: self.state.room_cards]]

    @property
    def dungeon(self) -> list[str]:
        return [card_name(int(self.state.dungeon[(self.state.top + n) % scoundrel.RING])) for n in range(self.state.face_down)]

    @property
    def health(self) -> int:
        return int(self.state.health)

    @property
    def over(self) -> bool:
        return int(scoundrel.turn(self.state)) == scoundrel.NO_TURN

    @property
    def weapon(self) -> int | None:
        return int(self.state.weapon) or None

    @property
    def limit(self) -> int | None:
        return None if self.state.limit == scoundrel.FRESH else int(self.state.limit)

    def outcome(self) -> dict[str, int | None]:
        rows = record_array(scoundrel.OUTCOME, 1)
        scoundrel.score(self.state, self.rules, self.streams, rows[0])
        values = int_columns(rows, scoundrel.OUTCOME)[0]
        return {column.name: None if value == MISSING else int(value) for column, value in zip(scoundrel.COLUMNS, values, strict=True)}
