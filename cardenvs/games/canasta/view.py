"""Texts and picture of Canasta."""

import re

from cardenvs.core.cards import folded, written
from cardenvs.core.events import OMNISCIENT, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, Goal
from cardenvs.core.text import count
from cardenvs.core.view import View, sees
from cardenvs.games.canasta import actions, state
from cardenvs.games.canasta.actions import WILD_PAIRS, cards_laid, lay_action
from cardenvs.games.canasta.candidates import candidates
from cardenvs.games.canasta.legal import cards_for, wild_room
from cardenvs.games.canasta.scoring import canasta_points, hand_points, melded_points, num_red_threes
from cardenvs.games.canasta.state import (
    BLACK_MELD,
    BLACK_THREE,
    CANASTA_SIZE,
    DECK_SIZE,
    FACE_COPIES,
    FACE_LABELS,
    FACES_OF_KIND,
    JOKER,
    JOKER_FACE,
    KIND_LABELS,
    KIND_OF,
    KIND_POINTS,
    MELD_LABELS,
    NO_CARD,
    NUM_FACES,
    NUM_KINDS,
    NUM_MELDS,
    NUM_OF_KIND,
    NUM_RANKS,
    PHASES,
    RED_THREE,
    TWO,
    WILD_MELD,
    initial_minimum,
    meld_size,
    num_canastas,
    num_sides,
    side_of,
    top_of_pile,
    wilds_in,
)
from cardenvs.kits.cards import card_face, parse_card

_REASONS = {
    actions.WRONG_PHASE: "that is not the question now (rules.md 3.1)",
    actions.NO_STOCK: "the stock is empty (rules.md 8.2)",
    actions.STOCK_LEFT: "there are cards in the stock (rules.md 8.2)",
    actions.MUST_TAKE: "the stock is empty and the discard fits a meld, so it must be taken (rules.md 8.2)",
    actions.NO_PILE: "there is no discard pile (rules.md 6.1)",
    actions.BLOCKED: "the top card is a wild card or a black three (rules.md 6.2)",
    actions.FROZEN: "the pile is frozen for this side (rules.md 6.3)",
    actions.NOT_HELD: "not all of these cards are in hand (rules.md 4.1)",
    actions.HAS_MELD: "the side has a meld of this rank, to which the card is added (rules.md 6.4)",
    actions.HAS_NO_MELD: "the side has no meld of this rank (rules.md 6.4)",
    actions.LAST_CARD: "a single card may not be taken with a single card in hand (rules.md 6.2)",
    actions.NO_ASKING: "the partner may only be asked before melding, by who can go out (rules.md 7.5)",
    actions.MUST_DISCARD: "a turn ends with a discard (rules.md 3.5)",
    actions.NO_DISCARD: "after the last card of the stock, a red three, nothing is discarded (rules.md 8.1)",
    actions.OUT_OF_ORDER: "in a turn melds are laid in ascending order, each once (rules.md 3.3)",
    actions.TOO_FEW_NATURALS: "a meld needs two natural cards (rules.md 4.1)",
    actions.TOO_FEW_CARDS: "a meld needs three cards (rules.md 4.1)",
    actions.TOO_MANY_WILDS: "that would be too many wild cards in the meld (rules.md 4.3)",
    actions.ONLY_GOING_OUT: "that is only possible when going out (rules.md 3.4, 4.5, 7.1)",
    actions.CANNOT_BE_COMPLETED: "after that the turn could not be completed (rules.md 3.4)",
    actions.NOT_IN_GAME: "this game is played without melds of wild cards alone (rules.md 4.6)",
}
_KIND_TEXTS, _MELD_TEXTS = tuple(map(written, KIND_LABELS)), tuple(map(written, MELD_LABELS))
_BARE_TEN = re.compile(r"\bt\b")
_SIDE_EVENTS = (
    "canasta_points", "red_points", "out_points", "meld_points", "left_points", "deal_points", "score", "win",
)  # fmt: skip


def faces_of(counts):
    """Return counts by face as a list of faces, by kind: 4 to A, twos, jokers, threes."""
    return sorted((f for f in range(NUM_FACES) for _ in range(int(counts[f]))), key=lambda f: (KIND_OF[f], f))


