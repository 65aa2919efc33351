"""Legal actions of Durak, and why an action is illegal. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.durak import actions, state
from cardenvs.games.durak.seats import next_opponent
from cardenvs.kits.cards import SUIT_SETS, count_bits, lowest_card
from cardenvs.kits.listing import list_bits


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending (3, 4)."""
    n = list_bits(playable(s), actions.PLAY_0, out, 0)
    if s.phase == state.DEFEND:
        out[n] = actions.TAKE
        n += 1
        if s.rules.variant == state.PEREVODNOY:
            n = list_bits(transfer_cards(s), actions.TRANSFER_0, out, n)
            if trump_to_show(s) != state.NO_CARD:
                out[n] = actions.SHOW
                n += 1
    elif s.phase != state.LEAD:
        out[n] = actions.PASS
        n += 1
    return n


@kernel
def playable(s):
    """Return the cards that the player to act may lead, throw in, add or beat with, as a bit set."""
    hand = s.hands[s.current_player]
    if s.phase == state.LEAD:
        return hand
    if s.phase == state.DEFEND:
        return hand & state.beating_cards(s, s.attack_cards[s.num_beaten])
    return hand & s.matching


@kernel
def transfer_cards(s):
    """Return the cards with which the defender may transfer, as a bit set (4.1, 4.2)."""
    if _transfer_refusal(s, s.num_attack + 1):
        return np.int64(0)
    return s.hands[s.defender] & s.matching


@kernel
def trump_to_show(s):
    """Return the trump that the defender may show to transfer, or NO_CARD (4.5)."""
    if not s.rules.show_trump_transfer or _transfer_refusal(s, s.num_attack):
        return np.int64(state.NO_CARD)
    cards = s.hands[s.defender] & s.matching & SUIT_SETS[s.trump] & ~s.shown
    return lowest_card(cards) if cards else np.int64(state.NO_CARD)


@kernel
def _transfer_refusal(s, num_attack):
    """Return why the defender may not pass on `num_attack` attack cards, or 0 (4.1 to 4.4)."""
    if s.num_bouts == 0 and not s.rules.transfer_in_first_bout:
        return actions.NO_TRANSFERS_NOW
    if s.num_beaten:
        return actions.ALREADY_BEATEN
    if num_attack > most_attack_cards(s):
        return actions.TOO_MANY_CARDS
    if count_bits(s.hands[next_opponent(s, s.defender)]) < num_attack:
        return actions.TOO_FEW_CARDS
    return 0


@kernel
def most_attack_cards(s):
    """Return the limit of attack cards in this bout, whatever the defender holds (3.6)."""
    most = s.rules.max_attack_cards
    return min(most, s.rules.first_bout_max) if s.num_bouts == 0 else most


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else why not, as a code of actions.py."""
    if action == actions.PASS:
        if s.phase == state.LEAD:
            return actions.MUST_LEAD
        return actions.MUST_DEFEND if s.phase == state.DEFEND else 0
    if action == actions.TAKE:
        return 0 if s.phase == state.DEFEND else actions.NOT_DEFENDING
    if action >= actions.TRANSFER_0:
        return _explain_transfer(s, action)
    bit = 1 << action
    if playable(s) & bit:
        return 0
    if not s.hands[s.current_player] & bit:
        return actions.NOT_HELD
    return actions.DOES_NOT_BEAT if s.phase == state.DEFEND else actions.NO_MATCH


@kernel
def _explain_transfer(s, action):
    if s.phase != state.DEFEND:
        return actions.NOT_DEFENDING
    shows = action == actions.SHOW
    card = action - actions.TRANSFER_0
    if not shows and not s.hands[s.defender] >> card & 1:
        return actions.NOT_HELD
    refusal = _transfer_refusal(s, s.num_attack if shows else s.num_attack + 1)
    if refusal:
        return refusal
    if shows:
        if trump_to_show(s) != state.NO_CARD:
            return 0
        trump = s.matching & SUIT_SETS[s.trump]
        return actions.SHOWN_BEFORE if s.hands[s.defender] & s.shown & trump else actions.NO_SUCH_TRUMP
    return 0 if s.matching >> card & 1 else actions.OTHER_RANK
