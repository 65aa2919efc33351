"""Texas hold'em as PHH: written hands, what PokerKit makes of them, and what is read."""

import json
import random
import tomllib
import warnings
from collections import Counter

import pytest
from holdem import last, play, positions, table

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, HiddenInformationError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.kernel import COMPILED
from cardenvs.core.replay import Replay
from cardenvs.games.texas_holdem import GAME
from cardenvs.tools.texas_holdem import phh
from cardenvs.tools.texas_holdem.hands import read_hands
from cardenvs.tools.texas_holdem.timeline import Timeline

HAND = """
# Three players; p3, on the button, has raised, and p1 with the small blind is all-in for less than a raise.
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [300, 2000, 2000]
actions = [
    "d dh p1 QdQc", "d dh p2 ????", "d dh p3 AsKs # the winner of the side pot, had there been one",
    "p3 cbr 250",
    "p1 cbr 300",
    "p2 f",
    "p3 cc",
    "p1 sm QdQc", "p3 sm AsKs",
    "d db Qh7d9h", "d db Ac", "d db 3d",
]
finishing_stacks = [700, 1900, 1700]
"""
HEADS_UP = """
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [10, 20]
min_bet = 20
starting_stacks = [500, 400]
actions = ["d dh p1 2c7d", "d dh p2 AhAd", "p2 cc", "p1 cc", "d db KhKdKs", "p1 cbr 20", "p2 f"]
"""


def test_a_written_hand_is_played():
    state = phh.loads(HAND)
    assert state.is_terminal
    assert state.stacks == [700, 1900, 1700]
    assert (state.record.button, state.record.small_blind_seat) == (2, 0)
    timeline = Timeline.of(state)
    first = next(entry.index for entry in timeline.entries if entry.kind == "request")
    cards = timeline.view(first, OMNISCIENT)["table"]["piles"]["hand"]
    assert cards[0] == ["Q♣", "Q♦"]
    assert cards[2] == ["A♠", "K♠"]
    assert cards[1] == ["?", "?"]


def test_heads_up_the_last_player_has_the_button_and_the_small_blind():
    state = phh.loads(HEADS_UP)
    assert (state.record.button, state.record.small_blind_seat, state.record.big_blind_seat) == (1, 1, 0)
    assert state.stacks == [520, 380]
    first = next(entry for entry in Timeline.of(state).entries if entry.kind == "request")
    assert (first.data["player"], first.data["to_call"]) == (1, 10)


def test_seats_are_those_of_the_file():
    state = phh.loads(HAND + "seats = [5, 8, 2]\nseat_count = 9\n")
    assert state.record.button == 0
    assert state.stacks == [1700, 700, 1900]


def test_cards_that_are_shown_later_are_dealt():
    text = HAND.replace("p1 QdQc", "p1 ????", 1).replace("d dh p3 AsKs", "d dh p3 ????")
    assert phh.loads(text).stacks == [700, 1900, 1700]


def test_a_dash_shows_the_cards_that_were_dealt():
    assert phh.loads(HAND.replace("p1 sm QdQc", "p1 sm -")).stacks == [700, 1900, 1700]


def test_a_check_that_nobody_is_asked_for_here_is_passed_over():
    """The big blind is all-in for less than the small blind (rules.md 4.2): nobody has anything to decide."""
    text = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [10, 20, 0]
min_bet = 20
starting_stacks = [100, 100, 60]
actions = ["d dh p1 AsAd", "d dh p2 KsKd", "d dh p3 QsQd", "p3 cbr 60", "p1 f", "p2 cc", "d db 2c7d9h", "p2 cc",
           "d db Js", "p2 cc", "d db 3d", "p2 cc", "p2 sm KsKd", "p3 sm"]
"""
    assert phh.loads(text).stacks == [90, 170, 0]
    with pytest.raises(FormatError, match=r"action 8 \('p3 cc'\): the hand is over"):
        phh.loads(text.replace('"d db 2c7d9h", "p2 cc"', '"d db 2c7d9h", "p3 cc"'))


def test_a_hand_without_a_small_blind():
    text = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [20, 0, 0]
min_bet = 20
starting_stacks = [100, 100, 100]
actions = ["d dh p1 2c7d", "d dh p2 ????", "d dh p3 AsAd", "p2 f", "p3 cc", "p1 cc", "d db KhKdKs", "p1 cc",
           "p3 cbr 20", "p1 f"]
"""
    state = phh.loads(text)
    assert state.stacks == [80, 100, 120]
    assert (state.record.button, state.record.big_blind_seat) == (2, 0)
    assert tomllib.loads(phh.dumps(state))["blinds_or_straddles"] == [20, 0, 0]
    assert phh.loads(HEADS_UP.replace("[10, 20]", "[0, 20]")).stacks == [520, 380]


def test_button_and_big_blind_move_on_without_a_small_blind():
    """Rules 2.3 and 3.3: the big blind of hand 1 goes out, and the button lies at its empty seat in hand 2."""
    state = table(
        [500, 40, 500, 500], blinds=(0, 20), num_hands=4, hands={1: "8c 4d", 2: "As Ah"}, board="Ac Kd 9h Js 2d"
    )
    seen = []
    for script in ("2:40 3:fold 0:fold 1:call", "3:fold 0:fold", "0:fold 2:fold", ""):
        seen.append(positions(state))
        play(state, script)
    assert seen == [(0, 0, 1), ("x1", None, 2), (2, 2, 3), (3, 3, 0)]
    assert [len(last(state, kind)) for kind in ("no_small_blind", "post_small_blind", "post_big_blind")] == [4, 0, 4]
    moving = table(3 * [500], blinds=(0, 20), num_hands=2, button_rule="moving")
    assert positions(play(moving, "2:fold 0:fold")) == (1, 1, 2)
    with pytest.raises(OptionError, match="blinds takes a small and a big blind"):
        table(blinds=(0, 0))


