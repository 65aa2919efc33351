"""Local best response: its equities, its range, and what it wins."""

import math

import numpy as np
import pytest

from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.specs import make_agent
from cardenvs.core.errors import AgentError, OptionError
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD
from cardenvs.kits.cards import parse_cards
from cardenvs.tools.texas_holdem import local_best_response as lbr

OPTIONS = GAME.make_options(num_players=2, format="cash")


class OnlyAces:
    """Raises all in with two aces and folds everything else."""

    is_exact = True

    def probabilities(self, records, legal, player, seed):
        aces = np.isin(records["deck"][:, 2 * player : 2 * player + 2] % 13, 12 if parse_cards("As")[0] % 13 else 0)
        raises = aces.all(axis=1)
        out = np.zeros((len(records), len(legal)))
        out[raises, -1] = 1
        out[~raises, 0] = 1
        return out


class Anything:
    """Does anything with any hand."""

    is_exact = True

    def probabilities(self, records, legal, player, seed):
        return np.full((len(records), len(legal)), 1 / len(legal))


def game(policy, deck, me=1):
    """A hand in which the response has seat `me`; player_0 has the button and acts first."""
    found = lbr._Game(PolicyAgent(GAME, "random"), policy, OPTIONS, 1, me)
    found._state = GAME.new_state(seed=1, deck=deck, num_players=2, format="cash")
    own = found._state.record.deck[2 * me : 2 * me + 2]
    found._weights = (~np.isin(lbr.HANDS, own).any(axis=1)).astype(np.float64)
    return found


def number(text):
    """The number of a hand."""
    return next(k for k, hand in enumerate(lbr.HANDS.tolist()) if sorted(hand) == sorted(parse_cards(text)))


def test_a_range_is_what_the_policy_would_have_done_this_with():
    found = game(OnlyAces(), "As Ah  Kd Kc")
    raise_all = found._state.legal_actions()[-1]
    found._learn(raise_all, 3)
    left = np.flatnonzero(found._weights)
    assert len(left) == 6, "the six hands of two aces"
    assert number("As Ad") in left
    assert found._weights[left] == pytest.approx(1 / 6)
    found._state.apply(raise_all)
    assert found._best(4) == FOLD, "kings are behind all of them"


def test_it_calls_what_may_be_a_bluff():
    found = game(Anything(), "As Ah  Kd Kc")
    raise_all = found._state.legal_actions()[-1]
    found._learn(raise_all, 3)
    found._state.apply(raise_all)
    assert found._best(4) == CHECK_CALL


def test_it_raises_if_everything_folds():
    found = game(OnlyAces(), "7d 2c  As Kh  ", me=0)
    assert found._best(5) not in (FOLD, CHECK_CALL)


def test_equities_are_those_of_showdowns():
    found = game(OnlyAces(), "As Ah  Kd Kc  2s 7d 9h Jc 3d")
    for label in ("call 10", "check"):
        found._state.apply(found._state.action_from_label(label))
    found._without_board()
    flop = found._equities(1)
    assert flop[number("As Ah")] == pytest.approx(0.09, abs=0.06)
    assert flop[number("Qs Qh")] == pytest.approx(0.91, abs=0.06)
    assert flop[number("2s 4s")] == 0, "a card of the board is in no hand"
    for _ in range(4):
        found._state.apply(found._state.action_from_label("check"))
    found._without_board()
    river = found._equities(1)
    assert (river[number("As Ah")], river[number("Qs Qh")], river[number("Ks Kh")]) == (0, 1, 0.5)


@pytest.mark.parametrize(("streets", "error"), [(3, 1e-9), (1, 0.05)])
def test_a_showdown_counts_with_its_mean_over_hands_and_boards(streets, error):
    found = game(Anything(), "As Ah  Kd Kc  2s 7d 9h Jc 3d", me=0)
    state = found._state
    for label in ["call 10", "check", *["check", "check"] * (streets - 1)]:
        state.apply(state.action_from_label(label))
    state.apply(state.legal_actions()[-1])  # all in
    found._without_board()
    wins = found._weights @ found._equities(1)
    assert found._mean_of_showdown(CHECK_CALL, 1) / 4000 == pytest.approx(wins - 0.5, abs=error)


def test_what_a_response_wins_is_what_it_won_in_the_mean():
    policy = Anything()
    dealt = lbr.RulePolicy("random")
    dealt.probabilities = policy.probabilities
    won = {}
    for known in (policy, dealt):
        games = [lbr._Game(PolicyAgent(GAME, "random"), known, OPTIONS, k, k % 2) for k in range(200)]
        won[known] = np.array([one.result() for one in games])
    assert won[policy].std() < 0.8 * won[dealt].std()
    assert abs((won[policy] - won[dealt]).mean()) < 3 * (won[policy] - won[dealt]).std() / math.sqrt(200)


def test_it_beats_weak_players_and_repeats():
    random = PolicyAgent(GAME, "random")
    bound = lbr.measure(random, OPTIONS, 40, seed=1)
    assert bound.mean > 0
    assert lbr.measure(random, OPTIONS, 4, seed=2) == lbr.measure(random, OPTIONS, 4, seed=2)
    assert "at least" in lbr.verdict(bound)
    assert "proves no loss" in lbr.verdict(lbr.Bound(10.0, 20.0, 5))


def test_a_network_is_asked_for_all_hands():
    pytest.importorskip("torch")
    agent = make_agent("zoo:texas_holdem_v0/heads_up", GAME, OPTIONS)
    state = GAME.new_state(seed=1, num_players=2, format="cash", deck="As Ah  7d 2c")
    found = game(lbr.range_policy(agent, OPTIONS), "As Ah  7d 2c")
    hands = np.array([number("As Ah"), number("3d 2h")])
    probs = found._policy.probabilities(found._with_hands(state, hands), state.legal_actions(), 0, 1)
    from cardenvs.agents.base import Turn

    assert probs[0] == pytest.approx(agent.probabilities(Turn(state, 1)), abs=1e-5)
    assert np.abs(probs[0] - probs[1]).max() > 0.1
    lbr.measure(agent, OPTIONS, 2)


def test_what_it_cannot_play_is_refused():
    with pytest.raises(OptionError, match="plays single hands of two"):
        lbr.measure(PolicyAgent(GAME, "random"), GAME.make_options(num_players=3, format="cash"), 2)
    with pytest.raises(AgentError, match="asks what always:call would do with every hand"):
        lbr.measure(make_agent("always:call", GAME, OPTIONS), OPTIONS, 2)
