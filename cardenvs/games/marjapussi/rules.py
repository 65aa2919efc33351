"""Rules of Marjapussi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.marjapussi import state
from cardenvs.games.marjapussi.state import (
    ACES,
    ANSWER,
    HALF_0,
    KING,
    MARKS,
    MATES,
    NAME_0,
    NO_TARGET,
    NUM_ACTIONS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    OWN_0,
    PACK,
    PLAY,
    QUEEN,
    VALUES,
    WHOLE,
)
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, deal_hands
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import NO_SIDE, leave, pay_sides, pay_winner, side_of
from cardenvs.kits.tricks import (
    BEATING,
    OVERTRUMPING,
    TRUMPING,
    Ranking,
    Tricks,
    cards_played,
    clear_tricks,
    trump_of_record,
)

_FEW_POINTS = 20  # with which the other side gets 2 game points (7.2)
_ALL_SUITS = (1 << NUM_SUITS) - 1
_SPADES = PACK.suit_sets[PACK.suits.index("s")]
_BEAT_DUTIES = np.array([0, BEATING, OVERTRUMPING, BEATING | OVERTRUMPING], np.int64)


@kernel(inline=True)
def duties(s):
    """The duties of players who do not lead (3.1, 3.3)."""
    return _BEAT_DUTIES[s.rules.beat] | TRUMPING * s.rules.must_trump


TRICKS = Tricks(state.TABLE, Ranking.plain(PACK, trump=trump_of_record), duties, notes_lacks=True)
led_suit, trick_winner, strength = TRICKS.led_suit, TRICKS.winner, TRICKS.ranking.strength
_playable, _explain_card, _take_turn = TRICKS.playable, TRICKS.explain, TRICKS.take_turn
suit_of, rank_of = PACK.suit_of, PACK.rank_of


@kernel(inline=True)
def points_of(s, card):
    """The points of a card (1.3)."""
    return np.int64(VALUES[s.rules.values, rank_of(card)])


@kernel(inline=True)
def partner_of(player):
    """The partner of `player` (1.1)."""
    return player ^ 2


@kernel(inline=True)
def hand_size(s):
    """The cards of each player, and the tricks of a hand (2.1)."""
    return len(PACK.ranks) - s.rules.pack


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand (2.1)."""
    s.dealer = s.rules.dealer
    _deal_hand(s, given, log)


@kernel
def _deal_hand(s, given, log):
    """Deal all cards; the player after the dealer leads (2.1, 2.2)."""
    size = NUM_PLAYERS * hand_size(s)
    for k in range(PACK.size):
        s.deck[k] = PACK.size - size + k if k < size else NO_CARD
    start_stream(s, DEAL, s.num_hands)
    shuffle_rest(s, s.deck, size, given)
    s.num_hands += 1
    s.num_dealt = 0
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_hands)
    ev.log_set(log, state.IS_DEALER, s.dealer, state.DEALER, s.dealer)
    ev.log_create(log, state.SHUFFLE, state.DECK, size)
    deal_hands(s, hand_size(s), state.DEALT, state.DECK, state.HAND, log)
    _set_trump(s, -1, log)
    for side in range(NUM_SIDES):
        _set_points(s, side, 0, log)
        s.declared[side] = s.bonus[side] = 0
        if s.bagged[side]:
            ev.log_note(log, state.IN_BAG, side, 0)
    clear_tricks(s)
    for p in range(NUM_PLAYERS):
        s.won[p] = s.lacks[p] = 0
        s.pairs[p] = s.halves[p] = s.no_pairs[p] = s.some_pair[p] = s.silent[p] = 0
        s.shown_pairs[p] = s.shown_no_pairs[p] = 0
    s.num_calls = 0
    s.leader = s.current_player = wrap(s.dealer + 1, NUM_PLAYERS)
    _show_marriages(s, log)


@kernel(inline=True)
def _set_trump(s, suit, log):
    s.trump = suit
    ev.log_set(log, state.TRUMPS, ev.NO_PLAYER, state.TRUMP, suit + 1)


@kernel(inline=True)
def _set_points(s, side, points, log):
    s.points[side] = points
    ev.log_set(log, state.HAS_POINTS, side, state.POINTS + side, points)


# ---------------------------------------------------------------------------------------------------------------
# Marriages


