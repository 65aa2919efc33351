"""Texts and picture of Casino."""

from cardenvs.core.events import CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.games.casino import state
from cardenvs.games.casino.composing import takeable
from cardenvs.games.casino.legal import build, capture, num_builds, num_captures
from cardenvs.games.casino.plays import place_of, value_of
from cardenvs.games.casino.state import (
    BUILD_0,
    COMPOSE_BUILD,
    COMPOSE_CAPTURE,
    DONE,
    HIGH_ACE,
    HIGH_ACE_0,
    MAX_BUILDS,
    NEW,
    NO_TARGET,
    NUM_ITEMS,
    PHASES,
    SLOTS,
    TABLE_ONLY,
    TAKE_0,
    TARGET_0,
    TRAIL,
)
from cardenvs.kits.cards import NUM_CARDS, CardView, card_text, cards_of
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.fishing.view import FishingView

_REASONS = {
    state.WRONG_PHASE: "that is not the question now (rules.md 3.1)",
    state.NOT_COMPLETE: "what has been taken so far is no capture or build (rules.md 4.1, 5.1)",
    state.ALL_LISTED: "all captures and builds of this card are listed (rules.md 3.1)",
}


class CasinoView(FishingView, CardView):
    """Words of Casino."""

    phases = PHASES
    remembered = FishingView.remembered | {"shown"}

    def phase(self, s):
        return PHASES[int(s.composing)]

    def action_label(self, s, action):
        """Return "lay 7♠", "8♦ takes 3♣ 5♥ (6♠ 2♦)", "4♠ builds 9 on (3♦ 2♣) with 5♥", "take 3♣", "done" and so on."""
        if action >= TARGET_0:
            return _target_text(s, int(s.playing), action - TARGET_0, "")
        if action == DONE:
            return "done"
        if action >= TAKE_0:
            return f"take {_item_text(s, action - TAKE_0)}"
        card, slot = divmod(int(action), SLOTS)
        name = card_text(card)
        if slot == TRAIL:
            return f"lay {name}"
        if slot == COMPOSE_CAPTURE:
            return f"{name} takes other cards"
        if slot == COMPOSE_BUILD:
            return f"{name} builds otherwise"
        if slot < COMPOSE_CAPTURE:
            if slot > num_captures(s, card):
                return f"{name} takes nothing ({slot})"
            return f"{name} takes {_items_text(s, capture(s, card, slot))}"
        if slot - COMPOSE_CAPTURE > num_builds(s, card):
            return f"{name} builds nothing ({slot})"
        target, cards = build(s, card, slot)
        return _target_text(s, card, int(target), _items_text(s, cards))

    def choice(self, s, action):
        if action >= DONE:
            return Choice()
        if action >= TAKE_0:
            return Choice(_tokens_of(s, 1 << int(action - TAKE_0)))
        card, slot = divmod(int(action), SLOTS)
        if slot == TRAIL:
            return Choice((card,), ("hand", int(s.current_player)), ("table", None))
        if slot in (COMPOSE_CAPTURE, COMPOSE_BUILD):
            return Choice((card,))
        if slot < COMPOSE_CAPTURE:
            return Choice((card, *_tokens_of(s, int(capture(s, card, slot)))))
        target, cards = build(s, card, slot)
        place = int(place_of(target))
        onto = () if place == NEW else cards_of(s.builds[place])
        return Choice((card, *_tokens_of(s, int(cards)), *onto))

    def arrange(self, s, viewer, scene):
        """Builds with their value, sets and owner, none that is empty; what is being put together."""
        super().arrange(s, viewer, scene)
        for k in range(MAX_BUILDS):
            pile = scene.piles[f"build_{k}", None]
            if not pile.tokens:
                pile.layout = PileLayout.NONE
            else:
                sets = f", {s.build_sets[k]} sets" if s.build_sets[k] > 1 else ""
                pile.label = f"build of {s.build_values[k]}{sets}, player_{s.build_owners[k]}"
        if s.playing == NO_CARD:
            scene.piles["shown", None].layout = PileLayout.NONE
        else:
            verb = "takes" if s.target == NO_TARGET else "builds with"
            taken = _items_text(s, s.taken) or "-"
            scene.counters["taken"] = CounterView(f"{card_text(int(s.playing))} {verb}", CounterUse.NUMBER, taken)

    def illegal_reason(self, s, action, code):
        if code in _REASONS:
            return _REASONS[code]
        if code == state.NOT_POSSIBLE:
            return self._why_impossible(s, action)
        card = int(action) // SLOTS
        name = card_text(card)
        reasons = {
            state.NOT_HELD: f"{name} is not in hand (rules.md 3.1)",
            state.OWNS_A_BUILD: "who owns a build may not trail (rules.md 6.1)",
            state.MUST_CAPTURE: f"{name} can capture, so it may not be laid (rules.md 6.2)",
            state.NO_SUCH_CAPTURE: f"{name} has {num_captures(s, card)} captures on this table (rules.md 4.1, 4.2)",
            state.NO_SUCH_BUILD: f"{name} has {num_builds(s, card)} builds on this table (rules.md 5.1)",
        }
        return reasons[code]

    def _why_impossible(self, s, action):
        if action >= TARGET_0:
            return f"{card_text(int(s.playing))} cannot be built so (rules.md 5.1)"
        items = takeable(s)
        possible = ", ".join(_item_text(s, item) for item in range(NUM_ITEMS) if int(items) >> item & 1)
        return (
            f"{_item_text(s, action - TAKE_0)} cannot be taken next; possible: {possible or 'nothing'} (rules.md 4.1)"
        )

    def prompt(self, s):
        if s.composing == state.PLAY:
            return "Play a card: capture, build, or lay it on the table."
        if s.composing == state.CHOOSE_TARGET:
            return f"What does {card_text(int(s.playing))} build?"
        return "Take cards in sets, or be done."

    def facts(self, s, player):
        """What all fishing games know, the builds, and values of which players have shown that they hold a card."""
        builds = [k for k in range(MAX_BUILDS) if s.builds[k]]
        return super().facts(s, player) | {
            "builds": [
                {
                    "value": int(s.build_values[k]),
                    "owner": int(s.build_owners[k]),
                    "sets": int(s.build_sets[k]),
                    "cards": [card_text(card) for card in cards_of(s.builds[k])],
                }
                for k in builds
            ],
            "shown": {
                f"player_{p}": [v for v in range(2, HIGH_ACE + 1) if int(s.shown[p]) >> v & 1]
                for p in range(int(s.rules.num_players))
            },
        }


