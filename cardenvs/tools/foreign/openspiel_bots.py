"""Bots of OpenSpiel as agents: `openspiel_bot:NAME`.

`simple_gin_rummy` is OpenSpiel's rule player of gin rummy. It gets a state of OpenSpiel's own game in which everything
that its player has seen has happened, and in which a twin has dealt the rest. `ismcts` is OpenSpiel's information-set
search, and `uniform` its random player; both play every game, in the state that cardenvs.openspiel makes of a twin.
"""

import functools
from typing import Any

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters
from cardenvs.core.errors import AgentError, require
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean
from cardenvs.games.gin_rummy.actions import BIG_GIN, DRAW_STOCK, KNOCK_0, PASS, TAKE_UPCARD
from cardenvs.games.gin_rummy.melds import min_deadwood
from cardenvs.games.gin_rummy.state import HAND_SIZE
from cardenvs.kits.cards import NUM_CARDS, cards_of

EXTRA = "openspiel"
GIN = "gin_rummy_v0"
_THEIR_KNOCK = 55  # their other actions have the ids of ours
_MOST_SIMULATIONS = 1_000_000


class OpenSpielGinAgent(Agent):
    """OpenSpiel's SimpleGinRummyBot.

    Where its game is over, or allows what ours does not (to discard the card just taken, say), it draws from the stock,
    passes, or discards the card that leaves the least deadwood.
    """

    def __init__(self, game: Game, options: Options) -> None:
        """Create an agent.

        Raises:
            AgentError: another game, or options with decisions that the bot does not know.
            MissingExtraError: OpenSpiel is not installed.
        """
        if game.name != GIN:
            raise AgentError(f"openspiel_bot:simple_gin_rummy plays {GIN}; got {game.name}")
        if options.as_dict()["layoff"] == "manual":
            raise AgentError("openspiel_bot:simple_gin_rummy lays off by itself; it cannot play with layoff=manual")
        require("pyspiel", EXTRA)
        self.name = "openspiel_bot:simple_gin_rummy"

    def act(self, turn: Turn) -> int:
        """Return the bot's action."""
        legal = turn.legal_actions
        if len(legal) == 1:
            return legal[0]
        chosen = self._theirs(turn)
        return chosen if chosen in legal else _otherwise(turn)

    def _theirs(self, turn: Turn) -> int | None:
        """Return the action of the bot in our ids, or None if it has none."""
        import pyspiel

        found = their_gin_state(turn)
        if found is None:
            return None
        state, me = found
        bot = pyspiel.make_simple_gin_rummy_bot(state.get_game().get_parameters(), me)
        action = int(bot.step(state))
        if action != _THEIR_KNOCK:
            return action
        state.apply_action(action)
        return KNOCK_0 + int(bot.step(state))


def their_gin_state(turn: Turn) -> tuple[Any, int] | None:
    """Return a state of OpenSpiel's gin rummy that agrees with all that a player has seen, and its number there.

    Returns None if OpenSpiel's game would be over.
    """
    twin, me = turn.determinize(turn.seed), turn.player
    events = _hand_events(turn.events)
    dealt: dict[int, list[int]] = {0: [], 1: []}
    for event in events:
        if event.kind == "deal" and event.player == me:
            dealt[me].append(_token(event))
    theirs = iter(_cards_of_other(events, 1 - me, cards_of(int(twin.record.hands[1 - me]))))
    dealt[1 - me] = [next(theirs) for _ in range(HAND_SIZE)]
    moves = [event for event in events if event.kind in ("pass", "take_upcard", "draw_stock", "discard")]
    first = moves[0].player if moves else me
    upcard = next(event for event in events if event.kind == "first_upcard")
    state = _their_start(int(twin.record.knock_limit)).clone()
    for card in (*dealt[first or 0], *dealt[1 - (first or 0)], _token(upcard)):
        state.apply_action(card)
    for event in moves:
        if event.kind == "draw_stock":
            drawn = _token(event) if event.player == me else next(theirs)
            actions: tuple[int, ...] = (DRAW_STOCK, drawn)
        else:
            actions = ({"pass": PASS, "take_upcard": TAKE_UPCARD}.get(event.kind, event.token or 0),)
        for action in actions:
            if state.is_terminal() or action not in state.legal_actions():
                return None
            state.apply_action(action)
    number = int(me != first)
    return None if state.current_player() != number else (state, number)


@functools.cache
def _their_start(knock_card: int) -> Any:
    import pyspiel

    return pyspiel.load_game("gin_rummy", {"knock_card": knock_card}).new_initial_state()


def _hand_events(events: list[Event]) -> list[Event]:
    """Return the events of the current hand."""
    begins = [k for k, event in enumerate(events) if event.kind == "new_hand"]
    return events[begins[-1] if begins else 0 :]


