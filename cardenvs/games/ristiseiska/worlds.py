"""Worlds of Ristiseiska: hidden cards dealt again, as far as a player cannot know where they are (9).

A world is a whole history: a deal, and which card was given each time. All that agree with what the player has seen are
equally likely. They are drawn in three steps:

* Forwards through the notes, the chance of each card to be in each hand is found as if it were alone: a hand that
  begged has no card that fitted, and of the cards of a giver each is as likely to go (`_follow_cards`).
* Hidden cards are dealt to hands in proportion to these chances and to the room that is left (`_deal_hands`).
* Backwards through the notes, each unseen gift is drawn from the hand that got it (`_undo_notes`), which fails if the
  cards together contradict a note.

The product of all chances drawn is the chance of a history to be proposed. Of some proposals one is kept, each in
proportion to the inverse of that, which makes worlds nearly uniform.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_unit
from cardenvs.core.scratch import stack_record
from cardenvs.games.ristiseiska.knowledge import GIFT, HAS, LACKS, learn_of_gift
from cardenvs.games.ristiseiska.state import (
    FIRST_CARD,
    MAX_NOTES,
    MAX_PLAYERS,
    NO_CARD,
    NUM_CARDS,
    fitting_on,
)
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.deck import begin_world

_PROPOSALS, _MOST_TRIED = 24, 600

WORK = packed(
    [
        ("fits", "i8", (NUM_CARDS + 1,)),  # cards that fitted, by the number of cards on the table
        ("own", "i8"),  # cards of the observer before the first note
        ("sizes", "i8", (MAX_PLAYERS,)),  # of hands at that time
        ("chance", "f8", (NUM_CARDS, MAX_PLAYERS)),  # that a card is in a hand now, if it were alone
        ("room", "i8", (MAX_PLAYERS,)),
        ("moved", "f8", (MAX_NOTES, NUM_CARDS)),  # chance that a card in the hand came with this gift
        ("hands", "i8", (MAX_PLAYERS,)),
        ("before", "i8", (MAX_PLAYERS,)),  # hands while notes are undone
        ("gifts", "i8", (MAX_NOTES,)),
        ("is_bound", "i8"),  # cards which may not be anywhere, or not equally likely
        ("weight", "f8"),
        ("kept_hands", "i8", (MAX_PLAYERS,)),
        ("kept_gifts", "i8", (MAX_NOTES,)),
    ]
)
_new_work = stack_record(WORK)


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not know: the hands of the others, and what they have given each other."""
    begin_world(s, seed)
    if s.is_shown:
        return
    work = _new_work()
    _prepare(s, player, work)
    total, kept, proposals = 0.0, np.int64(0), np.int64(1 if s.num_notes == 0 else _PROPOSALS)
    for _ in range(_MOST_TRIED):
        if kept == proposals:
            break
        if _deal_hands(s, player, work) and _undo_notes(s, player, work):
            kept += 1
            total += work.weight
            if random_unit(s.rng) * total < work.weight:
                _keep(s, work)
    if kept == 0:
        _deal_anyhow(s, player, work)
    _become(s, player, work)


# ---------------------------------------------------------------------------------------------------------------
# Chances of single cards


@kernel
def _prepare(s, player, work):
    """Find out what holds for all proposals."""
    laid = np.int64(0)
    for k in range(s.num_plays + 1):
        work.fits[k] = fitting_on(s.rules, laid)
        if k < s.num_plays:
            laid |= np.int64(1) << s.plays[k]
    _go_back(s, player, work)
    work.is_bound = 0
    for card in range(NUM_CARDS):
        _follow_card(s, player, card, work)


@kernel
def _go_back(s, player, work):
    """Find the sizes of hands, and the observer's hand, before the first note."""
    work.own = s.hands[player]
    for p in range(s.rules.num_players):
        work.sizes[p] = s.hand_sizes[p]
    num_plays = np.int64(s.num_plays)
    for k in range(s.num_notes - 1, -1, -1):
        while num_plays > s.note_plays[k]:
            num_plays -= 1
            _take_back(s, player, num_plays, work)
        if s.note_kind[k] == GIFT:
            giver, taker = s.note_giver[k], s.note_player[k]
            work.sizes[taker] -= 1
            work.sizes[giver] += 1
            if giver == player:
                work.own |= np.int64(1) << s.note_card[k]
            elif taker == player:
                work.own &= ~(np.int64(1) << s.note_card[k])
    while num_plays > 0:
        num_plays -= 1
        _take_back(s, player, num_plays, work)


