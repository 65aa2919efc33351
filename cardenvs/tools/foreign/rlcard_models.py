"""Models of RLCard as agents: `rlcard:MODEL`.

A model gets the part of RLCard's state that it reads, made from what its player may know, and answers with one of
RLCard's actions. The games differ in details: RLCard's Leduc has blinds in place of antes, and its gin rummy has no
first upcard and no lay-offs. An answer that is not legal here becomes the one closest to it: a check for a fold, a call
for a raise.
"""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.core.game_view import table_texts
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean
from cardenvs.games.dou_dizhu.cards import RANKS, listed
from cardenvs.games.dou_dizhu.plays import PLAYS
from cardenvs.games.dou_dizhu.state import NO_PLAY
from cardenvs.games.gin_rummy import actions as gin
from cardenvs.games.gin_rummy.melds import min_deadwood
from cardenvs.games.texas_holdem.state import BOARD_CARDS
from cardenvs.games.uno.cards import CODES, COLOUR_CODES, SYMBOL_CODES
from cardenvs.kits.cards import NUM_CARDS, card_label, cards_of

EXTRA = "rlcard"
_THEIR_DRAW, _THEIR_PICK_UP, _THEIR_GIN, _THEIR_DISCARD_0, _THEIR_KNOCK_0 = 2, 3, 5, 6, 58
_UNO_DRAW = 60
_POKER_WORDS = {"fold": "fold", "check": "check", "call": "call", "bet": "raise", "raise": "raise"}


@dataclass(frozen=True)
class Model:
    """A model: how to make it, how a turn of ours becomes a state of RLCard, and its answer an action of ours.

    Attributes:
        game: name of the game it plays.
        make: returns an object whose `step` answers a state. Raises MissingExtraError without RLCard.
        state: returns the state of RLCard for a turn.
        action: returns our action, maybe an illegal one, for an answer.
        fits: returns why the model cannot play with some options, or "".
    """

    game: str
    make: Callable[[], Any]
    state: Callable[[Turn], dict[str, Any]]
    action: Callable[[Turn, Any], int]
    fits: Callable[[dict[str, Any]], str] = lambda options: ""


def _rules(module: str, name: str) -> Callable[[], Any]:
    """Return what makes a rule model: a class of RLCard without parameters."""
    return lambda: getattr(require(f"rlcard.models.{module}_rule_models", EXTRA), name)()


# -- poker ----------------------------------------------------------------------------------------------------------


def _poker_words(turn: Turn) -> dict[str, int]:
    """Return our actions by RLCard's names. RLCard also folds where checking is free: that is a check here."""
    words = {_POKER_WORDS[turn.label(action).partition(" ")[0]]: action for action in turn.legal_actions}
    if "check" in words:
        words.setdefault("fold", words["check"])
    return words


def _poker_action(turn: Turn, answer: Any) -> int:
    words = _poker_words(turn)
    for word in (str(answer), "call", "check", "fold"):
        if word in words:
            return words[word]
    return -1


def _leduc_state(turn: Turn) -> dict[str, Any]:
    piles = table_texts(turn.view)["piles"]
    public = [text for text in piles["public"] if text != "?"]
    # its cards have suits, which mean nothing in Leduc
    obs = {"hand": f"S{piles['hand'][turn.player][0][0]}", "public_card": f"H{public[0][0]}" if public else None}
    return {"raw_legal_actions": list(_poker_words(turn)), "raw_obs": obs}


class _LeducPolicy:
    """The average policy of RLCard's `leduc-holdem-cfr`, after 100 iterations."""

    actions = ("call", "raise", "fold", "check")  # in RLCard's order

    def __init__(self) -> None:
        # Not by RLCard's CFRAgent: it calls ndarray.tostring, which numpy no longer has, and to import it starts pip
        # and loads torch. A pickle may run code, but this one comes with the library, whose code runs here anyway.
        folder = Path(require("rlcard", EXTRA).__file__).parent / "models/pretrained/leduc_holdem_cfr"
        self._weights: dict[bytes, np.ndarray] = pickle.loads((folder / "average_policy.pkl").read_bytes())

    def step(self, state: dict[str, Any]) -> str:
        """Draw an action. The table has all states that `_fits_leduc_cfr` leaves, and weights of legal actions only."""
        weights = self._weights[state["obs"].tobytes()]
        return str(np.random.choice(self.actions, p=weights / weights.sum()))