@kernel(inline=True)
def suits_with(cards, rank):
    """The suits of which a bit set of cards has the card of a rank, as a bit set."""
    return cards >> rank * NUM_SUITS & _ALL_SUITS


@kernel(inline=True)
def both_of(cards):
    """The suits of which a bit set of cards has king and queen, as a bit set."""
    return suits_with(cards, KING) & suits_with(cards, QUEEN)


@kernel(inline=True)
def one_of(cards):
    """The suits of which a bit set of cards has king or queen, but not both, as a bit set."""
    return suits_with(cards, KING) ^ suits_with(cards, QUEEN)


@kernel(inline=True)
def king_and_queen(suit):
    """King and queen of a suit, as a bit set of cards."""
    return (np.int64(1) << QUEEN * NUM_SUITS | np.int64(1) << KING * NUM_SUITS) << suit


@kernel(inline=True)
def open_suits(s):
    """The suits whose marriage nobody has declared and whose king and queen nobody has played (4.1, 4.5)."""
    hidden = s.hands[0] | s.hands[1] | s.hands[2] | s.hands[3]
    return both_of(hidden) & ~np.int64(s.declared[0] | s.declared[1])


@kernel(inline=True)
def may_call(s):
    """Whether the player to act may call now, if there is something to call (4.2, 7.3)."""
    return (
        led_suit(s) < 0
        and (s.trick > 0 or s.rules.declare_first_lead)
        and s.num_calls < s.rules.calls_per_lead
        and not s.bagged[side_of(s.current_player, NUM_SIDES)]
    )


@kernel(inline=True)
def may_ask(s, own):
    """Whether the options allow a question, of a player who could declare the marriages `own` (4.4, 4.6)."""
    asks = s.rules.ask == state.ASK_WHOLE or s.rules.ask == state.ASK_BOTH
    return asks and not (s.rules.ask_only_without_own and own)


@kernel
def calls(s):
    """The calls of the player to act, as a bit set of actions (4.2 to 4.7)."""
    if not may_call(s):
        return np.int64(0)
    possible, hand = open_suits(s), s.hands[s.current_player]
    own = possible & both_of(hand)
    found = own
    if s.rules.ask == state.ASK_OPEN:
        found |= possible & both_of(s.hands[partner_of(s.current_player)])
    found <<= OWN_0
    if possible and may_ask(s, own):
        found |= np.int64(1) << WHOLE
        if s.rules.ask == state.ASK_BOTH:
            found |= (possible & one_of(hand)) << HALF_0
    return found


@kernel
def playable(s):
    """The cards that the player to act may play, as a bit set (3)."""
    cards = _playable(s, s.current_player)
    if s.trick == 0 and s.rules.first_lead != state.ANY_LEAD and led_suit(s) < 0:
        if cards & ACES:
            return cards & ACES
        if s.rules.first_lead == state.LEAD_ACE_OR_SPADE and cards & _SPADES:
            return cards & _SPADES
    return cards


@kernel(inline=True)
def answers(s):
    """The answers of a player who must choose one of their marriages, as a bit set of actions (4.4)."""
    return (open_suits(s) & both_of(s.hands[s.current_player])) << NAME_0


@kernel(inline=True)
def legal_actions(s, out):
    """Cards and calls, or answers."""
    return list_bits(answers(s) if s.phase == ANSWER else playable(s) | calls(s), 0, out, 0)


# ---------------------------------------------------------------------------------------------------------------
# Why an action is illegal


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if s.phase == ANSWER:
        if action < NAME_0:
            return state.MUST_NAME
        return 0 if answers(s) >> action & 1 else state.NOT_HIS
    if action >= NAME_0:
        return state.NOT_ASKED
    if action >= OWN_0:
        return _explain_call(s, action)
    code = _explain_card(s, s.current_player, action)
    if code or playable(s) >> action & 1:
        return code
    return state.LEADS_ACE if playable(s) & ACES else state.LEADS_SPADE


