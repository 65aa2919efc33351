"""Beliefs: worlds drawn by what the others did; Bayes' rule, no hidden information, clear refusals."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import cardenvs
from cardenvs.agents import SearchAgent, Turn
from cardenvs.agents.belief import DOUBT, WORLDS, Belief, decks_of, played
from cardenvs.agents.known import known_policy
from cardenvs.agents.specs import agent_fingerprint, make_agent
from cardenvs.agents.worlds import replayed
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError
from cardenvs.core.registry import get_game
from cardenvs.games.texas_holdem.actions import CHECK_CALL, raise_action

KUHN, LEDUC, HOLDEM = get_game("kuhn_poker_v0"), get_game("leduc_poker_v0"), get_game("texas_holdem_v0")
HANABI = get_game("hanabi_v0")
HANDS = {"format": "cash", "num_players": 2}
PASS, BET = 0, 1
BETS_WITH = {0: 1 / 3, 1: 0.0, 2: 1.0}  # the jack a third of the time, the queen never, the king always


class Bluffer:
    """A model that bets by its card in Kuhn poker."""

    def probabilities(self, decks, actions, seed, decision):
        player = len(actions) % 2
        bets = np.array([BETS_WITH[int(deck[player])] for deck in decks])
        return np.stack([1 - bets, bets], 1)


def belief(game=KUHN, model=None, doubt=DOUBT, **options):
    return Belief(game, game.make_options(**options), [model or Bluffer()], doubt)


def after(game, *actions, seed=1, deck=None, **options):
    state = game.new_state(seed=seed, deck=deck, **options)
    for action in actions:
        state.apply(action)
    return state


@pytest.mark.parametrize("doubt", [DOUBT, 0.01, 1.0])
@pytest.mark.parametrize("action", [PASS, BET])
def test_worlds_are_weighted_by_bayes_rule(action, doubt):
    state = after(KUHN, action, deck=[2, 1])  # player 1 has the queen
    weighted = belief(doubt=doubt).worlds(Turn(state, 3))
    assert len(weighted.records) == WORLDS
    assert weighted.chances.sum() == pytest.approx(1)
    likelihood = {}
    for card in (0, 2):
        chance = BETS_WITH[card] if action == BET else 1 - BETS_WITH[card]
        likelihood[card] = (1 - doubt) * chance + doubt / 2
    held = weighted.records["deck"][:, 0]
    dealt = Counter(held.tolist())
    assert set(dealt) == {0, 2}
    total = sum(dealt[card] * likelihood[card] for card in dealt)
    for card in (0, 2):
        wanted = (1 - doubt) * dealt[card] * likelihood[card] / total + doubt * dealt[card] / WORLDS
        assert weighted.chances[held == card].sum() == pytest.approx(wanted)


class Pusher:
    """A model that bets with every card."""

    def probabilities(self, decks, actions, seed, decision):
        return np.tile([0.0, 1.0], (len(decks), 1))


@pytest.mark.parametrize("action", [PASS, BET])
def test_an_unknown_opponent_is_the_model_that_explains_more(action):
    state = after(KUHN, action, deck=[2, 1])
    weighted = Belief(KUHN, KUHN.make_options(), [Bluffer(), Pusher()]).worlds(Turn(state, 3))
    held = weighted.records["deck"][:, 0]
    dealt, likelihood = Counter(held.tolist()), {}
    for card in (0, 2):
        bets = [BETS_WITH[card], 1.0]
        chances = [(1 - DOUBT) * (bet if action == BET else 1 - bet) + DOUBT / 2 for bet in bets]
        likelihood[card] = sum(chances) / 2
    total = sum(dealt[card] * likelihood[card] for card in dealt)
    for card in (0, 2):
        wanted = (1 - DOUBT) * dealt[card] * likelihood[card] / total + DOUBT * dealt[card] / WORLDS
        assert weighted.chances[held == card].sum() == pytest.approx(wanted)


class BetsWith:
    """A model that bets in Leduc poker with one card only, and else checks."""

    def __init__(self, card):
        self.card = card

    def probabilities(self, decks, actions, seed, decision):
        bets = np.array([float(int(deck[0]) == self.card) for deck in decks])
        return np.stack([np.zeros(len(decks)), 1 - bets, bets], 1)


def test_an_opponent_is_one_model_for_the_whole_game():
    check, bet = 1, 2
    options = LEDUC.make_options()
    state = after(LEDUC, bet, check, bet, deck=[0, 2])  # the first player bets in both rounds
    weighted = Belief(LEDUC, options, [BetsWith(0), BetsWith(1)]).worlds(Turn(state, 3))
    held = weighted.records["deck"][:, 0]
    weights = (weighted.chances - DOUBT / WORLDS) / (1 - DOUBT)
    weight = {card: weights[held == card].mean() for card in range(3)}
    fits, fails = 1 - DOUBT + DOUBT / 2, DOUBT / 2
    assert weight[0] / weight[2] == pytest.approx((fits**2 + fails**2) / 2 / fails**2)
    assert weight[1] == pytest.approx(weight[0])


def test_worlds_are_drawn_in_proportion_and_by_round():
    weighted = belief().worlds(Turn(after(KUHN, BET, deck=[2, 1]), 3))
    drawn = weighted.drawn(5, 4000, 0)
    share = (drawn["deck"][:, 0] == 2).mean()
    wanted = weighted.chances[weighted.records["deck"][:, 0] == 2].sum()
    assert abs(share - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / 4000)
    assert drawn[100:110].tobytes() == weighted.drawn(5, 10, 100).tobytes()


@pytest.mark.parametrize("options", [{}, {"num_players": 3, "colors": 3}])
def test_a_world_that_is_drawn_again_has_another_stock(options):
    state = after(HANABI, **options)
    for ply in range(9):
        state.apply(state.policy_action("heuristic", ply))
    weighted = belief(HANABI, known_policy("random", HANABI, state.options), **options).worlds(Turn(state, 3))
    weighted.chances[:] = np.arange(WORLDS) == 5
    drawn = weighted.drawn(2, 300, 0)
    assert drawn[100:110].tobytes() == weighted.drawn(2, 10, 100).tobytes()
    assert weighted.drawn(3, 10, 0).tobytes() != drawn[:10].tobytes()
    stocks = drawn["deck"][:, weighted.stock.start : weighted.stock.stop]
    assert stocks.shape[1] == len(HANABI.deck(state.options)) - state.record.num_dealt
    assert len(np.unique(stocks, axis=0)) > 290
    assert (np.sort(stocks) == np.sort(stocks[0])).all()
    first = (stocks == stocks[0, 0]).mean(0)  # each place holds this card as often as the stock has it
    wanted = (stocks[0] == stocks[0, 0]).mean()
    assert np.abs(first - wanted).max() < 5 * math.sqrt(wanted * (1 - wanted) / 300)
    for one in drawn:  # all else is as it was
        one["deck"][weighted.stock.start : weighted.stock.stop] = stocks[0]
    assert (drawn == drawn[0]).all()


@pytest.mark.parametrize(
    ("game", "options", "plies"),
    [(KUHN, {}, 2), (LEDUC, {}, 3), (HOLDEM, HANDS, 4), (HOLDEM, {**HANDS, "num_players": 4}, 6), (HANABI, {}, 14)],
)
def test_a_belief_is_the_same_in_all_worlds_of_the_player(game, options, plies):
    model = known_policy("random", game, game.make_options(**options))
    for seed in range(5):
        state = game.new_state(seed=seed, **options)
        while not state.is_terminal and state.ply < plies:
            state.apply(state.policy_action("random", seed))
        if state.is_terminal:
            continue
        found = belief(game, model, **options).worlds(Turn(state, 7))
        twin = belief(game, model, **options).worlds(Turn(state.determinize(state.current_player, 99), 7))
        assert found.records.tobytes() == twin.records.tobytes()
        assert found.chances.tobytes() == twin.chances.tobytes()


@pytest.mark.parametrize(
    ("game", "options"),
    [
        (KUHN, {}),
        (LEDUC, {}),
        (HOLDEM, {**HANDS, "num_players": 3}),
        (HANABI, {}),
        (HANABI, {"num_players": 3, "colors": 3}),
    ],
)
def test_what_was_played_is_found_from_what_a_player_saw(game, options):
    for seed in range(20 if game is not HANABI else 4):
        state = game.new_state(seed=seed, **options)
        actors = []
        while not state.is_terminal:
            twin = state.determinize(state.current_player, seed)
            decks = decks_of(twin, twin.worlds(1, seed))
            steps = played(twin, decks[0])
            assert [step.player for step in steps] == actors
            assert [step.action for step in steps] == list(state.actions)
            again = replayed(game, state.options, decks, state.actions, [0])
            assert again["current_player"][0] == state.current_player
            actors.append(state.current_player)
            forfeits = game is HOLDEM and state.ply == 1
            state.apply(FORFEIT + state.current_player if forfeits else state.policy_action("random", seed + state.ply))


def test_amounts_without_an_id_are_found_and_say_nothing():
    state = HOLDEM.new_state(seed=1, **HANDS)
    for action in (raise_action(state.options, 57), CHECK_CALL, raise_action(state.options, 64)):
        state.apply(action)
    twin = state.determinize(state.current_player, 1)
    assert [step.action for step in played(twin, decks_of(twin, twin.worlds(1, 1))[0])] == list(state.actions)
    spec = "search:belief=equity,playout=equity,simulations=20"
    assert make_agent(spec, HOLDEM, state.options).act(Turn(state, 1)) in state.legal_actions()


def test_search_believes_who_never_bluffs():
    class Honest:
        def probabilities(self, decks, actions, seed, decision):
            bets = np.array([float(deck[len(actions) % 2] == 2) for deck in decks])
            return np.stack([1 - bets, bets], 1)

    state = after(KUHN, BET, deck=[2, 1])  # a queen calls a bluffer at times, and folds to whoever bets kings only
    folds = sum(
        SearchAgent(KUHN, simulations=200, belief=belief(model=Honest())).act(Turn(state, seed)) == PASS
        for seed in range(10)
    )
    plain = sum(SearchAgent(KUHN, simulations=200).act(Turn(state, seed)) == PASS for seed in range(10))
    assert folds == 10
    assert plain < 10


@pytest.mark.parametrize(
    "spec", ["search:simulations=20,belief=random", "search:simulations=20,belief=zoo:leduc_poker_v0/magnet"]
)
def test_specs_play_the_same_in_twins(spec):
    agent = make_agent(spec, LEDUC, LEDUC.make_options())
    for seed in range(8):
        state = after(LEDUC, 1, seed=seed)
        twin = state.determinize(state.current_player, seed + 50)
        choices = set()
        for one in (state, twin):
            agent.reset(seed)
            choices.add(agent.act(Turn(one, seed)))
        assert len(choices) == 1


def test_the_fingerprint_names_the_model():
    plain, believing = (
        agent_fingerprint(f"search:simulations=5{more}") for more in ("", ",belief=zoo:leduc_poker_v0/magnet")
    )
    assert plain == ""
    assert believing == agent_fingerprint("zoo:leduc_poker_v0/magnet")
    both = agent_fingerprint("search:network=zoo:leduc_poker_v0/magnet,belief=zoo:leduc_poker_v0/magnet")
    assert both == f"{believing}+{believing}"


@pytest.mark.parametrize(
    ("name", "options", "spec", "words"),
    [
        ("gin_rummy_v0", {}, "heuristic", "which gin_rummy_v0 is not"),
        ("texas_holdem_v0", {}, "equity", "as played here"),
        ("leduc_poker_v0", {}, "search", "whose probabilities are known"),
        ("leduc_poker_v0", {}, "random+ismcts:simulations=3", "known without a search.*got 'ismcts:simulations=3'"),
        ("leduc_poker_v0", {}, "nobody", "whose probabilities are known"),
        # the check of a submission reads the first, so a second one must not count
        ("leduc_poker_v0", {}, "random,belief=tabular:/etc/passwd", "takes belief once"),
        ("leduc_poker_v0", {}, "random,doubt=0", "doubt above 0 and up to 1; got 0"),
        ("leduc_poker_v0", {}, "random,doubt=nan", "doubt above 0 and up to 1; got nan"),
        ("leduc_poker_v0", {}, "random,doubt=little", "doubt"),
    ],
)
def test_what_cannot_be_believed_is_refused(name, options, spec, words):
    game = get_game(name)
    with pytest.raises(AgentError, match=words):
        make_agent(f"search:belief={spec}", game, game.make_options(**options))


def test_doubt_needs_a_belief():
    with pytest.raises(AgentError, match="search takes doubt with belief=AGENT"):
        make_agent("search:doubt=0.2", LEDUC, LEDUC.make_options())


def test_specs_set_the_doubt():
    state = after(LEDUC, 1, seed=4)
    spec = "search:belief=zoo:leduc_poker_v0/magnet"
    default, tenth, all_of_it = (
        make_agent(spec + more, LEDUC, state.options).belief.worlds(Turn(state, 3)).chances
        for more in ("", ",doubt=0.1", ",doubt=1")
    )
    assert default.tolist() == tenth.tolist() != all_of_it.tolist()
    assert all_of_it == pytest.approx(1 / WORLDS)


@pytest.mark.parametrize(
    ("spec", "models"),
    [
        ("belief=equity", ["equity", "tight_aggressive"]),
        ("belief=tight_aggressive+equity", ["tight_aggressive", "equity"]),
        ("belief=equity,playout=push_fold", ["equity", "push_fold"]),
        ("belief=equity,playout=random", ["equity"]),  # nobody expects such opponents
    ],
)
def test_the_others_may_have_played_like_who_plays_out(spec, models):
    game = get_game("texas_holdem_v0")
    state = game.new_state(seed=5, format="cash", num_players=2)
    for ply in range(3):
        state.apply(state.policy_action("equity", ply))
    wanted = Belief.of("search", models, game, state.options).worlds(Turn(state, 3)).chances
    found = make_agent(f"search:{spec}", game, state.options).belief.worlds(Turn(state, 3)).chances
    assert found.tolist() == wanted.tolist()
    alone = Belief.of("search", models[:1], game, state.options).worlds(Turn(state, 3)).chances
    assert (found.tolist() == alone.tolist()) == (len(models) == 1)


def test_networks_that_play_out_are_believed_to_have_played_so():
    pytest.importorskip("torch")
    state = after(LEDUC, 1, seed=4)
    weights = Path(cardenvs.__file__).parent / "zoo" / "leduc_poker_v0" / "magnet.safetensors"
    alone, by_path, of_the_zoo = (
        make_agent(f"search:{spec}", LEDUC, state.options).belief.worlds(Turn(state, 3)).chances
        for spec in (
            "belief=zoo:leduc_poker_v0/magnet,network=zoo:leduc_poker_v0/magnet",
            f"belief=zoo:leduc_poker_v0/magnet,network={weights}",
            "belief=zoo:leduc_poker_v0/magnet+zoo:leduc_poker_v0/magnet,playout=random",
        )
    )
    assert alone == pytest.approx(by_path)
    assert alone == pytest.approx(of_the_zoo)


def test_a_network_given_by_path_is_believed_to_draw_its_actions():
    pytest.importorskip("torch")
    state = after(LEDUC, 1, seed=4)
    weights = Path(cardenvs.__file__).parent / "zoo" / "leduc_poker_v0" / "magnet.safetensors"
    by_path, of_the_zoo = (
        make_agent(f"search:belief={spec}", LEDUC, state.options).belief.worlds(Turn(state, 3)).chances
        for spec in (f"ppo:{weights}", "zoo:leduc_poker_v0/magnet")
    )
    assert by_path == pytest.approx(of_the_zoo)


def test_a_network_without_a_policy_is_believed_to_take_what_it_values_most(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from agents.untrained import untrained

    from cardenvs.agents.checkpoint_file import write_weights

    write_weights(untrained(LEDUC) | {"method": "dmc"}, tmp_path / "dmc.safetensors")
    model = known_policy(f"ppo:{tmp_path / 'dmc.safetensors'}", LEDUC, LEDUC.make_options(), exact=False)
    chances = model.probabilities([LEDUC.deck(LEDUC.make_options()).tolist()], [], 0, 0)
    assert sorted(set(chances[0].tolist())) == [0, 1]
    assert chances.sum() == 1


def test_a_belief_finds_the_cards_that_hints_mean():
    """Worlds that explain the hints of a known partner hold the true cards more often than those that fit them."""
    model = known_policy("heuristic", HANABI, HANABI.make_options())
    believing, fair, cards = 0.0, 0.0, 0
    for seed in range(3):
        state = HANABI.new_state(seed=seed)
        for ply in range(16):
            state.apply(state.policy_action("heuristic", ply))
        player = state.current_player
        held = state.record.hands[player]
        weighted = belief(HANABI, model).worlds(Turn(state, seed))
        right = weighted.records["hands"][:, player] == held
        believing += float((weighted.chances[:, None] * right).sum())
        fair += float(right.mean(0).sum())
        cards += len(held)
    assert believing > 1.1 * fair, (believing / cards, fair / cards)