def _leduc_cfr_state(turn: Turn) -> dict[str, Any]:
    """Return what the model observes: the own card, the public one, and the chips of both players.

    In RLCard one player has a blind of 1 in the pot and acts first, the other has one of 2. To call there is to check
    here, after antes of 2. So chips are counted from 2, but the first decision shows the small blind. Three things
    differ: the first player has nothing to pay here, so a fold becomes a check; with an ante of 1, the pot is smaller
    than the model thinks; and in RLCard a big blind that raises last in the first round begins the second, where the
    model does not see who acts first.
    """
    s = turn.determinize(turn.seed).record
    own, others = (2 + int(s.chips_in[p] - s.rules.ante) for p in (turn.player, 1 - turn.player))
    is_first = s.stage == 0 and s.num_decisions[0] == 0
    seen = [int(s.deck[turn.player]), 6 + (1 if is_first else own), 21 + others]
    if s.stage:
        seen.append(3 + int(s.deck[2]))
    obs = np.zeros(36)
    obs[seen] = 1
    return {"obs": obs}


def _fits_leduc_cfr(options: dict[str, Any]) -> str:
    known = {"num_players": 2, "raise_size": [2, 4], "max_raises": 2}
    if options["ante"] <= 2 and all(options[name] == value for name, value in known.items()):
        return ""
    return "it plays with two players, an ante of 1 or 2, raise_size=2,4 and max_raises=2"


def _limit_state(turn: Turn) -> dict[str, Any]:
    s, first = turn.determinize(turn.seed).record, 2 * turn.num_players
    own = s.deck[2 * turn.player : 2 * turn.player + 2]
    board = s.deck[first : first + int(BOARD_CARDS[int(s.street)])]
    hand, public = ([_their_card(int(card)) for card in cards] for cards in (own, board))
    return {"raw_legal_actions": list(_poker_words(turn)), "raw_obs": {"hand": hand, "public_cards": public}}


def _their_card(card: int) -> str:
    rank, suit = tuple(card_label(card))
    return f"{suit.upper()}{rank}"


def _fits_limit(options: dict[str, Any]) -> str:
    return "" if options["betting"] == "limit" else "it plays with betting=limit"


# -- gin rummy ------------------------------------------------------------------------------------------------------


def _their_gin_card(card: int) -> int:
    """Return RLCard's number of a card: suits in the order S H D C, aces low."""
    rank, suit = tuple(card_label(card))
    return "A23456789TJQK".index(rank) + 13 * "shdc".index(suit)


_GIN_CARDS = [_their_gin_card(card) for card in range(NUM_CARDS)]
_OUR_GIN_CARDS = [_GIN_CARDS.index(card) for card in range(NUM_CARDS)]


def _gin_actions(turn: Turn) -> dict[int, int]:
    """Return our actions by RLCard's ids."""
    hand = int(turn.determinize(turn.seed).record.hands[turn.player])
    theirs = dict[int, int]()
    for action in turn.legal_actions:
        if action < NUM_CARDS:
            theirs[_THEIR_DISCARD_0 + _GIN_CARDS[action]] = action
        elif gin.KNOCK_0 <= action < gin.BIG_GIN:
            card = action - gin.KNOCK_0
            is_gin = min_deadwood(hand ^ 1 << card) == 0
            theirs[_THEIR_GIN if is_gin else _THEIR_KNOCK_0 + _GIN_CARDS[card]] = action
        else:
            named = {gin.TAKE_UPCARD: _THEIR_PICK_UP, gin.DRAW_STOCK: _THEIR_DRAW, gin.BIG_GIN: _THEIR_GIN}
            theirs[named.get(action, _THEIR_DRAW)] = action  # to pass is to leave the upcard
    return theirs


def _gin_state(turn: Turn) -> dict[str, Any]:
    plane = np.zeros((1, NUM_CARDS), np.int64)
    hand = int(turn.determinize(turn.seed).record.hands[turn.player])
    plane[0, [_GIN_CARDS[card] for card in cards_of(hand)]] = 1
    return {"legal_actions": sorted(_gin_actions(turn)), "obs": plane}


def _gin_action(turn: Turn, answer: Any) -> int:
    return _gin_actions(turn)[int(answer)]


def _fits_gin(options: dict[str, Any]) -> str:
    return "it cannot play with layoff=manual" if options["layoff"] == "manual" else ""


# -- Uno ------------------------------------------------------------------------------------------------------------


_UNO_ACTIONS = [f"{colour}-{symbol}" for colour in COLOUR_CODES for symbol in SYMBOL_CODES] + ["draw"]


def _uno_state(turn: Turn) -> dict[str, Any]:
    hand = turn.determinize(turn.seed).record.hands[turn.player]
    codes = [CODES[kind] for kind, number in enumerate(hand) for _ in range(int(number))]
    cards = [code if code[1] == "-" else f"r-{code}" for code in codes]  # RLCard's wild cards have a colour, too
    return {"raw_legal_actions": [_UNO_ACTIONS[action] for action in turn.legal_actions], "raw_obs": {"hand": cards}}


def _uno_action(turn: Turn, answer: Any) -> int:
    return _UNO_ACTIONS.index(str(answer))


def _fits_uno(options: dict[str, Any]) -> str:
    return "" if options["rlcard"] else "it plays with rlcard=true"