def test_the_ante_of_the_big_blind():
    state = phh.loads(
        HAND.replace("antes = [0, 0, 0]", "antes = [0, 100, 0]").replace("[700, 1900, 1700]", "[800, 1800, 1700]")
    )
    assert (state.options.ante, state.options.ante_type) == (100, "big_blind")
    written = phh.dumps(state)
    assert tomllib.loads(written)["antes"] == [0, 100, 0]
    assert "trimming" not in written
    assert phh.loads(written).stacks == state.stacks == [800, 1800, 1700]
    short = table([500, 500, 110], blinds=(50, 100), ante=100, ante_type="big_blind")
    play(short, "0:fold 1:fold")
    assert tomllib.loads(phh.dumps(short))["antes"] == [0, 10, 0]  # the blind first, then what is left
    heads_up = phh.loads(HEADS_UP.replace("antes = [0, 0]", "antes = [0, 20]").split("finishing_stacks")[0])
    assert heads_up.options.ante_type == "big_blind"
    assert tomllib.loads(phh.dumps(heads_up))["antes"] == [0, 20]


def test_decimals_are_chips_of_the_size_that_one_says():
    text = HEADS_UP.replace("[10, 20]", "[0.5, 1]").replace("min_bet = 20", "min_bet = 1.0").replace("500", "20.25")
    text = text.replace("cbr 20", "cbr 1.75")
    with pytest.raises(FormatError, match=r"line 6: starting_stacks has 20\.25; .*decimals take chips_per_unit"):
        phh.loads(text, strict=True)
    for state in (phh.loads(text, chips_per_unit=100), phh.loads(text)):
        assert (state.options.stacks, state.options.blinds) == ((2025, 40000), (50, 100))
        assert state.stacks == [2125, 39900]
        assert (state.amount(5), state.amount(2125)) == ("0.05", "21.25")
    with pytest.raises(FormatError, match=r"action 6 \('p1 cbr 1.75'\): '1.75' is not a whole number of chips"):
        phh.loads(HEADS_UP.replace("cbr 20", "cbr 1.75"), strict=True)
    for unit in (0, -1, True, 10**9):
        with pytest.raises(FormatError, match="chips_per_unit is 1 to 1,000,000"):
            phh.loads(HEADS_UP, chips_per_unit=unit)


