"""Second real histories: other deals which, played with the same actions, show one player the same events.

`Histories` draws them by rejection: it deals uniformly among the decks that agree with what the player certainly knows
about places in the deck, plays the same actions, and keeps those in which every action is legal and the player's
events are the same. What it keeps is what the player may believe, and is made by the rules alone: `determinize` has
no part in it.

The number of an action may depend on hidden cards: it may count the builds which the cards in a hand allow. Then the
same play has another number after another deal, which is found if `follows` is set, at the price of trying more.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.state import State

_MOST_TRIED = 12  # other actions tried, to see whether a player can choose between them in secret


class Histories:
    """The histories that look like that of `state` to `player`.

    Args:
        state: a position of a game that was dealt from an explicit deck with every token.
        player: who looks.

    Attributes:
        has_secrets: whether another player has chosen between actions which look the same to `player`, so that the same
            events can come from other actions than these.
        is_first_deal: whether no tokens have been gathered or shuffled since the deal, so that the deck explains all.
        follows: whether other players may take any action that shows what theirs has shown, not only the one of the
            same number; off at first.
        replayed: number of actions replayed so far, a measure of the work done.
    """

    def __init__(self, state: State, player: int) -> None:
        self.state, self.player, self.replayed = state, player, 0
        self.follows = False
        self._game, self._options, self._actions = state.game, state.options, state.actions
        self._deck = state.deck.tolist()
        self._log = ev.new_log(4 * len(state.event_log()) + 64)
        self._legal = np.zeros(self._game.max_legal(self._options), np.int32)
        self._expected: list[np.ndarray] = []
        self.has_secrets = False
        self._look_back()
        log = state.event_log()
        ops = [self._game.table.kinds[kind].op for kind in log[:, ev.KIND].tolist()]
        created = [k for k, op in enumerate(ops) if op == ev.Op.CREATE]
        moves = np.array([op != ev.Op.NOTE for op in ops])
        self.is_first_deal = (
            bool(created)
            and created[-1] < self._num_dealing
            and not {ev.Op.CLEAR, ev.Op.SHUFFLE} & set(ops[created[-1] :])
            and bool((log[moves, ev.AUDIENCE] == ev.EVERYBODY).all())
        )
        self._constraints = _Places(state, player, log, ops) if self.is_first_deal else None

    def draw(self, chooser: random.Random, world: State | None = None) -> State | None:
        """Deal once. Return the position reached, or None if it is not reached, or looks different.

        Given `world`, a twin, hidden tokens go to places from which they may have come to where it has them.
        """
        assert self._constraints is not None
        deck = self._constraints.deal(chooser, world)
        actions = None if deck is None else self._play(np.array(deck, np.int16))
        if actions is None:
            return None
        other = self._game.new_state(seed=self.state.seed, deck=deck, **self._options.as_dict())
        for action in actions:
            other.apply_unchecked(action)
        return other

    def _look_back(self) -> None:
        """Play the true history to see what each step shows, and whether others had a choice that it does not show."""
        past = self._game.new_state(seed=self.state.seed, deck=self._deck, **self._options.as_dict())
        self._num_dealing = len(past.event_log())
        self._expected.append(past.event_rows(self.player))
        for action in self._actions:
            before, num_before = past.clone(), len(past.event_rows(self.player))
            past.apply(action)
            shown = past.event_rows(self.player)[num_before:]
            self._expected.append(shown)
            if before.current_player != self.player and not self.has_secrets:
                others = [other for other in before.legal_actions() if other != action]
                tried = random.Random(action).sample(others, min(_MOST_TRIED, len(others)))
                self.has_secrets = any(self._looks_the_same(before, other, shown) for other in tried)

    def _looks_the_same(self, before: State, action: int, shown: np.ndarray) -> bool:
        other, num_before = before.clone(), len(before.event_rows(self.player))
        other.apply_unchecked(action)
        return np.array_equal(other.event_rows(self.player)[num_before:], shown)

    def _play(self, deck: np.ndarray) -> list[int] | None:
        """Return actions which show the player the same at every step after a deal of `deck`, or None."""
        engine, legal, actions = self._game.engine, self._legal, []
        records = self._game.blank(self._options)
        self._log[0, 0] = 0
        engine.start(records, 0, self.state.seed, deck, self._log)
        if not self._shows(self._expected[0]):
            return None
        num_legal = engine.legal(records, 0, legal)
        for action, expected in zip(self._actions, self._expected[1:], strict=True):
            choices = legal[:num_legal].tolist()
            follows = self.follows and records["current_player"][0] != self.player
            before = records.copy() if follows else records
            for choice in [action, *(other for other in choices if follows and other != action)]:
                if choice not in choices:
                    continue
                records[:] = before
                self._log[0, 0] = 0
                num_legal = engine.apply(records, 0, choice, self._log, legal)
                self.replayed += 1
                if self._shows(expected):
                    actions.append(choice)
                    break
            else:
                return None
        return actions

    def _shows(self, expected: np.ndarray) -> bool:
        """Return whether the events just written show the player what is expected."""
        seen = self._log[1 : int(self._log[0, 0]) + 1]
        return len(seen) == len(expected) and np.array_equal(self._visible(seen), expected)

    def _visible(self, rows: np.ndarray) -> np.ndarray:
        return self._game.table.visible(rows, self.player)


class _Places:
    """Which token may lie at which place of the deck, as far as this follows from where tokens have been seen.

    Only sets of places that are nested or apart are used, the smallest first: then each token has as many places left
    as any other order of the deal would leave it, and dealing one after the other is uniform.
    """

    def __init__(self, state: State, player: int, rows: np.ndarray, ops: list[ev.Op]) -> None:
        self._game, self._state, self._player = state.game, state, player
        self._deck = state.deck.tolist()
        self._backs = [self._back(token) for token in self._deck]
        self._piles = {int(row[ev.TARGET]) for row, op in zip(rows, ops, strict=True) if op == ev.Op.CREATE}
        seen = np.where(
            rows[:, ev.VISIBLE] & rows[:, ev.AUDIENCE] & ev.viewer_bit(player) != 0, rows[:, ev.TOKEN], ev.UNKNOWN
        )
        left = [k for k, op in enumerate(ops) if op == ev.Op.MOVE and int(rows[k, ev.SOURCE]) in self._piles]
        self._came_to = self._first_piles(rows, left)  # place: (number of the event, pile)
        self._edges: dict[int, set[int]] = defaultdict(set)  # pile: piles from which a token may have come unseen
        for row, token, op in zip(rows, seen, ops, strict=True):
            if op == ev.Op.MOVE_ALL or (op == ev.Op.MOVE and token == ev.UNKNOWN):
                self._edges[int(row[ev.TARGET])].add(int(row[ev.SOURCE]))
        self._fixed = {
            place: self._deck[place] for place, (k, _) in self._came_to.items() if int(seen[k]) != ev.UNKNOWN
        }
        self._wanted = self._nested(self._sightings(rows, seen, ops))

    def _first_piles(self, rows: np.ndarray, left: list[int]) -> dict[int, tuple[int, int]]:
        """Return for each place of the deck whose token has left it: the event, and the pile where it went."""
        tokens = [int(rows[k, ev.TOKEN]) for k in left]
        if tokens == self._deck[: len(tokens)]:
            return {place: (k, int(rows[k, ev.TARGET])) for place, k in enumerate(left)}
        count = Counter(self._deck)
        return {
            self._deck.index(token): (k, int(rows[k, ev.TARGET]))
            for k, token in zip(left, tokens, strict=True)
            if count[token] == 1
        }

    def _sightings(self, rows: np.ndarray, seen: np.ndarray, ops: list[ev.Op]) -> list[tuple[int, frozenset[int]]]:
        """Return (token, places from which it may have come) for tokens first seen outside the deck."""
        copies = Counter(self._deck)
        copies.subtract(self._fixed.values())
        met, found = set(self._fixed.values()), []
        for k, op in enumerate(ops):
            token, pile = int(seen[k]), int(rows[k, ev.SOURCE])
            if op not in (ev.Op.MOVE, ev.Op.REVEAL) or token == ev.UNKNOWN or token in met or pile in self._piles:
                continue
            met.add(token)
            if copies[token] == 1:
                found.append((token, self._sources(pile, k)))
        return found

    def _sources(self, pile: int, before: int) -> frozenset[int]:
        """Return the places whose token may be in `pile` at event number `before`."""
        reached, todo = {pile}, [pile]
        while todo:
            new = self._edges[todo.pop()] - reached
            reached |= new
            todo += new
        places = {p for p, (k, to) in self._came_to.items() if k < before and to in reached}
        if len(self._came_to) < len(self._deck) and reached & self._piles:
            places |= set(range(len(self._deck))) - set(self._came_to) if pile in self._piles else set()
        return frozenset(places - set(self._fixed))

    def _nested(self, wanted: Iterable[tuple[int, frozenset[int]]]) -> list[tuple[int, frozenset[int]]]:
        kept: list[tuple[int, frozenset[int]]] = []
        for token, places in sorted(wanted, key=lambda pair: len(pair[1])):
            places = frozenset(p for p in places if self._backs[p] == self._back(token))
            if places and all(other <= places or not other & places for _, other in kept):
                kept.append((token, places))
        return kept

    def _back(self, token: int) -> int:
        return self._game.view.token_back(token)

    def deal(self, chooser: random.Random, world: State | None) -> list[int] | None:
        """Return a deck, or None if there is no place left for a token."""
        wanted = self._wanted if world is None else [*self._wanted, *self._of_world(world)]
        deck: list[int] = [ev.UNKNOWN] * len(self._deck)
        rest = Counter(self._deck)
        for place, token in self._fixed.items():
            deck[place] = token
            rest[token] -= 1
        for token, places in wanted:
            back = self._back(token)
            free = [place for place in sorted(places) if deck[place] == ev.UNKNOWN and self._backs[place] == back]
            if not free or not rest[token]:
                return None
            deck[chooser.choice(free)] = token
            rest[token] -= 1
        tokens: dict[int, list[int]] = defaultdict(list)
        for token in rest.elements():
            tokens[self._back(token)].append(token)
        for group in tokens.values():
            chooser.shuffle(group)
        for place, token in enumerate(deck):
            if token == ev.UNKNOWN:
                deck[place] = tokens[self._backs[place]].pop()
        return deck

    def _of_world(self, world: State) -> list[tuple[int, frozenset[int]]]:
        """Return the hidden tokens of a twin with the places from which they may have come, the smallest set first."""
        known, table = self._state.table(self._player), world.table(ev.OMNISCIENT)
        asked = Counter(token for token, _ in self._wanted)
        hidden = []
        for number, tokens in enumerate(table.piles):
            unseen = Counter(tokens) - Counter(token for token in known.piles[number] if token != ev.UNKNOWN)
            places = self._sources(number, len(self._state.event_log())) if unseen else frozenset()
            hidden += [(token, places) for token in unseen.elements() if not asked[token] and places]
        return sorted(hidden, key=lambda pair: len(pair[1]))
