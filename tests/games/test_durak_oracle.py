"""Durak beside a second implementation: plain lists and dictionaries, written from rules.md, slow and obvious.

The two play the same random games of all variants; after each action the legal actions, all cards, the roles and in the
end the returns must agree.
"""

import random

import pytest
from ascii_cards import in_ascii

from cardenvs.core.kernel import COMPILED
from cardenvs.games.durak import GAME
from cardenvs.kits.cards import card_label, cards_of

GAMES = 200 if COMPILED else 12


class PlainDurak:
    """One game of Durak. Cards are texts such as "Th"; a legal action is its label."""

    def __init__(self, deck: list[str], **options) -> None:
        self.__dict__.update(GAME.make_options(**options).as_dict())
        self.hands = [[deck.pop(0) for _ in range(self.hand_size)] for _ in range(self.num_players)]
        last = deck[0] if deck else self.hands[-1][-1]
        self.trump = last[1]
        self.talon = deck[1:] + deck[:1]
        self.team = [p % self.count_teams() for p in range(self.num_players)]
        self.in_game = list(range(self.num_players))
        self.discards, self.shown, self.bouts, self.returns = [], [], 0, None
        self.begin(self.opener())

    def count_teams(self) -> int:
        return self.num_players // {"none": 1, "pairs": 2, "trios": 3}[self.teams]

    def opener(self) -> int:
        trumps = [(self.value(card), p) for p, hand in enumerate(self.hands) for card in hand if card[1] == self.trump]
        return min(trumps)[1] if trumps and self.first_attacker == "lowest_trump" else 0

    def value(self, card: str) -> int:
        return "23456789TJQKA".index(card[0])

    def begin(self, attacker: int) -> None:
        self.attacks, self.beats, self.pending = [], [], []
        self.phase, self.player = "lead", attacker
        self.face(attacker)

    def face(self, attacker: int) -> None:
        self.attacker, self.defender = attacker, self.after(attacker, opponents_only=True)
        self.limit = min(self.cap(), len(self.hands[self.defender]))

    def cap(self) -> int:
        return min(self.max_attack_cards, self.first_bout_max if self.bouts == 0 else 99)

    def circle(self, start: int) -> list[int]:
        return [(start + k) % self.num_players for k in range(1, self.num_players)]

    def after(self, player: int, opponents_only: bool = False) -> int:
        for other in self.circle(player):
            if other in self.in_game and not (opponents_only and self.team[other] == self.team[player]):
                return other
        raise AssertionError("the game is over")

    # -- legal actions ------------------------------------------------------------------------------------------

    def legal(self) -> set[str]:
        hand = self.hands[self.player]
        if self.phase == "lead":
            return {f"lead {card}" for card in hand}
        ranks = {card[0] for card in self.attacks + self.beats}
        if self.phase == "defend":
            return {"take"} | {f"beat with {card}" for card in hand if self.wins(card)} | self.transfers()
        word = "add" if self.phase == "add" else "throw in"
        return {"pass"} | {f"{word} {card}" for card in hand if card[0] in ranks}

    def wins(self, card: str) -> bool:
        attack = self.attacks[len(self.beats)]
        if card[1] == attack[1]:
            return self.value(card) > self.value(attack)
        return card[1] == self.trump

    def transfers(self) -> set[str]:
        if self.variant == "podkidnoy" or self.beats or (self.bouts == 0 and not self.transfer_in_first_bout):
            return set()
        hand, number, rank = self.hands[self.defender], len(self.attacks), self.attacks[0][0]
        room = min(self.cap(), len(self.hands[self.after(self.defender, opponents_only=True)]))
        found = {f"transfer with {card}" for card in hand if card[0] == rank and number + 1 <= room}
        trump = rank + self.trump
        if self.show_trump_transfer and trump in hand and trump not in self.shown and number <= room:
            found.add(f"show {trump} to transfer")
        return found

    # -- moves --------------------------------------------------------------------------------------------------

    def play(self, label: str) -> None:
        words, player = label.split(), self.player
        card = words[1] if words[0] == "show" else words[-1]
        if label == "take":
            self.phase, self.pending = "add", self.throwers() if self.throw_in_on_take else []
            self.ask_next_to_add()
        elif words[0] == "show":
            self.shown.append(card)
            self.move_on(player)
        elif words[0] == "transfer":
            self.hands[player].remove(card)
            self.attacks.append(card)
            self.move_on(player)
        elif words[0] == "beat":
            self.hands[player].remove(card)
            self.beats.append(card)
            if len(self.beats) == len(self.attacks):
                self.phase, self.pending = "throw_in", self.throwers() if len(self.attacks) < self.limit else []
                self.ask_next()
        elif label == "pass":
            self.pending.remove(player)
            self.ask_next() if self.phase == "throw_in" else self.ask_next_to_add()
        else:
            self.hands[player].remove(card)
            self.attacks.append(card)
            if words[0] == "add":
                self.ask_next_to_add()
            else:
                self.phase, self.player = "defend", self.defender

    def move_on(self, attacker: int) -> None:
        self.face(attacker)
        self.player = self.defender

    def throwers(self) -> list[int]:
        """The attackers in the order of asking: the primary attacker, then from the defender's left."""
        left = [p for p in self.circle(self.defender) if p in self.in_game and p != self.attacker]
        left = [p for p in left if self.team[p] != self.team[self.defender]]
        if self.throw_in_by == "neighbours":
            around = [p for p in self.circle(self.defender) if p in self.in_game]
            left = [p for p in left if p in (around[0], around[-1])]
        return [self.attacker, *left]

    def ask_next(self) -> None:
        self.pending = [p for p in self.pending if self.hands[p]]
        if self.pending:
            self.player = self.pending[0]
        else:
            self.finish(taken=False)

    def ask_next_to_add(self) -> None:
        self.pending = [p for p in self.pending if self.hands[p]]
        if self.pending and len(self.attacks) < self.limit:
            self.player = self.pending[0]
        else:
            self.finish(taken=True)

    def finish(self, taken: bool) -> None:
        (self.hands[self.defender] if taken else self.discards).extend(self.attacks + self.beats)
        self.attacks, self.beats = [], []
        order = [p for p in [self.attacker, *self.circle(self.attacker)] if p != self.defender] + [self.defender]
        for p in order:
            while self.talon and len(self.hands[p]) < self.hand_size:
                self.hands[p].append(self.talon.pop(0))
        self.in_game = [p for p in self.in_game if self.hands[p]]
        self.bouts += 1
        teams = {self.team[p] for p in self.in_game}
        if len(teams) <= 1:
            self.settle(teams)
        elif self.bouts == self.max_bouts:
            self.settle(set())
        else:
            self.begin(self.defender if not taken and self.hands[self.defender] else self.after(self.defender))

    def settle(self, losing: set[int]) -> None:
        losers = [p for p in range(self.num_players) if self.team[p] in losing]
        winners = self.num_players - len(losers)
        self.returns = [-1.0 if p in losers else len(losers) / winners for p in range(self.num_players)]


