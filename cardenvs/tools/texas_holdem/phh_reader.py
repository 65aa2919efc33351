"""Read one hand of PHH: check its fields, collect its cards and play its actions. phh.py describes the format."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import UNKNOWN
from cardenvs.core.text import one_line
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.state import (
    BOARD_CARDS,
    MAX_CHIPS,
    MAX_PLAYERS,
    NUM_BOARD,
    STREETS,
    TexasHoldemOptions,
)
from cardenvs.kits.cards import card_label, parse_card
from cardenvs.tools.texas_holdem.hands import Hand, read_hands
from cardenvs.tools.texas_holdem.recorded import RecordedHand
from cardenvs.tools.texas_holdem.timeline import Timeline

MOST_RAKE = Decimal("0.1")  # of a pot; more is a contradiction
VARIANTS: dict[str, dict[str, Any]] = {  # of hold'em, and the options that play them
    "NT": {},
    "FT": {"betting": "limit", "blind_counts": False, "short_raise": "additive"},
    "PT": {"betting": "pot_limit"},
}
_MUCK, _SHOW = "", "-"  # arguments of sm other than cards
_CARD_TEXT = re.compile(r"[2-9TJQKA?][cdhs?]")
_PLAYER = re.compile(r"p([1-9][0-9]?)")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
_MOST_DIGITS = 12  # before the point of an amount, or behind it
_MOST_NAME = 100  # characters
_AMOUNTS = ("antes", "blinds_or_straddles", "starting_stacks", "finishing_stacks")


def cards_text(cards: Iterable[int]) -> str:
    """Return cards as PHH writes them: "AsKs", "??" for an unknown one."""
    return "".join("??" if card == UNKNOWN else card_label(card) for card in cards)


def smallest_unit(data: dict[str, Any]) -> int:
    """Return the power of ten that makes chips of all amounts of a hand: 100 if the smallest has two decimals."""
    values = [data.get("min_bet")]
    for name in _AMOUNTS:
        values += data[name] if isinstance(data.get(name), list) else []
    for text in data["actions"] if isinstance(data.get("actions"), list) else []:
        words = text.partition("#")[0].split() if isinstance(text, str) else []
        if len(words) == 3 and _AMOUNT.fullmatch(words[2]):
            values.append(Decimal(words[2]))
    places = 0
    for value in values:
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS:
            exponent = value.normalize().as_tuple().exponent
            places = max(places, -int(exponent))
    return int(10 ** min(places, 6))


@dataclass(frozen=True)
class Step:
    """An action of the file. `number` counts from 1, `player` from 0 (None: the dealer)."""

    number: int
    text: str
    player: int | None
    verb: str
    argument: str

    def error(self, why: str) -> FormatError:
        """Return an error that names the action."""
        return FormatError(f"action {self.number} ({self.text!r}): {why}")


class _AllInError(Exception):
    """Raised when a player whose stack is unknown must be all in, with the chips put in since the deal."""

    def __init__(self, player: int, chips: int) -> None:
        super().__init__(player)
        self.player, self.chips = player, chips


class HandReader:
    """Read one hand of PHH: check the fields and collect the cards when constructed, play the actions in `play`.

    `data` is the TOML table of the hand. What is read in another way than it is written goes to `note`, with the name
    of the field.

    Raises:
        FormatError: a field is missing or invalid, or asks for something these rules do not offer.
    """

    def __init__(self, data: dict[str, Any], chips_per_unit: int, note: Callable[[str, str], None]) -> None:
        self._data = data
        self._unit = chips_per_unit
        self._note = note
        self._betting = dict(VARIANTS.get(str(data.get("variant")), {}))
        if data.get("variant") not in VARIANTS:
            known = ", ".join(map(repr, VARIANTS))
            raise FormatError(f"variant is {data.get('variant')!r}; only {known}, hold'em, are played here")
        self._stacks = self._chips_or_unknown("starting_stacks", 1)
        self._n = len(self._stacks)
        if not 2 <= self._n <= MAX_PLAYERS:
            raise FormatError(f"starting_stacks: two to {MAX_PLAYERS} players can play; there are {self._n}")
        self._unknown = [player for player, chips in enumerate(self._stacks) if chips is None]
        self._blinds, self._posts = self._read_blinds()
        self._ante, self._ante_type = self._read_ante()
        self._seat_of = self._read_seats()
        self._players = self._read_players()
        self._steps = self._read_steps()
        self._cards: dict[int, list[int | None]] = {}
        self._board: list[int] = []
        self._all_in: dict[int, int] = {}  # chips of players whose stacks are unknown, as far as the play shows them
        self._silent: set[int] = set()  # players who muck, or show cards that are not known
        self._read_cards()

    # -- fields -------------------------------------------------------------------------------------------------

    def _field(self, name: str, kind: type) -> Any:
        value = self._data.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            what = "is missing" if value is None else f"is {_short(value)}"
            raise FormatError(f"{name} {what}; it takes a {kind.__name__}")
        return value

    def _chips(self, name: str, low: int, count: int | None = None) -> list[int]:
        """Return a field with a list of amounts in whole chips, each at least `low`."""
        values = self._field(name, list)
        if count is not None and len(values) != count:
            raise FormatError(f"{name} has {len(values)} numbers for {count} players")
        return [self._whole(name, value, low) for value in values]

    def _chips_or_unknown(self, name: str, low: int, count: int | None = None) -> list[int | None]:
        """Return a field as `_chips` does, with None for inf, an unknown amount."""
        values = self._field(name, list)
        if count is not None and len(values) != count:
            raise FormatError(f"{name} has {len(values)} numbers for {count} players")
        unknown = [isinstance(value, Decimal) and value.is_infinite() and value > 0 for value in values]
        if any(unknown):
            players = ", ".join(f"p{k}" for k, one in enumerate(unknown, 1) if one)
            self._note(name, f"of {players} it is inf, unknown, and stays so")
        return [None if one else self._whole(name, value, low) for one, value in zip(unknown, values, strict=True)]

    def _whole(self, name: str, value: Any, low: int) -> int:
        """Convert an amount to chips."""
        is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if isinstance(value, Decimal):
            is_number = value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS
        chips = value * self._unit if is_number else low - 1
        if chips < low or chips != chips // 1:
            if isinstance(value, Decimal) and value.is_infinite():
                raise FormatError(f"{name} has {value}; only starting and finishing stacks may be inf, unknown")
            hint = "; decimals take chips_per_unit, such as 100 for cents" if isinstance(value, Decimal) else ""
            shown = str(value) if is_number else _short(value)
            least = f" of at least {low}" if low >= 0 else ""
            raise FormatError(f"{name} has {shown}; it takes integers{least}{hint}")
        return int(chips)

    def _read_ante(self) -> tuple[int, str]:
        """Return the ante, and who posts it (rules.md 2.1)."""
        antes = self._chips("antes", 0, self._n)
        trimmed = self._data.get("ante_trimming_status", False)
        if not isinstance(trimmed, bool):
            raise FormatError(f"ante_trimming_status is {_short(trimmed)}; it takes true or false")
        if len(set(antes)) != 1:
            return self._read_ante_of_big_blind(antes, trimmed), "big_blind"
        short = [f"p{k}" for k, stack in enumerate(self._stacks, 1) if stack is not None and stack < antes[0]]
        if short and not trimmed:
            raise FormatError(
                f"antes: {', '.join(short)} cannot post a whole ante; here a short ante counts as the chips put in "
                "(ante_trimming_status = true)"
            )
        return antes[0], "all"

    def _read_ante_of_big_blind(self, antes: list[int], trimmed: bool) -> int:
        place = 0 if self._n > 2 and not self._blinds[0] else 1
        payer = 0 if self._n == 2 else place
        if any(ante for k, ante in enumerate(antes) if k != place):
            raise FormatError(
                f"antes are {antes}; here everybody posts the same ante, or the big blind alone (number {place + 1})"
            )
        if trimmed:
            raise FormatError("ante_trimming_status is true; the big blind's ante for the table is not trimmed here")
        stack = self._stacks[payer]
        if stack is not None and stack < self._blinds[1] + antes[place]:
            raise FormatError(
                f"antes are {antes}; p{payer + 1} cannot post blind and ante; here the blind goes first (rules.md 4.1)"
            )
        return antes[place]

    def _read_blinds(self) -> tuple[tuple[int, int], list[int]]:
        """Return small and big blind, and what each player posts besides (a negative amount in the file)."""
        posted = self._chips("blinds_or_straddles", -(10**_MOST_DIGITS), self._n)
        for player, chips in enumerate(posted[2:], 3):
            if chips > 0:
                raise FormatError(
                    f"blinds_or_straddles are {posted}; p{player} posts {chips}, but straddles are not supported here"
                )
        small, big = posted[:2]
        if self._n > 2 and big == 0:  # p1 posts the big blind, and nobody the small blind
            small, big = 0, small
        elif self._n > 2 and small == 0:
            raise FormatError(f"blinds_or_straddles are {posted}; without a small blind the big blind comes first")
        if not 0 <= small <= big or big == 0:
            raise FormatError(
                f"blinds_or_straddles are {posted}; a small and a big blind come first here, such as [10, 20]"
            )
        self._read_bets(big)
        posts = [0, 0, *(max(0, -chips) for chips in posted[2:])]
        for player, chips in enumerate(posts, 1):
            if chips > big:
                self._note(
                    "blinds_or_straddles", f"p{player} posts {chips}: the big blind, and {chips - big} that are dead"
                )
        return (small, big), posts

    def _read_bets(self, big: int) -> None:
        """Read the sizes of bets; the smallest one is the big blind, except in limit."""
        if self._data["variant"] == "FT":
            for name in ("small_bet", "big_bet"):
                self._betting[name] = self._whole(name, self._data.get(name), 1)
            return
        if "min_bet" not in self._data:
            raise FormatError("min_bet is missing; it takes an integer, the big blind")
        least = self._whole("min_bet", self._data["min_bet"], 0)
        if least != big:
            raise FormatError(f"min_bet is {least}; here it is the big blind, {big}")

    def _read_seats(self) -> list[int]:
        """Return the seat of each player, 0..n-1, in the order of `seats`."""
        if "seats" not in self._data:
            return list(range(self._n))
        seats = self._chips("seats", 1, self._n)
        order = sorted(seats)
        ranks = [order.index(seat) for seat in seats]
        if len(set(seats)) < self._n:
            raise FormatError(f"seats are {seats}; players are listed clockwise, each at a different seat")
        if ranks != [(ranks[0] + k) % self._n for k in range(self._n)]:
            self._note(
                "seats", f"{self._data['seats']} are not clockwise; players act in the order in which they are listed"
            )
            return list(range(self._n))
        return ranks

    def _read_players(self) -> list[str]:
        """Return the names, p1 first; without names p1, p2, ..."""
        plain = [f"p{k}" for k in range(1, self._n + 1)]
        if "players" not in self._data:
            return plain
        names = self._field("players", list)
        if len(names) != self._n or not all(isinstance(name, str) for name in names):
            raise FormatError(f"players has {len(names)} entries; it takes a name for each of {self._n} players")
        return [one_line(name, _MOST_NAME) or plain[k] for k, name in enumerate(names)]

    # -- actions and cards --------------------------------------------------------------------------------------

    def _read_steps(self) -> list[Step]:
        steps = []
        for number, text in enumerate(self._field("actions", list), 1):
            if not isinstance(text, str):
                raise FormatError(f"action {number} is {_short(text)}; it takes a text such as 'p1 cc'")
            words = text.partition("#")[0].split()
            if [word.lower() for word in words[:2]] != words[:2]:
                self._note("actions", f"action {number} ({text!r}) has capital letters")
                words = [*(word.lower() for word in words[:2]), *words[2:]]
            if words:  # else only a comment
                steps.append(self._step(number, " ".join(words), words))
        return steps

    def _step(self, number: int, text: str, words: list[str]) -> Step:
        step = Step(number, text, None, "", "")
        match words:
            case ["d", "db", cards]:
                return Step(number, text, None, "db", cards)
            case ["d", "dh", player, cards]:
                return Step(number, text, self._player(step, player), "dh", cards)
            case [player, "f" | "cc" | "sm" as verb]:
                return Step(number, text, self._player(step, player), verb, "")
            case [player, "cbr" | "sm" as verb, argument]:
                return Step(number, text, self._player(step, player), verb, argument)
        raise step.error("it takes one of 'd dh p1 AsKs', 'd db 2c7d9h', 'p1 f', 'p1 cc', 'p1 cbr 60', 'p1 sm AsKs'")

    def _player(self, step: Step, text: str) -> int:
        found = _PLAYER.fullmatch(text)
        if not found or int(found[1]) > self._n:
            raise step.error(f"{text!r} is not one of p1 to p{self._n}")
        return int(found[1]) - 1

    def _read_cards(self) -> None:
        """Collect the cards dealt, and the cards shown where the dealt ones are unknown."""
        for step in self._steps:
            if step.verb == "db":
                self._board += self._known(step)
                if len(self._board) > NUM_BOARD:
                    raise step.error(
                        f"that makes {len(self._board)} cards on the board; it has {NUM_BOARD}, and a board that is "
                        "run twice is not supported"
                    )
            elif step.verb == "dh":
                assert step.player is not None
                self._cards.setdefault(step.player, []).extend(_cards(step))
            elif step.verb == "sm" and step.argument not in (_MUCK, _SHOW):
                self._read_shown(step)
            elif step.verb == "sm" and step.argument == _MUCK:
                self._silent.add(step.player or 0)
        for player in range(self._n):
            if len(self._cards.setdefault(player, [])) not in (0, 2):
                raise FormatError(f"p{player + 1} is dealt {len(self._cards[player])} cards; a hand has two")
        seen = [card for cards in self._cards.values() for card in cards if card is not None] + self._board
        for card in seen:
            if seen.count(card) > 1:
                raise FormatError(f"{card_label(card)} is dealt twice")

    def _known(self, step: Step) -> list[int]:
        cards = [card for card in _cards(step) if card is not None]
        if len(cards) != len(_cards(step)):
            raise step.error("the cards of the board must be known")
        return cards

    def _read_shown(self, step: Step) -> None:
        assert step.player is not None
        shown, dealt = _cards(step), self._cards.get(step.player, [])
        known = {card for card in dealt if card is not None}
        if len(shown) == len(dealt or shown) and not known - set(shown) - {None}:
            self._cards[step.player] = shown
        elif None not in shown or not {card for card in shown if card is not None} <= known:
            raise step.error(f"p{step.player + 1} was dealt {cards_text(self._or_unknown(dealt))}")
        if None in shown:
            self._silent.add(step.player)

    @staticmethod
    def _or_unknown(cards: list[int | None]) -> list[int]:
        return [UNKNOWN if card is None else card for card in cards]

    def _deck(self) -> list[int | None]:
        """Return two cards for each seat, then those of the board; None for unknown ones."""
        hands = {self._seat_of[player]: self._cards[player] or [None, None] for player in range(self._n)}
        return [card for seat in range(self._n) for card in hands[seat]] + self._board

    # -- playing ------------------------------------------------------------------------------------------------

    def play(self) -> RecordedHand:
        """Play the hand to its end.

        Raises:
            FormatError: the hand cannot be dealt, an action is illegal or out of turn, or the end does not match.
        """
        while True:
            try:
                return self._played()
            except _AllInError as found:  # the stack was unknown; each player is found once
                self._all_in[found.player] = found.chips

    def _played(self) -> RecordedHand:
        state = self._new_state()
        dealt, mucked = 0, set()
        for number, step in enumerate(self._steps):
            if step.verb == "db":
                dealt += len(_cards(step))
                self._check_board(step, state, dealt, self._steps[number:])
            elif step.verb in ("f", "cc", "cbr"):
                self._act(step, state, dealt, self._steps[number:])
            elif step.verb == "sm" and step.argument == _MUCK:
                mucked.add(step.player)
        for player, chips in self._all_in.items():
            self._note("actions", f"p{player + 1}, whose stack is unknown, is taken to be all in with {chips} chips")
        self._check_end(state, mucked)
        return state

    def _stand_in(self) -> int:
        """Return the chips of a player whose stack is unknown: more than anybody can bet."""
        known = sum(chips for chips in self._stacks if chips is not None)
        return max(1, (MAX_CHIPS - known) // max(1, len(self._unknown)))

    def _new_state(self) -> RecordedHand:
        stacks, posts, names = [0] * self._n, [0] * self._n, [""] * self._n
        for player, seat in enumerate(self._seat_of):
            chips = self._stacks[player]
            stacks[seat] = self._all_in.get(player, self._stand_in()) if chips is None else chips
            posts[seat], names[seat] = self._posts[player], self._players[player]
        try:
            options = GAME.make_options(
                num_players=self._n, format="cash", stacks=stacks, blinds=self._blinds, ante=self._ante,
                ante_type=self._ante_type, button=self._seat_of[-1], posts=posts if any(posts) else (), **self._betting,
            )  # fmt: skip
            assert isinstance(options, TexasHoldemOptions)
            unknown = [self._seat_of[player] for player in self._unknown]
            state = RecordedHand(options, self._deck(), self._winners_on_record(), tuple(names), unknown)
        except CardenvsError as error:
            raise FormatError(f"this hand cannot be dealt: {error}") from None
        state.order, state.unit, state.source = list(self._seat_of), self._unit, self._data
        return state

    def _winners_on_record(self) -> set[int]:
        """Return the seats that win chips by `finishing_stacks` or else `winnings`; empty if the file does not say."""
        won = [player for player, chips in enumerate(self._winnings()) if chips > 0]
        if "finishing_stacks" in self._data:
            after = self._finishing_stacks()
            if None not in (*after, *self._stacks):
                won = [player for player in range(self._n) if (after[player] or 0) > (self._stacks[player] or 0)]
        return {self._seat_of[player] for player in won}

    def _finishing_stacks(self) -> list[int | None]:
        values = self._chips_or_unknown("finishing_stacks", 0, self._n)
        return [None if player in self._unknown else chips for player, chips in enumerate(values)]

    def _winnings(self) -> list[Any]:
        values = self._data.get("winnings", [])
        if not isinstance(values, list) or not all(_is_number(value) for value in values):
            raise FormatError(f"winnings is {_short(values)}; it takes a list of numbers")
        if len(values) not in (0, self._n):
            raise FormatError(f"winnings has {len(values)} numbers for {self._n} players")
        return values

    def _check_board(self, step: Step, state: RecordedHand, dealt: int, left: list[Step]) -> None:
        if dealt not in BOARD_CARDS:
            raise step.error("three cards are dealt on the flop, then one on the turn and one on the river")
        if dealt > int(BOARD_CARDS[int(state.record.street)]):
            if state.is_terminal:
                raise step.error("the hand is over")
            self._find_all_in(state, left)
            raise step.error(f"{self._name(state.current_player)} is to act first")

    def _find_all_in(self, state: RecordedHand, left: list[Step]) -> None:
        """Raise _AllInError if the player to act has an unknown stack and no action left, though the hand goes on."""
        player = self._seat_of.index(state.current_player)
        acts_again = any(step.player == player and step.verb in ("f", "cc", "cbr") for step in left)
        if player in self._unknown and player not in self._all_in and not acts_again:
            raise _AllInError(player, int(state.record.chips_in[state.current_player]))

    def _act(self, step: Step, state: RecordedHand, dealt: int, left: list[Step]) -> None:
        visible = int(BOARD_CARDS[int(state.record.street)])
        if self._is_idle_check(step, state, visible > dealt):
            return
        if state.is_terminal:
            raise step.error("the hand is over")
        if visible > dealt:
            raise step.error(f"the {STREETS[int(state.record.street)]} must be dealt first")
        if state.current_player != self._seat_of[step.player or 0]:
            self._find_all_in(state, left)
            raise step.error(f"{self._name(state.current_player)} is to act")
        self._find_short_raise(step, state)
        try:
            if step.verb == "cbr":
                state.act("raise_to", self._amount(step))
            else:
                state.act("fold" if step.verb == "f" else "check_call")
        except CardenvsError as error:
            raise step.error(str(error)) from None

    def _find_short_raise(self, step: Step, state: RecordedHand) -> None:
        """Raise _AllInError if a player with an unknown stack raises by less than others may: that is all in."""
        if step.verb != "cbr" or step.player not in self._unknown or step.player in self._all_in:
            return
        s, total, least = state.record, self._amount(step), state.legal_options().min_raise_to
        if least is not None and s.to_match < total < least:
            before = int(s.chips_in[state.current_player] - s.bets[s.street, state.current_player])
            raise _AllInError(step.player or 0, before + total)

    def _is_idle_check(self, step: Step, state: RecordedHand, has_moved_on: bool) -> bool:
        """Return whether this is a check by a player who has no decision left, as all others are all-in (4.9).

        Some sites also write checks of those who are all in.
        """
        if step.verb != "cc" or not (state.is_terminal or has_moved_on):
            return False
        if step.player in self._all_in:
            return True
        s, seat = state.record, self._seat_of[step.player or 0]
        return bool(s.can_act == 1 << seat and s.in_hand & ~(1 << seat))

    def _check_end(self, state: RecordedHand, mucked: set[int | None]) -> None:
        if not state.is_terminal:
            if int(BOARD_CARDS[int(state.record.street)]) == NUM_BOARD and self._steps[-1].verb in ("db", "sm"):
                self._find_all_in(state, [])  # the river was dealt, and nobody acts on it
            raise FormatError(
                f"the hand is not over: after the last action, {self._name(state.current_player)} is to act"
            )
        (hand,) = read_hands(Timeline.of(state))
        if hand.has_showdown:
            self._check_showdown(state, hand, mucked)
        self._check_stacks(state, hand)
        self._check_winnings(hand)

    def _check_showdown(self, state: RecordedHand, hand: Hand, mucked: set[int | None]) -> None:
        """Check that the cards, or else the record, decide who wins each pot."""
        if len(self._board) < NUM_BOARD:
            raise FormatError(
                f"the hand reaches a showdown with {len(self._board)} cards on the board; it needs {NUM_BOARD}"
            )
        on_record = self._winners_on_record()
        for player, seat in enumerate(self._seat_of):
            name, is_left = f"p{player + 1}", state.record.in_hand >> seat & 1
            wins = any(seat in pot.wins for pot in hand.pots)
            if is_left and not state.knows(seat):
                if wins != (seat in on_record) or not (on_record or player in self._silent):
                    raise FormatError(
                        f"{name} reaches the showdown with unknown cards, so the winner cannot be determined"
                    )
                self._note("actions", f"{name} reaches the showdown with unknown cards, and {_outcome(wins)}")
            elif is_left and player in mucked and wins:
                raise FormatError(f"{name} mucks, but has won a pot; here hands that win are always shown")

    def _check_stacks(self, state: RecordedHand, hand: Hand) -> None:
        """Check the stacks at the end, and take what the winners lack for a rake."""
        if "finishing_stacks" not in self._data:
            return
        wanted = [UNKNOWN if chips is None else chips for chips in self._finishing_stacks()]
        here = [chips if wanted[p] != UNKNOWN else UNKNOWN for p, chips in enumerate(self._in_order(state.stacks))]
        if here == wanted:
            return
        winners = {seat for pot in hand.pots for seat in pot.wins}
        lack = [chips - on_record for chips, on_record in zip(here, wanted, strict=True)]
        taken_from_winners = all(
            chips == 0 or (chips > 0 and self._seat_of[player] in winners) for player, chips in enumerate(lack)
        )
        if not taken_from_winners or sum(lack) > MOST_RAKE * sum(pot.chips for pot in hand.pots):
            raise FormatError(
                f"finishing_stacks are {wanted}, but by these rules the hand ends with {here}; "
                "rules.md 11 lists where others play differently (odd chips, a short big blind)"
            )
        state.rake = sum(lack)
        self._note("finishing_stacks", f"the winners get {state.rake} chips less than the pot has: a rake")

    def _check_winnings(self, hand: Hand) -> None:
        """Note if others win by the rules than by `winnings`; sites count these chips in different ways."""
        named = [player for player, chips in enumerate(self._winnings()) if chips > 0]
        winners = sorted(self._seat_of.index(seat) for seat in {seat for pot in hand.pots for seat in pot.wins})
        if named and named != winners:
            here = ", ".join(f"p{player + 1}" for player in winners)
            self._note("winnings", f"it names other winners; by the rules the pot goes to {here}")

    def _amount(self, step: Step) -> int:
        """Return the total of a bet or raise, in chips."""
        chips = Decimal(step.argument) * self._unit if _AMOUNT.fullmatch(step.argument) else Decimal("0.5")
        if chips != chips // 1:
            raise step.error(f"{_short(step.argument)} is not a whole number of chips")
        return int(chips)

    def _in_order(self, values: list[int]) -> list[int]:
        """Return values by seat in the order of the file."""
        return [values[seat] for seat in self._seat_of]

    def _name(self, seat: int) -> str:
        return f"p{self._seat_of.index(seat) + 1}"


def _cards(step: Step) -> list[int | None]:
    """Return the cards in the argument of a step, None for unknown ones."""
    text = step.argument
    parts = [text[k : k + 2] for k in range(0, len(text), 2)]
    for part in parts:
        if not _CARD_TEXT.fullmatch(part) or (("?" in part) and part != "??"):
            raise step.error(f"{_short(part)} is not a card; a card is written As, Th, 2c, or ?? if unknown")
    return [None if part == "??" else parse_card(part) for part in parts]


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, Decimal) and value.is_finite())


def _outcome(wins: bool) -> str:
    return "wins by the stacks on record" if wins else "loses, as they are not shown"


def _short(value: Any) -> str:
    """Return a value for a message, shortened if long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
