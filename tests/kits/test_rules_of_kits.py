"""Kits for rules: lists, decks, sides and tricks, on a record without a game, beside plain Python."""

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest

from cardenvs.core.errors import DeckError
from cardenvs.core.events import NO_LOG, NO_PLAYER, Event, Op, Table, new_log
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, fill_rules, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits import matches, tricks
from cardenvs.kits.cards import FULL, SUIT_SETS, Pack, card_face, chance_of_none, parse_card, parse_cards
from cardenvs.kits.deck import NO_CARD, deck_fields, draw_card, hidden_in_hands_and_deck, next_card, shuffle_deck
from cardenvs.kits.listing import list_bits


@dataclass(frozen=True)
class TrickOptions(Options):
    """Options of a record without a game."""

    num_players: int = option(3, low=2, high=6, doc="players")
    target: int = option(20, low=1, high=100, doc="points that win a match")


STATE = record(
    rules_dtype(TrickOptions),
    6,
    [*deck_fields(52), *tricks.trick_fields(6, 13), ("trump", "i1"), ("scores", "i4", (6,)), ("num_hands", "i1")],
)
NO_CARDS = np.zeros(0, np.int16)
TABLE = Table(6)
STOCK, HAND = TABLE.pile("stock"), TABLE.pile("hand", per_player=True)
TABLE.pile("played", per_player=True)
DRAWS = TABLE.event("draw", Op.MOVE, "{player} draws {token}.")
LEADS = TABLE.event("lead", Op.MOVE, "{player} leads {token}.")
PLAYS = TABLE.event("play", Op.MOVE, "{player} plays {token}.")
WINS = TABLE.event("win", Op.NOTE, "{player}'s side wins.")
DRAWN = TABLE.event("drawn", Op.NOTE, "Nobody wins after {value:hand}.")
LEAVES = matches.declare_forfeit(TABLE)


TRICKS = tricks.Tricks(TABLE, tricks.Ranking.plain(FULL, tricks.ACE_HIGH, tricks.trump_of_record))
playable_cards, trick_winner, explain_card = TRICKS.playable, TRICKS.winner, TRICKS.explain
play_card, take_turn = TRICKS.play, TRICKS.take_turn


@kernel(entry=True)
def play(states, player, card, log):
    play_card(states[0], player, card, log)


@kernel(entry=True)
def look(states, player, card):
    s = states[0]
    return playable_cards(s, player), trick_winner(s), explain_card(s, player, card)


@kernel(entry=True)
def begin(states, number, given):
    shuffle_deck(states[0], 52, number, given)
    tricks.clear_tricks(states[0])


@kernel(entry=True)
def draw(states, player, log):
    draw_card(states[0], player, DRAWS, STOCK, HAND, log)


@kernel(entry=True)
def take(states):
    return next_card(states[0])


@kernel(entry=True)
def hidden(states, player):
    return hidden_in_hands_and_deck(states[0], player)


@kernel(entry=True)
def list_into(bits, first, out, n):
    return list_bits(bits, first, out, n)


@kernel(entry=True)
def pay(states, which, value, sides):
    s = states[0]
    if which == 0:
        matches.pay_sides(s, value)
    elif which == 1:
        matches.pay_winner(s, np.int64(value), sides)
    elif which == 2:
        matches.pay_scores(s, value, sides)
    else:
        matches.pay_stake(s, 1, value, sides)


@kernel(entry=True)
def go(states, player, log):
    matches.leave(states[0], player, LEAVES, log)


@kernel(entry=True)
def turn(states, card, log):
    return take_turn(states[0], card, log)


@kernel(entry=True)
def plays_on(states, sign, sides, log):
    return matches.goes_on(states[0], sign, sides, 9, WINS, DRAWN, log)


@kernel(entry=True)
def redeal(states, player, deck):
    tricks.redeal_tricks(states[0], player, SUIT_SETS, deck)


@kernel(entry=True)
def chance(wanted, drawn, cards):
    return chance_of_none(wanted, drawn, cards)


def blank(players=3):
    states = np.zeros(1, STATE)
    fill_rules(states["rules"], TrickOptions.make(num_players=players))
    states["seed"] = 7
    return states


def bits(cards):
    return sum(1 << card for card in cards)


def cards_in(bits):
    return [card for card in range(52) if int(bits) >> card & 1]