# -- Dou Dizhu ------------------------------------------------------------------------------------------------------


def _their_play(action: int) -> str:
    return "".join(RANKS[rank] for rank in listed(PLAYS[action])) or "pass"


def _doudizhu_plays(turn: Turn) -> dict[str, int]:
    """Return our actions by RLCard's texts. Of equally low plays the model takes the first: by id, as there."""
    return {_their_play(action): action for action in turn.legal_actions}


def _doudizhu_state(turn: Turn) -> dict[str, Any]:
    """Return RLCard's state. Its trace has all plays, of which the model reads the last two: those of this trick."""
    s = turn.determinize(turn.seed).record
    trace = []
    if s.to_beat != NO_PLAY:
        trace = [(int(s.author), _their_play(int(s.to_beat)))]
        trace += [((int(s.author) + 1) % turn.num_players, "pass")] * int(s.num_passes)
    hand = "".join(RANKS[rank] for rank in listed(s.hands[turn.player]))
    obs = {"trace": trace, "current_hand": hand, "actions": list(_doudizhu_plays(turn))}
    return {"raw_obs": obs | {"landlord": int(s.landlord), "self": turn.player}}


def _doudizhu_action(turn: Turn, answer: Any) -> int:
    return _doudizhu_plays(turn)[str(answer)]


def _fits_doudizhu(options: dict[str, Any]) -> str:
    # It has no words for an auction, and its table of plays lacks those that the other two add.
    if options["bidding"] != "none":
        return "it plays with bidding=none"
    added = [name for name in ("ambiguous_kickers", "rocket_kicker") if options[name]]
    return f"it does not know the plays that {added[0]} adds" if added else ""


# -- the agent ------------------------------------------------------------------------------------------------------

MODELS = {
    "leduc-holdem-rule-v1": Model(
        "leduc_poker_v0", _rules("leducholdem", "LeducHoldemRuleAgentV1"), _leduc_state, _poker_action
    ),
    "leduc-holdem-rule-v2": Model(
        "leduc_poker_v0", _rules("leducholdem", "LeducHoldemRuleAgentV2"), _leduc_state, _poker_action
    ),
    "leduc-holdem-cfr": Model("leduc_poker_v0", _LeducPolicy, _leduc_cfr_state, _poker_action, _fits_leduc_cfr),
    "limit-holdem-rule-v1": Model(
        "texas_holdem_v0", _rules("limitholdem", "LimitholdemRuleAgentV1"), _limit_state, _poker_action, _fits_limit
    ),
    "gin-rummy-novice-rule": Model(
        "gin_rummy_v0", _rules("gin_rummy", "GinRummyNoviceRuleAgent"), _gin_state, _gin_action, _fits_gin
    ),
    "uno-rule-v1": Model("uno_v0", _rules("uno", "UNORuleAgentV1"), _uno_state, _uno_action, _fits_uno),
    "doudizhu-rule-v1": Model(
        "dou_dizhu_v0", _rules("doudizhu", "DouDizhuRuleAgentV1"), _doudizhu_state, _doudizhu_action, _fits_doudizhu
    ),
}


class RLCardAgent(Agent):
    """A model of RLCard."""

    def __init__(self, name: str, game: Game, options: Options) -> None:
        """Create the agent of a model, one of MODELS.

        Raises:
            AgentError: an unknown model, or one that does not play this game with these options.
            MissingExtraError: RLCard is not installed.
        """
        if name not in MODELS:
            hint = did_you_mean(name, MODELS)
            raise AgentError(f"rlcard has no model {name!r}; {hint}it has {', '.join(MODELS)}")
        self._model, self.name = MODELS[name], f"rlcard:{name}"
        if game.name != self._model.game:
            raise AgentError(f"{self.name} plays {self._model.game}; got {game.name}")
        problem = self._model.fits(options.as_dict())
        if problem:
            raise AgentError(f"{self.name}: {problem}")
        require("rlcard", EXTRA)
        self._agent = self._model.make()

    def act(self, turn: Turn) -> int:
        """Return the model's action."""
        legal = turn.legal_actions
        if len(legal) == 1:
            return legal[0]
        with _numpy_seeded(turn.seed):
            answer = self._agent.step(self._model.state(turn))
        action = self._model.action(turn, answer)
        return action if action in legal else legal[0]


@contextmanager
def _numpy_seeded(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, which the models use, and put it back."""
    before = np.random.get_state()
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        np.random.set_state(before)


def _make(argument: str, game: Game, options: Options) -> Agent:
    return RLCardAgent(argument, game, options)


RLCARD = AgentKind(
    "rlcard",
    "rlcard:MODEL",
    f"models of RLCard: {', '.join(f'`{name}`' for name in MODELS)}; needs the extra `rlcard`",
    _make,
    guest=False,
    isolation="none",
    games=tuple(sorted({model.game for model in MODELS.values()})),
)
