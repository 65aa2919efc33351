"""Texts and picture of Katko."""

from cardenvs.core.cards import SUITS, card_label, card_markup, cards_of
from cardenvs.core.events import NO_PLAYER, OMNISCIENT
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import CardView, sees
from cardenvs.games.katko import state
from cardenvs.games.katko.rules import led_suit, trick_winner
from cardenvs.games.katko.state import DONE, EXCHANGE, NO_CARD, PHASES, SET_ASIDE_0

_REASONS = {
    state.NOT_HELD: "that card is not in hand (rules.md 3.1, 4.1)",
    state.EXCHANGES: "cards are exchanged first; set a card aside, or say done (rules.md 4.1)",
    state.EXCHANGE_IS_OVER: "the exchange is over (rules.md 4.1)",
    state.REST_IS_SHORT: "the rest has no card left to draw for another one (rules.md 4.2)",
}


class KatkoView(CardView):
    """Words of Katko."""

    remembered = frozenset({"voids"})

    def fill_table(self, s, viewer, table):
        """Hands and cards set aside for their owners, played cards for everybody."""
        table.put("rest", s.deck[int(s.num_dealt) :], seen=viewer == OMNISCIENT)
        table.put("gone", cards_of(s.gone))
        for p in range(int(s.rules.num_players)):
            table.put("hand", cards_of(s.hands[p]), player=p, seen=sees(viewer, p))
            table.put("set_aside", cards_of(s.set_aside[p]), player=p, seen=sees(viewer, p))
            table.put("played", _played(s, p), player=p)
            table.set("score", s.scores[p], player=p)
        table.set("dealer", s.dealer)
        table.set("deal_number", s.num_deals)

    def phase(self, s):
        return PHASES[int(s.phase)]

    def action_label(self, s, action):
        if action == DONE:
            return "done"
        if action >= SET_ASIDE_0:
            return f"set aside {card_label(action - SET_ASIDE_0)}"
        return f"{'lead' if led_suit(s) < 0 else 'play'} {card_label(action)}"

    def choice(self, s, action):
        if action == DONE:
            return Choice()
        player = int(s.current_player)
        if action >= SET_ASIDE_0:
            return Choice((action - SET_ASIDE_0,), ("hand", player), ("set_aside", player))
        return Choice((action,), ("hand", player), ("played", player))

    def illegal_reason(self, s, action, code):
        if code == state.MUST_FOLLOW:
            return f"the suit that was led, {SUITS[led_suit(s)]}, must be followed (rules.md 3.1)"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == EXCHANGE:
            return "Set a card aside to draw another one, or say done."
        suit = led_suit(s)
        return "Lead a card." if suit < 0 else f"Play a card; {SUITS[suit]} was led."

    def facts(self, s, player):
        """Deal, trick, voids shown, and the score of every deal so far."""
        n = int(s.rules.num_players)
        return {
            "deal": int(s.num_deals),
            "trick": int(s.trick) + 1,
            "tricks_left": int(s.rules.cards_per_player - s.trick),
            "trick_is_won_by": f"player_{trick_winner(s)}" if _is_led(s) else None,
            "voids": {f"player_{p}": [SUITS[k] for k in range(4) if s.voids[p] >> k & 1] for p in range(n)},
            "scores": [int(score) for score in s.scores[:n]],
            "scores_by_deal": _scores_by_deal(s),
            "undealt_cards": 52 - int(s.num_dealt),
        }

    def render(self, s, viewer, table):
        """A line for each player: score, cards played in this deal (this trick in bold), and hand."""
        end = f"deal {s.num_deals} of a match to {s.rules.target}" if s.rules.target > 1 else "a single deal"
        lines = [f"Katko, {end}, {count(52 - int(s.num_dealt), 'card')} undealt", ""]
        n = int(s.rules.num_players)
        for p in [(max(viewer, 0) + k) % n for k in (*range(1, n), 0)]:
            lines += _player_lines(s, p, sees(viewer, p))
        return "\n".join(lines)


def _played(s, player):
    """Return the cards of a player in this deal, in order."""
    return [int(card) for card in s.played[player, : int(s.rules.cards_per_player)] if card != NO_CARD]


def _is_led(s):
    return s.trick < s.rules.cards_per_player and led_suit(s) >= 0


def _scores_by_deal(s):
    """Return the points of all players by deal; deals that a player broke off by leaving have none."""
    rows = []
    for deal in range(int(s.num_deals)):
        row = [0] * int(s.rules.num_players)
        if s.winners[deal] != NO_PLAYER:
            row[int(s.winners[deal])] += int(s.points[deal])
        if s.poker_winners[deal] != NO_PLAYER:
            row[int(s.poker_winners[deal])] += 1
        rows.append(row)
    return rows


def _player_lines(s, player, is_seen):
    marks = [f"score {s.scores[player]}"]
    if player == s.dealer:
        marks.append("deals")
    if s.active[player] and player == s.leader and not s.terminal:
        marks.append("leads" if s.phase != EXCHANGE else "will lead")
    pointer = "▶" if player == s.current_player else " "
    hand = cards_of(s.hands[player])
    shown = " ".join(card_markup(card) for card in hand) if is_seen else "▒▒ " * len(hand)
    played = [card_markup(card) for card in _played(s, player)]
    if played and len(played) > s.trick:
        played[-1] = f"[bold]{played[-1]}[/bold]"
    return [
        f"{pointer} [bold]player_{player}[/bold]  {', '.join(marks)}",
        f"    played {' '.join(played) or '-'}",
        f"    hand   {shown.rstrip() or '-'}",
    ]
