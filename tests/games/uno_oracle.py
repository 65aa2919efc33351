"""Uno once more, slow and obvious, from rules.md: lists of card texts, and actions as texts.

Chance is fed in: the cards that are dealt, turned up and drawn, in order, and RLCard's random colours. The oracle
checks that a card fed to it can be in the draw pile.
"""

from collections import Counter

COLOURS = ("r", "g", "b", "y")
SYMBOLS = (*"0123456789", "skip", "reverse", "draw_2")
WILDS = ("wild", "wild_draw_4")
DECK = [f"{c}-{s}" for c in COLOURS for s in SYMBOLS for _ in range(1 if s == "0" else 2)]
DECK += [wild for wild in WILDS for _ in range(4)]


def colour_of(card):
    return card[0] if card not in WILDS else None


def symbol_of(card):
    return card if card in WILDS else card[2:]


def points_of(card):
    return 50 if card in WILDS else int(card[2:]) if card[2:].isdigit() else 20


class Oracle:
    """A game. Feed the cards that leave the draw pile to `feed` before each call that needs them."""

    def __init__(self, options, feed, colours):
        self.o, self.n, self.feed, self.colours = options, options.num_players, feed, colours
        self.scores, self.rounds, self.dealer, self.over = [0] * self.n, 0, self.n - 1, False
        self.returns = [0.0] * self.n
        self.begin_round()

    # -- cards --------------------------------------------------------------------------------------------------

    def take(self):
        """The next card of the draw pile."""
        card = self.feed.pop(0)
        assert self.pile[card] > 0, f"{card} is not in the draw pile"
        self.pile[card] -= 1
        return card

    def remake_pile(self):
        kept = [] if self.o.rlcard else self.discards[-1:]
        self.pile += Counter(self.discards[: len(self.discards) - len(kept)])
        self.discards = kept

    def next_card(self):
        """A card that is drawn, or None."""
        if not self.pile.total():
            self.remake_pile()
        return self.take() if self.pile.total() else None

    def draw(self, player, number):
        for _ in range(number):
            card = self.next_card()
            if card:
                self.hands[player].append(card)

    # -- the round ----------------------------------------------------------------------------------------------

    def begin_round(self):
        self.rounds += 1
        self.turns, self.sign, self.owed = 0, 1, 0
        self.pile, self.discards = Counter(DECK), []
        self.hands = [[self.take() for _ in range(self.o.hand_size)] for _ in range(self.n)]
        top = self.take()
        while top == "wild_draw_4":
            self.pile[top] += 1
            top = self.take()
        self.discards, self.top, self.colour = [top], symbol_of(top), colour_of(top)
        first, self.author = (self.dealer + 1) % self.n, None
        if top == "wild" and self.o.rlcard:
            self.colour = self.colours.pop(0)
        if top == "wild" and not self.o.rlcard:
            self.ask("name", first)
        elif self.top == "reverse":
            self.sign = -1
            self.turn(self.dealer)
        elif self.top == "skip":
            self.turn(self.after(first))
        elif self.top == "draw_2":
            self.draw(first, 2)
            self.turn(first if self.o.rlcard else self.after(first))
        else:
            self.turn(first)

    def after(self, player):
        return (player + self.sign) % self.n

    def ask(self, what, player):
        self.question, self.to_act = what, player

    def turn(self, player):
        if self.turns == self.o.max_turns:
            self.end_round(None)
            return
        self.turns += 1
        self.ask("play", player)

    # -- what is legal ------------------------------------------------------------------------------------------

    def challenges(self):
        return self.o.wild4 == "challenge" and self.o.stacking == "none" and not self.o.rlcard

    def fits(self, card, hand):
        if card == "wild":
            return True
        if card == "wild_draw_4":
            if self.o.rlcard:
                return not any(self.fits(other, hand) for other in hand if other != card)
            return self.challenges() or not any(colour_of(other) == self.colour for other in hand)
        return colour_of(card) == self.colour or symbol_of(card) == self.top

    def playable(self):
        hand = self.hands[self.to_act]
        if self.question == "play":
            return [card for card in hand if self.fits(card, hand)]
        if self.question == "drawn":
            return [self.drawn] if self.fits(self.drawn, [*hand, self.drawn]) else []
        if self.question == "stack":
            allowed = [self.top] + (["wild_draw_4"] if self.o.stacking == "any" else [])
            return [card for card in hand if symbol_of(card) in allowed]
        if self.question == "jump":
            return [card for card in hand if card == self.discards[-1]]
        return []

    def legal(self):
        """The legal actions: "r-7", "wild b", "draw", ..."""
        cards = set(self.playable())
        found = {card for card in cards if card not in WILDS}
        found |= {f"{card} {colour}" for card in cards if card in WILDS for colour in COLOURS}
        if self.question == "play" and not (cards and (self.o.forced_play or self.o.rlcard)):
            found.add("draw")
        more = {
            "play": [],
            "stack": ["draw"],
            "drawn": ["pass"],
            "jump": ["pass"],
            "say": ["pass", "uno"],
            "catch": ["pass", "catch"],
            "challenge": ["accept", "challenge"],
            "name": [f"name {colour}" for colour in COLOURS],
            "swap": [f"swap {p}" for p in range(self.n) if p != self.to_act],
        }
        return found | set(more[self.question])

    # -- actions ------------------------------------------------------------------------------------------------

    def act(self, action):
        player, question = self.to_act, self.question
        word, _, more = action.partition(" ")
        if word == "draw" and question == "stack":
            owed, self.owed = self.owed, 0
            self.draw(player, owed)
            self.turn(self.after(player))
        elif word == "draw":
            self.draw_in_turn(player)
        elif word == "name":
            self.colour = more
            self.turn(player)
        elif word == "accept":
            self.draw(player, 4)
            self.turn(self.after(player))
        elif word == "challenge":
            guilty = any(colour_of(card) == self.old_colour for card in self.hands[self.author])
            self.draw(self.author if guilty else player, 4 if guilty else 6)
            self.turn(player if guilty else self.after(player))
        elif word == "uno":
            self.after_call()
        elif word == "catch":
            self.draw(self.author, 2)
            self.after_call()
        elif word == "swap":
            other = int(more)
            self.hands[player], self.hands[other] = self.hands[other], self.hands[player]
            self.turn(self.after(player))
        elif word == "pass":
            self.pass_on(player, question)
        else:
            self.play(player, word, more)

    def pass_on(self, player, question):
        if question == "drawn":
            self.hands[player].append(self.drawn)
            self.turn(self.after(player))
        elif question == "say":
            self.ask("catch", self.after(player))
        elif self.after(player) != self.author:
            self.ask(question, self.after(player))
        elif question == "catch":
            self.after_call()
        else:
            self.effect()

    def draw_in_turn(self, player):
        if self.o.rlcard:
            self.draw_as_rlcard(player)
            return
        card = self.next_card()
        while self.o.draw == "until_playable" and card and not self.fits(card, [*self.hands[player], card]):
            self.hands[player].append(card)
            card = self.next_card()
        if card is None:
            self.turn(self.after(player))
        else:
            self.drawn = card
            self.ask("drawn", player)

    def draw_as_rlcard(self, player):
        card = self.next_card()
        if card in WILDS:
            self.discards.append(card)
            self.top, self.colour = card, self.colours.pop(0)
            self.turn(self.after(player))
        elif card and colour_of(card) == self.colour:
            self.discards.append(card)
            self.top, self.author = symbol_of(card), player
            self.effect()
        else:
            self.hands[player] += [card] if card else []
            self.turn(self.after(player))

    def play(self, player, card, named):
        if self.question != "drawn":
            self.hands[player].remove(card)
        self.discards.append(card)
        self.author, self.old_colour = player, self.colour
        self.top, self.colour = symbol_of(card), named or colour_of(card)
        if self.o.stacking != "none":
            self.owed += {"draw_2": 2, "wild_draw_4": 4}.get(self.top, 0)
        if not self.hands[player]:
            self.pay_draw(self.after(player))
            self.end_round(player)
        elif len(self.hands[player]) == 1 and self.o.uno_call == "action":
            self.ask("say", player)
        else:
            self.after_call()

    def after_call(self):
        card = self.discards[-1]
        if self.o.jump_in and card not in WILDS and DECK.count(card) > self.discards.count(card):
            self.ask("jump", self.after(self.author))
        else:
            self.effect()

    def pay_draw(self, player):
        number = self.owed if self.o.stacking != "none" else {"draw_2": 2, "wild_draw_4": 4}.get(self.top, 0)
        if self.o.rlcard and self.pile.total() < number:
            self.remake_pile()
        self.draw(player, number)

    def effect(self):
        player, top = self.author, self.top
        if top == "reverse":
            self.sign = -self.sign
            self.turn(player if self.n == 2 and not self.o.rlcard else self.after(player))
        elif top == "skip":
            self.turn(self.after(self.after(player)))
        elif top in ("draw_2", "wild_draw_4") and self.o.stacking != "none":
            self.ask("stack", self.after(player))
        elif top == "wild_draw_4" and self.challenges():
            self.ask("challenge", self.after(player))
        elif top in ("draw_2", "wild_draw_4"):
            self.pay_draw(self.after(player))
            self.turn(self.after(self.after(player)))
        elif top == "7" and self.o.seven_zero and self.n > 2:
            self.ask("swap", player)
        else:
            if top in "07" and self.o.seven_zero and (top == "0" or self.n == 2):
                old = list(self.hands)
                for p in range(self.n):
                    self.hands[self.after(p)] = old[p]
            self.turn(self.after(player))

    # -- the end ------------------------------------------------------------------------------------------------

    def end_round(self, winner):
        left = [sum(map(points_of, hand)) for hand in self.hands]
        if winner is not None:
            for p in range(self.n):
                if self.o.scoring == "against":
                    self.scores[p] += left[p]
                elif p == winner:
                    self.scores[p] += sum(left)
        if self.o.target is not None and max(self.scores) < self.o.target and self.rounds < 100:
            self.dealer = (self.dealer + 1) % self.n
            self.begin_round()
            return
        self.over = True
        good = [score if self.o.scoring == "winner" else -score for score in self.scores]
        if self.o.returns == "points":
            self.returns = [own - (sum(good) - own) / (self.n - 1) for own in good]
        else:
            best = [p for p in range(self.n) if good[p] == max(good)]
            best = best if self.o.target is not None else [] if winner is None else [winner]
            pot = self.n - len(best) if best else 0
            self.returns = [
                (pot / len(best) if p in best else -1.0) / (self.n - 1) if best else 0.0 for p in range(self.n)
            ]