@kernel
def _explain_call(s, action):
    if calls(s) >> action & 1:
        return 0
    if led_suit(s) >= 0:
        return state.ONLY_LEADER
    if s.bagged[side_of(s.current_player, NUM_SIDES)]:
        return state.IN_THE_BAG
    if s.trick == 0 and not s.rules.declare_first_lead:
        return state.NO_TRICK_YET
    if s.num_calls >= s.rules.calls_per_lead:
        return state.HAS_CALLED
    possible = open_suits(s)
    if action >= WHOLE:
        if not may_ask(s, np.int64(0)) or (action >= HALF_0 and s.rules.ask != state.ASK_BOTH):
            return state.NO_SUCH_CALL
        if not may_ask(s, possible & both_of(s.hands[s.current_player])):
            return state.HAS_OWN
    suit = action - OWN_0 if action < WHOLE else action - HALF_0
    if action == WHOLE or not possible >> suit & 1:
        return state.SUIT_IS_GONE
    return state.NO_MARRIAGE if action < WHOLE else state.NO_HALF


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(s, action, log):
    """Play a card, call, or answer."""
    if action < OWN_0:
        _play(s, action, log)
    elif action < WHOLE:
        s.num_calls += 1
        _declare_own(s, action - OWN_0, log)
    elif action < NAME_0:
        s.num_calls += 1
        _ask(s, action, log)
    else:
        _name(s, action - NAME_0, log)


@kernel(inline=True)
def _declare_own(s, suit, log):
    """Declare a marriage held, or with ask=open one that the partner holds (4.4, 4.7)."""
    player = np.int64(s.current_player)
    owner = player if both_of(s.hands[player]) >> suit & 1 else partner_of(player)
    ev.log_note(log, state.DECLARES, owner, suit)
    _place_marriage(s, owner, suit, log)
    _declare(s, side_of(player, NUM_SIDES), suit, log)


@kernel(inline=True)
def _ask(s, action, log):
    """Ask the partner, who tells the truth (4.4). Note what the question and the answer show (8.4 to 8.7)."""
    player = np.int64(s.current_player)
    possible = open_suits(s)
    s.silent[player] |= possible
    if s.rules.ask_only_without_own:
        s.no_pairs[player] |= possible
    if action == WHOLE:
        _ask_whole(s, player, possible, log)
    else:
        _ask_half(s, player, action - HALF_0, log)


@kernel(inline=True)
def _ask_whole(s, player, possible, log):
    partner = partner_of(player)
    found = possible & both_of(s.hands[partner])
    ev.log_note(log, state.ASKS_WHOLE, player, 0)
    if found & (found - 1):
        ev.log_note(log, state.CHOOSES, partner, 0)
        s.phase = ANSWER
        s.current_player = partner
        return
    s.no_pairs[partner] |= possible & ~found
    if found:
        _answer_whole(s, partner, lowest_card(found), log)
    else:
        ev.log_note(log, state.ANSWERS_NO, partner, 0)


@kernel(inline=True)
def _name(s, suit, log):
    """The partner has chosen one of several marriages, so there is another one (4.4, 8.5)."""
    partner = np.int64(s.current_player)
    s.phase = PLAY
    s.current_player = s.leader
    _answer_whole(s, partner, suit, log)
    s.some_pair[partner] = open_suits(s)


@kernel(inline=True)
def _answer_whole(s, partner, suit, log):
    ev.log_note(log, state.ANSWERS_YES, partner, suit)
    _place_marriage(s, partner, suit, log)
    _declare(s, side_of(partner, NUM_SIDES), suit, log)


@kernel(inline=True)
def _ask_half(s, player, suit, log):
    partner = partner_of(player)
    ev.log_note(log, state.ASKS_HALF, player, suit)
    s.halves[player] |= 1 << suit
    if one_of(s.hands[partner]) >> suit & 1:
        s.halves[partner] |= 1 << suit
        ev.log_note(log, state.ANSWERS_YES, partner, suit)
        _declare(s, side_of(player, NUM_SIDES), suit, log)
    else:  # the asker holds one of the two, so the partner has neither
        s.lacks[partner] |= king_and_queen(suit)
        ev.log_note(log, state.ANSWERS_NO, partner, 0)


@kernel(inline=True)
def _place_marriage(s, owner, suit, log):
    """Let all know who holds a marriage (8.3). It settles which pair of `some_pair` there is."""
    s.pairs[owner] |= 1 << suit
    s.some_pair[owner] = 0
    for rank in (QUEEN, KING):
        ev.log_reveal(log, state.SHOWS, owner, rank * NUM_SUITS + suit, state.HAND + owner, 1, ev.EVERYBODY)


