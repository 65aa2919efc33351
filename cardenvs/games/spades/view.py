"""Texts and picture of Spades."""

from cardenvs.core.events import CounterUse, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.options import NONE
from cardenvs.games.spades import rules, state
from cardenvs.games.spades.state import ASKED, BLIND, BLIND_NIL, EXCHANGE, LOOK, NUM_PLAYERS, PACK, PLAY, partner_of
from cardenvs.games.spades.worlds import hidden_cards, known_cards
from cardenvs.kits.bids import BidView
from cardenvs.kits.cards import PackView
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 3.5, 4.1)",
    MUST_FOLLOW: "{led} must be followed (rules.md 4.1, 4.4)",
    ASKED + BLIND: "bid blind nil, or look at your cards (rules.md 3.4)",
    ASKED + state.BIDDING: "make a bid (rules.md 3.1)",
    ASKED + EXCHANGE: "give a card to your partner (rules.md 3.5)",
    ASKED + PLAY: "all have bid; play a card (rules.md 4.1)",
    state.NO_NIL: "nil is not allowed at this table; bid at least 1 (rules.md 3.2)",
    state.TOO_LOW: "the side would bid less than {least} (rules.md 3.3)",
    state.TOO_HIGH: "bid at most {highest}, or the side bids more than {most} (rules.md 3.3)",
    state.NOT_BROKEN: "spades are not broken yet, and the hand has other cards to lead (rules.md 4.3)",
    state.NEVER_LED: "spades may not be led while the hand has other cards (rules.md 4.3)",
    state.NO_FIRST_SPADE: "no spade may be played to the first trick by a hand with other cards (rules.md 4.4)",
    state.LOWEST_CLUB: "the lowest club must be played to the first trick (rules.md 4.4)",
}


class SpadesView(BidView, TrickView, PackView):
    """Words of Spades."""

    pack, bids, tricks, trick_pile = PACK, state.BIDS, state.TRICKS, "trick"
    phases = state.PHASES
    remembered = frozenset({"voids", "not_seen_yet", "partner_holds"})
    reasons = _REASONS
    follow_prompt = "Play a card; {led} must be followed, and player_{winner} wins so far with {best}."

    def fill_table(self, s, viewer, table):
        """As declared; and players know the cards that they have given to their partner."""
        super().fill_table(s, viewer, table)
        if viewer >= 0:
            partner = partner_of(viewer)
            known = PACK.cards_of(known_cards(s, viewer, partner))
            table.put("hand", known, int(s.hands[partner]).bit_count() - len(known), player=partner)

    def bid_text(self, tricks):
        return "bid nil" if tricks == 0 else super().bid_text(tricks)

    def action_label(self, s, action):
        if action >= BLIND_NIL:
            return "look" if action == LOOK else "bid blind nil"
        if s.phase == EXCHANGE and action < state.BID_0:
            return f"give {PACK.texts[action]}"
        return super().action_label(s, action)

    def choice(self, s, action):
        if action >= BLIND_NIL:
            return Choice()
        choice, player = super().choice(s, action), int(s.current_player)
        if s.phase != EXCHANGE:
            return choice
        return Choice(choice.tokens, choice.source, ("hand", partner_of(player)))

    def illegal_reason(self, s, action, code):
        led = self.suit_text(int(self.tricks.led_suit(s)))
        _, highest = rules.bid_bounds(s)
        least, most = int(s.rules.min_team_bid), int(s.rules.max_team_bid)
        return _REASONS[code].format(led=led, highest=int(highest), least=least, most=most)

    def prompt(self, s):
        player = int(s.current_player)
        if s.phase == PLAY:
            return super().prompt(s)
        if s.phase == EXCHANGE:
            number = int(s.given[player]).bit_count() + 1
            return f"Give player_{partner_of(player)} a card ({number} of {s.rules.blind_nil_pass})."
        if s.phase == BLIND:
            if rules.bid_bounds(s)[0] > 0:
                return "You have not seen your cards, and may not bid blind nil. Look at them."
            return "You have not seen your cards. Bid blind nil, or look at them first?"
        lowest, highest = map(int, rules.bid_bounds(s))
        bids = ["nil"] if lowest == 0 else []
        if highest > 0:
            bids.append(f"{max(lowest, 1)} to {highest}" if highest > max(lowest, 1) else f"{highest}")
        return f"How many tricks will you win? Bid {', or '.join(bids)}."

    def facts(self, s, player):
        """Bids and tricks, who has bid blind, the partner and cards that they hold, spades, points and bags."""
        partner, players = partner_of(int(player)), range(NUM_PLAYERS)
        sides = [int(state.side_of(s, p)) for p in players]
        return super().facts(s, player) | {
            "dealer": f"player_{s.dealer}",
            "partner": f"player_{partner}" if s.rules.partners else None,
            "has_bid_blind": [f"player_{p}" for p in players if s.blind[p]],
            "partner_holds": _texts(known_cards(s, player, partner)),
            "spades_are_broken": bool(s.is_broken),
            "not_seen_yet": _texts(hidden_cards(s, player)),
            "hand": int(s.num_deals),
            "scores": [int(s.scores[side]) for side in sides],
            "bags": [int(s.bags[side]) for side in sides],
        }

    def arrange(self, s, viewer, scene):
        """Hands by suit, bids and tricks at the players, the points of sides, and what matters of a match."""
        super().arrange(s, viewer, scene)
        for p, notes in enumerate(scene.notes):
            self.sort_hand(s, scene.piles["hand", p])
            if s.blind[p]:
                notes[:] = [note.replace("nil", "blind nil") for note in notes]
        deck = scene.piles["deck", None]
        if not deck.tokens:
            deck.layout = PileLayout.NONE
        hand, score, bags = (scene.counters[name] for name in ("hand_number", "score", "bags"))
        for counter in (score, bags):
            counter.value = [counter.value[int(state.side_of(s, p))] for p in range(NUM_PLAYERS)]
        if s.rules.target == NONE:
            hand.use = CounterUse.NONE
            if not s.terminal:
                score.use = bags.use = CounterUse.NONE
        else:
            hand.label = f"match to {s.rules.target}, hand"

    def describe_event(self, event, kind):
        """Nil by its name."""
        if event.kind == "bid" and event.value == 0:
            return f"player_{event.player} bids nil."
        return super().describe_event(event, kind)


def _texts(cards):
    """Return the texts of a bit set of cards."""
    return [PACK.texts[card] for card in PACK.cards_of(cards)]