@pytest.mark.parametrize("chosen", [[], [0], [5, 3, 51], range(0, 52, 3)])
def test_a_list_ascends_from_where_it_begins(chosen):
    out = np.full(60, -9, np.int32)
    assert list_into(np.int64(bits(chosen)), 100, out, 2) == 2 + len(chosen)
    assert out[2 : 2 + len(chosen)].tolist() == [100 + card for card in sorted(chosen)]
    assert (out[[0, 1]] == -9).all()


def test_the_joker_of_a_pack_comes_last_and_has_no_suit():
    pack = Pack("9TJQKA", "cdhs", by="rank", joker=True)
    assert pack.size == 25
    assert pack.labels[:5] == ("9c", "9d", "9h", "9s", "Tc")
    assert pack.parse("JK") == pack.parse("Joker") == 24
    assert card_face(pack.labels[24]) == {"kind": "card", "rank": "JK"}
    assert not any(int(cards) >> 24 & 1 for cards in pack.suit_sets)
    assert pack.suit_index[24] == pack.rank_index[24] == -1
    with pytest.raises(DeckError, match="not a card"):
        FULL.parse("JK")


def test_a_deck_is_dealt_from_the_top_and_forgets_what_it_has_dealt():
    states, given = blank(), np.array(parse_cards("Qh 2s"), np.int16)
    begin(states, 0, given)
    order = states["deck"][0].tolist()
    assert sorted(order) == list(range(52))
    assert order[:2] == given.tolist()
    draw(states, 1, NO_LOG)
    assert cards_in(states["hands"][0, 1]) == [parse_card("Qh")]
    assert take(states) == parse_card("2s")
    assert states["deck"][0, :2].tolist() == [NO_CARD, NO_CARD]
    assert cards_in(hidden(states, 1)) == sorted(order[2:])
    assert cards_in(hidden(states, 0)) == sorted([order[0], *order[2:]])
    again = blank()
    begin(again, 1, given[:0])
    assert again["deck"][0].tolist() != order


@pytest.mark.parametrize(("players", "sides"), [(2, 2), (4, 2), (6, 2), (3, 3), (6, 3), (4, 4)])
def test_what_sides_are_paid(players, sides):
    side = [p % sides for p in range(players)]
    states = blank(players)
    pay(states, 1, 1.0, sides)
    assert states["rewards"][0, :players].tolist() == [1 if k == 1 else -1 / (sides - 1) for k in side]
    assert states["terminal"][0]
    pay(states, 3, 5.0, sides)
    assert states["rewards"][0, :players].tolist() == [-5 if k == 1 else 5 / (sides - 1) for k in side]
    scores = [random.Random(players).randrange(50) for _ in range(sides)]
    states["scores"][0, :sides] = scores
    pay(states, 2, -1.0, sides)
    expected = [-(scores[k] - (sum(scores) - scores[k]) / (sides - 1)) for k in side]
    assert states["rewards"][0, :players].tolist() == pytest.approx(expected)
    if sides == 2:
        pay(states, 0, 3.0, sides)
        assert states["rewards"][0, :players].tolist() == [3 if k == 0 else -3 for k in side]


def test_who_leaves_is_out_and_all_see_it():
    states, log = blank(), new_log()
    states["active"][0, :3] = 1
    go(states, 1, log)
    assert states["active"][0, :3].tolist() == [1, 0, 1]
    assert log[0, 0] == 1
    assert TABLE.read(TABLE.visible(log[1:2], 2)[0]) == Event("forfeit", 1, None, None, None, 0)


@pytest.mark.parametrize(
    ("scores", "sign", "num_hands", "ends"),
    [
        ([19, 3], 1, 1, None),
        ([20, 3], 1, 1, ("win", 0)),
        ([20, 25], 1, 1, ("win", 1)),
        ([20, 20], 1, 1, None),
        ([20, 3], -1, 1, ("win", 1)),
        ([20, 20], 1, 9, ("drawn", None)),
    ],
)
def test_a_match_ends_at_the_target_or_after_the_last_hand(scores, sign, num_hands, ends):
    states, log = blank(2), new_log()
    states["scores"][0, :2], states["num_hands"] = scores, num_hands
    assert plays_on(states, sign, 2, log) == (ends is None)
    assert bool(states["terminal"][0]) == (ends is not None)
    events = [TABLE.read(row) for row in TABLE.visible(log[1 : 1 + log[0, 0]], 0)]
    assert [(event.kind, event.player) for event in events] == ([] if ends is None else [ends])