@kernel(inline=True)
def _take_back(s, player, k, work):
    p = s.play_of[k]
    work.sizes[p] += 1
    if p == player:
        work.own |= np.int64(1) << s.plays[k]


@kernel
def _follow_card(s, player, card, work):
    """Follow a card through the notes; where it can be now is its chance, and `moved` says how it may have come."""
    bit, n = np.int64(1) << card, s.rules.num_players
    is_own = work.own & bit
    total = NUM_CARDS - work.sizes[player]
    for p in range(n):
        if is_own:
            work.chance[card, p] = 1.0 if p == player else 0.0
        else:
            work.chance[card, p] = 0.0 if p == player else work.sizes[p] / total
    is_bound = False
    for k in range(s.num_notes):
        is_bound = _follow_note(s, player, card, k, work) or is_bound
    for p in range(n):
        if s.known[player, p] & bit:
            is_bound = True
            for q in range(n):
                work.chance[card, q] = 1.0 if p == q else 0.0
    if is_bound:
        work.is_bound |= bit


@kernel(inline=True)
def _follow_note(s, player, card, k, work):
    """Change the chances of a card by a note, and return whether they are now other than those of most cards."""
    p, bit = s.note_player[k], np.int64(1) << card
    if s.note_kind[k] == LACKS:
        if p != player and work.fits[s.note_plays[k]] & bit:
            work.chance[card, p] = 0.0
            return True
        return False
    if s.note_kind[k] == HAS:
        return False
    giver = s.note_giver[k]
    if giver == player or p == player:
        if s.note_card[k] == card:
            for q in range(s.rules.num_players):
                work.chance[card, q] = 1.0 if p == q else 0.0
            return True
        return False
    goes, stays = work.chance[card, giver] / s.note_size[k], work.chance[card, p]
    work.chance[card, giver] -= goes
    work.chance[card, p] += goes
    work.moved[k, card] = goes / (goes + stays) if goes > 0 else 0.0
    return False


# ---------------------------------------------------------------------------------------------------------------
# Proposals


@kernel
def _deal_hands(s, player, work):
    """Deal the hidden cards, those first that can only be in one hand; return False if they find no room."""
    work.weight = 1.0
    hidden = _begin_deal(s, player, work)
    bound = hidden & work.is_bound
    certain = np.int64(0)
    cards = bound
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        certain |= np.int64(_num_places(s, card, work) == 1) << card
    return (
        _deal_cards(s, player, certain, work)
        and _deal_cards(s, player, bound & ~certain, work)
        and _deal_cards(s, player, hidden & ~bound, work)
    )


@kernel(inline=True)
def _begin_deal(s, player, work):
    """Empty the hands of the others and return their cards."""
    hidden = np.int64(0)
    for p in range(s.rules.num_players):
        if p == player:
            work.hands[p], work.room[p] = s.hands[p], 0
        else:
            hidden |= s.hands[p]
            work.hands[p], work.room[p] = 0, s.hand_sizes[p]
    return hidden


@kernel(inline=True)
def _num_places(s, card, work):
    number = 0
    for p in range(s.rules.num_players):
        number += work.chance[card, p] > 0
    return number


@kernel
def _deal_cards(s, player, cards, work):
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        total = 0.0
        for p in range(s.rules.num_players):
            total += _share(s, player, p, card, work)
        if total <= 0:
            return False
        drawn, chosen, share = random_unit(s.rng) * total, np.int64(-1), 0.0
        for p in range(s.rules.num_players):
            part = _share(s, player, p, card, work)
            if part > 0 and drawn >= 0:
                chosen, share = np.int64(p), part
            drawn -= part
        work.hands[chosen] |= np.int64(1) << card
        work.room[chosen] -= 1
        work.weight *= total / share
    return True


@kernel(inline=True)
def _share(s, player, p, card, work):
    """Return how likely a hidden card goes to a hand, not to scale."""
    if p == player or work.room[p] == 0:
        return 0.0
    return work.chance[card, p] * work.room[p] / s.hand_sizes[p]