@kernel(inline=True)
def _declare(s, side, suit, log):
    """A side declares a marriage: the first makes trumps; score it (4.3, 7.1, 7.2)."""
    is_first = not (s.declared[0] | s.declared[1])
    s.declared[side] |= 1 << suit
    if is_first or s.rules.trump_change:
        _set_trump(s, suit, log)
    if s.rules.scoring == MARKS:
        _score(s, side, 2 if is_first else 1, state.SCORES_MARRIAGE, log)
    else:
        s.bonus[side] += s.rules.marriage_points[0 if is_first else 1]


@kernel(inline=True)
def _show_marriages(s, log):
    """With ask=open, the player who may call sees which marriages the partner holds (4.7, 8.8)."""
    player = np.int64(s.current_player)
    possible = open_suits(s)
    if s.rules.ask != state.ASK_OPEN or not may_call(s) or not possible:
        return
    if s.shown_pairs[player] | s.shown_no_pairs[player]:  # marriages that are still open were seen then
        return
    s.shown_pairs[player] = possible & both_of(s.hands[partner_of(player)])
    s.shown_no_pairs[player] = possible & ~np.int64(s.shown_pairs[player])
    audience = 1 << player
    shown = s.shown_pairs[player]
    ev.log_event(log, state.SEES, player, ev.UNKNOWN, ev.NO_PLACE, ev.NO_PLACE, shown, audience, audience)


# ---------------------------------------------------------------------------------------------------------------
# Tricks


@kernel(inline=True)
def _play(s, card, log):
    """Play a card; the last one of a trick ends it (3)."""
    if led_suit(s) < 0:
        _note_lead(s, np.int64(s.current_player), card)
    winner = _take_turn(s, card, log)
    if winner != ev.NO_PLAYER:
        _end_trick(s, winner, log)


@kernel(inline=True)
def _note_lead(s, player, card):
    """Note what a lead shows: no call though one was possible; no ace or spade where one must be led (3.2, 8.2)."""
    if may_call(s):
        s.silent[player] |= open_suits(s)
    if s.trick == 0 and s.rules.first_lead != state.ANY_LEAD and not ACES >> card & 1:
        s.lacks[player] |= ACES
        if s.rules.first_lead == state.LEAD_ACE_OR_SPADE and not _SPADES >> card & 1:
            s.lacks[player] |= _SPADES


