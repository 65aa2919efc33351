"""Texts and picture of Marjapussi."""

from dataclasses import replace

from cardenvs.core.events import CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.games.marjapussi import state
from cardenvs.games.marjapussi.cards import TRICKS, led_suit, partner_of
from cardenvs.games.marjapussi.marriages import calls, open_suits
from cardenvs.games.marjapussi.state import (
    ANSWER,
    HALF_0,
    KING,
    MARKS,
    NAME_0,
    NO_TARGET,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    OWN_0,
    PACK,
    QUEEN,
    WHOLE,
)
from cardenvs.kits.cards import PackView
from cardenvs.kits.tricks import MUST_BEAT, MUST_FOLLOW, MUST_TRUMP, NOT_HELD, TrickView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 3.1)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 3.1)",
    MUST_TRUMP: "whoever cannot follow must play a trump (rules.md 3.1)",
    MUST_BEAT: "a card that beats the best one of the trick must be played (rules.md 3.3)",
    state.LEADS_ACE: "an ace must be led to the first trick (rules.md 3.2)",
    state.LEADS_SPADE: "without an ace, a spade must be led to the first trick (rules.md 3.2)",
    state.MUST_NAME: "the partner has asked; name the suit of a marriage (rules.md 4.4)",
    state.NOT_ASKED: "nobody has asked (rules.md 4.4)",
    state.NOT_HIS: "the hand has no marriage in that suit that could be declared (rules.md 4.4)",
    state.ONLY_LEADER: "only the player who leads may call (rules.md 4.2)",
    state.IN_THE_BAG: "a side in the bag may not call (rules.md 7.3)",
    state.NO_TRICK_YET: "nobody may call before the first trick (rules.md 4.2)",
    state.HAS_CALLED: "no more calls are allowed before this lead (rules.md 4.2)",
    state.NO_SUCH_CALL: "the options of this game do not have this question (rules.md 4.4)",
    state.HAS_OWN: "whoever holds a marriage may not ask (rules.md 4.6)",
    state.SUIT_IS_GONE: "that marriage has been declared, or its king or queen has been played (rules.md 4.5)",
    state.NO_MARRIAGE: "the king and the queen are not both in hand (rules.md 4.1)",
    state.NO_HALF: "exactly one of the king and the queen must be in hand (rules.md 4.4)",
}
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")


