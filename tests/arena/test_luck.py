"""Corrections for luck: exactly no bias, less noise, honest intervals, clear errors."""

import dataclasses
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from cardenvs.agents.known import NetworkPolicy, TurnPolicy
from cardenvs.agents.worlds import replayed
from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.luck import aivat
from cardenvs.arena.luck.adjust import Adjuster, adjust, coefficients
from cardenvs.arena.luck.aivat import AivatLuck, known_policies
from cardenvs.arena.luck.chance import ChanceLuck
from cardenvs.arena.luck.draws import Draws
from cardenvs.arena.luck.values import AgentsValue, PlayoutValue, Value, WorthValue, value_of
from cardenvs.arena.results.statistics import complete_deals, estimate
from cardenvs.cli.main import app
from cardenvs.core.errors import ArenaError
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed

EXACT = 1e-12
MAGNET = "zoo:leduc_poker_v0/magnet"
CASH = {"format": "cash", "num_players": 2}


class ByCard:
    """An arbitrary mixed policy: its probabilities depend on the own card, the public card and the actions so far."""

    def __init__(self, match, name):
        self.match, self.name = match, name

    def probabilities(self, decks, actions, seed, decision):
        records = replayed(self.match.game, self.match.options, decks, actions, [0] * len(decks))
        mask, _ = self.match.game.decisions(self.match.options, records)
        rows = [self._row(deck, tuple(actions), mask.shape[1]) for deck in decks]
        weights = np.array(rows) * mask
        return weights / weights.sum(1, keepdims=True)

    def _row(self, deck, actions, size):
        own = deck[len(actions) and self._actor(deck, actions)]
        seeds = [derived_seed(7, self.name, int(own), *map(int, deck[2:]), *actions, k) for k in range(size)]
        return [(seed / 2**63) ** 3 for seed in seeds]

    def _actor(self, deck, actions):
        state = self.match.game.state_type(self.match.game, self.match.options, seed=0, deck=[int(t) for t in deck])
        for action in actions:
            state.apply_unchecked(int(action))
        return state.current_player


class Terminals:
    """All ways in which two policies can play all deals of a small game: (probability, tokens, actions, returns)."""

    def __init__(self, match, policies):
        self.game, self.options, self.policies = match.game, match.options, policies
        self.deck = Counter(self.game.deck(self.options).tolist())

    def __iter__(self):
        for first, second in itertools.product(self.deck, repeat=2):
            chance = self.chance([], first) * self.chance([first], second)
            if chance:
                yield from self.play(chance, [first, second], [])

    def chance(self, drawn, token):
        left = self.deck.copy()
        left.subtract(drawn)
        return left[token] / sum(left.values())

    def play(self, chance, tokens, actions, decided=(0, 0)):
        state = self.game.state_type(self.game, self.options, seed=0, deck=tokens)
        for action in actions:
            state.apply(action)
        if state.is_terminal:
            yield chance, tokens, actions, state.returns
            return
        player = state.current_player
        probs = self.policies[player].probabilities([tokens], actions, 0, decided[player])[0]
        later = (decided[0] + (player == 0), decided[1] + (player == 1))
        for action in np.flatnonzero(probs).tolist():
            after = state.clone()
            after.apply(action)
            draws = Draws(self.game, self.options, 0, after.actions, tokens).draws
            if len(draws) == 1 or len(tokens) > 2:  # nothing is drawn after this action
                yield from self.play(chance * probs[action], tokens, [*actions, action], later)
                continue
            for token in self.deck:
                drawn = self.chance(tokens, token)
                if drawn:
                    yield from self.play(chance * probs[action] * drawn, [*tokens, token], [*actions, action], later)


