"""Texts and picture of one-player poker."""

from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import GameStatistics
from cardenvs.games.one_player_poker.rules import HAND_SIZE, NUM_PLAYS, PLAY_SIZE, POINTS, POSITIONS
from cardenvs.kits.cards import CardView, card_text, cards_of
from cardenvs.kits.poker_hands import CATEGORIES

_PLACES = [[k for k in range(HAND_SIZE) if bits >> k & 1] for bits in POSITIONS.tolist()]  # by action


class OnePlayerPokerView(CardView):
    """Words of one-player poker."""

    def arrange(self, s, viewer, scene):
        """The plays one beside the other, each with its category and points."""
        played = scene.piles["played", None]
        played.tokens = [int(card) for card in s.played[: PLAY_SIZE * int(s.num_played)]]
        played.groups = [PLAY_SIZE] * int(s.num_played)
        played.captions = _plays(s)

    def action_label(self, s, action):
        cards = " ".join(map(card_text, _taken(s, action)))
        return f"{'play' if action < NUM_PLAYS else 'discard'} {cards}"

    def choice(self, s, action):
        return Choice(_taken(s, action), ("hand", 0), ("played" if action < NUM_PLAYS else "discarded", None))

    def illegal_reason(self, s, action, code):
        left = count(int(s.discards_left), "discard") if s.discards_left else "no discards"
        return f"{count(len(_taken(s, action)), 'card')} cannot be discarded with {left} left (rules.md 2.2)"

    def prompt(self, s):
        return "Play five cards, or discard some for new ones."

    def facts(self, s, player):
        """Budgets, scores, the plays so far, and the cards still to come."""
        return {
            "plays_left": int(s.rules.plays - s.num_played),
            "discards_left": int(s.discards_left),
            "score": int(s.score),
            "model_score": int(s.model_score),
            "plays": _plays(s),
            "cards_to_come": [card_text(card) for card in cards_of(s.left)],
        }

    def describe_event(self, event, kind):
        if kind.name == "score":
            return f"player_0 scores {count(event.value, 'point')}: {_category(event.value)}."
        return super().describe_event(event, kind)

    def statistics(self, state):
        """Scores, and how often each category was played."""
        s = state.record
        played = [int(category) for category in s.categories[: int(s.num_played)]]
        return GameStatistics(
            figures={"score": [int(s.score)], "model_score": [int(s.model_score)]},
            counts={"categories": {name: played.count(k) for k, name in enumerate(CATEGORIES)}},
        )


def _taken(s, action):
    """Return the cards that an action plays or discards, left to right."""
    hand = s.hand.tolist()
    return tuple([hand[k] for k in _PLACES[action]])


def _plays(s):
    """Return the category and points of each play."""
    return [f"{CATEGORIES[category]} {POINTS[category]}" for category in s.categories[: int(s.num_played)].tolist()]


def _category(points):
    return CATEGORIES[POINTS.tolist().index(points)]
