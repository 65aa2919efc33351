"""Duties to trump and to beat, beside plain Python: who may play what, why not, and what a card proves."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from cardenvs.core.events import NO_LOG, Op, Table
from cardenvs.core.kernel import kernel
from cardenvs.core.options import Options, fill_rules, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.kits import tricks
from cardenvs.kits.cards import Pack
from cardenvs.kits.tricks import BEATING, MUST_BEAT, MUST_FOLLOW, MUST_TRUMP, NOT_HELD, OVERTRUMPING, TRUMPING

PACK = Pack("789JQKTA", "cdhs", by="rank")  # the ten is high, and a suit is not a run of ids
PLAYERS, SIZE = 4, 8


@dataclass(frozen=True)
class DutyOptions(Options):
    """Options of a record without a game."""

    num_players: int = option(PLAYERS, low=PLAYERS, high=PLAYERS, doc="players")
    duties: int = option(0, low=0, high=7, doc="sum of duties")


FIELDS = [*tricks.trick_fields(PLAYERS, SIZE), ("lacks", "i8", (PLAYERS,)), ("trump", "i1")]
STATE = record(rules_dtype(DutyOptions), PLAYERS, FIELDS)
TABLE = Table(PLAYERS)
TABLE.pile("hand", per_player=True)
TABLE.pile("played", per_player=True)
TABLE.event("play", Op.MOVE, "{player} plays {token}.")


@kernel(inline=True)
def duties_of(s):
    return np.int64(s.rules.duties)


TRICKS = tricks.Tricks(TABLE, tricks.Ranking.plain(PACK, trump=tricks.trump_of_record), duties_of, notes_lacks=True)
playable_cards, explain_card, play_card, trick_winner = TRICKS.playable, TRICKS.explain, TRICKS.play, TRICKS.winner


@kernel(entry=True)
def look(states, player, card):
    return playable_cards(states[0], player), explain_card(states[0], player, card), trick_winner(states[0])


@kernel(entry=True)
def play(states, player, card, log):
    play_card(states[0], player, card, log)


def suit(card):
    return card % 4


def strength(card, led, trump):
    """What orders the cards of a trick; None for those that cannot win."""
    if suit(card) not in (led, trump):
        return None
    return suit(card) == trump, card // 4


def allowed(hand, trick, trump, duties):
    """The cards of a hand that may be played, by the words of the duties."""
    if not trick:
        return set(hand)
    led = suit(trick[0])
    best = max(strength(card, led, trump) for card in trick if strength(card, led, trump))
    is_ruffed = led != trump and best[0]

    def beating(cards):
        return {card for card in cards if strength(card, led, trump) > best} or set(cards)

    follow = {card for card in hand if suit(card) == led}
    if follow:
        return beating(follow) if duties & BEATING and not is_ruffed else follow
    trumps = {card for card in hand if suit(card) == trump}
    if not trumps or not duties & TRUMPING:
        return set(hand)
    return beating(trumps) if duties & OVERTRUMPING else trumps


def reason(hand, trick, trump, duties, card):
    """Why a card may not be played."""
    if card not in hand:
        return NOT_HELD
    may = allowed(hand, trick, trump, duties)
    if card in may:
        return 0
    if suit(next(iter(may))) == suit(card):
        return MUST_BEAT
    return MUST_FOLLOW if suit(next(iter(may))) == suit(trick[0]) else MUST_TRUMP


def bits(cards):
    return sum(1 << card for card in cards)


@pytest.mark.parametrize("duties", range(8))
def test_duties_in_random_tricks(duties):
    """A card proves the absence of just those other cards beside which it would not have been allowed."""
    generator, reasons = random.Random(duties), set()
    for _ in range(25):
        states, cards = np.zeros(1, STATE), generator.sample(range(PACK.size), PACK.size)
        fill_rules(states["rules"], DutyOptions.make(duties=duties))
        s = states[0]
        s["played"], s["trump"] = -1, generator.choice([-1, 0, 1, 2, 3, 3, 3])
        hands = [set(cards[SIZE * p : SIZE * p + SIZE]) for p in range(PLAYERS)]
        s["hands"] = [bits(hand) for hand in hands]
        lacks, voids, leader, trump = [set() for _ in hands], [set() for _ in hands], 0, int(s["trump"])
        for number in range(SIZE):
            s["trick"], s["leader"], trick = number, leader, []
            for k in range(PLAYERS):
                p = (leader + k) % PLAYERS
                may = allowed(hands[p], trick, trump, duties)
                for other in range(PACK.size):
                    found, code, _ = look(states, p, other)
                    assert found == bits(may)
                    assert code == reason(hands[p], trick, trump, duties, other)
                    reasons.add(int(code))
                card = generator.choice(sorted(may))
                play(states, p, card, NO_LOG)
                for other in set(range(PACK.size)) - {card}:
                    if card not in allowed({card, other}, trick, trump, duties):
                        lacks[p].add(other)
                if trick and suit(card) != suit(trick[0]):
                    voids[p].add(suit(trick[0]))
                    if duties & TRUMPING and trump >= 0 and suit(card) != trump:
                        voids[p].add(trump)
                assert not hands[p] & lacks[p]
                hands[p].remove(card)
                trick.append(card)
                assert int(s["lacks"][p]) == bits(lacks[p])
                assert int(s["voids"][p]) == bits(voids[p])
            led = suit(trick[0])
            best = max(range(PLAYERS), key=lambda k, t=trick, x=led: strength(t[k], x, trump) or (False, -1))
            leader = (leader + best) % PLAYERS
            assert look(states, 0, 0)[2] == leader
    expected = {0, NOT_HELD, MUST_FOLLOW}
    expected |= {MUST_TRUMP} if duties & TRUMPING else set()
    expected |= {MUST_BEAT} if duties & BEATING or (duties & OVERTRUMPING and duties & TRUMPING) else set()
    assert reasons == expected