def luck_over_everything(name, known, value=None, agents=(), **options):
    """Return the mean luck by part, and the standard deviations of plain and corrected returns of player 0.

    The agents play, with seed 0 in every game; without them, arbitrary policies.
    """
    match = Match.of(name, agents or ["random", "random"], deals=1, seed=1, **options)
    policies = known_policies(match) if agents else [ByCard(match, "first"), ByCard(match, "second")]
    value = value(match) if value else PlayoutValue(match.game, match.options, "random", shuffles=8)
    aivat = AivatLuck(match, [value], hands=8, policies=[policies[p] if p in known else None for p in (0, 1)])
    chances, plain, luck = [], [], []
    for chance, tokens, actions, returns in Terminals(match, policies):
        draws = Draws(match.game, match.options, 3, actions, tokens)
        chances.append(chance)
        plain.append(returns[0])
        luck.append(aivat.of_game(draws, returns, (0, 1), (0, 0)))
    weights, plain, luck = np.array(chances), np.array(plain), np.array(luck)
    assert weights.sum() == pytest.approx(1)
    mean = np.tensordot(weights, luck, 1)
    left = plain - luck.sum(1)[:, 0]
    spread = [np.sqrt(weights @ values**2 - (weights @ values) ** 2) for values in (plain, left)]
    return mean, np.abs(luck).max(axis=(0, 2)), *spread


@pytest.mark.parametrize("known", [(0, 1), (0,), (1,), ()])
def test_aivat_has_no_bias_in_kuhn_poker_whatever_is_known(known):
    mean, most, plain, corrected = luck_over_everything("kuhn_poker_v0", known)
    assert np.abs(mean).max() < EXACT
    assert not known or corrected < plain
    hands, deal, draws, actions = most
    assert draws == 0
    assert (actions > 0) == (hands > 0) == bool(known)
    assert (deal > 0) == (len(known) < 2)


@pytest.mark.parametrize("known", [(0, 1), (1,)])
def test_aivat_has_no_bias_in_leduc_poker(known):
    mean, most, plain, corrected = luck_over_everything("leduc_poker_v0", known, max_raises=1)
    assert np.abs(mean).max() < EXACT
    assert corrected < plain
    assert most[0] > 0
    assert most[2] > 0
    assert most[3] > 0


@pytest.mark.parametrize(("name", "options"), [("kuhn_poker_v0", {}), ("leduc_poker_v0", {"max_raises": 1})])
def test_aivat_has_no_bias_if_it_looks_at_a_few_pairs_only(name, options, monkeypatch):
    monkeypatch.setattr(aivat, "_MOST_VALUES", 3)
    mean, most, *_ = luck_over_everything(name, (0, 1), **options)
    assert np.abs(mean).max() < EXACT
    assert most[3] > 0


def test_looking_at_a_few_pairs_makes_a_difference(monkeypatch):
    whole = luck_over_everything("kuhn_poker_v0", (0, 1))
    monkeypatch.setattr(aivat, "_MOST_VALUES", 3)
    assert luck_over_everything("kuhn_poker_v0", (0, 1))[3] > whole[3]


class HighCards(Value):
    """A value in which the cards on the board count, the more the higher the hand of the first player is."""

    name, shuffles = "test", 1

    def of(self, states, seating):
        deck = states["deck"].astype(float)
        worth = (1 + deck[:, 0]) * np.where(deck[:, 4:9] >= 0, deck[:, 4:9], 0).sum(1)
        return np.stack([worth, -worth], 1)


def test_draws_that_are_too_many_to_be_listed_are_drawn(monkeypatch):
    options = {"format": "cash", "num_players": 2}
    match = Match.of("texas_holdem_v0", ["random", "random"], deals=1, seed=1, **options)
    state = match.game.new_state(seed=4, **options)
    while not state.is_terminal:
        state.apply(1)  # calls and checks
    draws = Draws(match.game, match.options, 4, state.actions)
    assert [len(draw.tokens) for draw in draws.draws] == [4, 3, 1, 1]
    found = {}
    for most in (100_000, 5):
        monkeypatch.setattr(aivat, "_MOST_VALUES", most)
        luck = [
            AivatLuck(match, [HighCards()], hands=3, seed=seed).of_game(draws, state.returns, (0, 1), (0, 0))
            for seed in range(40)
        ]
        found[most] = np.array(luck)[:, 2, 0]
    less = found[5] - found[100_000]
    assert less.std() > 0
    assert abs(less.mean()) < 4 * less.std() / np.sqrt(len(less))
    assert abs(found[100_000].mean()) > 4 * less.std() / np.sqrt(len(less))  # so a bias would show


