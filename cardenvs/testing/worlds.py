"""Checks of twins, and of everything a player gets, against second real histories (`histories.py`).

`check_worlds` plays games from explicit decks. At some positions it draws real histories that look the same to a
player. Whatever that player gets must be the same in all of them, and `determinize` must draw worlds as often as real
histories lead there: whole worlds, if there are few, and in any case the tokens of each pile, alone and in pairs. A
first sample only raises a suspicion; a larger sample, drawn afresh, decides.
"""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import bdtr, chdtrc, ndtr  # cumulative binomial, chi-square (upper tail), normal

from cardenvs.core.errors import OptionError
from cardenvs.core.events import OMNISCIENT, UNKNOWN
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State
from cardenvs.testing.case import Case, Report, fail
from cardenvs.testing.histories import Histories
from cardenvs.testing.leaks import seen_by

SUSPICION, FAILURE = 0.02, 1e-6  # p-values, corrected for the number of comparisons
_FIRST, _SECOND = 200, 3000  # histories and worlds in the first and in the deciding sample
_FEWEST = 100  # histories without which nothing is compared
_EARLY = 8  # actions after which a position is not early any more, and others may have chosen in secret
_PILOT = 40  # deals after which a position from which none is accepted is given up
_MOST_PAIRED = 300  # tokens in piles, up to which pairs are compared
_RARE = 60  # occurrences below which exact tails replace the normal distribution
_TURNED = 20  # worlds turned into decks
_TRIES = 8  # deals for each of them
_MOST_PLAYERS = 3  # who look at a position
_SEEN_BY = 4  # second histories in which everything a player gets is compared


@dataclasses.dataclass(frozen=True)
class WorldsEffort:
    """How much to compare."""

    games: int = 6  # number of games
    positions: int = 2  # positions of each
    actions: int = 12_000  # most actions replayed for each position
    every_player: bool = True  # whether several players look at each position, or one


FULL, SAMPLE = WorldsEffort(), WorldsEffort(games=4, actions=4_000, every_player=False)


def check_worlds(game: Game, report: Report, seed: int = 0, effort: WorldsEffort = FULL, error: float = 0.0) -> None:
    """Check positions of games with default and random options, and count them in `report`.

    `error` is the difference of shares that is allowed, as in `check_game`.

    Raises:
        ConformanceError: a player gets more than its events, or `determinize` is not uniform.
    """
    for case in _cases(game, seed, effort.games):
        tokens, chooser = game.deck(case.options).tolist(), random.Random(case.seed)
        if not tokens:
            continue
        chooser.shuffle(tokens)
        for state in _positions(case, tokens, chooser, effort.positions):
            players = chooser.sample(range(state.num_players), min(_MOST_PLAYERS, state.num_players))
            for player in players:
                compared = check_position(case, state, player, report, effort.actions, error)
                if compared and not effort.every_player:
                    break


def check_position(
    case: Case, state: State, player: int, report: Report, actions: int = 10**9, error: float = 0.0
) -> bool:
    """Compare second real histories of `state`, as `player` has seen it, with the state and with its twins.

    The game was dealt from an explicit deck with every token. Stops after `actions` replayed actions; `error` is the
    difference of shares that is allowed. Returns whether twins were compared: not if too few histories were found, or
    if others have chosen in secret.
    """
    histories = Histories(state, player)
    if not histories.is_first_deal or not any(UNKNOWN in pile for pile in state.table(player).piles):
        return False
    chooser = random.Random(state.ply * 31 + player)
    real = _draw(histories, chooser, _FIRST, actions)
    check_seen(case, state, player, real[:_SEEN_BY], report)
    if histories.has_secrets or state.is_terminal or len(real) < _FEWEST:
        return False
    report.compared_positions += 1
    report.compared_worlds += len(real)
    twins = (state.determinize(player, chooser.getrandbits(62)) for _ in range(len(real)))
    where, p_value = _differences(histories, chooser, real, [*twins], error)
    if p_value < SUSPICION:
        histories.follows = True
        real = _draw(histories, chooser, _SECOND, 10 * actions)
        twins = (state.determinize(player, chooser.getrandbits(62)) for _ in range(len(real)))
        where, p_value = _differences(histories, chooser, real, [*twins], error)
    if p_value < FAILURE:
        fail(
            case,
            state,
            f"determinize is not uniform for player {player}: {where} (p = {p_value:.1g}); deck {state.deck.tolist()}",
        )
    return True


