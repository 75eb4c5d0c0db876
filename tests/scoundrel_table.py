"""A Scoundrel game of the simulator played by hand, with the same words as the naive twin's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.games import scoundrel
from sim.games.scoundrel import Action
from sim.jit import int_columns, record_array, record_dict, records_of, set_field
from sim.outcomes import MISSING
from sim.replay import action_names
from sim.rng import STREAM, open_stream
from sim.stories.scoundrel import RANKS, SUITS, table_of


def card_number(name: str) -> int:
    """The simulator's number of a card: K♠, 10♥."""
    ranks = {word: value for value, word in RANKS.items()}
    return SUITS.index(name[-1]) * 16 + (ranks[name[:-1]] if name[:-1] in ranks else int(name[:-1]))


class Engine:
    """One game from a given order of the deck, which may be any cards."""

    def __init__(self, deck: Sequence[str], **knobs: Any) -> None:
        self.rules = records_of(scoundrel.RULES, scoundrel.Rules(**knobs).as_values(), 1)[0]
        self.state = record_array(scoundrel.STATE, 1)[0]
        self.streams = tuple(record_array(STREAM, scoundrel.PURPOSES))
        for purpose, stream in enumerate(self.streams):
            open_stream(stream, 1, 0, purpose)
        scoundrel.set_up(self.state, self.rules, self.streams)
        cards = [card_number(name) for name in deck]
        set_field(self.state, "dungeon", cards + [0] * (scoundrel.RING - len(cards)))
        for name, value in (("face_down", len(cards)), ("never_seen", len(cards)), ("unseen", sum(1 << card for card in cards))):
            set_field(self.state, name, value)
        self._deal()

    def now(self) -> dict[str, Any]:
        """The state, by field."""
        return record_dict(self.state, scoundrel.STATE, scoundrel.STATE.names or ())

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
        return table_of(self.now())["room"]

    @property
    def dungeon(self) -> list[str]:
        return table_of(self.now())["dungeon"]

    @property
    def health(self) -> int:
        return self.now()["health"]

    @property
    def over(self) -> bool:
        return int(scoundrel.turn(self.state)) == scoundrel.NO_TURN

    @property
    def weapon(self) -> int | None:
        return table_of(self.now())["weapon"]

    @property
    def limit(self) -> int | None:
        return table_of(self.now())["limit"]

    def outcome(self) -> dict[str, int | None]:
        rows = record_array(scoundrel.OUTCOME, 1)
        scoundrel.score(self.state, self.rules, self.streams, rows[0])
        values = int_columns(rows, scoundrel.OUTCOME)[0]
        return {column.name: None if value == MISSING else int(value) for column, value in zip(scoundrel.COLUMNS, values, strict=True)}