def _target_text(s, card, target, cards):
    """Return "4♠ builds 9 on (3♦ 2♣) with 5♥"."""
    place = place_of(target)
    onto = "" if place == NEW else f" on {_build_text(s, place)}"
    helped = f" with {cards}" if cards else ""
    if target >= TABLE_ONLY:
        return f"lay {card_text(card)} and build {value_of(target)}{onto}{helped}"
    return f"{card_text(card)} builds {value_of(target)}{onto}{helped}"


def _build_text(s, k):
    return f"({' '.join(map(card_text, cards_of(s.builds[k])))})"


def _items_text(s, items):
    loose = [card_text(card) for card in cards_of(items)]
    return " ".join(loose + [_build_text(s, k) for k in range(MAX_BUILDS) if int(items) >> BUILD_0 + k & 1])


def _tokens_of(s, items):
    """Return the cards in a bit set of items: loose cards, cards of builds, aces that count 14."""
    loose = items & (1 << NUM_CARDS) - 1
    found = cards_of(loose)
    for k in range(MAX_BUILDS):
        found += cards_of(s.builds[k]) if items >> BUILD_0 + k & 1 else []
    return tuple(found + [13 * suit for suit in range(4) if items >> HIGH_ACE_0 + suit & 1])


def _item_text(s, item):
    """Return "3♣", "(3♣ 5♦)", or "A♣ as 14"."""
    if item >= HIGH_ACE_0:
        return f"{card_text(13 * (int(item) - HIGH_ACE_0))} as {HIGH_ACE}"
    return _build_text(s, int(item) - BUILD_0) if item >= BUILD_0 else card_text(int(item))