class MarjapussiView(TrickView, PackView):
    """Words of Marjapussi."""

    pack = PACK
    tricks, trick_pile = TRICKS, "trick"
    phases = state.PHASES
    reasons = _REASONS
    follow_prompt = "Play a card; {led} was led, and player_{winner} wins so far with {best}."
    remembered = frozenset({"voids", "known_to_lack", "known_cards", "not_both", "has_one_of", "has_a_marriage_in"})

    def action_label(self, s, action):
        """Return "lead 7♠" or "play 7♠", "declare ♠", "ask whole", "ask half ♠" or "name ♠"."""
        if action < OWN_0:
            return super().action_label(s, action)
        if action == WHOLE:
            return "ask whole"
        verb, first = (
            ("declare", OWN_0) if action < WHOLE else ("ask half", HALF_0) if action < NAME_0 else ("name", NAME_0)
        )
        return f"{verb} {self.suit_text(action - first)}"

    def choice(self, s, action):
        return super().choice(s, action) if action < OWN_0 else Choice()

    def prompt(self, s):
        if s.phase == ANSWER:
            return f"player_{s.leader} asks you for a marriage, and you hold several: which one do you name?"
        if led_suit(s) >= 0:
            return super().prompt(s)
        found = int(calls(s))
        declares = "declare a marriage" if found & (1 << WHOLE) - 1 else ""
        asks = f"ask player_{partner_of(int(s.current_player))} for one" if found >> WHOLE else ""
        if asks and not declares:
            asks = asks.replace("one", "a marriage")
        return ", or first ".join(["Lead a card", *filter(None, [" or ".join(filter(None, [declares, asks]))])]) + "."

    def facts(self, s, player):
        """Trumps, marriages, points, and what players have shown of their hands."""
        side = int(player) % NUM_SIDES
        found = {
            **super().facts(s, player),
            "trump": self._trump_text(s),
            "partner": f"player_{partner_of(int(player))}",
            "marriages": {"us": self._suits(s.declared[side]), "them": self._suits(s.declared[1 - side])},
            "may_still_be_declared": self._suits(open_suits(s)),
            "points": {"us": int(s.points[side]), "them": int(s.points[1 - side])},
            "score": {"us": int(s.scores[side]), "them": int(s.scores[1 - side])},
            "known_to_lack": self._by_player(s, lambda p: self._cards(s.lacks[p])),
            "known_cards": self._by_player(s, lambda p: self._cards(state.known_cards(s, p))),
            "has_one_of": self._by_player(s, lambda p: self._pairs(s.halves[p])),
            "not_both": self._by_player(s, lambda p: self._pairs(self._no_pairs(s, player, p))),
            "has_a_marriage_in": self._by_player(s, lambda p: self._suits(s.some_pair[p])),
        }
        if s.rules.scoring != MARKS:
            found["bonus"] = {"us": int(s.bonus[side]), "them": int(s.bonus[1 - side])}
        if s.rules.match_target != NO_TARGET:
            found |= {"target": int(s.rules.match_target), "hand": int(s.num_hands)}
        if s.rules.bag:
            found["in_the_bag"] = {"us": bool(s.bagged[side]), "them": bool(s.bagged[1 - side])}
        if s.rules.ask == state.ASK_OPEN:
            found["partner_holds_marriages"] = self._suits(s.shown_pairs[player])
        return found

    def arrange(self, s, viewer, scene):
        """Hands by suit; partners; trumps, marriages, points and scores."""
        scene.piles["deck", None].layout = PileLayout.NONE  # all cards are dealt
        for p in range(NUM_PLAYERS):
            self.sort_hand(s, scene.piles["hand", p])
            scene.notes[p].append(f"with player_{partner_of(p)}")
            if s.bagged[p % NUM_SIDES]:
                scene.notes[p].append("in the bag")
            declared = " ".join(self._suits(s.declared[p % NUM_SIDES]))
            if declared:
                scene.notes[p].append(f"declared {declared}")
        is_match = s.rules.match_target != NO_TARGET
        shown = {"trump": self._trump_text(s) or "none yet", "points": self._of_sides(s.points)}
        if is_match:
            shown["hand_number"] = int(s.num_hands)
            scene.counters["hand_number"].label = f"match to {s.rules.match_target}, hand"
        if is_match or s.rules.scoring == MARKS or s.terminal:
            shown["score"] = self._of_sides(s.scores)
        for name, value in shown.items():
            scene.counters[name] = replace(scene.counters[name], use=CounterUse.NUMBER, value=value)
        if s.rules.scoring != MARKS:
            scene.counters["bonus"] = CounterView("bonus", CounterUse.NUMBER, self._of_sides(s.bonus))

    def describe_event(self, event, kind):
        """Suits by their names; what a leader sees of the partner's hand with ask=open."""
        if event.kind in ("declare", "ask_half", "yes"):
            suit = f"suit {event.value}"
            return super().describe_event(event, kind).replace(suit, _SUIT_NAMES[event.value])
        if event.kind == "trump":
            return f"Trumps are {_SUIT_NAMES[event.value - 1]}." if event.value else "There are no trumps yet."
        if event.kind == "sees":
            seen = ", ".join(_SUIT_NAMES[suit] for suit in range(NUM_SUITS) if event.value >> suit & 1)
            what = f"marriages: {seen}" if seen else "no marriage"
            return f"player_{event.player} sees that player_{partner_of(event.player)} holds {what}."
        return super().describe_event(event, kind)

    def _trump_text(self, s):
        return None if s.trump < 0 else self.suit_text(int(s.trump))

    def _suits(self, bits):
        return [self.suit_text(suit) for suit in range(NUM_SUITS) if int(bits) >> suit & 1]

    def _cards(self, bits):
        return [PACK.texts[card] for card in PACK.cards_of(bits)]

    def _pairs(self, bits):
        """Return kings and queens of some suits, as in "K♠ Q♠"."""
        suits = [suit for suit in range(NUM_SUITS) if int(bits) >> suit & 1]
        return [" ".join(PACK.texts[rank * NUM_SUITS + suit] for rank in (KING, QUEEN)) for suit in suits]

    def _no_pairs(self, s, viewer, player):
        seen = s.shown_no_pairs[viewer] if player == partner_of(int(viewer)) else 0
        return int(s.no_pairs[player]) | int(seen)

    def _by_player(self, s, shown):
        """Return what is shown of each player, without those of whom nothing is."""
        return {f"player_{p}": shown(p) for p in range(NUM_PLAYERS) if shown(p)}

    def _of_sides(self, values):
        return [int(values[p % NUM_SIDES]) for p in range(NUM_PLAYERS)]
