"""Texts of Goofspiel."""

from cardenvs.core.game_view import Choice
from cardenvs.core.view import View, sees

from goofspiel.rules import MAX_CARDS, NO_BID, NUM_PLAYERS

REASONS = {1: "that card is out of the game (2.3)"}


class GoofspielView(View):
    """Words of Goofspiel. Its tokens are the prizes."""

    tokens = tuple(str(card + 1) for card in range(MAX_CARDS))
    reasons = REASONS

    def token_face(self, token):
        """Prizes are tiles."""
        return {"kind": "tile", "text": self.tokens[token], "colour": "green"}

    def fill_table(self, s, viewer, table):
        """Show prizes that were turned up to all, and a bid to its owner until both are made (2.2)."""
        super().fill_table(s, viewer, table)
        both = NO_BID not in (s.bids[0], s.bids[1])
        for p in range(NUM_PLAYERS):
            table.set("bid", s.bids[p] + 1 if both or s.bids[p] == NO_BID or sees(viewer, p) else None, player=p)
        is_played = s.terminal and both
        n = int(s.rules.num_cards)
        gone = {*range(n)} - {*s.deck[int(s.num_dealt) : n].tolist()} - ({int(s.prize)} if not is_played else set())
        table.put("gone", sorted(gone))
        if not is_played:
            table.put("prize", [s.prize])

    def action_label(self, s, action):
        """Return "bid 3"."""
        return f"bid {action + 1}"

    def choice(self, s, action):
        """Return a key of a keypad with one row."""
        return Choice(row=0)

    def prompt(self, s):
        """Ask for a bid."""
        return f"What do you bid for the {s.prize + 1}?"

    def facts(self, s, player):
        """Return the prizes to come, and the cards that each player still has."""
        cards = [[card + 1 for card in range(MAX_CARDS) if int(hand) >> card & 1] for hand in s.hands]
        left = s.deck[int(s.num_dealt) : int(s.rules.num_cards)]
        return {"prizes_left": sorted((left + 1).tolist()), "cards": cards}

    def describe_event(self, event, kind):
        """Name the card to who may see it."""
        if event.kind == "bid" and event.value is not None:
            return f"player_{event.player} chooses {event.value}."
        return super().describe_event(event, kind)