def faces_laid(s, player, naturals, kind, jokers, twos):
    """Return the faces that leave the hand when cards are laid: those that others know first (rules.md 6.6)."""
    found = []
    for one, number in ((kind, naturals), (JOKER, jokers), (TWO, twos)):
        faces = [int(f) for f in FACES_OF_KIND[one, : int(NUM_OF_KIND[one])]]
        known = [f for f in faces for _ in range(int(s.known[player, f]))]
        rest = [f for f in faces for _ in range(int(s.hands[player, f] - s.known[player, f]))]
        found += (known + rest)[: int(number)]
    return tuple(found)


def side_players(s, side):
    """Return the players of a side."""
    return [p for p in range(int(s.rules.num_players)) if side_of(s, p) == side]


def unseen(s, player):
    """Return the counts by face of the cards that `player` has not seen: in the stock and in other hands."""
    counts = [int(copies) for copies in FACE_COPIES]
    for face in range(NUM_FACES):
        counts[face] -= sum(int(s.melded[side, face]) for side in range(num_sides(s)))
        for p in range(int(s.rules.num_players)):
            counts[face] -= int(s.hands[p, face] if p == player else s.known[p, face])
    for face in s.pile[: int(s.num_pile)]:
        counts[int(face)] -= 1
    for red in range(2):
        counts[int(FACES_OF_KIND[RED_THREE, red])] -= int(s.red_threes[:, red].sum())
    return counts