@pytest.mark.parametrize(
    "agents", [("ismcts:simulations=20,sample=true", "random"), ("random", "search:simulations=20")]
)
@pytest.mark.parametrize(("name", "options"), [("kuhn_poker_v0", {}), ("leduc_poker_v0", {"max_raises": 1})])
def test_aivat_has_no_bias_with_a_search(name, options, agents):
    for known in ((0, 1), (agents.index("random") ^ 1,)):
        mean, most, plain, corrected = luck_over_everything(name, known, agents=agents, **options)
        assert np.abs(mean).max() < EXACT
        assert most[0] > 0
        assert most[3] > 0
        assert corrected < plain


@pytest.mark.slow
@pytest.mark.parametrize("known", [(0, 1), (0,), (1,), ()])
def test_aivat_has_no_bias_in_all_of_leduc_poker(known):
    mean, _, plain, corrected = luck_over_everything("leduc_poker_v0", known)
    assert np.abs(mean).max() < EXACT
    assert not known or corrected < plain


def test_playouts_of_the_agents_have_no_bias():
    mean, most, plain, corrected = luck_over_everything(
        "leduc_poker_v0", (0, 1), value=lambda match: AgentsValue(match, 2), max_raises=1
    )
    assert np.abs(mean).max() < EXACT
    assert corrected < plain
    assert most[2:].min() > 0


def test_the_agents_play_on_in_their_seats_and_others_are_replaced():
    agents = ["random", "zoo:leduc_poker_v0/magnet", "search:simulations=2"]
    match = Match.of("leduc_poker_v0", agents, 1, 1)
    value = AgentsValue(match, 1)
    random, network, _ = known_policies(match)
    for seating, policies in [((0, 1), (random, network)), ((1, 0), (network, random)), ((0, 2), (random, random))]:
        ends = Terminals(match, policies).play(1.0, [2, 0], [2])
        expected = sum(chance * returns[0] for chance, _, _, returns in ends)
        found = value.of(replayed(match.game, match.options, [[2, 0]] * 4000, [2], range(4000)), seating)[:, 0]
        assert abs(found.mean() - expected) < 4 * found.std() / np.sqrt(4000)


class HighPublicCard(Value):
    """A value that is not fair at all: a high public card is good for player 0."""

    name, shuffles = "test", 1

    def __init__(self, players=2):
        self.players = players

    def of(self, states, seating):
        public = np.where(states["stage"] == 1, states["deck"][:, self.players].astype(float) ** 2, 7)
        return np.stack([public, -public], 1)


def test_the_luck_of_a_draw_has_no_bias():
    match = Match.of("leduc_poker_v0", ["random", "random"], deals=1, seed=1, max_raises=1)
    luck, total = ChanceLuck(match, HighPublicCard()), np.zeros(2)
    policies = [ByCard(match, "first"), ByCard(match, "second")]
    found = set()
    for chance, tokens, actions, _ in Terminals(match, policies):
        draws = luck.of_draws(Draws(match.game, match.options, 3, actions, tokens), (0, 1))[1]
        total += chance * draws
        found.add(round(draws[0], 6))
    assert np.abs(total).max() < EXACT
    assert len(found) > 3  # nothing, and several cards