def _cases(game: Game, seed: int, number: int) -> Iterator[Case]:
    """Yield cases: every other one with the default options, the others with some of them changed."""
    chooser = random.Random(seed)
    for k in range(number):
        yield Case(game, game.make_options() if k % 2 == 0 else _options(game, chooser), seed + k, k // 2 + k % 2)


def _options(game: Game, chooser: random.Random) -> Options:
    """Return random options, each at its default or not."""
    while True:
        values = {f.name: _value(f, chooser) for f in dataclasses.fields(game.options) if chooser.random() < 0.5}
        try:
            options = game.make_options(**values)
            options.check_environment()
        except OptionError:
            continue
        return options


def _value(field: dataclasses.Field[Any], chooser: random.Random) -> object:
    meta = field.metadata
    if meta["choices"] or meta["values"]:
        return chooser.choice(meta["choices"] or meta["values"])
    if isinstance(field.default, bool):
        return not field.default
    if meta["length"] is not None or meta["optional"]:
        return field.default
    low = 0 if meta["low"] is None else meta["low"]
    high = low + 20 if meta["high"] is None else min(meta["high"], low + 20)
    return chooser.randint(low, high)


def _positions(case: Case, tokens: list[int], chooser: random.Random, number: int) -> Iterator[State]:
    """Yield an early position, others from all of a game dealt from `tokens`, and in some games the end."""
    state = case.game.new_state(seed=case.seed, deck=tokens, **case.options.as_dict())
    states = []
    for _ in range(120):
        states.append(state.clone())
        if state.is_terminal:
            break
        state.apply(case._choose(state, state.legal_actions(), chooser))
    length = max(1, len(states) - 1)  # without the end
    chosen = {chooser.randrange(min(_EARLY, length)), *(chooser.randrange(length) for _ in range(number - 1))}
    if case.play_seed % 2:
        chosen.add(len(states) - 1)
    yield from (states[k] for k in sorted(chosen))


def _draw(histories: Histories, chooser: random.Random, wanted: int, actions: int) -> list[State]:
    """Return up to `wanted` histories, fewer if that takes more than `actions` replayed actions."""
    found: list[State] = []
    stop, tries = histories.replayed + actions, 0
    while len(found) < wanted and histories.replayed + tries < stop:
        tries += 1
        other = histories.draw(chooser)
        if other is not None:
            found.append(other)
        if tries == _PILOT and not found:
            break
    return found


def check_seen(case: Case, state: State, player: int, real: list[State], report: Report) -> None:
    """Check that `player` gets the same in `state` and in other real histories, which show the same events."""
    known = seen_by(state, player)
    for other in real:
        report.second_histories += 1
        for name, value in seen_by(other, player).items():
            if value != known[name]:
                fail(
                    case,
                    state,
                    f"{name} of player {player} differs in a real history with the same events, deck "
                    f"{other.deck.tolist()}:\n{known[name]}\n{value}",
                )


# -- comparing two samples ----------------------------------------------------------------------------------------


def _differences(
    histories: Histories, chooser: random.Random, real: list[State], twins: list[State], error: float
) -> tuple[str, float]:
    """Return what differs most between two samples of equal size, and the p-value of all comparisons together."""
    found = [*_compare_tokens(real, twins, error), _compare_turned(histories, chooser, real, twins, error)]
    if not error:
        found.append(_compare_worlds(real, twins))
    where, p_value = min(found, key=lambda pair: pair[1])
    return where, min(1.0, p_value * len(found))


def _compare_worlds(real: list[State], twins: list[State]) -> tuple[str, float]:
    """Compare how often whole worlds appear, with a chi-square test; rare ones are one."""
    counts = [Counter(state.table(OMNISCIENT).normal() for state in sample) for sample in (real, twins)]
    both = counts[0] + counts[1]
    pairs = [(counts[0][world], counts[1][world]) for world in both if both[world] >= 20]
    if not pairs:
        return "", 1.0
    rest = [len(sample) - sum(pair[k] for pair in pairs) for k, sample in enumerate((real, twins))]
    if sum(rest) >= 20:
        pairs.append((rest[0], rest[1]))
    statistic = sum((a - b) ** 2 / (a + b) for a, b in pairs)
    freedom = len(pairs) - 1
    text = f"chi-square of {len(pairs)} worlds {statistic:.1f} with {freedom} degrees of freedom"
    return text, float(chdtrc(freedom, statistic)) if freedom else 1.0


def _compare_tokens(real: list[State], twins: list[State], error: float) -> list[tuple[str, float]]:
    """Compare how often tokens lie in piles, alone and in pairs."""
    names = _Names(real[0].game)
    a, b = ([names.of(one) for one in sample] for sample in (real, twins))
    size = len(names.texts)
    first, second = _matrix(a, size), _matrix(b, size)
    varies = np.flatnonzero(first.sum(axis=0) + second.sum(axis=0))
    varies = varies[(first[:, varies].min(axis=0) == 0) | (second[:, varies].min(axis=0) == 0)]
    first, second, texts = first[:, varies], second[:, varies], [names.texts[k] for k in varies]
    if not texts:
        return []
    p_values = _two_sided(first.sum(axis=0), second.sum(axis=0), len(real), error)
    k = int(p_values.argmin())
    shares = f"{first[:, k].mean():.3f} in real histories, {second[:, k].mean():.3f} in twins"
    found = [(f"{texts[k]}: {shares}", float(p_values[k]) * len(texts))]
    if len(texts) <= _MOST_PAIRED:
        together = _two_sided(first.T @ first, second.T @ second, len(real), error)
        number = len(texts) * (len(texts) - 1) // 2
        i, j = np.unravel_index(int(together.argmin()), together.shape)
        found.append((f"{texts[i]} and {texts[j]} together", float(together[i, j]) * max(1, number)))
    return found


class _Names:
    """Numbers for what a world shows: a token in a pile, on its top, or a number of legal actions."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.texts: list[str] = []

    def of(self, state: State) -> list[int]:
        """Return the numbers of what is so in `state`."""
        found = []
        for number, tokens in enumerate(state.table(OMNISCIENT).piles):
            pile, owner = self._game.table.pile_of[number]
            where = pile.name if owner is None else f"{pile.name} of player {owner}"
            for token, copies in Counter(tokens).items():
                found += [self._number((number, token, k), token, f"in {where}") for k in range(copies)]
            if pile.ordered and tokens:
                found.append(self._number((number, tokens[-1], "top"), tokens[-1], f"on top of {where}"))
        legal = len(state.legal_actions())
        return [*found, self._number(("legal", legal), None, f"{legal} legal actions")]

    def _number(self, key: tuple[Any, ...], token: int | None, text: str) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.texts)
            self.texts.append(text if token is None else f"{self._game.view.token_label(token)} {text}")
        return self._numbers[key]


def _matrix(rows: list[list[int]], size: int) -> np.ndarray:
    matrix = np.zeros((len(rows), size), np.float32)
    for k, row in enumerate(rows):
        matrix[k, row] = 1
    return matrix


def _two_sided(first: np.ndarray, second: np.ndarray, size: int, error: float) -> np.ndarray:
    """Return p-values, elementwise, for successes in two samples of `size` whose shares may be `error` apart."""
    both = np.asarray(first, np.float64) + np.asarray(second, np.float64)
    share = both / (2 * size)
    spread = np.sqrt(np.maximum(2 * size * share * (1 - share), 1e-9))
    apart = np.maximum(np.abs(np.asarray(first, np.float64) - second) - error * size, 0)
    normal: np.ndarray = 2 * ndtr(-apart / spread)
    if error:
        return normal
    rare = np.minimum(both, 2 * size - both).astype(np.int64)
    less = np.minimum(np.minimum(first, second), size - np.maximum(first, second))
    exact = np.minimum(1.0, 2 * bdtr(np.where(both <= size, np.minimum(first, second), less), rare, 0.5))
    return np.where(rare < _RARE, exact, normal)


def _compare_turned(
    histories: Histories, chooser: random.Random, real: list[State], twins: list[State], error: float
) -> tuple[str, float]:
    """Compare how often a world can be turned into a deck that shows the same events; a real one can, unless rarely."""
    turned = [
        sum(any(histories.draw(chooser, world) for _ in range(_TRIES)) for world in sample[:_TURNED])
        for sample in (real, twins)
    ]
    size = min(_TURNED, len(real))
    text = f"{turned[1]} of {size} twins are reached by a real history; {turned[0]} of as many real worlds are"
    return text, float(_two_sided(np.array(turned[0]), np.array(turned[1]), size, error))