class CanastaView(View):
    """Words of Canasta."""

    phases = PHASES
    remembered = frozenset({"known_hands", "not_seen_yet"})

    # -- cards --------------------------------------------------------------------------------------------------

    def token_label(self, token):
        return written(FACE_LABELS[token])

    def token_code(self, token):
        return FACE_LABELS[token]

    def parse_token(self, text):
        return JOKER_FACE if text.strip().lower() in ("jk", "joker") else parse_card(text)

    def token_face(self, token):
        return card_face(FACE_LABELS[token])

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        table.put("stock", s.deck[DECK_SIZE - int(s.num_stock) :], seen=viewer == OMNISCIENT)
        table.put("pile", s.pile[: int(s.num_pile)])
        for p in range(int(s.rules.num_players)):
            shown = faces_of(s.hands[p] if sees(viewer, p) else s.known[p])
            table.put("hand", shown, unknown=int(s.hand_sizes[p]) - len(shown), player=p)
            reds = [int(FACES_OF_KIND[RED_THREE, red]) for red in range(2) for _ in range(int(s.red_threes[p, red]))]
            table.put("red_threes", reds, player=p)
        for side in range(num_sides(s)):
            table.put("melds", faces_of(s.melded[side]), player=side)
            table.set("score", s.scores[side], player=side)
            for m in range(NUM_MELDS):
                value = 100 * s.naturals[side, m] + 10 * s.jokers[side, m] + s.twos[side, m]
                table.set(f"meld_{m}", value, player=side)
        table.set("dealer", s.dealer)
        table.set("deal_number", s.num_deals)
        table.set("frozen", s.pile_frozen)

    def arrange(self, s, viewer, scene):
        """Melds in groups with their wild cards last, hands by rank, initial melds; no piles that a player has not."""
        sides = int(num_sides(s))
        for p in range(int(s.rules.num_players)):
            hand = scene.piles["hand", p]
            known = [token for token in hand.tokens if token >= 0]
            hand.tokens = sorted(known, key=lambda f: (KIND_OF[f], f)) + [-1] * (len(hand.tokens) - len(known))
            if not scene.piles["red_threes", p].tokens:
                scene.piles["red_threes", p].layout = PileLayout.NONE
            pile = scene.piles["melds", p]
            if p < sides and pile.tokens:
                melds = melds_of(s, p)
                pile.tokens = [face for meld in melds for face in meld]
                pile.groups = [len(meld) for meld in melds]
                pile.captions = ["canasta" if len(meld) >= CANASTA_SIZE else "" for meld in melds]
            else:
                pile.layout = PileLayout.NONE
        if s.pile_frozen:
            scene.piles["pile", None].label = "frozen pile"
        for counter in scene.counters.values():
            if isinstance(counter.value, list):
                counter.value = counter.value[:sides]
        for player, notes in enumerate(scene.notes):
            side = int(side_of(s, player))
            partners = [p for p in side_players(s, side) if p != player]
            if partners:
                notes.append(f"with {' and '.join(f'player_{p}' for p in partners)}")
            if not s.has_opened[side] and not s.terminal:
                notes.append(f"initial meld {initial_minimum(s, side)}")
        if s.rules.match:
            deal = scene.counters["deal_number"]
            deal.use, deal.label = CounterUse.NUMBER, f"match to {s.rules.target}, deal"

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "take the pile with K K", "meld 9 9 2", "add K JK to K", "discard 4♠" and so on."""
        if action >= actions.LAY_0:
            m, naturals, jokers, twos = (int(number) for number in cards_laid(action))
            kind = BLACK_THREE if m == BLACK_MELD else m
            label = "3" if m == BLACK_MELD else "" if m == WILD_MELD else _KIND_TEXTS[kind]
            cards = " ".join([label] * naturals + ["JK"] * jokers + ["2"] * twos)
            if not meld_size(s, side_of(s, int(s.current_player)), m):
                return f"meld {cards}"
            return f"add {cards} to {_MELD_TEXTS[m]}"
        if action >= actions.DISCARD_0:
            return f"discard {self.token_label(action - actions.DISCARD_0)}"
        if actions.TAKE_WITH_PAIR <= action <= actions.TAKE_BY_ADDING:
            return _take_label(s, action)
        return {
            actions.DRAW: "draw",
            actions.END_DEAL: "end the deal",
            actions.DONE: "done",
            actions.ASK: "ask to go out",
            actions.YES: "yes",
            actions.NO: "no",
        }[int(action)]

    def label_key(self, label):
        """Ranks stand without suits, too: "meld T T T" is "meld 10 10 10"."""
        return _BARE_TEN.sub("10", folded(label))

    def choice(self, s, action):
        player = int(s.current_player)
        hand, melds = ("hand", player), ("melds", int(side_of(s, player)))
        if action == actions.DRAW:
            return Choice((), ("stock", None))
        if action >= actions.LAY_0:
            m, naturals, jokers, twos = cards_laid(action)
            kind = BLACK_THREE if m == BLACK_MELD else 0 if m == WILD_MELD else m
            return Choice(faces_laid(s, player, naturals, kind, jokers, twos), hand, alike=True)
        if action >= actions.DISCARD_0:
            return Choice((action - actions.DISCARD_0,), hand, ("pile", None))
        if action == actions.TAKE_BY_ADDING:
            return Choice((int(top_of_pile(s)),), ("pile", None), melds)
        if actions.TAKE_WITH_PAIR <= action < actions.TAKE_BY_ADDING:
            naturals, jokers, twos = cards_for(action)
            laid = faces_laid(s, player, naturals, KIND_OF[top_of_pile(s)], jokers, twos)
            return Choice(laid, hand, ("pile", None), alike=True)
        return Choice()

    def likeness(self, token):
        return KIND_LABELS[KIND_OF[token]]

    def goal(self, state):
        """The initial meld, while it is laid."""
        s = state.record
        least = int(initial_minimum(s, side_of(s, int(s.current_player))))
        if s.needed <= 0 or not any(action >= actions.LAY_0 for action in state.legal_actions()):
            return None
        return Goal("initial meld", least - int(s.needed), least, _lays(s))

    def illegal_reason(self, s, action, code):
        if code == actions.TOO_LOW:
            least = int(initial_minimum(s, side_of(s, int(s.current_player))))
            return f"{int(s.needed)} of the {least} points of the initial meld are missing (rules.md 5.1)"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == state.DRAW:
            what = "Take the discard, or end the deal?" if s.num_stock == 0 else "Draw, or take the pile?"
            return what + self._minimum(s)
        if s.phase == state.ANSWER:
            return f"player_{int(s.asker)} asks: may I go out?"
        if s.phase == state.TAKE:
            return f"Meld {count(int(s.needed), 'more point')} from your hand to take the pile."
        if s.has_laid and s.needed > 0:
            return f"Meld {count(int(s.needed), 'more point')}."
        must = " You must go out." if s.answer == state.MUST_GO_OUT else ""
        end = "be done" if s.no_discard else "discard"
        return f"Meld, or {end}.{must}" + self._minimum(s)

    def _minimum(self, s):
        return f" The initial meld needs {count(int(s.needed), 'point')}." if s.needed > 0 else ""

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        sides = range(num_sides(s))
        hidden = unseen(s, player)
        by_kind = [0] * NUM_KINDS
        for face, number in enumerate(hidden):
            by_kind[KIND_OF[face]] += number
        return {
            "side": int(side_of(s, player)),
            "scores": [int(s.scores[side]) for side in sides],
            "initial_minimum": [
                None if s.has_opened[side] or s.terminal else int(initial_minimum(s, side)) for side in sides
            ],
            "canastas": [int(num_canastas(s, side)) for side in sides],
            "canasta_points": [int(canasta_points(s, side)) for side in sides],
            "points_melded": [int(melded_points(s, side)) for side in sides],
            "red_threes": [int(num_red_threes(s, side)) for side in sides],
            "hand_points": int(hand_points(s, player)),
            "hand_sizes": [int(size) for size in s.hand_sizes[: int(s.rules.num_players)]],
            "known_hands": [
                [self.token_label(f) for f in faces_of(s.hands[p] if p == player else s.known[p])]
                for p in range(int(s.rules.num_players))
            ],
            "pile": len(s.pile[: int(s.num_pile)]),
            "pile_is_frozen_for_you": bool(s.pile_frozen or not s.has_opened[side_of(s, player)]),
            "stock": int(s.num_stock),
            "not_seen_yet": {_KIND_TEXTS[kind]: number for kind, number in enumerate(by_kind) if number},
        }

    def candidates(self, state, player):
        """Return whole turns, or the legal steps of a turn that has begun to meld."""
        return candidates(state, player)

    def describe_event(self, event, kind):
        if event.kind == "canasta":
            return f"player_{event.player} completes a canasta: {_MELD_TEXTS[event.value]}."
        if event.kind == "composition":
            naturals, wilds = event.value // 100, event.value // 10 % 10 + event.value % 10
            m = int(event.source[0].removeprefix("meld_"))
            return f"player_{event.player}'s side has {naturals} + {wilds} cards in its meld {_MELD_TEXTS[m]}."
        if event.kind in _SIDE_EVENTS:
            player = f"player_{event.player}"
            return super().describe_event(event, kind).replace(player, f"{player}'s side", 1)
        return super().describe_event(event, kind)


def melds_of(s, side):
    """Return the melds of a side, each as a list of faces, wild cards last; which two lies where does not matter."""
    twos = [f for f in faces_of(s.melded[side]) if KIND_OF[f] == TWO]
    melds = []
    for m in range(NUM_MELDS):
        kind = BLACK_THREE if m == BLACK_MELD else m
        naturals = [f for f in faces_of(s.melded[side]) if KIND_OF[f] == kind] if m != WILD_MELD else []
        number = int(s.twos[side, m])
        meld = naturals + twos[:number] + [JOKER_FACE] * int(s.jokers[side, m])
        twos = twos[number:]
        if meld:
            melds.append(meld)
    return melds


def _lays(s):
    """Return the ways to lay cards on the meld of one rank, with their points, even if the rest does not suffice."""
    player, found = int(s.current_player), {}
    side = side_of(s, player)
    jokers, twos = (int(s.kinds[player, kind]) for kind in (JOKER, TWO))
    for rank in range(int(s.first_meld), NUM_RANKS):
        old, size = int(s.naturals[side, rank]), int(meld_size(s, side, rank))
        for naturals in range(0 if old else 2, int(s.kinds[player, rank]) + 1):
            room = int(wild_room(s, old + naturals)) - int(wilds_in(s, side, rank))
            for j, t in WILD_PAIRS:
                if j <= jokers and t <= twos and j + t <= room and naturals + j + t and size + naturals + j + t >= 3:
                    points = naturals * KIND_POINTS[rank] + j * KIND_POINTS[JOKER] + t * KIND_POINTS[TWO]
                    found[int(lay_action(rank, naturals, j, t))] = int(points)
    return found


def _take_label(s, action):
    top = top_of_pile(s)
    rank = _KIND_TEXTS[KIND_OF[top]] if top != NO_CARD and KIND_OF[top] < NUM_RANKS else "its rank"
    cards = {
        actions.TAKE_WITH_PAIR: f"with {rank} {rank}",
        actions.TAKE_WITH_JOKER: f"with {rank} JK",
        actions.TAKE_WITH_TWO: f"with {rank} 2",
        actions.TAKE_BY_ADDING: f"by adding {rank}",
    }
    return f"take the pile {cards[int(action)]}"