def test_a_turn_passes_to_the_next_who_has_not_left_and_the_winner_leads():
    states, log = blank(3), new_log()
    begin(states, 0, NO_CARDS)
    s = states[0]
    s["trump"], s["active"][:3], s["current_player"] = -1, [1, 0, 1], 0
    s["hands"][:3] = [bits(parse_cards("7s 2c")), 0, bits(parse_cards("9s 3c"))]
    assert turn(states, parse_card("7s"), log) == NO_PLAYER
    assert s["current_player"] == 2
    assert turn(states, parse_card("9s"), log) == 2
    assert (s["trick"], s["leader"], s["current_player"]) == (1, 2, 2)
    assert [TABLE.read(row).kind for row in TABLE.visible(log[1:3], 0)] == ["lead", "play"]


def test_the_chance_that_none_of_some_cards_is_drawn():
    assert chance(2, 3, 8) == pytest.approx(math.comb(6, 3) / math.comb(8, 3))
    assert chance(6, 3, 8) == 0
    assert chance(0, 3, 8) == 1


def test_tricks_are_played_as_in_plain_python():
    """Thousands of random tricks: who may play what, who wins, and which voids are known."""
    generator = random.Random(1)
    for _ in range(60):
        players = generator.randrange(2, 5)
        states, cards = blank(players), generator.sample(range(52), 52)
        begin(states, 0, NO_CARDS)
        s = states[0]
        s["trump"] = generator.randrange(-1, 4)
        hands = [set(cards[13 * p : 13 * p + 13]) for p in range(players)]
        for p in range(players):
            s["hands"][p] = bits(hands[p])
        voids, leader = [set() for _ in range(players)], 0
        for trick in range(13):
            s["leader"], s["trick"] = leader, trick
            played = []
            for k in range(players):
                p = (leader + k) % players
                led = played[0][1] // 13 if played else -1
                following = {card for card in hands[p] if card // 13 == led}
                allowed = following or hands[p]
                card = generator.choice(sorted(allowed))
                own, _, code = look(states, p, card)
                assert set(cards_in(own)) == allowed
                assert code == 0
                if wrong := sorted(hands[p] - allowed):
                    assert look(states, p, wrong[0])[2] == tricks.MUST_FOLLOW
                absent = next(card for card in range(52) if card not in hands[p])
                assert look(states, p, absent)[2] == tricks.NOT_HELD
                play(states, p, card, NO_LOG)
                if played and card // 13 != led:
                    voids[p].add(led)
                hands[p].remove(card)
                played.append((p, card))
                assert look(states, p, card)[1] == _winner(played, int(s["trump"]))
            leader = _winner(played, int(s["trump"]))
            assert [cards_in(s["voids"][p]) for p in range(players)] == [sorted(void) for void in voids]


def _winner(played, trump):
    suit = trump if any(card // 13 == trump for _, card in played) else played[0][1] // 13
    return max((player for player in played if player[1] // 13 == suit), key=lambda one: (one[1] - 1) % 13)[0]


def worlds(one, two):
    """Worlds for player 0 if the others hold these hands and player 1 has shown to lack diamonds and hearts."""
    states, own, found = blank(3), [0, 13, 26], []
    begin(states, 0, NO_CARDS)
    generator = random.Random(2)
    s = states[0]
    for _ in range(30):
        s["hands"][:3] = [bits(own), bits(one), bits(two)]
        s["voids"][1] = 0b1100
        s["rng"] = [generator.randrange(1 << 60) for _ in range(4)]
        redeal(states, 0, s["deck"])
        assert cards_in(s["hands"][0]) == own
        assert all(card // 13 < 2 for card in cards_in(s["hands"][1]))
        assert (s["deck"][:6] == NO_CARD).all()
        found.append((cards_in(s["hands"][1]), cards_in(s["hands"][2])))
    return found


def test_worlds_of_tricks_respect_voids_and_do_not_depend_on_the_true_deal():
    found = worlds([1, 2, 14], [27, 40, 15])
    assert len({str(world) for world in found}) > 2
    assert worlds([1, 2, 15], [27, 40, 14]) == found
