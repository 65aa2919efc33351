"""Texts of liar's dice. Dice are shown as faces, ⚀ to ⚅, or as numbers above six."""

import math

from cardenvs.core.events import UNKNOWN, Pile, PileLayout
from cardenvs.core.game_view import Choice, PileView, SheetView
from cardenvs.core.text import count
from cardenvs.core.view import View, sees
from cardenvs.games.liars_dice import rules

_FACES = "⚀⚁⚂⚃⚄⚅"
_SHOWN_DICE = Pile("dice", ordered=False, layout=PileLayout.HAND)  # only in pictures: dice are no tokens of the table
_REASONS = {
    rules.NO_BID: "there is no bid to call yet (rules.md 2.1)",
    rules.TOO_MANY: "only {dice} are in play (rules.md 2.4)",
    rules.NOT_HIGHER: "a bid must be higher than {bid} (rules.md 2.2, 2.3, 2.5)",
    rules.NOT_THE_FACE: "in a palifico all bids are on the face {face} (rules.md 4.6)",
    rules.OPENS_ON_ONES: "the first bid may not be on ones (rules.md 2.5)",
    rules.NO_EXACT: f"after {rules.EXACT_BIDDINGS} biddings nobody may call exact (rules.md 4.7)",
}


class LiarsDiceView(View):
    """Words of liar's dice. Its tokens are faces, which only explicit rolls use."""

    tokens = tuple(str(face + 1) for face in range(rules.MAX_SIDES))
    shape = "ring"

    def token_face(self, token):
        return {"kind": "die", "text": self.tokens[token]}

    def fill_table(self, s, viewer, table):
        """Show dice to their owners, and to everybody once they are shown; the rest to all."""
        super().fill_table(s, viewer, table)
        for p in range(int(s.rules.num_players)):
            is_seen = s.is_shown or sees(viewer, p)
            table.set("dice", rules.as_number(s, p) if is_seen else None, player=p)

    def action_label(self, s, action):
        """Return "3-5" for a bid of at least three fives, as in OpenSpiel."""
        liar = int(rules.liar_of(s.rules))
        if action < liar:
            return f"{rules.quantity_of(s, action)}-{rules.face_of(s, action)}"
        return "liar" if action == liar else "exact"

    def choice(self, s, action):
        """Return a key of the keypad for a bid, with a row for each number of dice, or each face."""
        if action >= rules.liar_of(s.rules):
            return Choice()
        by_face = s.rules.bidding == rules.FACE_FIRST
        return Choice(row=int(rules.face_of(s, action) if by_face else rules.quantity_of(s, action)) - 1)

    def illegal_reason(self, s, action, code):
        return _REASONS[code].format(dice=_dice(s.all_dice), bid=_last_bid(s), face=s.face)

    def prompt(self, s):
        if not s.quantity:
            return f"{_dice(s.all_dice)} in play: what do you bid?"
        return f"player_{s.bidder} bid {_last_bid(s)}. Bid higher, or call?"

    def facts(self, s, player):
        """Return the dice in play, the last bid, and how likely it holds if all unseen dice fall at random."""
        found = {"dice_in_play": int(s.all_dice), "wild_face": int(rules.wild_face(s)) or None}
        if s.quantity:
            found |= {"bid": _last_bid(s), "bidder": int(s.bidder)}
            found |= {"matches": int(rules.num_matches(s))} if s.is_shown else {"bid_holds": _chance(s, player)}
        return found

    def describe_event(self, event, kind):
        """Write bids as in their labels and dice as faces; leave out dice that the viewer does not see."""
        if event.kind == "bid":
            return f"player_{event.player} bids {event.value // 10}-{event.value % 10}."
        if event.kind in ("roll", "show"):
            verb = "rolls" if event.kind == "roll" else "shows"
            dice = "" if event.value is None else " " + (_faces(event.value) or "no dice")
            return f"player_{event.player} {verb}{dice}."
        return super().describe_event(event, kind)

    def arrange(self, s, viewer, scene):
        """Lay out dice as tiles instead of the counter, and show the last bid as in its label."""
        dice, bid = scene.counters.pop("dice"), scene.counters["bid"]
        for p, number in enumerate(dice.value):
            shown = [UNKNOWN] * int(s.num_dice[p]) if number is None else [face - 1 for face in _digits(number)]
            scene.piles["dice", p] = PileView(_SHOWN_DICE, p, "dice", PileLayout.HAND, shown)
            if not s.num_dice[p]:
                scene.notes[p].append("out")
        if s.num_bids:
            scene.sheet = _bids_sheet(s)
        bid.value = f"{_last_bid(s)} by player_{s.bidder}" if s.quantity else "none yet"
        if s.is_palifico:
            bid.label = "palifico, bid"


def _bids_sheet(s):
    """Return the bids of this bidding, a row for each round of the table."""
    n, rows, last = int(s.rules.num_players), [], -1
    for k in range(int(s.num_bids)):
        bid, bidder = map(int, s.bids[k])
        if not rows or bidder <= last:
            rows.append([])
        rows[-1] += [""] * (bidder - len(rows[-1])) + [f"{rules.quantity_of(s, bid)}-{rules.face_of(s, bid)}"]
        last = bidder
    return SheetView([f"player_{p}" for p in range(n)], rows)


def _last_bid(s):
    return f"{s.quantity}-{s.face}"


def _dice(number):
    return count(int(number), "die")


def _digits(number):
    """Return dice from the number that a counter holds, as in 255: a two and two fives."""
    return [int(digit) for digit in str(int(number)) if digit != "0"]


def _faces(number):
    return " ".join(_FACES[face - 1] if face <= len(_FACES) else str(face) for face in _digits(number))


def _chance(s, player):
    """Return the chance that the last bid holds, if the dice that `player` does not see fall at random."""
    face, wild = int(s.face), int(rules.wild_face(s))
    faces = {face, wild or face}
    unseen = int(s.all_dice - s.num_dice[player])
    needed = int(s.quantity) - sum(int(s.dice[player, one - 1]) for one in faces)
    chance = len(faces) / int(s.rules.sides)
    held = (math.comb(unseen, k) * chance**k * (1 - chance) ** (unseen - k) for k in range(max(needed, 0), unseen + 1))
    return round(sum(held), 4)
