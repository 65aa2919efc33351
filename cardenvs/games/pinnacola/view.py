"""Texts and picture of Pinnacola."""

from cardenvs.core.cards import written
from cardenvs.core.events import OMNISCIENT, CounterUse, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import View, sees
from cardenvs.games.pinnacola import actions, hands, legal, melds, state
from cardenvs.games.pinnacola.actions import cards_laid, parts
from cardenvs.games.pinnacola.candidates import candidates
from cardenvs.games.pinnacola.state import (
    DRAW,
    FACE_LABELS,
    JOKER,
    MAX_MELDS,
    NUM_FACES,
    NUM_RANKS,
    NUM_SIDES,
    NUM_STEPS,
    PHASES,
    RUN,
    SET,
    TWO_OF_CLUBS,
    TWO_OF_SPADES,
    USE,
    WILD_FACES,
    side_of,
)
from cardenvs.kits.cards import NUM_CARDS, card_face, parse_card

_TEXTS = tuple(map(written, FACE_LABELS))
_SIDE_EVENTS = ("meld_points", "left_points", "close_points", "hand_points", "score", "win")
_LONG = 4  # cards of a run whose text names only the ends


def faces_in(held, twice, jokers):
    """Return the faces of two bit sets and a number of jokers as a list, by suit."""
    faces = [face for face in range(NUM_CARDS) for _ in range((held >> face & 1) + (twice >> face & 1))]
    return faces + [JOKER] * int(jokers)


def hand_of(s, player):
    """Return the faces in a hand, by suit."""
    return faces_in(int(s.held[player]), int(s.twice[player]), s.jokers[player])


def known_of(s, player):
    """Return the faces that all know in a hand, by suit."""
    return faces_in(int(s.known_held[player]), int(s.known_twice[player]), s.known_jokers[player])


def meld_faces(s, m):
    """Return the faces of a meld: those of a run in order, of a set with the wild cards last."""
    naturals, wilds = int(s.meld_naturals[m]), [int(number) for number in s.meld_wilds[m]]
    if s.meld_kind[m] == RUN:
        faces = []
        for step in range(int(s.meld_low[m]), int(s.meld_low[m] + s.meld_size[m])):
            face = int(state.face_at(int(s.meld_key[m]) * NUM_STEPS + step))
            kinds = [kind for kind, steps in enumerate(wilds) if steps >> step & 1]
            faces.append(int(WILD_FACES[kinds[0]]) if kinds else face)
        return faces
    faces = [suit * NUM_RANKS + int(s.meld_key[m]) for suit in range(4) if naturals >> suit & 1]
    return faces + [int(WILD_FACES[kind]) for kind, number in enumerate(wilds) for _ in range(number)]


def unseen(s, player):
    """Return the counts by face of the cards that `player` has not seen: in the stock and in other hands."""
    counts = [int(state.copies_of(s, face)) for face in range(NUM_FACES)]
    seen = hand_of(s, player) + [int(face) for face in s.row[: int(s.num_row)]]
    for p in range(int(s.rules.num_players)):
        seen += known_of(s, p) if p != player else []
    for side in range(NUM_SIDES):
        seen += faces_in(int(s.melded[side]), int(s.melded_twice[side]), s.melded_jokers[side])
    for face in seen:
        counts[face] -= 1
    return counts