@kernel
def _undo_notes(s, player, work):
    """Draw the unseen gifts, the last one first; return False if a note does not agree with the hands."""
    num_plays = np.int64(s.num_plays)
    for p in range(s.rules.num_players):
        work.before[p] = work.hands[p]
    for k in range(s.num_notes - 1, -1, -1):
        while num_plays > s.note_plays[k]:
            num_plays -= 1
            work.before[s.play_of[num_plays]] |= np.int64(1) << s.plays[num_plays]
        if not _undo_note(s, player, k, work):
            return False
    return True


@kernel
def _undo_note(s, player, k, work):
    """Undo a note; return False if it does not agree with the hands."""
    p = s.note_player[k]
    if s.note_kind[k] != GIFT:
        has = (work.before[p] & work.fits[s.note_plays[k]]) != 0
        return has == (s.note_kind[k] == HAS)
    giver, card = s.note_giver[k], np.int64(s.note_card[k])
    if giver != player and p != player:
        card = _draw_gift(s, k, work.before[p], work)
    if card == NO_CARD or not work.before[p] >> card & 1:
        return False
    bit = np.int64(1) << card
    work.before[p] &= ~bit
    work.before[giver] |= bit
    work.gifts[k] = card
    return True


@kernel
def _draw_gift(s, k, cards, work):
    """Draw which of the cards in a hand came with gift k; NO_CARD if two of them must have."""
    total, sure, rest = 0.0, np.int64(NO_CARD), cards
    while rest:
        card = lowest_card(rest)
        rest &= rest - 1
        moved = work.moved[k, card]
        if moved >= 1.0:
            if sure != NO_CARD:
                return np.int64(NO_CARD)
            sure = card
        else:
            total += moved / (1.0 - moved)
    if sure != NO_CARD:
        return sure
    drawn, chosen, share = random_unit(s.rng) * total, np.int64(NO_CARD), 0.0
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        moved = work.moved[k, card]
        if moved > 0 and drawn >= 0:
            chosen, share = card, moved / (1.0 - moved)
        drawn -= moved / (1.0 - moved)
    work.weight *= total / share if chosen != NO_CARD else 0.0
    return chosen


@kernel
def _keep(s, work):
    """Keep the present proposal."""
    for p in range(s.rules.num_players):
        work.kept_hands[p] = work.hands[p]
    for k in range(s.num_notes):
        work.kept_gifts[k] = work.gifts[k]


@kernel
def _deal_anyhow(s, player, work):
    """Deal hidden cards wherever there is room, should no proposal have agreed with all notes."""
    cards = _begin_deal(s, player, work)
    for card in range(NUM_CARDS):
        for p in range(s.rules.num_players):
            work.chance[card, p] = 0.0 if p == player else s.hand_sizes[p]
    _deal_cards(s, player, cards, work)
    for k in range(s.num_notes):
        is_seen = s.note_giver[k] == player or s.note_player[k] == player
        work.gifts[k] = s.note_card[k] if is_seen else FIRST_CARD
    _keep(s, work)


# ---------------------------------------------------------------------------------------------------------------
# The result


@kernel
def _become(s, player, work):
    """Give the record the hands and gifts that were kept, and the others what they know then."""
    n = s.rules.num_players
    for p in range(n):
        s.hands[p] = work.kept_hands[p]
    for k in range(s.num_notes):
        if s.note_kind[k] == GIFT:
            s.note_card[k] = work.kept_gifts[k]
    if s.begged != NO_CARD:
        s.begged = s.note_card[_last_gift(s)]
    _relearn(s, player)


@kernel(inline=True)
def _last_gift(s):
    k = s.num_notes - 1
    while s.note_kind[k] != GIFT:
        k -= 1
    return k


@kernel
def _relearn(s, player):
    """Work out from the notes what the others know; the player knows what the player knew."""
    n = s.rules.num_players
    if s.num_plays == 0:  # all know who has 7♣
        return
    own_given, own_known = s.given[player], (
        s.known[player, 0], s.known[player, 1], s.known[player, 2], s.known[player, 3], s.known[player, 4]
    )  # fmt: skip
    for p in range(n):
        s.given[p] = 0
        for q in range(n):
            s.known[p, q] = 0
    for k in range(s.num_notes):
        if s.note_kind[k] == GIFT:
            learn_of_gift(s, s.note_giver[k], s.note_player[k], np.int64(s.note_card[k]))
    for p in range(n):
        s.given[p] &= ~s.laid
        for q in range(n):
            s.known[p, q] &= ~s.laid
    s.given[player] = own_given
    for q in range(n):
        s.known[player, q] = own_known[q]
