"""Tests of Katko: paragraphs of rules.md that the scenario files leave out, an oracle, worlds, and the heuristic."""

import collections
import itertools
import os
import random

import pytest
from ascii_cards import in_ascii
from katko_oracle import Oracle, poker_rank
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.katko.poker_hand import hand_strength
from cardenvs.kits.cards import CARD_LABELS, bits_of, parse_card, parse_cards

GAME = get_game("katko_v0")


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def hands_of(state):
    return [
        [CARD_LABELS[card] for card in range(52) if int(state.record.hands[p]) >> card & 1]
        for p in range(state.num_players)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 7, "cards_per_player": 8}, "need more than 52 cards"),
        ({"poker_point": True, "cards_per_player": 4}, "poker_point needs cards_per_player=5"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_2_2_all_cards_are_shuffled_before_each_deal():
    state = played(None, cards_per_player=1, deal_from_rest=False)
    while state.facts(0)["deal"] == 1:
        state.apply(state.legal_actions()[0])
    assert state.facts(0)["undealt_cards"] == 50


def test_2_3_and_2_4_rotating_dealer_and_a_winner_who_leads():
    state = played("Ah Kh Qh", *["lead A♥", "play K♥", "play Q♥"], num_players=3, cards_per_player=1,
                   next_dealer="rotate", leader="winner")  # fmt: skip
    assert state.record.dealer == 0
    assert state.current_player == 0


EXCHANGE = "7c 8c 9c Tc 2d  2s 3s 4s 5s 7d  6c Kd"


def test_4_1_an_exchange_is_done_one_by_one_and_drawn_at_the_end():
    state = played(EXCHANGE, poker_point=True)
    assert state.phase == "exchange"
    with pytest.raises(IllegalActionError, match="exchanged first"):
        state.apply(parse_card("7c"))
    state.apply(state.action_from_label("set aside 2♦"))
    assert state.current_player == 0
    state.apply(state.action_from_label("done"))
    assert "6c" in hands_of(state)[0]
    assert state.current_player == 1
    state.apply(state.action_from_label("done"))
    assert state.phase == "play"
    assert state.current_player == 0


def test_4_2_nobody_exchanges_more_than_the_rest_has():
    state = GAME.new_state(seed=1, num_players=7, poker_point=True)
    for _ in range(3):  # 17 cards are left; five each for three players
        for _ in range(5):
            state.apply(state.legal_actions()[0])
        state.apply(state.action_from_label("done"))
    for _ in range(2):
        state.apply(state.legal_actions()[0])
    assert [state.action_label(action) for action in state.legal_actions()] == ["done"]
    assert "no card left" in state.explain_illegal(52 + parse_card(hands_of(state)[state.current_player][0]))


def test_4_3_the_best_poker_hand_scores_after_the_last_trick():
    straight_flush = played(EXCHANGE, "set aside 2♦", "done", "done", poker_point=True)
    while straight_flush.facts(0)["deal"] == 1:
        straight_flush.apply(straight_flush.legal_actions()[0])
    scores = straight_flush.facts(0)["scores"]
    assert "player_0 had the best poker hand." in straight_flush.recap(1)
    assert sum(scores) == 2
    assert scores[0] >= 1
    assert straight_flush.facts(0)["scores_by_deal"][0] == scores


def test_4_3_the_last_trick_is_counted_first():
    state = played(EXCHANGE, "done", "done", poker_point=True, target=1)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert not any("poker hand" in line for line in state.recap(0))


def test_6_1_the_others_deal_again():
    state = GAME.new_state(seed=4, num_players=3)
    state.apply(state.legal_actions()[0])
    leaver = state.current_player
    state.apply(FORFEIT + leaver)
    assert state.returns[leaver] == -0.5
    assert not state.is_terminal
    assert state.facts(0)["scores_by_deal"] == [[0, 0, 0], [0, 0, 0]]
    assert hands_of(state)[leaver] == []
    state.apply(FORFEIT + state.current_player)
    assert state.is_terminal
    assert sorted(state.returns) == [-0.5, -0.5, 1]


def test_7_2_only_the_owner_knows_what_was_set_aside():
    state = played(EXCHANGE, "set aside 2♦", poker_point=True)
    assert table_texts(state.view(0))["piles"]["set_aside"][0] == ["2♦"]
    assert table_texts(state.view(1))["piles"]["set_aside"][0] == ["?"]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random match beside the oracle; returns the number of deals."""
    chooser = random.Random(seed)
    options = {
        "num_players": chooser.randint(2, 7), "target": chooser.randint(1, 4), "two_rule": chooser.random() < 0.5,
        "poker_point": chooser.random() < 0.3, "next_dealer": chooser.choice(["winner", "rotate"]),
        "leader": chooser.choice(["left_of_dealer", "winner"]),
    }  # fmt: skip
    state = GAME.new_state(seed=seed, deal_from_rest=chooser.random() < 0.5, **options)
    oracle, deal = Oracle(**options), 0
    while not state.is_terminal:
        if state.phase == "exchange":
            state.apply(chooser.choice(state.legal_actions()))
            continue
        if state.facts(0)["deal"] > deal:
            deal += 1
            assert state.record.dealer == oracle.dealer
            oracle.begin_deal(hands_of(state))
        assert state.current_player == oracle.to_act
        card = chooser.choice(state.legal_actions())
        assert sorted(oracle.legal()) == sorted(CARD_LABELS[action] for action in state.legal_actions())
        oracle.play(CARD_LABELS[card])
        state.apply(card)
        assert state.facts(0)["scores"] == oracle.scores
    assert [p for p, value in enumerate(state.returns) if value == 1] == [oracle.winner]
    return deal


@pytest.mark.parametrize("seed", range(120))
def test_matches_agree_with_the_oracle(seed):
    check_against_the_oracle(seed)


@pytest.mark.slow
def test_ten_thousand_matches_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 11_000)) > 20_000


def test_poker_hands_are_ordered_as_the_oracle_orders_them():
    chooser = random.Random(2)
    texts = ["Ah 2d 3c 4s 5h", "As Ks Qs Js Ts", "5c 4c 3c 2c Ac", "9h 9d 9c 9s 2h", "3h 3d 3c 2s 2h", "Kh Qh 9h 3h 2h"]
    hands = [[CARD_LABELS[card] for card in chooser.sample(range(52), 5)] for _ in range(600)]
    hands += [text.split() for text in texts]
    numbers = [int(hand_strength(bits_of(parse_cards(" ".join(hand))))) for hand in hands]
    ranks = [poker_rank(hand) for hand in hands]
    for (a, b), (x, y) in zip(
        itertools.pairwise(numbers + numbers[::-1]), itertools.pairwise(ranks + ranks[::-1]), strict=True
    ):
        assert (a > b, a == b) == (x > y, x == y)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def test_worlds_respect_suits_that_were_not_followed():
    state = played("9h 2s 3s 4s 5s  7s 2c 3d 4c 5c", "lead 9♥", "play 7♠")
    lengths = collections.Counter()
    for seed in range(300):
        hand = hands_of(state.determinize(0, seed))[1]
        assert len(hand) == 4
        assert not any(card[1] == "h" for card in hand)
        lengths[sum(card[1] == "s" for card in hand)] += 1
    assert len(lengths) > 2


class Watcher:
    """What everybody knows about hidden cards, from the texts of actions alone."""

    def __init__(self, state):
        self.state, self.seen = state, set()
        self.put_away = {p: [] for p in range(state.num_players)}  # sizes and missing suits
        self.begin_deal()

    def begin_deal(self):
        self.missing = {p: set() for p in range(self.state.num_players)}
        self.held = {p: int(self.state.record.hands[p]).bit_count() for p in range(self.state.num_players)}

    def apply(self, action):
        state, player, deal = self.state, self.state.current_player, self.state.facts(0)["deal"]
        verb, text = "leaves", ""
        if action < FORFEIT:
            verb, text = in_ascii(state.action_label(action)).split()
        if verb == "lead":
            self.led = text[1]
        elif verb == "play" and text[1] != self.led:
            self.missing[player].add(self.led)
        if text:
            self.seen.add(text)
            self.held[player] -= 1
        state.apply(action)
        if not state.is_terminal and state.facts(0)["deal"] != deal:
            for p, number in self.held.items():
                if number:
                    self.put_away[p].append((number, self.missing[p]))
            self.begin_deal()

    def places(self, viewer):
        """Return the other hands, then what others have put away, as sizes and missing suits; then the rest."""
        others = [p for p in range(self.state.num_players) if p != viewer]
        found = [(self.held[p], self.missing[p]) for p in others]
        found += [batch for p in others for batch in self.put_away[p]]
        return [*found, (self.state.facts(viewer)["undealt_cards"], set())]

    def hidden(self, viewer):
        record = self.state.record
        own = int(record.hands[viewer] | record.set_aside[viewer])
        return [card for k, card in enumerate(CARD_LABELS) if not own >> k & 1 and card not in self.seen]


def worlds_of(cards, places, most):
    """Return all deals of cards to places, as bit sets, card by card, or None if there are more than `most`."""
    found = [(0,) * len(places)]
    for card in cards:
        found = [
            (*deal[:k], deal[k] | 1 << parse_card(card), *deal[k + 1 :])
            for deal in found
            for k, (size, missing) in enumerate(places)
            if deal[k].bit_count() < size and card[1] not in missing
        ]
        if len(found) > 20 * most:
            return None
    return found if len(found) <= most else None


def world_in(state, viewer):
    """Return a twin's deal in the order of Watcher.places, if each player has put away one hand at most."""
    record = state.records[0]
    others = [p for p in range(state.num_players) if p != viewer]
    sets = [record["hands"][p] for p in others]
    sets += [record["set_aside"][p] for p in others if record["set_aside"][p]]
    return (*map(int, sets), sum(1 << int(card) for card in record["deck"] if card >= 0))


def uniformity(watcher, viewer, seed, most=80, each=120 if COMPILED else 2):
    """Return the p-value of twins being equally likely among all worlds, or None if these are too many or one."""
    worlds = worlds_of(watcher.hidden(viewer), watcher.places(viewer), most)
    if not worlds or len(worlds) < 2:
        return None
    draws = each * len(worlds)
    counts = collections.Counter(world_in(watcher.state.determinize(viewer, seed + k), viewer) for k in range(draws))
    assert set(counts) <= set(worlds)
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


def several_voids(seed, number, **options):
    """Yield p-values of positions of random play in which several hidden hands lack suits."""
    chooser = random.Random(seed)
    while number:
        watcher = Watcher(GAME.new_state(seed=chooser.randrange(2**32), target=1, **options))
        while not watcher.state.is_terminal and number:
            watcher.apply(chooser.choice(watcher.state.legal_actions()))
            viewer = chooser.randrange(watcher.state.num_players)
            if watcher.state.is_terminal or watcher.held[viewer] > 3:
                continue
            sizes = [size for size, missing in watcher.places(viewer) if missing]
            if sum(size > 0 for size in sizes) < 2:
                continue
            p = uniformity(watcher, viewer, chooser.randrange(2**40))
            if p is not None:
                number -= 1
                yield p
                break


@pytest.mark.rotating
@pytest.mark.parametrize(
    "options", [{"num_players": 5, "cards_per_player": 10}, {"num_players": 7, "cards_per_player": 7}]
)
def test_worlds_are_equally_likely_if_several_hands_lack_suits(options):
    values = list(several_voids(1, 14 if COMPILED else 2, **options))
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


@pytest.mark.slow
def test_worlds_are_equally_likely_in_many_positions():
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    print(f"CARDENVS_TEST_SEED={seed}")
    values = [
        p
        for players, cards in ((4, 10), (5, 10), (6, 8), (7, 7))
        for p in several_voids(seed, 100, num_players=players, cards_per_player=cards)
    ]
    assert min(values) > 1e-7


def test_hands_put_away_lack_the_suits_that_their_owners_lacked():
    """After somebody has left, the cards of the deal stay out of sight, but not everything about them is unknown."""
    values, seed = [], 0
    while len(values) < (4 if COMPILED else 1):
        seed += 1
        chooser = random.Random(seed)
        watcher = Watcher(GAME.new_state(seed=seed, num_players=3, cards_per_player=10, target=10))
        for _ in range(25):
            watcher.apply(chooser.choice(watcher.state.legal_actions()))
        watcher.apply(FORFEIT + watcher.state.current_player)
        for _ in range(17):
            watcher.apply(chooser.choice(watcher.state.legal_actions()))
        viewer = watcher.state.current_player
        if sum(bool(missing) for batches in watcher.put_away.values() for _, missing in batches) < 2:
            continue
        p = uniformity(watcher, viewer, seed, most=300, each=15 if COMPILED else 2)
        values += [] if p is None else [p]
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


def test_the_heuristic_wins_against_random_players():
    won = 0
    for seed in range(300):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        won += state.returns[seed % 2] > 0
    assert won > 195