@kernel(inline=True)
def _end_trick(s, winner, log):
    """The winner takes the cards and leads, or the hand is over (3.4, 5)."""
    points = np.int64(0)
    for p in range(NUM_PLAYERS):
        card = np.int64(s.played[p, s.trick - 1])
        points += points_of(s, card)
        s.won[winner] |= np.int64(1) << card
        ev.log_move_all(log, state.TAKES, p, state.TRICK + p, state.WON + winner)
    ev.log_note(log, state.WINS_TRICK, winner, points)
    side = side_of(winner, NUM_SIDES)
    _set_points(s, side, s.points[side] + points, log)
    s.num_calls = 0
    if s.trick == hand_size(s):
        _end_hand(s, side, log)
    else:
        _show_marriages(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Score


@kernel
def _end_hand(s, last, log):
    """Score a hand whose last trick side `last` has won; deal the next one, or end the match (6, 7)."""
    if s.rules.scoring == MARKS:
        _score_marks(s, last, log)
    else:
        _score_hand_points(s, last, log)
    if s.terminal:
        return
    if s.rules.match_target == NO_TARGET:
        pay_sides(s, np.int64(s.scores[0]) - s.scores[1])
        s.terminal = 1
    elif s.num_hands == state.MAX_HANDS:
        ev.log_note(log, state.DRAWN, ev.NO_PLAYER, s.num_hands)
        s.terminal = 1
    else:
        _deal_next(s, log)


@kernel(inline=True)
def _deal_next(s, log):
    """Note who is in the bag, and let the next player deal (2.1, 7.3)."""
    for side in range(NUM_SIDES):
        s.bagged[side] = s.rules.bag and not (s.won[side] | s.won[side + NUM_SIDES])
    for p in range(NUM_PLAYERS):
        s.last_played[p] = cards_played(s, p)
    s.dealer = wrap(s.dealer + 1, NUM_PLAYERS)
    ev.log_clear(log, state.CLEAR_TABLE)
    _deal_hand(s, NO_DECK, log)


@kernel(inline=True)
def _score_marks(s, last, log):
    """The last trick, then the majority (7.1, 7.4)."""
    for side in range(NUM_SIDES):
        ev.log_note(log, state.TOTAL, side, s.points[side])
    _score(s, last, 1, state.SCORES, log)
    majority = _majority(s)
    if majority != NO_SIDE and not s.terminal:
        _score(s, majority, 1, state.SCORES, log)


@kernel(inline=True)
def _majority(s):
    """The side with more card points, or aces and tens; NO_SIDE if they are level (7.1)."""
    more = np.int64(s.points[0]) - s.points[1]
    if s.rules.majority == state.BY_MATES:
        mates = count_bits((s.won[0] | s.won[2]) & MATES) - count_bits((s.won[1] | s.won[3]) & MATES)
        more = mates if mates != 0 else more
    return NO_SIDE if more == 0 else 0 if more > 0 else 1


@kernel(inline=True)
def _score_hand_points(s, last, log):
    """A game point, or two, for the larger total (7.2)."""
    s.bonus[last] += s.rules.last_trick
    totals = np.int64(s.points[0]) + s.bonus[0], np.int64(s.points[1]) + s.bonus[1]
    for side in range(NUM_SIDES):
        ev.log_note(log, state.TOTAL, side, totals[side])
    if totals[0] != totals[1]:
        item = 2 if min(totals[0], totals[1]) < _FEW_POINTS else 1
        _score(s, 0 if totals[0] > totals[1] else 1, item, state.SCORES, log)


@kernel
def _score(s, side, item, kind, log):
    """A side scores an item, unless it is in the bag; it may win the match (7.3 to 7.5). `kind`: of the event."""
    if s.bagged[side]:
        return
    score, target = np.int64(s.scores[side]) + item, s.rules.match_target
    if target != NO_TARGET and s.rules.exact and score > target:
        ev.log_note(log, state.PASSES_TARGET, side, item)
        score = _overshot(s, score - item, score - target)
    s.scores[side] = score
    ev.log_set(log, kind, side, state.SCORE + side, score)
    if target != NO_TARGET and score >= target:
        ev.log_note(log, state.WINS, side, 0)
        pay_winner(s, side, NUM_SIDES)


@kernel(inline=True)
def _overshot(s, score, above):
    """The score of a side that would be `above` points above the target, and had `score` before (7.5)."""
    if s.rules.overshoot == state.BACK:
        return s.rules.match_target - above
    return np.int64(0) if s.rules.overshoot == state.ZERO else score


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or all marks or game points of the hand (9.1)."""
    leave(s, player, state.FORFEITS, log)
    winner = 1 - side_of(player, NUM_SIDES)
    if s.rules.match_target != NO_TARGET:
        ev.log_note(log, state.WINS, winner, 0)
        pay_winner(s, winner, NUM_SIDES)
    else:
        most = _most_in_a_hand(s.rules.scoring)
        pay_sides(s, most if winner == 0 else -most)
        s.terminal = 1


@kernel(inline=True)
def _most_in_a_hand(scoring):
    return state.MOST_MARKS if scoring == MARKS else state.MOST_GAME_POINTS


# ---------------------------------------------------------------------------------------------------------------
# Spaces


num_actions = NUM_ACTIONS
max_legal = len(PACK.ranks) + 1 + NUM_SUITS  # a hand, a whole marriage, and one call for each suit, own or half


def deck(options):
    """The cards of the pack (1.2)."""
    size = int(options.pack)
    return np.arange(PACK.size - size, PACK.size, dtype=np.int16)


def max_length(options):
    """All cards, all calls, and an answer to be chosen for each suit, in the most hands of a match."""
    size = int(options.pack)
    hands = 1 if options.match_target is None else state.MAX_HANDS
    return hands * (size + size // NUM_PLAYERS * options.calls_per_lead + NUM_SUITS)


def returns(options):
    """A match won or lost, or the difference of what a hand scores: one side at most 7 marks or 2 game points."""
    if options.match_target is not None:
        return win_or_loss(NUM_SIDES)
    most = state.MOST_MARKS if options.scoring == "marks" else state.MOST_GAME_POINTS
    return Returns(-most, most, 0, "marks" if options.scoring == "marks" else "game points")
