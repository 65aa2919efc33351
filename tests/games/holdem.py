"""What the tests of Texas hold'em share: hands set up in words, and played by a script."""

from cardenvs.games.texas_holdem import GAME
from cardenvs.kits.cards import NUM_CARDS, card_label, parse_cards

BOARD = "2c 7d 9h Js 3d"


def deal(num_players=6, hands=None, board=BOARD):
    """A deck: written hands by seat, any other cards for the other seats, and the board."""
    hands = {seat: parse_cards(cards) for seat, cards in (hands or {}).items()}
    board = parse_cards(board)
    used = {*board, *(card for cards in hands.values() for card in cards)}
    rest = iter(card for card in range(NUM_CARDS) if card not in used)
    cards = [card for seat in range(num_players) for card in hands.get(seat) or (next(rest), next(rest))]
    return " ".join(card_label(card) for card in cards + board)


def table(stacks=2000, *, blinds=(10, 20), num_players=6, hands=None, board=BOARD, seed=1, **options):
    """One hand of cash. `stacks`: a list, or those that differ from 2000, by seat."""
    if isinstance(stacks, dict):
        stacks = [stacks.get(seat, 2000) for seat in range(num_players)]
    elif isinstance(stacks, int):
        stacks = [stacks] * num_players
    num_players = len(stacks)
    options = {"format": "cash", "button": 0, "blinds": blinds, **options}
    deck = deal(num_players, hands, board)
    return GAME.new_state(seed=seed, num_players=num_players, stacks=stacks, deck=deck, **options)


def play(state, script):
    """Play "3:60 4:call 5:fold 0:check 1:all": seat, and what it does, a number being a raise-to total."""
    for step in script.split():
        seat, what = step.split(":")
        assert state.current_player == int(seat), f"seat {state.current_player} is to act, not {seat} ({script})"
        if what.isdigit():
            state.act("raise_to", int(what))
        else:
            state.act("all_in" if what == "all" else what)
    return state


def play_hand(state, script):
    """Play a script that ends a hand."""
    number = state.record.hand_number
    play(state, script)
    assert state.is_terminal or state.record.hand_number == number + 1
    return state


def to_call(state, seat):
    """What `seat`, which is to act, has to call, and its smallest raise, or None."""
    assert state.current_player == seat
    options = state.legal_options()
    return options.call_amount, options.min_raise_to


def pots(state):
    """The pots of the last hand that was settled: (amount, the seats that play for it), in order."""
    settled = []
    for event in state.events():
        if event.kind == "hand":
            latest, settled = settled, []
        elif event.kind == "settle_pot":
            settled.append((event.value, set()))
        elif event.kind == "eligible":
            settled[-1][1].add(event.player)
    return settled or latest


def last(state, kind):
    """The events of a kind, as (player, value)."""
    return [(event.player, event.value) for event in state.events() if event.kind == kind]


def returned(state):
    """What came back uncalled in the last hand that had a return: (seat, chips)."""
    events = state.events()
    for k in reversed(range(len(events))):
        if events[k].kind == "uncalled":
            seat = events[k].player
            before = [e.value for e in events[:k] if e.kind == "stack" and e.player == seat][-1]
            return seat, events[k + 1].value - before
    return None


def positions(state):
    """Button, small blind and big blind; the button with x at an empty seat, the small blind None if there is none."""
    s = state.record
    button = int(s.button) if s.live >> s.button & 1 else f"x{s.button}"
    small = int(s.small_blind_seat) if s.live >> s.small_blind_seat & 1 else None
    return button, small, int(s.big_blind_seat)
