"""What a player of Hanabi observes: an observation of cardenvs' own, or that of the Hanabi environment.

In both, suits and ranks that are not in the game have no entries, and a card is its suit times the number of ranks plus
its rank. A section with an entry for each place of a hand begins with the oldest card.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import COPIES, MAX_COLORS, MAX_DECK, MAX_RANKS, number_in, number_of, rank_of, suit_of
from cardenvs.games.hanabi.memory import is_called_playable
from cardenvs.games.hanabi.rules import hint_of, is_hint
from cardenvs.games.hanabi.state import STATE
from cardenvs.kits.sections import Observation, Part, number, one_seat, only, per_seat, together, written

_MOST_OF_A_KIND = 3
_PERCENT = 100
_JUDGEMENTS = 3  # playable, useless, critical
_PAIRS = np.array([[bits >> 2 * k & 3 for k in range(MAX_RANKS)] for bits in range(1 << 2 * MAX_RANKS)], np.int8)
_SINGLES = np.array([[bits >> k & 1 for k in range(MAX_RANKS)] for bits in range(1 << MAX_RANKS)], np.int8)
_SHARES = _PERCENT / np.arange(MAX_DECK + 1).clip(1)  # of one card among so many; faster than a division
_FLAGS = 4  # of a place of a hand: touched by a colour, by a rank, what a hint was about, called playable


# ---------------------------------------------------------------------------------------------------------------
# Sizes: of options, or of those in a record, where an option that is a choice is a number


def _cards(options):
    suits = options.colors + 1 - (options.rainbow == "off") - (options.rainbow == st.OFF)
    return suits * options.ranks


def _hand(options):
    return options.hand_size


def _hand_cards(options):
    suits = options.colors + 1 - (options.rainbow == "off") - (options.rainbow == st.OFF)
    return options.hand_size * suits * options.ranks


def _hand_knowledge(options):
    suits = options.colors + 1 - (options.rainbow == "off") - (options.rainbow == st.OFF)
    return options.hand_size * (suits + options.ranks + _FLAGS)


def _hand_judgements(options):
    return options.hand_size * _JUDGEMENTS


def _actions(options):
    colours = options.colors + (options.rainbow == "suit") + (options.rainbow == st.SUIT)
    return 2 * options.hand_size + (options.num_players - 1) * (colours + options.ranks)


def _in_deck(options):
    suits = options.colors + 1 - (options.rainbow == "off") - (options.rainbow == st.OFF)
    return suits * (2 * options.ranks if options.ranks > 1 else 3)


@kernel(inline=True)
def _index(s, card):
    """Return the index of a card among those in the game."""
    return min(suit_of(card), np.int64(s.rules.colors)) * s.rules.ranks + rank_of(card)


@kernel(inline=True)
def _write_suits(s, cards, out, at):
    """Write for each card what a set or a count has of it."""
    ranks = np.int64(s.rules.ranks)
    for suit in range(st.count_suits(s.rules)):
        of_suit = cards >> 2 * MAX_RANKS * (suit if suit < s.rules.colors else MAX_RANKS)
        if ranks == MAX_RANKS:
            for rank in range(MAX_RANKS):  # at once: the compiler knows the number of bytes
                out[np.uint64(at + suit * MAX_RANKS + rank)] = _PAIRS[np.uint64(of_suit & 1023), rank]
        else:
            for rank in range(ranks):
                out[np.uint64(at + suit * ranks + rank)] = of_suit >> 2 * rank & 3


# ---------------------------------------------------------------------------------------------------------------
# The observation of cardenvs


@kernel(inline=True)
def _write_hand(s, p, out, at):
    cards = st.count_suits(s.rules) * s.rules.ranks
    for k in range(s.hand_sizes[p]):
        out[np.uint64(at + k * cards + _index(s, s.hands[p, k]))] = 1


@kernel(inline=True)
def _write_knowledge(s, p, out, at):
    suits, ranks, colors = st.count_suits(s.rules), np.int64(s.rules.ranks), np.int64(s.rules.colors)
    for k in range(s.hand_sizes[p]):
        of_suits, of_ranks, hinted = np.int64(s.suits[p, k]), np.int64(s.ranks[p, k]), np.int64(s.hinted[p, k])
        if colors == MAX_COLORS and suits == MAX_COLORS and ranks == MAX_RANKS:
            for bit in range(MAX_RANKS):
                out[np.uint64(at + bit)] = _SINGLES[np.uint64(of_suits & 31), bit]
            for bit in range(MAX_RANKS):
                out[np.uint64(at + MAX_COLORS + bit)] = _SINGLES[np.uint64(of_ranks & 31), bit]
        else:
            for suit in range(suits):
                out[np.uint64(at + suit)] = of_suits >> (suit if suit < colors else MAX_RANKS) & 1
            for rank in range(ranks):
                out[np.uint64(at + suits + rank)] = of_ranks >> rank & 1
        out[np.uint64(at + suits + ranks)] = hinted & 1
        out[np.uint64(at + suits + ranks + 1)] = hinted >> 1
        out[np.uint64(at + suits + ranks + 2)] = s.called[p, k] != 0
        out[np.uint64(at + suits + ranks + 3)] = is_called_playable(s, p, k)
        at += suits + ranks + _FLAGS


@kernel(inline=True)
def _write_judgements(s, p, out, at):
    for k in range(s.hand_sizes[p]):
        place = 2 * np.int64(s.hands[p, k])
        out[np.uint64(at)] = s.playable >> place & 1
        out[np.uint64(at + 1)] = s.useless >> place & 1
        out[np.uint64(at + 2)] = s.critical >> place & 1
        at += _JUDGEMENTS


@kernel(inline=True)
def _write_chances(s, p, out, at):
    unseen = st.unseen_by(s, p)
    for k in range(s.hand_sizes[p]):
        fits = st.possible(s, p, k)
        share = _SHARES[np.uint64(number_in(unseen, fits))]
        out[np.uint64(at)] = np.int64(share * number_in(unseen, fits & s.playable))
        out[np.uint64(at + 1)] = np.int64(share * number_in(unseen, fits & s.useless))
        out[np.uint64(at + 2)] = np.int64(share * number_in(unseen, fits & s.critical))
        at += _JUDGEMENTS


@kernel(inline=True)
def _write_fireworks(s, p, out, at):
    _write_suits(s, s.played, out, at)


@kernel(inline=True)
def _write_discards(s, p, out, at):
    _write_suits(s, s.discarded, out, at)


@kernel(inline=True)
def _write_critical(s, p, out, at):
    _write_suits(s, s.critical, out, at)


@kernel(inline=True)
def _write_useless(s, p, out, at):
    _write_suits(s, s.useless, out, at)


@kernel(inline=True)
def _stock(s, p):
    return st.in_stock(s)


@kernel(inline=True)
def _write_last_action(s, p, out, at):
    if s.last_action[p] >= 0:
        out[np.uint64(at + s.last_action[p])] = 1


@kernel(inline=True)
def _write_last_touched(s, p, out, at):
    for k in range(s.rules.hand_size):
        out[np.uint64(at + k)] = s.last_touched[p] >> k & 1


@kernel(inline=True)
def _write_last_card(s, p, out, at):
    if s.last_card[p] >= 0:
        out[np.uint64(at + _index(s, s.last_card[p]))] = 1


@kernel(inline=True)
def _has_scored(s, p):
    return s.last_result[p] & st.SCORED


# ---------------------------------------------------------------------------------------------------------------
# The canonical observation of the Hanabi environment


def _seats(options):
    return options.num_players


def _information(options):
    return options.max_information_tokens


def _lives(options):
    return options.max_life_tokens


def _stock_after_deal(options):
    cards = 2 * options.ranks if options.ranks > 1 else 3
    return options.colors * cards - options.num_players * options.hand_size


def _other_hands(options):
    return (options.num_players - 1) * options.hand_size * options.colors * options.ranks


def _suits(options):
    return options.colors


def _ranks(options):
    return options.ranks


def _all_knowledge(options):
    cards = options.colors * options.ranks
    return options.num_players * options.hand_size * (cards + options.colors + options.ranks)


@kernel(inline=True)
def _last_place(s):
    """Return the place of the last play or discard, or -1."""
    action = np.int64(s.last_action[s.last_player]) if s.last_player >= 0 else np.int64(-1)
    return action % s.rules.hand_size if action >= 0 and not is_hint(s, action) else np.int64(-1)


@kernel
def _write_canonical(s, player, out, hands, missing, stock, fireworks, information, lives, discards):
    n, cards = np.int64(s.rules.num_players), st.count_suits(s.rules) * np.int64(s.rules.ranks)
    for seat in range(n):
        p = wrap(player + seat, n)
        if seat:
            for k in range(s.hand_sizes[p]):
                out[hands + np.uint64(((seat - 1) * s.rules.hand_size + k) * cards + _index(s, s.hands[p, k]))] = 1
        out[missing + np.uint64(seat)] = s.hand_sizes[p] < s.rules.hand_size
    for k in range(st.in_stock(s)):
        out[stock + np.uint64(k)] = 1
    for suit in range(s.rules.colors):
        if s.heights[suit]:
            out[fireworks + np.uint64(suit * s.rules.ranks + s.heights[suit] - 1)] = 1
    for k in range(s.information):
        out[information + np.uint64(k)] = 1
    for k in range(s.lives):
        out[lives + np.uint64(k)] = 1
    place = np.int64(discards)
    for suit in range(s.rules.colors):
        for rank in range(s.rules.ranks):
            for k in range(number_of(s.discarded, MAX_RANKS * suit + rank)):
                out[np.uint64(place + k)] = 1
            place += COPIES[s.rules.ranks, rank]


@kernel
def _write_canonical_action(
    s, player, out, actor, kind, receiver, colour_at, rank_at, touched, position, card, result
):  # fmt: skip
    if s.last_player < 0:
        return
    n, last = np.int64(s.rules.num_players), np.int64(s.last_player)
    action = np.int64(s.last_action[last])
    seat = wrap(last - player + n, n)
    out[actor + np.uint64(seat)] = 1
    if is_hint(s, action):
        offset, colour, rank = hint_of(s, action)
        out[kind + np.uint64(2 if colour >= 0 else 3)] = 1
        out[receiver + np.uint64(wrap(seat + offset, n))] = 1
        if colour >= 0:
            out[colour_at + np.uint64(colour)] = 1
        else:
            out[rank_at + np.uint64(rank)] = 1
        for k in range(s.rules.hand_size):
            out[touched + np.uint64(k)] = s.last_touched[last] >> k & 1
        return
    is_play = action >= s.rules.hand_size
    out[kind + np.uint64(0 if is_play else 1)] = 1
    out[position + np.uint64(action % s.rules.hand_size)] = 1
    out[card + np.uint64(_index(s, s.last_card[last]))] = 1
    if is_play:
        out[result] = s.last_result[last] & st.SCORED
        out[result + np.uint64(1)] = s.last_result[last] >> 1


@kernel(inline=True)
def _write_canonical_knowledge(s, player, out, at):
    n, suits, ranks = np.int64(s.rules.num_players), st.count_suits(s.rules), np.int64(s.rules.ranks)
    size = suits * ranks + suits + ranks
    for seat in range(n):
        p = wrap(player + seat, n)
        for k in range(s.hand_sizes[p]):
            first = at + (seat * s.rules.hand_size + k) * size
            _write_suits(s, st.possible(s, p, k), out, first)
            for suit in range(suits):
                is_hinted = s.hinted[p, k] & st.COLOUR_HINT
                out[np.uint64(first + suits * ranks + suit)] = is_hinted and s.suits[p, k] >> suit & 1
            for rank in range(ranks):
                is_hinted = s.hinted[p, k] & st.RANK_HINT
                out[np.uint64(first + suits * ranks + suits + rank)] = is_hinted and s.ranks[p, k] >> rank & 1


@kernel(inline=True)
def _is_own(rules):
    return rules.encoding == st.OWN


@kernel(inline=True)
def _is_canonical(rules):
    return rules.encoding != st.OWN


@kernel(inline=True)
def _has_knowledge(rules):
    return rules.encoding == st.CANONICAL


_OWN = (
    per_seat(written("hand", None, "cards in hand by place, one-hot", _write_hand, size=_hand_cards), first=1),
    per_seat(written("judged", None, "by place: 1 if the card is playable, useless, critical", _write_judgements,
                     size=_hand_judgements), first=1),
    per_seat(written("knowledge", None, "by place: suits and ranks that fit all hints; 1 if a colour hint, a rank hint "
                     "has touched the card, if one was about it, if these say that it is playable", _write_knowledge,
                     size=_hand_knowledge)),
    written("own_chances", None, "by own place: chances in per cent that the card is playable, useless, critical, by "
            "the hints and the cards not seen", _write_chances, high=_PERCENT, size=_hand_judgements),
    written("fireworks", None, "1 for each card played", _write_fireworks, size=_cards),
    written("discards", None, "copies of each card discarded", _write_discards, high=_MOST_OF_A_KIND, size=_cards),
    written("critical", None, "1 for each card still wanted of which one copy is left", _write_critical, size=_cards),
    written("useless", None, "1 for each card that can never be played any more", _write_useless, size=_cards),
    number("information", "hint tokens", "information", high=_information),
    number("lives", "lives", "lives", high=_lives),
    number("stock", "cards in the stock", _stock, high=_in_deck),
    number("turns_left", "turns left in the last round, 0 before", "turns_left", high=_seats),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("last_player", "the player who acted last", "last_player"),
    per_seat(written("last_action", None, "one-hot id of the last action", _write_last_action, size=_actions)),
    per_seat(written("last_touched", None, "places that it touched as a hint", _write_last_touched, size=_hand)),
    per_seat(written("last_card", None, "one-hot card that it played or discarded", _write_last_card, size=_cards)),
    per_seat(number("last_scored", "1 if that was played on a firework", _has_scored)),
)  # fmt: skip

_CANONICAL: tuple[Part, ...] = (
    *together(
        _write_canonical,
        written("hands", None, "hands of the others, one-hot by place, in turn", size=_other_hands),
        written("missing", None, "1 for each player with fewer cards than at the start, observer first", size=_seats),
        written("stock", None, "1 for each card in the stock", size=_stock_after_deal),
        written("fireworks", None, "one-hot height by colour", size=_cards),
        written("information", None, "1 for each hint token", size=_information),
        written("lives", None, "1 for each life", size=_lives),
        written("discards", None, "1 for each copy discarded, by card", size=_in_deck),
    ),
    *together(
        _write_canonical_action,
        written("last_player", None, "one-hot player who acted last, observer first", size=_seats),
        written("last_kind", ("play", "discard", "hint colour", "hint rank"), "one-hot kind of the last action"),
        written("last_receiver", None, "one-hot receiver of the hint, observer first", size=_seats),
        written("last_colour", None, "one-hot colour hinted", size=_suits),
        written("last_rank", None, "one-hot rank hinted", size=_ranks),
        written("last_touched", None, "places that the hint touched", size=_hand),
        written("last_place", None, "one-hot place played or discarded", size=_hand),
        written("last_card", None, "one-hot card played or discarded", size=_cards),
        written("last_result", ("scored", "token"), "1 if the play scored, 1 if it brought a hint token back"),
    ),
)  # fmt: skip

OBSERVATION = Observation(
    STATE,
    *only(lambda options: options.encoding == "own", *_OWN, rules=_is_own),
    *only(lambda options: options.encoding != "own", *_CANONICAL, rules=_is_canonical),
    *only(lambda options: options.encoding == "canonical",
          written("knowledge", None, "by player, observer first, and place: cards that fit all hints, one-hot colour "
                  "hinted, one-hot rank hinted", _write_canonical_knowledge, size=_all_knowledge),
          rules=_has_knowledge),
)  # fmt: skip