@pytest.mark.parametrize("name", ["leduc_poker_v0", "gin_rummy_v0", "texas_holdem_v0"])
def test_draws_explain_a_game_and_nothing_else(name):
    options = {"format": "cash", "num_players": 2} if name.startswith("texas") else {}
    game = get_game(name)
    state = game.new_state(seed=11, **options)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    draws = Draws(game, state.options, state.seed, state.actions)
    assert draws.is_whole
    assert draws.draws[0].ply == 0
    assert [token for draw in draws.draws for token in draw.tokens] == draws.tokens
    for draw in draws.draws:
        truth = game.new_state(seed=state.seed, **options)
        for action in state.actions[: draw.ply]:
            truth.apply(action)
        (world,) = draws.worlds(draw, [draw.tokens], [5])
        for player in range(2):
            seen = truth.observation(player)
            again = np.zeros_like(seen)
            game.engine.observe(np.array([world]), 0, player, again)
            assert np.array_equal(again, seen)
        assert sum(draws.left(draw).values()) == len(game.deck(state.options)) - draw.first


def test_later_deals_are_left_out():
    game = get_game("gin_rummy_v0")
    state = game.new_state(seed=2, match_target=500)
    while not state.is_terminal:
        state.apply(state.policy_action("heuristic", 0))
    draws = Draws(game, state.options, state.seed, state.actions)
    assert not draws.is_whole
    assert len(draws.draws) > 1
    assert len(draws.tokens) <= 52


def test_outcomes_of_one_token_are_all_and_others_are_drawn_from_what_is_left():
    import random

    match = Match.of("leduc_poker_v0", ["random", "random"], deals=1, seed=1)
    draws = Draws(match.game, match.options, 3, [1, 1, 1, 1], [0, 0, 1])
    outcomes, weights = draws.alternatives(draws.draws[1], random.Random(0))
    assert dict(zip(outcomes, weights.tolist(), strict=True)) == {(1,): 0.5, (2,): 0.5}
    outcomes, weights = draws.alternatives(draws.draws[0], random.Random(0))
    assert len(set(outcomes)) > 5
    assert weights.sum() == pytest.approx(1)


def matched(name, agents, deals, seed, **options):
    match = Match.of(name, agents, deals=deals, seed=seed, **options)
    with Store(None) as store:
        from cardenvs.arena.run import run

        run([match], store)
        return match, list(store.records(match.id))


def test_the_true_hand_is_in_no_place_of_its_own():
    match, records = matched("kuhn_poker_v0", ["random", "random"], 4, 1)
    luck = AivatLuck(match, [value_of("auto", match)])
    again = AivatLuck(match, [value_of("auto", match)])
    for record in records:
        assert np.array_equal(luck.of(record), again.of(record))


def test_policies_are_known_by_spec():
    agents = ["random", "zoo:leduc_poker_v0/magnet", "search:simulations=2", "search:seconds=1", "ismcts:seconds=1"]
    random, network, search, *timed = known_policies(match := Match.of("leduc_poker_v0", agents, 1, 1))
    assert isinstance(network, NetworkPolicy)
    assert isinstance(search, TurnPolicy)
    assert timed == [None, None]
    state = match.game.new_state(seed=1)
    probabilities = random.probabilities([[0, 1], [2, 1]], [2], 0, 0)
    assert probabilities.tolist() == [[1 / 3] * 3] * 2
    assert network.probabilities([[0, 1]], [2], 0, 0).sum() == pytest.approx(1)
    assert state.ply == 0


