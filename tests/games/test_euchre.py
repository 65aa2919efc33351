"""Tests of Euchre: an oracle, OpenSpiel, worlds, and what the scenario files leave out."""

import collections
import itertools
import os
import random

import pytest
from ascii_cards import in_ascii
from euchre_oracle import Oracle
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.euchre.state import JOKER, PACK, PASS

GAME = get_game("euchre_v0")
A = "Jc Ac Ad 9d Th  9s Ts Kh Qh 9c  As Ks Kc Kd 9h  Js Qc Tc Qd Ah  Qs"


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck; player 3 deals."""
    state = GAME.new_state(seed=1, deck=deck, **{"dealer": 3} | options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def cards(bits):
    return [PACK.labels[card] for card in PACK.cards_of(int(bits))]


def hands_of(state):
    return [cards(state.record.hands[p]) for p in range(4)]


def labels_of(state):
    return [in_ascii(state.action_label(action)) for action in state.legal_actions()]


def suit_letters(text):
    for sign, letter in zip("♠♣♦♥", "scdh", strict=True):
        text = text.replace(sign, letter)
    return text


def test_2_1_the_first_dealer_is_drawn_at_random():
    dealers = collections.Counter(int(GAME.new_state(seed=seed).record.dealer) for seed in range(400))
    assert set(dealers) == set(range(4))
    assert min(dealers.values()) > 60


def test_2_2_without_a_joker_there_are_24_cards():
    state = GAME.new_state(seed=3)
    dealt_cards = [card for hand in hands_of(state) for card in hand]
    rest = [PACK.labels[state.record.upcard], *cards(stock(state))]
    assert sorted([*dealt_cards, *rest]) == sorted(PACK.labels[:JOKER])


def stock(state):
    return sum(1 << int(card) for card in state.records[0]["deck"] if card >= 0)


def test_6_4_a_match_of_void_hands_is_drawn():
    state = GAME.new_state(seed=1, stick_the_dealer=False, target=10)
    while not state.is_terminal:
        state.apply(PASS)
    assert state.ply == 8 * 100
    assert list(state.returns) == [0, 0, 0, 0]
    assert "The match is drawn after 100 hands." in state.recap(0)


def test_the_last_two_hands_of_a_match_are_as_in_scenario_16():
    """From 9-8, side 0 wins with three tricks, and loses if it is euchred."""
    ends = set()
    for seed in itertools.count():
        state, chooser = GAME.new_state(seed=seed, target=10), random.Random(seed)
        while not state.is_terminal:
            before = list(state.record.scores)
            state.apply(chooser.choice(state.legal_actions()))
            if before == [9, 8] and (state.is_terminal or list(state.record.scores) != before):
                ends.add((state.is_terminal, state.returns[0], *map(int, state.record.scores)))
        if {(True, 1, 10, 8), (True, -1, 9, 10)} <= ends:
            break
    assert all(over or score == 9 for over, _, _, score in ends)


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def random_options(chooser):
    flags = ("stick_the_dealer", "joker", "discard_upcard", "need_suit_to_order", "partner_assist_alone",
             "lone_defender", "super_euchre")  # fmt: skip
    return {flag: chooser.random() < 0.5 for flag in flags} | {
        "alone_lead": chooser.choice(["left_of_dealer", "left_of_maker"]),
        "alone_euchre": chooser.choice([2, 4]),
        "target": chooser.choice([None, None, 1, 5]),
    }


def dealt(state):
    """The hands of a new hand; where the suit of a joker is to be named, those that will be dealt."""
    if state.phase != "name_joker":
        return hands_of(state)
    deck = [PACK.labels[card] for card in state.records[0]["deck"][1:21]]
    return [deck[5 * p : 5 * p + 5] for p in range(4)]


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the number of hands."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle, hands = GAME.new_state(seed=seed, **options), Oracle(**options), 0
    while not state.is_terminal:
        if state.record.num_hands > hands:
            hands += 1
            dealer = int(state.record.dealer)
            assert hands == 1 or dealer == (oracle.dealer + 1) % 4
            oracle.begin_hand(dealer, dealt(state), PACK.labels[state.record.upcard])
        assert state.current_player == oracle.to_act
        assert sorted(map(suit_letters, labels_of(state))) == sorted(oracle.legal())
        action = chooser.choice(state.legal_actions())
        oracle.do(suit_letters(in_ascii(state.action_label(action))))
        state.apply(action)
        assert state.record.scores.tolist() == oracle.scores
        if state.record.num_hands == hands:
            assert state.record.tricks_won.tolist() == oracle.tricks
    assert list(state.returns) == oracle.returns()
    return hands


@pytest.mark.parametrize("seed", range(150))
def test_games_agree_with_the_oracle(seed):
    check_against_the_oracle(seed)


@pytest.mark.slow
def test_ten_thousand_games_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 11_000)) > 20_000


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel: action ids are the same


def their_deal(pyspiel, options, chooser):
    """A hand of OpenSpiel that has been dealt, and the same hand here."""
    theirs = pyspiel.load_game("euchre", options).new_initial_state()
    drawn = []
    while theirs.is_chance_node():
        drawn.append(chooser.choice([action for action, _ in theirs.chance_outcomes()]))
        theirs.apply_action(drawn[-1])
    dealer, dealt, upcard = drawn[0], drawn[1:21], drawn[21]
    hands = [[card for k, card in enumerate(dealt) if (dealer + k) % 4 == p] for p in range(4)]
    deck = " ".join(PACK.labels[card] for card in [*itertools.chain(*hands), upcard])
    ours = GAME.new_state(
        seed=0, deck=deck, dealer=dealer, stick_the_dealer=options["stick_the_dealer"],
        lone_defender=options["allow_lone_defender"],
    )  # fmt: skip
    return theirs, ours


def check_against_openspiel(seed):
    """Play a random hand in both; return what the first player got."""
    pyspiel, chooser = pytest.importorskip("pyspiel"), random.Random(seed)
    options = {"allow_lone_defender": chooser.random() < 0.5, "stick_the_dealer": chooser.random() < 0.5}
    theirs, ours = their_deal(pyspiel, options, chooser)
    while not theirs.is_terminal():
        assert ours.current_player == theirs.current_player()
        assert ours.legal_actions() == theirs.legal_actions()
        passes_too_often = ours.phase in ("order", "call") and chooser.random() < 0.5
        action = ours.legal_actions()[0] if passes_too_often else chooser.choice(ours.legal_actions())
        theirs.apply_action(action)
        ours.apply(action)
    assert ours.is_terminal
    assert list(ours.returns) == theirs.returns()
    return ours.returns[0]


def test_hands_agree_with_openspiel():
    found = collections.Counter(check_against_openspiel(seed) for seed in range(400))
    assert set(found) == {-4, -2, -1, 0, 1, 2, 4}


@pytest.mark.slow
def test_many_hands_agree_with_openspiel():
    for seed in range(1000, 51_000):
        check_against_openspiel(seed)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


class Watcher:
    """What everybody knows about hidden cards, from the texts of actions."""

    def __init__(self, seed, **options):
        self.state = GAME.new_state(seed=seed, **options)
        self.oracle = Oracle(**self.state.options.as_dict())
        self.oracle.begin_hand(int(self.state.record.dealer), dealt(self.state), PACK.labels[self.state.record.upcard])
        self.played = {p: [] for p in range(4)}
        self.voids = {p: set() for p in range(4)}

    def apply(self, action):
        label, oracle, player = suit_letters(in_ascii(self.state.action_label(action))), self.oracle, self.oracle.to_act
        verb, card = label.split()[0], label.split()[-1]
        if verb in ("lead", "play"):
            self.played[player].append(card)
            if verb == "play" and oracle.suit(card) != oracle.suit(oracle.table[0][1]):
                self.voids[player].add(oracle.suit(oracle.table[0][1]))
        oracle.do(label)
        self.state.apply(action)

    def places(self, viewer):
        """Return the places of hidden cards by name, with sizes and suits that they lack."""
        oracle, others = self.oracle, [p for p in range(4) if p != viewer]
        if oracle.stage == "name":
            return {"stock": (24, set())}
        places = {p: (len(oracle.hands[p]), self.voids[p]) for p in others}
        if oracle.laid_away and viewer != oracle.dealer:
            places["laid away"] = (1, set())
        return places | {"stock": (3 + self.state.options.joker, set())}

    def hidden(self, viewer):
        oracle = self.oracle
        seen = {*oracle.hands[viewer], *itertools.chain(*self.played.values())}
        if viewer == oracle.dealer:
            seen.add(oracle.laid_away)
        if not oracle.was_ordered:
            seen.add(oracle.upcard)
        return [card for card in PACK.labels[: JOKER + self.state.options.joker] if card not in seen]

    def fits(self, world):
        """Whether the dealer has or had the upcard, and the maker a card of its suit, if that is needed."""
        oracle, options = self.oracle, self.oracle.options
        if not oracle.was_ordered:
            return True
        held = {p: {*self.played[p], *world.get(p, oracle.hands[p])} for p in range(4)}
        laid_away = world.get("laid away", {oracle.laid_away})
        has_upcard = oracle.upcard in held[oracle.dealer] or (options["discard_upcard"] and oracle.upcard in laid_away)
        held[oracle.dealer] |= laid_away
        had_suit = any(card[1] == oracle.up and card not in ("JK", oracle.upcard) for card in held[oracle.maker])
        return has_upcard and (had_suit or not options["need_suit_to_order"])

    def worlds(self, viewer, most):
        """Return all worlds that `viewer` may imagine, as sets of sets, or None if there are more than `most`."""
        places, found = self.places(viewer), [{}]
        for card in self.hidden(viewer):
            found = [
                deal | {name: deal.get(name, frozenset()) | {card}}
                for deal in found
                for name, (size, missing) in places.items()
                if len(deal.get(name, ())) < size and self.oracle.suit(card) not in missing
            ]
            if len(found) > 30 * most:
                return None
        found = [as_key(deal) for deal in found if self.fits(deal)]
        return found if 2 <= len(found) <= most else None

    def twin(self, viewer, seed):
        """Return the world of a twin in the same form."""
        twin = self.state.determinize(viewer, seed)
        world = {p: cards(twin.record.hands[p]) for p in range(4) if p != viewer}
        if "laid away" in self.places(viewer):
            world["laid away"] = [PACK.labels[twin.record.laid_away]]
        return as_key(world | {"stock": cards(stock(twin))})


def as_key(world):
    return frozenset((name, frozenset(content)) for name, content in world.items() if content)


WORLD_OPTIONS = (
    {}, {"discard_upcard": True}, {"need_suit_to_order": True}, {"joker": True, "lone_defender": True},
    {"discard_upcard": True, "need_suit_to_order": True, "joker": True},
)  # fmt: skip


def uniformities(seed, number, most, each, **options):
    """Yield p-values of twins being equally likely, at random positions late in a hand."""
    chooser = random.Random(seed)
    while number:
        watcher = Watcher(chooser.randrange(2**32), **options)
        viewer, worlds = chooser.randrange(4), None
        while not watcher.state.is_terminal and not worlds:
            # Trumps are usually ordered up, so that somebody knows more than the bids.
            legal = watcher.state.legal_actions()
            orders_up = watcher.oracle.stage == "order" and chooser.random() < 0.6
            watcher.apply(legal[-1] if orders_up else chooser.choice(legal))
            if watcher.oracle.stage == "play" and len(watcher.oracle.hands[viewer]) <= 2:
                worlds = watcher.worlds(viewer, most)
        if worlds:
            number -= 1
            yield uniformity(watcher, viewer, worlds, each, chooser.randrange(2**40))


def uniformity(watcher, viewer, worlds, each, seed):
    counts = collections.Counter(watcher.twin(viewer, seed + k) for k in range(each * len(worlds)))
    assert set(counts) <= set(worlds)
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


@pytest.mark.parametrize("options", WORLD_OPTIONS, ids=str)
def test_worlds_are_equally_likely(options):
    values = list(uniformities(1, 2, most=60, each=15 if COMPILED else 1, **options))
    assert min(values) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("options", WORLD_OPTIONS, ids=str)
def test_worlds_are_equally_likely_in_many_positions(options):
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    values = list(uniformities(seed, 60, most=200, each=60, **options))
    print(f"CARDENVS_TEST_SEED={seed}: {len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-6


def test_leaving_ends_the_game_for_both_sides():
    state = played(A, "pass", "order up s")
    state.apply(FORFEIT + 3)
    assert list(state.returns) == [4, -4, 4, -4]


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


THEIRS = "9s Tc Th Kh 9h  Qs Kc Qd Kd Qh  Ad Ah Jh Qc 9c  Ts"


def rule_agents_choice(state):
    return suit_letters(in_ascii(state.action_label(state.policy_action("heuristic", seed=0))))


def test_the_rule_agent_orders_up_for_its_partner_and_not_for_an_opponent():
    fair = f"As Ks 9d Ac Td  {THEIRS}"
    assert rule_agents_choice(played(fair, "pass", dealer=2)) == "order up s"
    assert rule_agents_choice(played(fair, dealer=3)) == "pass"


def test_the_rule_agent_goes_alone_and_draws_trumps_with_bowers():
    state = played(f"Js Jc As Ks Ac  {THEIRS}", dealer=3)
    for choice in ("order up s", None, "alone", "lead Js"):
        assert choice in (None, rule_agents_choice(state))
        state.apply(state.policy_action("heuristic", seed=0))


def test_the_rule_agent_does_not_go_alone_if_two_points_win_the_match():
    state = played(f"Js Jc As Ks Ac  {THEIRS}", "order up s", "lay away 9c", dealer=3, target=2)
    assert rule_agents_choice(state) == "with partner"


def test_the_rule_agent_wins_against_random_partners():
    total = 0
    for seed in range(200):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player % 2 == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        total += state.returns[seed % 2]
    assert total > 100


def test_prompts_and_refusals_offer_what_is_legal_only():
    state = GAME.new_state(seed=3, need_suit_to_order=True)
    assert [state.action_label(action) for action in state.legal_actions()] == ["pass"]
    assert (
        state.view(state.current_player)["prompt"]
        == "K♦ is turned up. You hold no card of its suit, so you can only pass."
    )
    state = GAME.new_state(seed=3)
    for _ in range(7):
        state.apply(state.action_from_label("pass"))
    reason = state.explain_illegal(0)
    assert reason.endswith("the dealer must call a suit (rules.md 3.3)")
