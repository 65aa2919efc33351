"""Beliefs: what others may hold, judged by what they did.

Worlds that fit what a player has seen are not equally likely: who bet holds good cards more often. A belief deals many
such worlds, weighs each by the probability with which a model of the other players would have acted there as they did,
and draws worlds in proportion. A share of doubt remains: with this share of the weight the model acts at random, and
this share of all worlds is drawn without weights, so that a wrong model cannot rule anything out.

With several models, each of the others is one of them, and which one is as unknown as the cards: the better a model
explains what a player did, the more its worlds count.

This is Bayes' rule by importance sampling. It needs games of one deal in which actions are open and the order of the
deck decides everything else (docs/agents.md).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.agents.base import Turn
from cardenvs.agents.known import SEARCHES, KnownPolicy, known_policy, uniforms
from cardenvs.agents.worlds import replayed
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, DeckError
from cardenvs.core.events import VALUE
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State

WORLDS = 2048  # dealt for a decision
DOUBT = 0.1  # the share of the weight with which models act at random, and of worlds that are drawn without weights
_UNLIKELY = math.log(1e-6)  # worlds that explain what was done this much worse than another get no weight
_EVENTS = 4  # of an action, among which its amount is
_STRIDE = (math.sqrt(5) - 1) / 2  # multiples of the golden ratio, modulo 1, are spread evenly


@dataclass(frozen=True)
class Weighted:
    """Worlds for one decision.

    Attributes:
        records: positions (WORLDS,).
        chances: of each to be drawn, float64 (WORLDS,), with sum 1.
        stock: the places in `deck` of the cards that lie face down in any order.
    """

    records: np.ndarray
    chances: np.ndarray
    stock: range

    def drawn(self, seed: int, rounds: int, first: int) -> np.ndarray:
        """Return the worlds of rounds first, first + 1, ..., records (rounds,). Round r depends on (seed, r) only.

        Rounds in a row take each world about as often as its chance says, which makes means less noisy than
        independent draws do. A world that is taken again has its stock in another order: what was done so far says
        nothing about it.
        """
        places = np.cumsum(self.chances)
        points = (derived_seed(seed, "belief") / 2.0**63 + _STRIDE * np.arange(first, first + rounds)) % 1
        worlds = self.records[np.minimum(np.searchsorted(places, points), len(places) - 1)]
        if self.stock:
            keys = np.arange(first * len(self.stock), (first + rounds) * len(self.stock))
            order = uniforms(derived_seed(seed, "stock") ^ keys).reshape(rounds, -1).argsort(1)
            worlds["deck"][:, self.stock] = np.take_along_axis(worlds["deck"][:, self.stock], order, 1)
        return worlds


class Belief:
    """Models of the other players, and the worlds that they make likely."""

    def __init__(self, game: Game, options: Options, models: Sequence[KnownPolicy], doubt: float = DOUBT) -> None:
        """Create a belief.

        Args:
            game, options: what is played.
            models: of the other players. Each player is one of them; before it acts, all are equally likely.
            doubt: the share of doubt, above 0 and up to 1.

        Raises:
            AgentError: the game is not of one open deal, see above, or the doubt is out of range.
        """
        if not 0 < doubt <= 1:
            raise AgentError(f"belief takes doubt above 0 and up to 1; got {doubt}")
        self._models, self._doubt = models, doubt
        if not _fits(game, options):
            raise AgentError(
                f"belief weighs the worlds of games of one deal with open actions, which {game.name} is not as played "
                "here; docs/agents.md lists them with their options"
            )

    @classmethod
    def of(cls, kind: str, specs: Sequence[str], game: Game, options: Options, doubt: float = DOUBT) -> "Belief":
        """Return the belief whose models are agents.

        Args:
            kind: who asks, for errors.
            specs: the agents.
            game, options: what is played.
            doubt: the share of doubt, above 0 and up to 1.

        Raises:
            AgentError: an agent's probabilities are not known without a search, the game is not of one open deal, or
                the doubt is out of range.
            PolicyNotFoundError, MissingExtraError: an agent cannot be made.
        """
        models = []
        for one in specs:
            # thousands of worlds, and a search in each, would take minutes
            is_slow = one.partition(":")[0] in SEARCHES
            model = None if is_slow else known_policy(one, game, options, exact=False)
            if model is None:
                raise AgentError(
                    f"{kind} takes as belief an agent whose probabilities are known without a search: zoo:GAME/NAME, "
                    f"ppo:PATH, tabular:PATH or a policy of the game; got {one!r}"
                )
            models.append(model)
        return cls(game, options, models, doubt)

    def worlds(self, turn: Turn) -> Weighted:
        """Return weighted worlds for the player to act."""
        twin = turn.determinize(turn.seed)
        records = twin.worlds(WORLDS, derived_seed(turn.seed, "worlds"))
        log_weights = self._log_weights(turn, twin, decks_of(twin, records))
        weights = np.exp(log_weights - log_weights.max())
        chances = (1 - self._doubt) * weights / weights.sum() + self._doubt / WORLDS
        return Weighted(records, chances, _stock(twin, records))

    def _log_weights(self, turn: Turn, twin: State, decks: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of all that the others did in each world, up to a constant."""
        steps = played(twin, decks[0])
        actions = [step.action for step in steps]
        decisions, num_actions = [0] * turn.num_players, turn.game.num_actions(turn.options)
        explained = np.zeros((turn.num_players, len(self._models), WORLDS))  # by each model
        log_weights, rows = np.zeros(WORLDS), np.arange(WORLDS)
        for k, step in enumerate(steps):
            # models know the ids only: an amount that has none says nothing
            if step.player != turn.player and step.action < num_actions:
                for m, model in enumerate(self._models):
                    chances = model.probabilities(decks[rows], actions[:k], turn.seed, decisions[step.player])
                    explained[step.player, m, rows] += np.log(
                        (1 - self._doubt) * chances[:, step.action] + self._doubt / step.num_legal
                    )
                log_weights[rows] = np.logaddexp.reduce(explained[:, :, rows], axis=1).sum(0)
                unlikely = log_weights[rows] < log_weights[rows].max() + _UNLIKELY
                log_weights[rows[unlikely]] = -np.inf
                rows = rows[~unlikely]
            decisions[step.player] += 1
        return log_weights