@pytest.mark.parametrize(
    ("name", "options", "spec", "deals"),
    [
        ("kuhn_poker_v0", {}, "search:simulations=5", 20),
        ("kuhn_poker_v0", {}, "ismcts:simulations=5", 20),
        ("kuhn_poker_v0", {}, "search:simulations=5,belief=random", 10),
        ("leduc_poker_v0", {}, "search:simulations=5", 20),
        ("leduc_poker_v0", {}, "search:simulations=5,playout=random,depth=2", 20),
        ("leduc_poker_v0", {}, "ismcts:simulations=5,exploration=2", 20),
        ("leduc_poker_v0", {}, "ismcts:simulations=5,sample=true", 20),
        ("leduc_poker_v0", {}, f"ismcts:simulations=5,network={MAGNET}", 10),
        ("leduc_poker_v0", {}, f"search:simulations=5,network={MAGNET}", 10),
        ("leduc_poker_v0", {}, f"search:simulations=5,belief=random+{MAGNET}", 3),
        ("texas_holdem_v0", CASH, "search:simulations=20", 2),
        ("texas_holdem_v0", CASH, "search:simulations=20,belief=tight_aggressive", 1),
    ],
)
def test_a_search_is_known_to_choose_what_it_chose_whatever_the_other_one_holds(name, options, spec, deals):
    match, records = matched(name, [spec, "random"], deals, 1, **options)
    policy, deck = known_policies(match)[0], Counter(match.game.deck(match.options).tolist())
    for record in records:
        draws = Draws(match.game, match.options, record.seed, record.actions)
        me, decision = record.seating.index(0), 0
        seed = match.seat_seeds(record.deal, record.lineup)[me]
        state = match.game.state_type(match.game, match.options, seed=record.seed)
        for ply, action in enumerate(record.actions):
            if state.current_player == me:
                tokens = [token for draw in draws.draws if draw.ply <= ply for token in draw.tokens]
                hidden = [place for place, seen in enumerate(draws.seen[: len(tokens)]) if seen == 1 << (1 - me)]
                left = deck - Counter(token for place, token in enumerate(tokens) if place not in hidden)
                other = list(tokens)
                for place, token in zip(hidden, sorted(left.elements(), reverse=ply % 2), strict=False):
                    other[place] = token
                found = policy.probabilities([tokens, other], record.actions[:ply], seed, decision)
                assert np.array_equal(*found)
                assert found[0, action] == 1 or ("sample" in spec and found[0, action] > 0)
                decision += 1
            state.apply(action)
        assert state.returns == list(record.returns)


def test_a_match_of_a_tree_search_that_draws_its_actions_is_corrected():
    match, records = matched("kuhn_poker_v0", ["ismcts:simulations=20,sample=true", "random"], 100, 1)
    result = adjust(Adjuster(match), records)
    assert result.method == "aivat"
    (found,) = result.advantages.values()
    assert found.narrower > 2
    assert found.plain.low < found.corrected.mean < found.plain.high


def test_another_policy_than_the_records_is_rejected():
    match, records = matched("leduc_poker_v0", ["random", "zoo:leduc_poker_v0/magnet"], 5, 1)

    class Folds:
        def probabilities(self, decks, actions, seed, decision):
            return np.tile([0.0, 0.0, 1.0], (len(decks), 1))

    luck = AivatLuck(match, [value_of("auto", match)], policies=[Folds(), Folds()])
    with pytest.raises(ArenaError, match="which its policy never does"):
        [luck.of(record) for record in records]


# -- coefficients and intervals -----------------------------------------------------------------------------------


def test_coefficients_do_not_depend_on_their_own_deals():
    random = np.random.default_rng(1)
    luck = random.normal(size=(60, 2))
    results = luck @ [1.0, 0.0] + random.normal(size=60) / 10
    found = coefficients(results, luck)
    changed, other = results.copy(), luck.copy()
    changed[7] += 1000
    other[7] *= -5
    again = coefficients(changed, other)
    same_fold = np.arange(60) % 10 == 7
    assert np.array_equal(found[same_fold], again[same_fold])
    assert not np.allclose(found[~same_fold], again[~same_fold])
    assert np.allclose(found, [1, 0], atol=0.25)


def test_few_deals_take_coefficients_near_one():
    luck = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0]])
    assert np.allclose(coefficients(np.array([0.0, 0.0, 0.0]), luck), 1, atol=0.3)


def covered(name, method, value, matches, deals, **options):
    """Return how many of some matches between equal agents have intervals around 0, plain and corrected."""
    counts = np.zeros(2, int)
    for seed in range(matches):
        match, records = matched(name, ["random", "random"], deals, seed, **options)
        (result,) = adjust(Adjuster(match, method, value, hands=8), records).advantages.values()
        counts += [found.low <= 0 <= found.high for found in (result.plain, result.corrected)]
    return counts