def _token(event: Event) -> int:
    assert event.token is not None  # the player has seen the card
    return event.token


def _cards_of_other(events: list[Event], other: int, hand: list[int]) -> list[int]:
    """Return cards for the other player to be dealt and to draw, in order, so that it could do what it did.

    Cards that it discarded come first, then those that a twin has in its hand.
    """
    taken, cards = set[int](), []
    for event in events:
        if event.player != other:
            continue
        if event.kind == "take_upcard":
            taken.add(_token(event))
        elif event.kind == "discard" and event.token in taken:
            taken.remove(_token(event))
        elif event.kind == "discard":
            cards.append(_token(event))
    return cards + [card for card in hand if card not in taken]


def _otherwise(turn: Turn) -> int:
    legal = turn.legal_actions
    for action in (BIG_GIN, DRAW_STOCK, PASS):
        if action in legal:
            return action
    hand = int(turn.determinize(turn.seed).record.hands[turn.player])
    discards = [action for action in legal if action < NUM_CARDS]
    return min(discards or legal, key=lambda card: min_deadwood(hand ^ 1 << card) if card < NUM_CARDS else 0)


class OpenSpielSearchAgent(Agent):
    """OpenSpiel's ISMCTS bot, with random playouts."""

    def __init__(self, game: Game, options: Options, simulations: int = 100) -> None:
        """Create an agent with 1 to 1,000,000 simulations a decision.

        Raises:
            AgentError: a number out of range.
            MissingExtraError: OpenSpiel is not installed.
        """
        if not 1 <= simulations <= _MOST_SIMULATIONS:
            raise AgentError(f"openspiel_bot:ismcts takes 1 to {_MOST_SIMULATIONS:,} simulations; got {simulations}")
        require("pyspiel", EXTRA)
        self.name, self.simulations, self._game = "openspiel_bot:ismcts", simulations, _spiel_game(game, options)

    def act(self, turn: Turn) -> int:
        """Return the most visited action."""
        from open_spiel.python.algorithms import ismcts, mcts

        rng = np.random.RandomState(turn.seed % 2**32)
        returns = turn.game.returns(turn.options)
        bot = ismcts.ISMCTSBot(
            self._game, mcts.RandomRolloutEvaluator(1, rng), uct_c=float(returns.high - returns.low) or 1.0,
            max_simulations=self.simulations, random_state=rng,
        )  # fmt: skip
        # its own worlds are drawn from a generator that has no seed
        bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random_sample))
        return int(bot.step(_spiel_state(self._game, turn)))


class OpenSpielUniformAgent(Agent):
    """OpenSpiel's uniform random bot."""

    def __init__(self, game: Game, options: Options) -> None:
        """Create an agent.

        Raises:
            MissingExtraError: OpenSpiel is not installed.
        """
        require("pyspiel", EXTRA)
        self.name, self._game = "openspiel_bot:uniform", _spiel_game(game, options)

    def act(self, turn: Turn) -> int:
        """Return a legal action."""
        from open_spiel.python.bots.uniform_random import UniformRandomBot

        bot = UniformRandomBot(turn.player, np.random.RandomState(turn.seed % 2**32))
        return int(bot.step(_spiel_state(self._game, turn)))


def _spiel_game(game: Game, options: Options) -> Any:
    from cardenvs.openspiel import load_game

    return load_game(game.name, **options.as_dict())


def _spiel_state(game: Any, turn: Turn) -> Any:
    """Return a state of OpenSpiel in which a twin of what the player knows is played."""
    state = game.new_initial_state()
    state.world = turn.determinize(turn.seed)
    return state


_PARAMETERS: dict[str, Reader] = {"simulations": int}
_BOTS = ("simple_gin_rummy", "ismcts", "uniform")


def _make(argument: str, game: Game, options: Options) -> Agent:
    name, _, parameters = argument.partition(",")
    if name == "ismcts":
        return OpenSpielSearchAgent(game, options, **read_parameters("openspiel_bot:ismcts", parameters, _PARAMETERS))
    if name not in _BOTS:
        hint = did_you_mean(name, _BOTS)
        raise AgentError(f"openspiel_bot has no {name!r}; {hint}it has {', '.join(_BOTS)}")
    if parameters:
        raise AgentError(f"openspiel_bot:{name} takes no parameters; got {parameters!r}")
    return (OpenSpielGinAgent if name == "simple_gin_rummy" else OpenSpielUniformAgent)(game, options)


OPENSPIEL_BOT = AgentKind(
    "openspiel_bot",
    "openspiel_bot:NAME",
    "bots of OpenSpiel: `simple_gin_rummy` (gin_rummy_v0), `ismcts` with 100 random playouts a decision (parameter "
    "`simulations`), `uniform`; needs the extra `openspiel`",
    _make,
    guest=False,
    isolation="none",
)