def _stock(twin: State, records: np.ndarray) -> range:
    """Return the places of the stock in the field `deck`, of games that say where it begins (`cardenvs.kits.deck`)."""
    if "num_dealt" not in (records.dtype.names or ()):
        return range(0)
    return range(int(records["num_dealt"][0]), len(twin.game.deck(twin.options)))


def models_of(spec: str) -> list[str]:
    """Return the specs of a belief's models, which are joined by "+"."""
    return spec.split("+")


def decks_of(twin: State, records: np.ndarray) -> np.ndarray:
    """Return the explicit decks with which what was played leads to the worlds of the player to act in a twin."""
    if twin.game.dealing_order is not None:
        return twin.game.dealing_order(twin, records)
    # a record has room for the deck of more players
    decks: np.ndarray = records["deck"][:, : len(twin.game.deck(twin.options))]
    return decks


@dataclass(frozen=True)
class Step:
    """Who acted, how (an action or a code), and how many actions were legal then."""

    player: int
    action: int
    num_legal: int


def played(twin: State, deck: np.ndarray) -> list[Step]:
    """Return what has been played, found again from the events that the player to act in a twin has seen.

    Args:
        twin: of the player to act.
        deck: that of a world of this player.

    Raises:
        AgentError: the events do not tell.
        DeckError: the deck is not one of the game.
    """
    player, wanted = twin.current_player, twin.event_rows(twin.current_player)
    state = twin.game.state_type(twin.game, twin.options, seed=0, deck=deck.tolist())
    steps: list[Step] = []
    while len(state.event_rows(player)) < len(wanted):
        following = wanted[len(state.event_rows(player)) :]
        found = next((one for one in _next_positions(state, following) if _agrees(one[1], player, wanted)), None)
        if found is None:
            raise AgentError(f"{twin.game.name}: the events that player_{player} saw do not show every action")
        action, after = found
        steps.append(Step(state.current_player, action, len(state.legal_actions())))
        state = after
    return steps


def _next_positions(state: State, following: np.ndarray) -> Iterator[tuple[int, State]]:
    """Yield what may happen next, a legal action or a forfeit, with the position after it.

    An amount without an id is the value of one of the events that follow.
    """
    amounts, codes = state.game.amounts, []
    if amounts is not None:
        asked = {amounts.codes[value] for value in following[:_EVENTS, VALUE] if 0 <= value < len(amounts.codes)}
        codes = [code for code in sorted(asked) if not state.explain_illegal(code)]
    for action in [*state.legal_actions(), *codes, FORFEIT + state.current_player]:
        after = state.clone()
        after.apply(action)
        yield action, after


def _agrees(state: State, player: int, wanted: np.ndarray) -> bool:
    rows = state.event_rows(player)
    return len(rows) <= len(wanted) and np.array_equal(rows, wanted[: len(rows)])


def _fits(game: Game, options: Options) -> bool:
    """Return whether the decks of twins lead to the same positions again, in a game of random play, and nobody knows
    the order of the stock.
    """
    names = game.blank(options).dtype.names or ()
    if game.dealing_order is None and ("deck" not in names or game.rolled(options) is not None):
        return False
    state = game.new_state(seed=0, **options.as_dict())
    while not state.is_terminal:
        twin = state.determinize(state.current_player, state.ply)
        worlds = twin.worlds(1, state.ply)
        decks = decks_of(twin, worlds)
        try:
            actions = [step.action for step in played(twin, decks[0])]
        except (AgentError, DeckError):
            return False
        other, stock = worlds.copy(), _stock(twin, worlds)
        if stock:
            other["deck"][:, stock] = other["deck"][:, stock[::-1]]
        if not _look_alike(game, options, replayed(game, options, decks, actions, [0]), worlds, other):
            return False
        state.apply(state.policy_action("random", derived_seed(0, "fits", state.ply)))
    return True


def _look_alike(game: Game, options: Options, *records: np.ndarray) -> bool:
    """Return whether positions, records (1,), show every player the same."""
    layout = game.layout(options)
    for player in range(options.num_players):
        seen = np.zeros((len(records), layout.size), layout.dtype)
        for one, out in zip(records, seen, strict=True):
            game.engine_for(options).batch_observe(one, player, out[None], 0, 1)
        if not (seen == seen[0]).all():
            return False
    return True