def test_corrected_intervals_cover():
    plain, corrected = covered("kuhn_poker_v0", "aivat", "auto", matches=25, deals=10)
    assert plain >= 20
    assert corrected >= 20


def by_deal(name, agents, method, value, deals, **options):
    """Return the advantage of the first agent and its luck by part, float64 (deals, 1 + parts)."""
    match, records = matched(name, agents, deals, 1, **options)
    adjuster, rows = Adjuster(match, method, value, hands=8), []
    half = match.game.returns(match.options).result_factor / 2
    for games in complete_deals(match, records):
        found = [(np.vstack([game.returns, adjuster.of(game)]), game.seating.index(0)) for game in games]
        rows.append(np.mean([half * (values[:, seat] - values[:, 1 - seat]) for values, seat in found], axis=0))
    return np.array(rows)


def results(rows):
    """Return plain and corrected results by deal."""
    luck = rows[:, 1:]
    return rows[:, 0], rows[:, 0] - (coefficients(rows[:, 0], luck) * luck).sum(1)


def standard_error(values):
    return values.std(0, ddof=1) / np.sqrt(len(values))


def assert_intervals_are_honest(rows, truth, error=0.0, matches=500, deals=20):
    """Check that corrected results are around a truth, known up to an error, and that intervals cover as they say.

    Then the deals stand for all there are, with luck that has a mean of 0, as it has among all. Matches of deals drawn
    from them have a truth that is known exactly, and cost nothing to play.
    """
    _, corrected = results(rows)
    assert abs(corrected.mean() - truth) < 4 * np.hypot(standard_error(corrected), error)
    luck = rows[:, 1:]
    assert (np.abs(luck.mean(0)) <= 4 * standard_error(luck) + EXACT).all()
    everything = rows - [0, *luck.mean(0)]
    truth, chooser, counts = rows[:, 0].mean(), np.random.default_rng(1), np.zeros(2)
    fewer = np.sqrt(1 - deals / len(rows))  # no deal is drawn twice, so means vary less than those of new deals
    for _ in range(matches):
        drawn = everything[chooser.choice(len(rows), deals, replace=False)]
        found = [estimate(values.tolist()) for values in results(drawn)]
        counts += [abs(one.mean - truth) <= fewer * (one.high - one.mean) for one in found]
    plain, corrected = counts / matches
    print(f"of intervals that should cover 95%: {plain:.1%} plain, {corrected:.1%} corrected")
    # a mean of 20 skewed results, as in hold'em, is not quite normal
    assert 0.88 <= plain <= 0.98
    assert 0.88 <= corrected <= 0.98


def long_match(name, agents, deals, **options):
    """Return the advantage of the first agent over many other deals, and its standard error."""
    found = run_match(Match.of(name, agents, deals, 2, **options)).advantage(0, 1)
    return found.mean, (found.high - found.low) / 3.92


def test_intervals_with_known_policies_cover_as_often_as_they_say():
    agents = ["random", "zoo:kuhn_poker_v0/magnet"]
    match = Match.of("kuhn_poker_v0", agents, 1, 1)
    policies = known_policies(match)
    seats = [Terminals(match, policies), Terminals(match, policies[::-1])]
    truth = sum(chance * returns[me] for me, ends in enumerate(seats) for chance, _, _, returns in ends) / 2
    assert_intervals_are_honest(by_deal("kuhn_poker_v0", agents, "aivat", "auto", 400), truth)


def test_intervals_between_two_equal_networks_cover_as_often_as_they_say():
    assert_intervals_are_honest(by_deal("leduc_poker_v0", [MAGNET, MAGNET], "aivat", "auto", 300), 0)