class PinnacolaView(View):
    """Words of Pinnacola."""

    phases = PHASES
    remembered = frozenset({"known_hands", "not_seen_yet"})
    reasons = {  # noqa: RUF012
        actions.WRONG_PHASE: "that is not the question now (rules.md 4.1)",
        actions.NO_STOCK: "the stock is empty (rules.md 5.5)",
        actions.STOCK_LEFT: "there are cards in the stock (rules.md 5.5)",
        actions.NOT_IN_ROW: "that card is not in the row, or not so often (rules.md 4.2)",
        actions.NOT_LAST: "in this game the row is taken for its last card (rules.md 4.2)",
        actions.CANNOT_USE: "that card could not be melded at once (rules.md 4.2, 4.5, 4.8)",
        actions.NOT_HELD: "not all of these cards are in hand (rules.md 4.3)",
        actions.MUST_USE: "the card just taken must be melded first (rules.md 4.2, 4.5)",
        actions.NO_ACES: "in this game a run has no ace at both ends (rules.md 3.1)",
        actions.NO_TWOS: "with pinelle there are no sets of twos (rules.md 3.2)",
        actions.NO_JOKERS: "in this game jokers alone are no meld (rules.md 3.5)",
        actions.TOO_MANY_WILDS: "in this game a meld has fewer wild cards (rules.md 3.3)",
        actions.NOT_IN_GAME: "this game is played without that (rules.md 1.4, 4.5)",
        actions.IS_NATURAL: "there the two is a natural card (rules.md 1.4)",
        actions.NO_MELD: "no meld takes that card there (rules.md 4.4)",
        actions.NO_JOKER_THERE: "no joker that may be taken stands for that card (rules.md 4.5)",
        actions.CANNOT_DISCARD: "after that, the turn could not end with a legal discard (rules.md 4.8, 5)",
        actions.NO_CLOSING: "the side may not close now (rules.md 5.2, 5.4)",
        actions.FITS: "the closing discard may not fit a meld (rules.md 5.3)",
    }

    # -- cards --------------------------------------------------------------------------------------------------

    def token_label(self, token):
        return _TEXTS[token]

    def token_code(self, token):
        return FACE_LABELS[token]

    def parse_token(self, text):
        return JOKER if text.strip().lower() in ("jk", "joker") else parse_card(text)

    def token_face(self, token):
        return card_face(FACE_LABELS[token])

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        table.put("stock", s.deck[int(s.num_dealt) : int(s.num_dealt + state.num_stock(s))], seen=viewer == OMNISCIENT)
        table.put("row", s.row[: int(s.num_row)])
        for p in range(int(s.rules.num_players)):
            shown = hand_of(s, p) if sees(viewer, p) else known_of(s, p)
            table.put("hand", shown, unknown=int(s.hand_sizes[p]) - len(shown), player=p)
        for side in range(NUM_SIDES):
            faces = faces_in(int(s.melded[side]), int(s.melded_twice[side]), s.melded_jokers[side])
            table.put("melds", faces, player=side)
            table.set("score", s.scores[side], player=side)
        for m in range(MAX_MELDS):
            table.set(f"meld_{m}", s.meld_shape[m] if m < s.num_melds else 0)
        table.set("dealer", s.dealer)
        table.set("hand_number", s.num_hands)

    def arrange(self, s, viewer, scene):
        """Melds in groups with their points, and no piles that a player has not."""
        for p in range(int(s.rules.num_players)):
            pile = scene.piles["melds", p]
            of_side = [m for m in range(int(s.num_melds)) if s.meld_side[m] == p] if p < NUM_SIDES else []
            if of_side:
                groups = [meld_faces(s, m) for m in of_side]
                pile.tokens = [face for group in groups for face in group]
                pile.groups = [len(group) for group in groups]
                pile.captions = [_caption(s, m) for m in of_side]
            else:
                pile.layout = PileLayout.NONE
        for counter in scene.counters.values():
            if isinstance(counter.value, list):
                counter.value = counter.value[:NUM_SIDES]
        if s.rules.num_players > NUM_SIDES:
            for player, notes in enumerate(scene.notes):
                notes.append(f"with player_{(player + 2) % 4}")
        if s.rules.target >= 0:
            number = scene.counters["hand_number"]
            number.use, number.label = CounterUse.NUMBER, f"match to {s.rules.target}, hand"

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "take 9♥ and 2 more", "meld 5♥ JK 7♥", "add 8♥ above 5♥ 6♥ 7♥", "discard 4♠" and so on."""
        op, x, y, wild = (int(part) for part in parts(action))
        if op == actions.OP_DRAW:
            return "draw"
        if op == actions.OP_STOP:
            return "stop"
        if op == actions.OP_TAKE:
            place = int(hands.place_in_row(s, x, y))
            more = int(s.num_row) - int(hands.first_taken(s, place)) - 1
            return f"take {_TEXTS[x]}" + (f" and {more} more" if place >= 0 and more else "")
        if op == actions.OP_DISCARD:
            return f"discard {_TEXTS[x]}"
        if _is_new_meld(op):
            return f"meld {' '.join(_TEXTS[face] for face in new_meld(op, x, y, wild))}"
        target = _target(s, op, x, y)
        if melds.is_swap(op):
            face = int(state.face_at(x)) if op == actions.OP_SWAP_RUN else x
            return f"replace JK by {_TEXTS[face]} in {target}"
        where = {
            actions.OP_ABOVE: "above", actions.OP_WILD_ABOVE: "above",
            actions.OP_BELOW: "below", actions.OP_WILD_BELOW: "below",
        }.get(op, "to")  # fmt: skip
        return f"add {_TEXTS[laid(action)[0]]} {where} {target}"

    def choice(self, s, action):
        player = int(s.current_player)
        op, x, y, _ = (int(part) for part in parts(action))
        hand = ("hand", player)
        if op == actions.OP_DRAW:
            return Choice((), ("stock", None))
        if op == actions.OP_TAKE:
            return Choice((x,), ("row", None), hand)
        if op == actions.OP_DISCARD:
            return Choice((x,), hand, ("row", None))
        if op == actions.OP_STOP:
            return Choice()
        if _is_new_meld(op):
            return Choice(tuple(laid(action)), hand)
        return Choice(tuple(laid(action)), hand, ("melds", int(s.meld_side[melds.nth_meld(s, op, x, y)])))

    def prompt(self, s):
        if s.phase == DRAW:
            return "Draw, or take from the row?" if state.num_stock(s) else "Take from the row, or stop?"
        if s.phase == USE:
            return f"Meld the {_TEXTS[int(s.must_use)]} that you have taken."
        if s.hand_sizes[s.current_player] > 1 or legal.may_close(s, int(s.current_player)):
            return "Meld, or discard."
        return "Meld."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        sides, side = range(NUM_SIDES), int(side_of(player))
        return {
            "side": side,
            "scores": [int(s.scores[k]) for k in sides],
            "points_melded": [int(s.points[k]) for k in sides],
            "melds": [
                [" ".join(_TEXTS[face] for face in meld_faces(s, m)) for m in range(int(s.num_melds))
                 if s.meld_side[m] == k]
                for k in sides
            ],
            "has_pinnacola": [bool(s.has_pinnacola[k]) for k in sides],
            "has_poker": [bool(s.has_poker[k]) for k in sides],
            "may_close": bool(legal.may_close(s, player)),
            "hand_points": int(melds.hand_points(s, player)),
            "hand_sizes": [int(size) for size in s.hand_sizes[: int(s.rules.num_players)]],
            "known_hands": [
                [_TEXTS[face] for face in (hand_of(s, p) if p == player else known_of(s, p))]
                for p in range(int(s.rules.num_players))
            ],
            "row": int(s.num_row),
            "stock": int(state.num_stock(s)),
            "not_seen_yet": {_TEXTS[face]: number for face, number in enumerate(unseen(s, player)) if number},
        }  # fmt: skip

    def candidates(self, state, player):
        """Return whole turns, or the legal steps of a turn that has begun to meld."""
        return candidates(state, player)

    def describe_event(self, event, kind):
        if event.kind == "shape":
            return _shape_text(event.value)
        if event.kind in _SIDE_EVENTS:
            player = f"player_{event.player}"
            return super().describe_event(event, kind).replace(player, f"{player}'s side", 1)
        return super().describe_event(event, kind)


def _is_new_meld(op):
    return op < actions.OP_ABOVE or op in (actions.OP_GAP_RUN, actions.OP_WILD_SET, actions.OP_DOUBLE)


def new_meld(op, x, y, wild):
    """Return the faces of the meld that an action with these parts begins, in the order of `meld_faces`."""
    if op == actions.OP_JOKERS:
        return [JOKER] * x
    if op in (actions.OP_SET, actions.OP_WILD_SET):
        faces = [suit * NUM_RANKS + x for suit in range(4) if y >> suit & 1]
        return faces + ([int(WILD_FACES[wild])] if op == actions.OP_WILD_SET else [])
    length = y if op == actions.OP_RUN else 4 if op == actions.OP_DOUBLE else 3
    faces = [int(state.face_at(x + step)) for step in range(length)]
    if op == actions.OP_GAP_RUN:
        faces[y] = int(WILD_FACES[wild])
    elif op == actions.OP_DOUBLE:
        faces[1:3] = int(WILD_FACES[y]), int(WILD_FACES[wild])
    return faces


def laid(action):
    """Return the faces that leave the hand with an action that melds."""
    faces, second, jokers, spades, clubs = (int(part) for part in cards_laid(action))
    twos = [TWO_OF_SPADES] * spades + [TWO_OF_CLUBS] * clubs
    return faces_in(faces, second, 0) + twos + [JOKER] * jokers


def meld_text(s, m):
    """Return a meld in words: all its cards, or the ends of a long run without wild cards."""
    faces = meld_faces(s, m)
    if s.meld_kind[m] == RUN and len(faces) >= _LONG and not melds.num_wilds(s, m):
        return f"{_TEXTS[faces[0]]} to {_TEXTS[faces[-1]]}"
    return " ".join(_TEXTS[face] for face in faces)


def _target(s, op, x, k):
    """Return the meld to which a card is added, in words."""
    m = int(melds.nth_meld(s, op, x, k))
    if m == melds.NO_ROOM:
        return f"meld {k + 1} that takes it"
    side = int(s.meld_side[m])
    owner = "" if side == side_of(int(s.current_player)) else f"player_{side}'s "
    return owner + meld_text(s, m)


def _caption(s, m):
    """Return what a meld is called, if it counts more than its cards, and its points."""
    points = f"{int(s.meld_points[m])}"
    is_clean = s.meld_kind[m] != state.JOKERS and not melds.num_wilds(s, m)
    if s.meld_kind[m] == RUN and is_clean and s.meld_size[m] >= s.rules.pinnacola_length:
        return ("pinnacolone " if s.meld_size[m] >= state.PINNACOLONE else "pinnacola ") + points
    if s.meld_kind[m] == SET and s.meld_size[m] == state.MAX_SET:
        return "poker " + points
    return points


def _shape_text(shape):
    """Return what the counter of a meld says, see `melds.shape_of`."""
    if not shape:
        return "A meld is gone."
    kind, size = shape % 4, shape // (4 * 2 * 16 * 16) % 16
    name = {RUN: "run", SET: "set"}.get(kind, "meld of jokers")
    return f"player_{shape // 4 % 2}'s side has a {name} of {count(size, 'card')}."