def random_options(chooser: random.Random) -> dict:
    """Options that fit together; each often has its default."""
    options = {"num_players": chooser.randint(2, 6)}
    if chooser.random() < 0.6:
        options |= {"variant": "perevodnoy", "show_trump_transfer": chooser.random() < 0.5}
        options["transfer_in_first_bout"] = chooser.random() < 0.8
    if chooser.random() < 0.5:
        options["deck_size"] = chooser.choice(["24", "52"])
        options["hand_size"] = chooser.randint(1, 4) if options["deck_size"] == "24" else chooser.randint(1, 8)
    if chooser.random() < 0.5:
        options |= {"max_attack_cards": chooser.randint(1, 8), "first_bout_max": chooser.randint(1, 6)}
        options |= {"throw_in_by": "neighbours", "throw_in_on_take": chooser.random() < 0.5}
    if options["num_players"] in (4, 6) and chooser.random() < 0.5:
        options["teams"] = "pairs" if options["num_players"] == 4 else chooser.choice(["pairs", "trios"])
    if chooser.random() < 0.2:
        options |= {"first_attacker": "seat0", "max_bouts": chooser.randint(1, 30)}
    return options


def compare(state, plain: PlainDurak) -> None:
    s, n = state.record, plain.num_players
    assert [sorted(map(card_label, cards_of(hand))) for hand in s.hands[:n]] == [sorted(hand) for hand in plain.hands]
    assert sorted(map(card_label, cards_of(s.attack))) == sorted(plain.attacks)
    assert sorted(map(card_label, cards_of(s.defence))) == sorted(plain.beats)
    assert sorted(map(card_label, cards_of(s.discards))) == sorted(plain.discards)
    assert int(s.num_face_down) + (s.turn_up >= 0) == len(plain.talon)
    if plain.returns is not None:
        assert state.is_terminal
        assert state.returns == pytest.approx(plain.returns)
        return
    assert (state.phase, state.current_player) == (plain.phase, plain.player)
    assert (int(s.primary), int(s.defender)) == (plain.attacker, plain.defender)
    assert {in_ascii(state.action_label(action)) for action in state.legal_actions()} == plain.legal()


def play_both(seed: int) -> None:
    """Play one random game on both; half of the actions are the heuristic's, so that games also end soon."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    tokens = GAME.deck(GAME.make_options(**options)).tolist()
    chooser.shuffle(tokens)
    state = GAME.new_state(seed=seed, deck=tokens, **options)
    plain = PlainDurak([card_label(card) for card in tokens], **options)
    share = chooser.choice([0.0, 0.5, 0.9])
    while not state.is_terminal:
        compare(state, plain)
        by_policy = chooser.random() < share
        action = state.policy_action("heuristic", seed) if by_policy else chooser.choice(state.legal_actions())
        plain.play(in_ascii(state.action_label(action)))
        state.apply(action)
    compare(state, plain)


@pytest.mark.parametrize("part", range(4))
def test_random_games_agree_with_the_plain_implementation(part):
    for seed in range(part, GAMES, 4):
        play_both(seed)


@pytest.mark.slow
def test_many_random_games_agree_with_the_plain_implementation():
    for seed in range(1000, 11_000):
        play_both(seed)