def test_intervals_with_a_search_cover_as_often_as_they_say():
    agents = ["ismcts:simulations=20,sample=true", "random"]
    rows = by_deal("leduc_poker_v0", agents, "aivat", "auto", 300)
    assert_intervals_are_honest(rows, *long_match("leduc_poker_v0", agents, 1000))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "agents", "method", "value", "deals", "options"),
    [
        ("gin_rummy_v0", ["heuristic", "random"], "chance", "zoo:gin_rummy_v0/ppo", 80, {}),
        ("gin_rummy_v0", ["heuristic", "greedy"], "chance", "zoo:gin_rummy_v0/ppo", 80, {}),
        ("texas_holdem_v0", ["tight_aggressive", "random"], "aivat", "worth", 300, CASH),
        ("texas_holdem_v0", ["random", "random"], "aivat", "agents:1", 100, CASH),
        ("crazy_eights_v0", ["heuristic", "random"], "chance", "playouts", 60, {"num_players": 2}),
    ],
)
def test_intervals_in_large_games_cover_as_often_as_they_say(name, agents, method, value, deals, options):
    rows = by_deal(name, agents, method, value, deals, **options)
    truth = (0,) if agents[0] == agents[1] else long_match(name, agents, 10 * deals, **options)
    assert_intervals_are_honest(rows, *truth)


def test_luck_that_is_rounding_in_other_deals_keeps_its_coefficient():
    random = np.random.default_rng(1)
    luck, results = random.normal(size=(40, 1)) * 1e-14, random.normal(size=40) * 100
    luck[3] = 50
    found = coefficients(results, luck)
    assert found[3] == pytest.approx(1)
    assert np.abs(found - 1).max() < 2


def test_corrected_results_are_narrower_and_estimate_the_same():
    match, records = matched("leduc_poker_v0", ["random", "zoo:leduc_poker_v0/magnet"], 60, 3)
    result = adjust(Adjuster(match), records)
    assert result.method == "aivat"
    (advantage,) = result.advantages.values()
    assert advantage.narrower > 1.2
    assert advantage.deals_saved_by == pytest.approx(60 * advantage.narrower**2)
    assert result.means[0].corrected.mean == pytest.approx(-result.means[1].corrected.mean)
    plain = run_match(match).advantage(0, 1)
    assert advantage.plain == plain


def test_three_players_have_the_luck_of_draws():
    match, records = matched("leduc_poker_v0", ["random"] * 3, 3, 3, num_players=3)
    result = adjust(Adjuster(match), records)
    assert result.method == "chance"
    assert len(result.advantages) == 3
    assert any(luck[1] != 0 for luck in result.luck)


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "both"}, "a correction is auto, chance or aivat; got 'both'"),
        ({"value": "guess"}, "a value is auto, worth, playouts"),
        ({"value": "worth"}, "kuhn_poker_v0 has no worth of its own"),
        ({"value": "playouts:clever"}, "has no policy 'clever'"),
        ({"value": "agents:0"}, "a number of playouts, 1 to 10,000, as in agents:8; got '0'"),
        ({"value": "agents:many"}, "a number of playouts"),
        ({"method": "aivat", "hands": 0}, "at least 1 hand"),
    ],
)
def test_invalid_arguments(arguments, words):
    match = Match.of("kuhn_poker_v0", ["random", "random"], 2, 1)
    with pytest.raises(Exception, match=words) as error:
        Adjuster(match, **arguments)
    assert type(error.value).__module__ == "cardenvs.core.errors"


def test_aivat_says_which_games_it_is_for():
    with pytest.raises(ArenaError, match="two players; this match of kuhn_poker_v0 has 3"):
        Adjuster(Match.of("kuhn_poker_v0", ["random"] * 3, 2, 1, num_players=3), "aivat")
    match, records = matched("gin_rummy_v0", ["random", "heuristic"], 1, 1)
    with pytest.raises(ArenaError, match="gin_rummy_v0 is not one of them"):
        AivatLuck(match, [value_of("auto", match)]).of(records[0])
    match, records = matched("leduc_poker_v0", ["random", "random"], 1, 1)
    with pytest.raises(ArenaError, match="takes single cards and 3 hands; got 2"):
        AivatLuck(match, [value_of("auto", match)], hands=2).of(records[0])


