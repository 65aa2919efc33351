"""Texts of liar's dice. Dice are shown as faces, ⚀ to ⚅, or as numbers if they have more than six."""

from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import View, sees

from liars_dice import rules
from liars_dice.policy import holds_probability

FACES = "⚀⚁⚂⚃⚄⚅"
REASONS = {
    rules.NO_BID: "there is no bid to call yet (2.1)",
    rules.TOO_MANY: "only {dice} dice are in play (2.4)",
    rules.NOT_HIGHER: "a bid must be higher than {bid} (2.2, 2.3, 2.5)",
    rules.NOT_THE_FACE: "in a palifico all bids are on the face {face} (4.6)",
    rules.OPENS_ON_ONES: "the first bid may not be on ones (2.5)",
}


class LiarsDiceView(View):
    """Words of liar's dice. Its tokens are faces, which only explicit rolls use."""

    tokens = tuple(str(face + 1) for face in range(rules.MAX_SIDES))

    def fill_table(self, s, viewer, table):
        """Dice for their owners, for everybody once they are shown; the rest for all."""
        for p in range(int(s.rules.num_players)):
            is_seen = viewer == OMNISCIENT or sees(viewer, p) or s.is_shown
            table.set("dice", rules.as_number(s, p) if is_seen else None, player=p)
            table.set("num_dice", s.num_dice[p], player=p)
        table.set("bid", 10 * s.quantity + s.face)

    def action_label(self, s, action):
        """Bids as in OpenSpiel: "3-5" says that at least three dice show a five."""
        if action < rules.num_bids(s):
            return f"{rules.quantity_of(s, action)}-{rules.face_of(s, action)}"
        return "liar" if action == rules.num_bids(s) else "exact"

    def illegal_reason(self, s, action, code):
        """Why a bid or a call is not allowed now."""
        bid = f"{s.quantity}-{s.face}"
        return REASONS[code].format(dice=rules.dice_in_play(s), bid=bid, face=s.face)

    def prompt(self, s):
        """What the player to act is asked."""
        if not s.quantity:
            return f"There are {rules.dice_in_play(s)} dice. What do you bid?"
        return f"player_{s.bidder} bid {s.quantity}-{s.face}. Bid higher, or call?"

    def facts(self, s, player):
        """How likely the last bid is, if all dice that the player does not see fall at random."""
        shown = {"dice_in_play": int(rules.dice_in_play(s)), "wild_face": int(rules.wild_face(s)) or None}
        if s.quantity:
            chance = holds_probability(s, player, s.quantity, s.face)
            bid = f"{s.quantity}-{s.face}"
            shown |= {"bid": bid, "bidder": int(s.bidder), "bid_holds": round(float(chance), 4)}
        return shown

    def describe_event(self, event, kind):
        """Bids as in their labels, dice as faces, and rolls that the viewer does not see without dice."""
        if event.kind == "bid":
            return f"player_{event.player} bids {event.value // 10}-{event.value % 10}."
        if event.kind in ("roll", "show"):
            if event.value is None:
                return f"player_{event.player} rolls."
            if event.value == 0:
                return f"player_{event.player} has no dice."
            verb = "rolls" if event.kind == "roll" else "shows"
            return f"player_{event.player} {verb} {faces(event.value)}."
        return super().describe_event(event, kind)

    def arrange(self, s, viewer, scene):
        """Dice as faces, those that the viewer does not see as boxes; the last bid as in its label."""
        dice, bid = scene.counters["dice"], scene.counters["bid"]
        boxes = ["▢ " * int(number) for number in s.num_dice]
        dice.value = [
            (boxes[p] if value is None else faces(value)).strip() or "-" for p, value in enumerate(dice.value)
        ]
        bid.value = f"{s.quantity}-{s.face} by player_{s.bidder}" if s.quantity else "none yet"
        if s.is_palifico:
            bid.label = "palifico, bid"


def faces(number):
    """Dice from the number that a counter holds, as in 255: ⚁ ⚄ ⚄."""
    digits = [int(digit) for digit in str(int(number)) if digit != "0"]
    return " ".join(FACES[digit - 1] if digit <= len(FACES) else str(digit) for digit in digits)