def test_several_hands_in_one_text():
    states = phh.loads_all(f"[1]\n{HAND}\n[2]\n{HEADS_UP}")
    assert [state.stacks for state in states] == [[700, 1900, 1700], [520, 380]]
    with pytest.raises(FormatError, match=r"hand \[2\]: line \d+: variant is 'PO'; only 'NT'"):
        phh.loads_all(f"[1]\n{HAND}\n[2]\n{HEADS_UP.replace('NT', 'PO')}")
    for text in ("", HAND):
        with pytest.raises(FormatError, match="has a table for each"):
            phh.loads_all(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"NT"', '"F7S"', "variant is 'F7S'; only 'NT'"),
        ('variant = "NT"', "", "variant is None"),
        ("antes = [0, 0, 0]", "antes = [0, 0, 100]", "line 4: antes are .* everybody posts the same ante"),
        ("antes = [0, 0, 0]", "antes = [0, 0]", "antes has 2 numbers for 3 players"),
        ("antes = [0, 0, 0]", "antes = [400, 400, 400]", "p1 cannot post a whole ante"),
        ("antes = [0, 0, 0]", "antes = [0, 0, 0]\nante_trimming_status = 1", "takes true or false"),
        ("[50, 100, 0]", "[50, 100, 200]", "line 5: blinds_or_straddles are .* p3 posts 200, but straddles"),
        ("antes = [0, 0, 0]", "antes = [0, 100, 0]\nante_trimming_status = true", "is not trimmed"),
        ("antes = [0, 0, 0]", "antes = [0, 1950, 0]", "p2 cannot post blind and ante.*rules.md 4.1"),
        ("[50, 100, 0]", "[0.5, 1.0, 0]", "has 0.5; it takes integers; decimals take chips_per_unit"),
        ("[50, 100, 0]", "[100, 50, 0]", "a small and a big blind come first"),
        ("min_bet = 100", "min_bet = 200", "min_bet is 200; here it is the big blind, 100"),
        ("min_bet = 100", "", "min_bet is missing"),
        ("[300, 2000, 2000]", "[300, -1, 2000]", "starting_stacks has -1; it takes integers of at least 1"),
        ("[300, 2000, 2000]", "[300, true, 2000]", "starting_stacks has True"),
        ("[300, 2000, 2000]", "[300]", "two to 10 players can play; there are 1"),
        ("[300, 2000, 2000]", "300", "starting_stacks is 300; it takes a list"),
        ("[300, 2000, 2000]", "[300, 2000, 2000000000]", "cannot be dealt: texas_holdem_v0: option stacks"),
        ("[700, 1900, 1700]", "[700, 1900, 1700]\nseats = [1, 3, 2]", "clockwise"),
        ("[700, 1900, 1700]", "[700, 1900, 1700]\nseats = [1, 1, 2]", "clockwise"),
        ("[700, 1900, 1700]", "[701, 1899, 1700]", r"ends with \[700, 1900, 1700\]; rules.md 11"),
        ('"p3 cbr 250"', "7", "action 4 is 7; it takes a text"),
        ('"p3 cbr 250"', '"p3 cbr 1e3"', r"action 4 \('p3 cbr 1e3'\): '1e3' is not a whole number of chips"),
        ('"p3 cbr 250"', '"p3 cbr 150"', r"action 4 .* a raise goes to 200 at least \(rules.md 4.5\)"),
        ('"p3 cbr 250"', '"p3 cbr 99999999999"', "action 4"),
        ('"p3 cbr 250"', '"p1 cbr 250"', "action 4 .*: p3 is to act"),
        ('"p3 cbr 250"', '"p4 cbr 250"', "'p4' is not one of p1 to p3"),
        ('"p3 cbr 250"', '"p3 raises"', "it takes one of"),
        ('"p2 f"', '"p2 f", "p2 f"', "action 7 .*: p3 is to act"),
        ("d dh p1 QdQc", "d dh p1 QdQ", "'Q' is not a card"),
        ("d dh p1 QdQc", "d dh p1 QdQx", "'Qx' is not a card"),
        ("d dh p1 QdQc", "d dh p1 Qd?c", "not a card"),
        ("d dh p2 ????", "d dh p2 ??????", "p2 is dealt 3 cards; a hand has two"),
        ("d dh p1 QdQc", "d dh p1 QdAs", r"p1 sm QdQc'\): p1 was dealt QdAs"),
        ("d db Ac", "d db As", "As is dealt twice"),
        ("d db Ac", "d db ??", "the cards of the board must be known"),
        ("d db Qh7d9h", "d db Qh7d", "three cards are dealt on the flop"),
        ('"d db 3d"', '"d db 3d", "d db 4d"', r"action 13 .*6 cards on the board; .* run twice"),
        ("[50, 100, 0]", "[nan, 100, 0]", "has Decimal"),
        ("[50, 100, 0]", "[1e99999999, 100, 0]", "it takes integers"),
        ('"d db 3d"', '"# nothing"', "showdown with 4 cards on the board"),
        ('"p3 cc"', '"p3 f"', "the hand is over"),
        ('"p1 sm QdQc"', '"p1 sm"', "p1 mucks, but has won a pot"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_refused(old, new, message):
    assert old in HAND
    with pytest.raises(FormatError, match=message):
        phh.loads(HAND.replace(old, new, 1), strict=True)


def test_a_raise_that_only_other_engines_allow_is_refused_with_the_rule():
    """Rules 11.1: a limper behind a short all-in."""
    text = """
variant = "NT"
antes = [0, 0, 0, 0]
blinds_or_straddles = [20, 40, 0, 0]
min_bet = 40
starting_stacks = [2000, 2000, 2000, 75]
actions = ["d dh p1 ????", "d dh p2 ????", "d dh p3 AsKs", "d dh p4 QdQc", "p3 cc", "p4 cbr 75", "p1 f", "p2 cc",
           "p3 cbr 155", "p2 f"]
"""
    with pytest.raises(FormatError, match=r"action 9 \('p3 cbr 155'\): .*less than a full raise.*rules.md 4.7"):
        phh.loads(text)


UNSEEN = HAND.replace("d dh p3 AsKs", "d dh p3 ????")


def test_who_comes_to_a_showdown_with_unknown_cards_wins_or_loses_by_the_record():
    silent = UNSEEN.replace(', "p3 sm AsKs"', "")
    with pytest.raises(FormatError, match="p3 reaches the showdown with unknown cards"):
        phh.loads(silent, strict=True)
    state = phh.loads(silent)
    assert state.stacks == [700, 1900, 1700]
    (note,) = state.notes
    assert note == "line 8: actions: p3 reaches the showdown with unknown cards, and loses, as they are not shown"
    without = silent.replace("finishing_stacks", "other_stacks")
    with pytest.raises(FormatError, match="p3 reaches the showdown with unknown cards, so the winner cannot be"):
        phh.loads(without)
    for muck in ("p3 sm ????", "p3 sm"):
        assert phh.loads(without.replace('"p1 sm QdQc"', f'"p1 sm QdQc", "{muck}"')).stacks == [700, 1900, 1700]
    won = phh.loads(silent.replace("[700, 1900, 1700]", "[0, 1900, 2400]"))
    assert won.stacks == [0, 1900, 2400]
    assert won.notes[0].endswith("and wins by the stacks on record")


CHANNELS = ("recap", "events", "view", "render", "str", "timeline", "file", "phh")


def said(state, channel):
    """All that one channel says of a hand, to anybody, as one text."""
    viewers = (OMNISCIENT, SPECTATOR, *range(state.num_players))
    timeline = Timeline.of(state)
    views = {
        "recap": lambda: [state.recap(viewer) for viewer in viewers],
        "events": lambda: [[str(event) for event in state.events(viewer)] for viewer in viewers],
        "view": lambda: [json.dumps(state.view(viewer)) for viewer in viewers],
        "render": lambda: [state.render(viewer) for viewer in viewers],
        "str": lambda: [str(state), repr(state), state._repr_svg_()],
        "timeline": lambda: [
            (timeline.sentence(i, viewer), timeline.view(i, viewer))
            for viewer in viewers
            for i in range(len(timeline))
        ],
        "file": timeline.dumps,
        "phh": lambda: [phh.dumps(state), phh.dumps_all(timeline), phh.dumps(Timeline.loads(timeline.dumps()))],
    }  # fmt: skip
    return str(views[channel]())


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_channel_shows_a_card_that_the_file_does_not_have(channel):
    """The text of a channel is the same, whatever the engine plays with in the place of unknown cards."""
    text = UNSEEN.replace(', "p3 sm AsKs"', ', "p3 sm ????"')
    state, other = phh.loads(text), phh.loads(text)
    assert not state.knows(1)
    assert not state.knows(2)
    assert state.knows(0)
    other._dealt[2:6] = [card for card in range(52) if card not in state._dealt][:4]
    changed = other.restarted()
    for action in state.actions:
        changed.apply(action)
    changed.text = state.text
    assert changed._dealt != state._dealt, "other stand-ins"
    assert changed.stacks == state.stacks, "which lead to the same end"
    assert said(changed, channel) == said(state, channel)


def test_what_needs_all_cards_is_refused():
    state = phh.loads(HAND)
    for call in (
        lambda: state.deck, lambda: state.records, state.record_bytes, state.to_bytes, lambda: Replay.of(state),
        lambda: state.observation(1), lambda: state.observation(0), lambda: state.facts(1),
        lambda: state.determinize(0, 1), lambda: state.write_observation(0, None),
        lambda: state.restarted().policy_action("random", 1), lambda: state.restarted().simulate([0], 1, 1),
    ):  # fmt: skip
        with pytest.raises(HiddenInformationError, match="this hand of a file has unknown ones"):
            call()
    known = phh.loads(HAND.replace("????", "7h2c"))
    assert Replay.of(known).returns == tuple(known.returns)
    assert GAME.from_bytes(known.to_bytes()).stacks == known.stacks


def test_a_timeline_of_a_hand_with_unknown_cards_is_a_file():
    state = phh.loads(UNSEEN.replace(', "p3 sm AsKs"', ', "p3 sm"'))
    timeline = Timeline.of(state)
    again = Timeline.loads(timeline.dumps())
    again.verify()
    assert again.dumps() == timeline.dumps()
    assert again.state_at(2).current_player == 1
    shown = again.view(len(again), OMNISCIENT)["table"]["piles"]
    assert shown["hand"][1:] == [["?", "?"], ["?", "?"]]
    assert set(shown["deck"]) == {"?"}
    assert len(shown["deck"]) == 52 - 6 - 5
    assert [again.sentence(entry.index, OMNISCIENT) for entry in again.entries if entry.kind == "muck"] == [
        "p3 does not show."
    ]
    for setup in ('"chips_per_unit":0', '"chips_per_unit":"x"'):
        with pytest.raises(FormatError):
            Timeline.loads(timeline.dumps().replace('"chips_per_unit":1', setup, 1)).state_at()


FOREIGN = """
variant = 'NT'
ante_trimming_status = false
antes = [0, 0, 0]
blinds_or_straddles = [0.25, 0.50, 0]
min_bet = 0.50
starting_stacks = [20, 31.75, 50.05]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'p3 cbr 1.50', 'p1 f', 'p2 cc', 'd db 2c7d9h', 'p2 cc',
           'p3 cc', 'd db Js', 'p2 cc', 'p3 cc', 'd db 3d', 'p2 cc', 'p3 cc', 'p2 sm ????', 'p3 sm 7h8h']
venue = 'Harbour Cards'
time = 00:01:12
day = 1
hand = 3017240001
seats = [6, 2, 3]
table = 'Pier 7'
players = ['Nyla', 'Otis', 'Pia']
finishing_stacks = [19.75, 30.25, 51.64]
winnings = [0, 0, 3.09]
_odd = {inner = [inf, true, 2009-07-01]}
"""


def test_a_round_trip_changes_nothing():
    state = phh.loads(FOREIGN)
    for text in (
        phh.dumps(state),
        phh.dumps(Timeline.of(state)),
        phh.dumps(Timeline.loads(Timeline.of(state).dumps())),
    ):
        assert tomllib.loads(text) == tomllib.loads(FOREIGN)
        assert list(tomllib.loads(text)) == list(tomllib.loads(FOREIGN))
        assert phh.dumps(phh.loads(text)) == text


def test_a_rake_is_taken_from_the_winners_and_noted():
    state = phh.loads(FOREIGN)
    assert (state.rake, state.unit) == (16, 100)
    assert state.stacks_on_record() == [("Nyla", "19.75"), ("Otis", "30.25"), ("Pia", "51.64")]
    assert any("16 chips less than the pot has: a rake" in note for note in state.notes)
    for stacks in ("[19.75, 30.25, 49.00]", "[19.70, 30.25, 51.80]", "[19.75, 30.25, 51.81]"):
        with pytest.raises(FormatError, match="finishing_stacks are"):
            phh.loads(FOREIGN.replace("[19.75, 30.25, 51.64]", stacks))
    with pytest.raises(FormatError, match="the winners get 16 chips less"):
        phh.loads(FOREIGN.replace("p2 sm ????", "p2 sm AhKh"), chips_per_unit=100, strict=True)
    with pytest.raises(FormatError, match="winnings has 2 numbers for 3 players"):
        phh.loads(FOREIGN.replace("winnings = [0, 0, 3.09]", "winnings = [0, 3.09]"))
    for values in ("[0, nan, inf]", "[[], 1, 2]", '"all"'):
        with pytest.raises(FormatError, match=r"winnings is .* it takes a list of numbers"):
            phh.loads(FOREIGN.replace("winnings = [0, 0, 3.09]", f"winnings = {values}"))
    other = phh.loads(FOREIGN.replace("winnings = [0, 0, 3.09]", "winnings = [0, 3.09, 0]"))
    assert "winnings: it names other winners; by the rules the pot goes to p3" in other.notes[-1]


def test_a_player_who_comes_in_posts():
    """A negative blind: up to the big blind a bet, the rest is dead (rules.md 4.1)."""
    text = """
variant = "NT"
antes = [0, 0, 0, 0]
blinds_or_straddles = [5, 10, 0, -POST]
min_bet = 10
starting_stacks = [100, 100, 100, 100]
actions = ["d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "d dh p4 ????", "p3 f", "p4 cc", "p1 f", "p2 cc",
           "d db 2c7d9h", "p2 cbr 10", "p4 f"]
"""
    for post, stacks, notes in ((10, [95, 115, 100, 90], 0), (15, [95, 120, 100, 85], 1), (4, [95, 115, 100, 90], 0)):
        state = phh.loads(text.replace("POST", str(post)))
        assert (state.stacks, len(state.notes)) == (stacks, notes)
        (hand,) = read_hands(Timeline.of(state))
        assert sum(hand.stacks_after) == 400
    assert "player_3 comes in and posts 10." in phh.loads(text.replace("POST", "15")).recap(SPECTATOR)
    assert "player_3 posts 5 that nobody has to match." in phh.loads(text.replace("POST", "15")).recap(SPECTATOR)
    played = table(4 * [100], blinds=(5, 10), posts=[0, 0, 0, 10], button=3)
    play(played, "2:fold 3:30 0:fold 1:fold")
    assert tomllib.loads(phh.dumps(played))["blinds_or_straddles"] == [5, 10, 0, -10]
    with pytest.raises(OptionError, match="posts takes 4 numbers"):
        table(4 * [100], posts=[1, 2])


def test_cards_that_are_shown_again_and_again():
    """Some sites write ???? on each street of an all-in, and the cards at the end; a winner may show unasked."""
    text = HAND.replace("QdQc", "????", 1).replace('"p1 sm QdQc", "p3 sm AsKs",', '"p1 sm ????", "p3 sm ????",')
    text = text.replace('"d db 3d",', '"d db 3d", "p1 sm QdQc", "p3 sm AsKs", "p3 sm ????",')
    state = phh.loads(text)
    assert (state.stacks, state.notes) == ([700, 1900, 1700], ())
    assert "player_0 shows Q♦." in state.recap(SPECTATOR)
    shown = phh.loads(HEADS_UP.replace("2c7d", "????").replace('"p2 f"', '"p2 f", "p1 sm 5c5d"'))
    assert "player_0 is dealt 5♣." in shown.recap(OMNISCIENT)


UNKNOWN_STACKS = """
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [5, 10, 0]
min_bet = 10
starting_stacks = [inf, inf, 200]
actions = ["d dh p1 ????", "d dh p2 KsKd", "d dh p3 ????", "p3 f", "p1 cbr 40", "p2 cbr 120", "p1 cc",
           "d db 2c7d9h", "p1 cc", "p2 cbr 300", "p1 f"]
winnings = [0, 0, 0]
players = ["Nyla", "Otis", "Pia"]
"""


def test_a_stack_that_is_unknown_stays_unknown():
    state = phh.loads(UNKNOWN_STACKS)
    assert state.notes == ("line 6: starting_stacks: of p1, p2 it is inf, unknown, and stays so",)
    assert state.returns == [-120, 120, 0]
    assert state.stacks == [-1, -1, 200]
    assert state.stacks_on_record() == [("Nyla", "? (-120)"), ("Otis", "? (+120)"), ("Pia", "200")]
    timeline = Timeline.of(state)
    again = Timeline.loads(timeline.dumps())
    again.verify()
    for text in (phh.dumps(state), phh.dumps(again)):
        assert "starting_stacks = [inf, inf, 200]" in text
        assert tomllib.loads(text) == tomllib.loads(UNKNOWN_STACKS)
    stand_in = state.options.stacks[0]
    shown = json.dumps([timeline.view(i, OMNISCIENT) for i in range(len(timeline))]) + timeline.dumps()
    shown += str(state) + json.dumps(state.view(OMNISCIENT)) + " ".join(state.recap(OMNISCIENT))
    for put_in in (0, 5, 10, 40, 120):
        assert str(stand_in - put_in) not in shown, "no channel shows what the engine plays with"
    assert timeline.view(len(timeline), OMNISCIENT)["table"]["counters"]["stack"] == [None, None, 200]
    assert state.folded_table(OMNISCIENT) == state.table(OMNISCIENT)
    (hand,) = read_hands(timeline)
    assert [hand.won(seat) for seat in range(3)] == [-120, 120, 0]
    asked = next(entry for entry in timeline.entries if entry.kind == "request" and entry.data["player"] == 0)
    assert (asked.data["stack"], asked.data["max_raise_to"], "all_in" in asked.data["may"]) == (None, None, False)
    begun = state.restarted()
    begun.apply(state.actions[0])
    for call in (lambda: begun.view(0), lambda: begun.facts(0), state.to_bytes, lambda: Replay.of(state)):
        with pytest.raises(HiddenInformationError, match="this hand of a file has unknown ones"):
            call()
    with pytest.raises(FormatError, match="line 6: starting_stacks: of p1, p2 it is inf"):
        phh.loads(UNKNOWN_STACKS, strict=True)
    for bad in ("-inf", "nan"):
        with pytest.raises(FormatError, match="starting_stacks has"):
            phh.loads(UNKNOWN_STACKS.replace("[inf, inf", f"[inf, {bad}"))
    with pytest.raises(FormatError, match="min_bet has Infinity; only starting and finishing stacks may be inf"):
        phh.loads(UNKNOWN_STACKS.replace("min_bet = 10", "min_bet = inf"))


def test_who_has_an_unknown_stack_and_is_asked_for_nothing_more_is_all_in():
    begins, _ = UNKNOWN_STACKS.split('"d db 2c7d9h"')
    begins = begins.replace("p1 ????", "p1 QsQd")
    runs_out = begins + '"d db 2c7d9h", "d db 3c", "d db 4c"]\n'
    state = phh.loads(runs_out)
    assert state.returns == [-120, 120, 0]
    assert state.notes[-1] == "line 7: actions: p1, whose stack is unknown, is taken to be all in with 120 chips"
    assert not any("out of the game" in sentence for sentence in state.recap(OMNISCIENT)), "nobody knows that"
    with_checks = begins + '"d db 2c7d9h", "p1 cc", "p2 cc", "d db 3c", "p1 cc", "p2 cc", "d db 4c"]\n'
    assert phh.loads(with_checks).returns == [-120, 120, 0]
    short = UNKNOWN_STACKS.replace('"p2 cbr 120", "p1 cc"', '"p2 cbr 60", "p1 cc"').replace(
        '"p1 cc", "p2 cbr 300", "p1 f"', '"d db 3c", "d db 4c", "p1 sm QsQd"'
    )
    state = phh.loads(short)
    assert state.returns == [-60, 60, 0]
    assert "p2, whose stack is unknown, is taken to be all in with 60 chips" in state.notes[-1]
    for cut in ('"d db 2c7d9h"]\n', '"d db 2c7d9h", "p1 cc"]\n', '"d db 2c7d9h", "d db 3c"]\n'):
        with pytest.raises(FormatError, match=r"is to act|needs 5"):
            phh.loads(begins + cut)


def test_chips_won_are_those_of_the_stacks_and_of_the_bets():
    checked = 0
    for seed in range(30 if COMPILED else 5):
        try:
            timeline = Timeline.of(random_match(seed))
        except ValueError:
            continue
        for hand in read_hands(timeline):
            for seat in hand.cards if hand.is_over else ():
                wins = sum(pot.wins.get(seat, 0) for pot in hand.pots)
                assert wins - hand.paid[seat] == hand.stacks_after[seat] - hand.stacks_before[seat]
                checked += 1
    assert checked > 20


def test_seats_that_are_not_clockwise_are_noted_and_kept():
    state = phh.loads(HAND + "seats = [2, 5, 3]\n")
    assert state.notes == (
        "line 18: seats: [2, 5, 3] are not clockwise; players act in the order in which they are listed",
    )
    assert state.stacks == [700, 1900, 1700]
    assert "seats = [2, 5, 3]" in phh.dumps(state)


def test_one_bad_hand_stops_no_other():
    bad = HEADS_UP.replace("cbr 20", "cbr 7")
    found = phh.records(f"[4]\n{HAND}\n[9]\n{bad}\n[x]\n{HEADS_UP}")
    assert [(record.title, record.hand is not None) for record in found] == [("4", True), ("9", False), ("x", True)]
    assert found[1].error.startswith("hand [9]: line 27: action 6 ('p1 cbr 7'): ")
    cut = phh.records(f"[1]\n{HAND}\n[2]\nvariant = 'NT\n[3]\n{HEADS_UP}\n[4]\nvariant")
    assert [record.hand is not None for record in cut] == [True, False, True, False]
    assert "hand [2]: this is not PHH: not TOML (" in cut[1].error
    twice = phh.records(f"[1]\n{HAND}\n[1]\n{HEADS_UP}")
    assert [record.hand.stacks for record in twice] == [[700, 1900, 1700], [520, 380]]
    assert list(tomllib.loads(phh.dumps_records([record.hand for record in twice]))) == ["1", "1_"]
    with pytest.raises(FormatError, match="not TOML"):
        phh.records("[1]\nvariant")
    (odd,) = phh.records('["\\u001b[2J"]\nvariant = 1\n')
    assert odd.error.isprintable(), "a title reaches no terminal as it is"


def test_names_are_those_of_the_file():
    state = phh.loads(HAND + 'seats = [5, 8, 2]\nplayers = ["Ann", "player_0", "C\\nat"]\nhand = 41\n')
    assert state.players == ("C at", "Ann", "player_0")
    assert state.stacks_on_record() == [("Ann", "700"), ("player_0", "1900"), ("C at", "1700")]
    assert state.number == "41"
    assert Timeline.of(state).players == state.players
    for players in ('["Ann", "Bob"]', '["Ann", 2, "Cy"]'):
        with pytest.raises(FormatError, match="a name for each of 3 players"):
            phh.loads(HAND + f"players = {players}\n")


def test_files_of_other_programs_are_read(tmp_path):
    path = tmp_path / "a.phh"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        path.write_bytes((HAND + 'players = ["Åse", "B", "C"]\n').encode(encoding))
        (record,) = phh.read_file(path)
        assert record.hand.players[0] == "Åse"
    with pytest.raises(FormatError, match=r"a\.phh: this is not UTF-8 but LATIN-1"):
        phh.read_file(path, strict=True)
    path.write_bytes(b"\xff\xfea")
    with pytest.raises(FormatError, match=r"a\.phh: this is not UTF-16-LE, as its byte-order mark says"):
        phh.read_file(path)
    assert phh.loads(HEADS_UP.replace("p2 cc", "P2 CC")).notes[0].endswith("action 3 ('P2 CC') has capital letters")


def test_a_hand_without_an_end_is_refused():
    with pytest.raises(FormatError, match="the hand is not over: after the last action, p1 is to act"):
        phh.loads(HEADS_UP.replace(', "p1 cbr 20", "p2 f"', ""))


def test_the_board_is_dealt_when_its_street_begins():
    with pytest.raises(FormatError, match="the flop must be dealt first"):
        phh.loads(HEADS_UP.replace('"d db KhKdKs", ', ""))
    with pytest.raises(FormatError, match="p1 is to act first"):
        phh.loads(HEADS_UP.replace('"p1 cc", "d db KhKdKs"', '"d db KhKdKs", "p1 cc"'))
    with pytest.raises(FormatError, match=r"action 8 \('d db 2h'\): the hand is over"):
        phh.loads(HEADS_UP.replace('"p2 f"', '"p2 f", "d db 2h"'))


def test_a_text_that_was_cut_short_is_refused():
    text = phh.dumps(phh.loads(HAND))
    for size in range(text.index("\nfinishing_stacks")):  # what comes after the actions may be left out
        with pytest.raises(FormatError):
            phh.loads(text[:size])


@pytest.mark.parametrize("text", ["[" * 100_000, "a = " + "9" * 10_000, "variant = 'NT'\nvariant = 'NT'", "\x00", "{"])
def test_what_is_no_toml_is_refused(text):
    with pytest.raises(FormatError, match="not PHH: not TOML"):
        phh.loads(text)


def test_whatever_is_changed_in_a_file_it_is_played_or_refused():
    chooser = random.Random(1)
    played = refused = 0
    for _ in range(1500):
        text = list(chooser.choice((HAND, HEADS_UP)))
        for _ in range(chooser.choice((1, 1, 2, 5))):
            text[chooser.randrange(len(text))] = chooser.choice('0123456789pdhcsAKQJT?cbrf ,"[]=-.#\n')
        try:
            played += phh.loads("".join(text)).is_terminal
        except FormatError:
            refused += 1
    assert played > 50
    assert refused > 500


# ---------------------------------------------------------------------------------------------------------------
# Writing


def test_a_hand_is_written():
    state = table([300, 2000, 2000], blinds=(50, 100), button=2, hands={0: "Qd Qc", 1: "7h 2c", 2: "As Ks"},
                  board="Qh 7d 9h Ac 3d")  # fmt: skip
    text = phh.dumps(play(state, "2:250 0:all 1:fold 2:call"))
    assert (
        text
        == """\
variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [300, 2000, 2000]
actions = ["d dh p1 QdQc", "d dh p2 7h2c", "d dh p3 AsKs", "p3 cbr 250", "p1 cbr 300", "p2 f", "p3 cc", \
"p1 sm QdQc", "p3 sm AsKs", "d db Qh7d9h", "d db Ac", "d db 3d"]
hand = 1
seats = [1, 2, 3]
seat_count = 3
players = ["player_0", "player_1", "player_2"]
finishing_stacks = [700, 1900, 1700]
"""
    )


def test_names_of_all_kinds_are_written():
    names = ['a "b" \\ c', "ü 🂡 \x7f \x00 \n", "# no comment"]
    state = play(table(3 * [100]), "0:fold 1:fold")
    text = phh.dumps(Timeline.of(state, names))
    assert tomllib.loads(text)["players"] == [names[1], names[2], names[0]]


def test_a_hand_of_a_match_is_chosen_by_its_number():
    state = play(table(num_hands=2), "3:fold 4:fold 5:fold 0:fold 1:fold")
    assert tomllib.loads(phh.dumps(state, 1))["finishing_stacks"] == [1990, 2010, 2000, 2000, 2000, 2000]
    for number, message in (
        (None, "has 2 hands; give the number"),
        (3, "hands 1 to 2; got 3"),
        (2, "hand 2 is not over"),
    ):
        with pytest.raises(FormatError, match=message):
            phh.dumps(state, number)
    assert list(tomllib.loads(phh.dumps_all(state))) == ["1"]
    assert phh.dumps_all(Replay.of(state)) == phh.dumps_all(Timeline.of(state)) == phh.dumps_all(state)


def test_a_forfeit_cannot_be_written():
    state = play(table(), "3:fold")
    state.apply(FORFEIT + 4)
    play(state, "5:fold 0:fold 1:fold")
    with pytest.raises(FormatError, match="player_4 forfeits in it, which PHH cannot express"):
        phh.dumps(state)


# ---------------------------------------------------------------------------------------------------------------
# Many hands, next to PokerKit


def random_match(seed):
    """A short match of random play; None where the first hand leaves nothing to decide."""
    chooser = random.Random(seed)
    n, ante = chooser.choice((2, 2, 3, 4, 5, 6, 9)), chooser.choice((0, 0, 0, 5))
    stacks = [ante + chooser.randrange(25, chooser.choice((60, 200, 600, 3000))) for _ in range(n)]
    state = GAME.new_state(
        seed=seed, num_players=n, format=chooser.choice(("cash", "tournament")), stacks=stacks, blinds=(10, 20),
        ante=ante, button=chooser.randrange(n), num_hands=3, max_hands=6, reveal_all_in=chooser.random() < 0.7,
        button_rule=chooser.choice(("dead", "moving")),
    )  # fmt: skip
    while not state.is_terminal:
        options = state.legal_options()
        choice = chooser.choice(["fold"] * ("fold" in options.kinds) + ["check_call"] * 3 + ["least", "any", "all_in"])
        if options.min_raise_to is None or choice in ("fold", "check_call"):
            state.act("fold" if choice == "fold" else "check_call")
        elif choice == "all_in":
            state.act("all_in")
        else:
            high = options.min_raise_to if choice == "least" else options.max_raise_to
            state.act("raise_to", chooser.randint(options.min_raise_to, high))
    return state


def by_pokerkits_odd_chips(hand):
    """The stacks of a hand if one player gets all odd chips of a pot (rules.md 11.4)."""
    stacks = list(hand.stacks_after)
    any_winner = {seat for pot in hand.pots for seat in pot.wins}
    joined: dict[frozenset, list] = {}
    for pot in hand.pots:
        for seat, chips in pot.wins.items():
            stacks[seat] -= chips
        joined.setdefault(frozenset(any_winner.intersection(pot.eligible)), [0, set(pot.wins)])[0] += pot.chips
    for chips, winners in joined.values():
        share, odd = divmod(chips, len(winners))
        for seat in (seat for seat in hand.seats if seat in winners):
            stacks[seat] += share + odd
            odd = 0
    return [stacks[seat] for seat in hand.seats]


def posts_a_short_big_blind(hand, ante):
    big = hand.seats[0] if len(hand.seats) == 2 or not hand.has_small_blind else hand.seats[1]
    return hand.stacks_before[big] - ante < hand.blinds[1]


def compare(hand, timeline, pokerkit, seen):
    """Write a hand, let PokerKit read it and write it again, and read both here."""
    text = phh.dumps(timeline, hand.number)
    ours = [hand.stacks_after[seat] for seat in hand.seats]
    seen["hands"] += 1
    seen["without small blind"] += not hand.has_small_blind
    theirs = None
    if posts_a_short_big_blind(hand, timeline.options["ante"]):
        seen["11.3 short big blind"] += 1
    else:
        theirs = by_pokerkit(text, pokerkit)
        if theirs.finishing_stacks != ours:
            assert theirs.finishing_stacks == by_pokerkits_odd_chips(hand), text
            seen["11.4 odd chips"] += 1
        seen["the same there"] += 1
    seen["nothing to decide"] += not hand.acts
    again = phh.loads(text)
    assert [again.stacks[seat] for seat in _seats(tomllib.loads(text)["seats"])] == ours
    written, read = tomllib.loads(phh.dumps(again)), tomllib.loads(text)
    for field in ("starting_stacks", "finishing_stacks", "blinds_or_straddles"):
        assert written[field] == read[field]
    seen["the same here"] += 1
    if theirs is not None:
        read_what_pokerkit_writes(theirs, ours, seen)


def by_pokerkit(text, pokerkit):
    """The hand as PokerKit has played it, with the stacks at its end."""
    history = pokerkit.HandHistory.loads(text)
    *_, end = history
    assert not end.status, text
    return pokerkit.HandHistory.from_game_state(
        history.create_game(), end, finishing_stacks=list(end.stacks), ante_trimming_status=history.ante_trimming_status
    )


def read_what_pokerkit_writes(theirs, ours, seen):
    """Its players, unlike ours, are asked to check where all others are all-in."""
    if theirs.finishing_stacks == ours:
        assert phh.loads(theirs.dumps()).stacks == ours
        seen["read from there"] += 1
    else:
        with pytest.raises(FormatError, match=r"finishing_stacks are .* rules\.md 11 lists"):
            phh.loads(theirs.dumps())


def _seats(seats):
    return [sorted(seats).index(seat) for seat in seats]


def compare_matches(first, number):
    pokerkit = pytest.importorskip("pokerkit")
    seen = Counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="There is no reason for this player to fold", category=UserWarning)
        for seed in range(first, first + number):
            try:
                timeline = Timeline.of(random_match(seed))
            except ValueError:
                continue  # both all-in by their blinds: nothing to decide (rules.md 10.1)
            for hand in read_hands(timeline):
                compare(hand, timeline, pokerkit, seen)
    return seen


def test_posts_are_pokerkits():
    pokerkit = pytest.importorskip("pokerkit")
    posted = 0
    for seed in range(25 if COMPILED else 5):
        chooser = random.Random(seed)
        n = chooser.choice((3, 4, 6))
        posts = [0, 0, *(chooser.choice((0, 20, 20, 8)) for _ in range(n - 2))]
        stacks = [chooser.randrange(30, 400) for _ in range(n)]
        state = GAME.new_state(
            seed=seed, num_players=n, format="cash", stacks=stacks, blinds=(10, 20), button=n - 1, posts=posts
        )
        while not state.is_terminal:
            kinds = state.legal_options().kinds
            choices = ["check_call", "check_call", *(kind for kind in ("all_in", "fold") if kind in kinds)]
            state.act(chooser.choice(choices))
        (hand,) = read_hands(Timeline.of(state))
        theirs = by_pokerkit(phh.dumps(state), pokerkit).finishing_stacks
        assert theirs in ([hand.stacks_after[seat] for seat in hand.seats], by_pokerkits_odd_chips(hand)), seed
        assert phh.loads(phh.dumps(state)).stacks == state.stacks
        posted += any(posts)
    assert posted


@pytest.mark.rotating
def test_hundreds_of_hands_are_read_by_pokerkit_and_here():
    seen = compare_matches(0, 200 if COMPILED else 15)
    assert seen["the same there"] > 0.8 * seen["hands"] > 30, seen
    assert seen["the same here"] > 0.9 * seen["hands"], seen
    assert seen["read from there"] > 0.8 * seen["hands"], seen


@pytest.mark.slow
def test_thousands_of_hands_are_read_by_pokerkit_and_here():
    seen = compare_matches(1000, 2000)
    assert all(seen[spot] for spot in ("11.3 short big blind", "11.4 odd chips", "without small blind")), seen


@pytest.mark.parametrize(
    ("betting", "variant", "size"),
    [
        ({"betting": "limit", "small_bet": 20}, "FT", "small_bet = 20\nbig_bet = 40"),
        ({"betting": "pot_limit"}, "PT", "min_bet = 20"),
    ],
)
def test_limit_and_pot_limit_are_written_and_read(betting, variant, size):
    pokerkit = pytest.importorskip("pokerkit")
    for seed in range(10):
        chooser = random.Random(seed)
        state = GAME.new_state(seed=seed, num_players=3, format="cash", **betting)
        while not state.is_terminal:
            state.apply(chooser.choice(state.legal_actions()))
        text = phh.dumps(state)
        assert f'variant = "{variant}"' in text
        assert size in text
        assert phh.loads(text).stacks == state.stacks
        if variant == "FT":
            *_, last = pokerkit.HandHistory.loads(text)
            assert sum(last.stacks) == sum(state.stacks)