def test_one_deal_is_not_enough():
    match, records = matched("kuhn_poker_v0", ["random", "random"], 1, 1)
    with pytest.raises(ArenaError, match="at least 2 complete deals; the match has 1"):
        adjust(Adjuster(match), records)


# -- commands -----------------------------------------------------------------------------------------------------


def test_a_command_corrects_a_stored_match_and_leaves_it_alone(tmp_path):
    path, out = tmp_path / "kuhn.db", tmp_path / "out.json"
    run_match(Match.of("kuhn_poker_v0", ["random", "search:simulations=2"], 12, 1), path)
    before = path.read_bytes()
    result = CliRunner().invoke(app, ["arena", "adjust", str(path), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "plain deals" in result.output
    assert path.read_bytes() == before
    found = json.loads(out.read_text())
    assert found["method"] == "aivat"
    assert found["unit"] == "chips a deal"
    assert [row["agent"] for row in found["agents"]] == ["random", "search:simulations=2"]
    assert set(found["agents"][0]["luck"]) == set(found["agents"][0]["coefficients"])
    wrong = CliRunner().invoke(app, ["arena", "adjust", str(path), "zz"])
    assert wrong.exit_code == 2
    assert "0 matches that begin with 'zz'" in " ".join(wrong.stderr.split())


def test_a_match_prints_both_results(tmp_path):
    out = tmp_path / "out.json"
    command = ["match", "kuhn_poker_v0", "--agents", "random,random", "--deals", "6", "--seed", "1", "--adjust"]
    result = CliRunner().invoke(app, [*command, "--json", str(out)])
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text())
    means = {row["agent"]: row["mean"]["mean"] for row in found["leaderboard"]}
    assert {row["agent"]: row["plain"]["mean"] for row in found["adjusted"]["agents"]} == means
    assert found["adjusted"]["format"] == "cardenvs-adjusted"


def test_worth_of_hands_before_the_last_card():
    game = get_game("texas_holdem_v0")
    options = game.make_options(format="cash", num_players=2)
    value = WorthValue(game, options)
    deck = [game.view.parse_token(card) for card in ["As", "Ad", "Kc", "Kd", "2h", "7s", "9c", "3d"]]

    def worths(actions, tokens=deck, seeds=(1,)):
        return value.of(replayed(game, options, [tokens] * len(seeds), actions, list(seeds)), (0, 1))

    calls = [1, 1, 1, 1]  # the turn, with 20 chips of each in the pot
    (turn,) = worths(calls)
    assert turn.tolist() == pytest.approx([20 * 40 / 44, -20 * 40 / 44])  # two of the 44 cards left help the kings
    same = worths(calls, seeds=(1, 2))
    assert np.array_equal(same[0], same[1])  # the deck is not read
    (raised,) = worths([*calls, 2])
    assert raised.tolist() == pytest.approx(turn.tolist())  # what nobody has matched goes back
    (before,) = worths([1, 1], deck[:7])
    assert 14 < before[0] < 19  # on the flop, kings win one time in twelve


def test_records_of_forfeits_and_forced_actions_are_corrected_without_policies():
    match, records = matched("kuhn_poker_v0", ["random", "random"], 2, 1)
    from cardenvs.core.codes import FORFEIT

    state = match.game.new_state(seed=records[0].seed)
    state.apply(FORFEIT + state.current_player)
    record = dataclasses.replace(records[0], actions=tuple(state.actions), returns=tuple(state.returns))
    forced = dataclasses.replace(records[0], outcomes=({"forced": 1}, {}))
    for one in (record, forced):
        luck = AivatLuck(match, [value_of("auto", match)]).of(one)
        assert luck[0].tolist() == [0, 0]
        assert luck[3].tolist() == [0, 0]
