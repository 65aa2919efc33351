"""Options: checked construction, texts, and how they fill `state.rules`."""

import dataclasses

import numpy as np
import pytest

from cardenvs.core.errors import OptionError
from cardenvs.core.options import NONE, Options, fill_rules, option, rules_dtype
from cardenvs.core.registry import get_game


@dataclasses.dataclass(frozen=True)
class Everything(Options):
    num_players: int = option(2, low=2, high=6, doc="players")
    points: int = option(10, low=0, high=100, doc="points")
    free: int = option(0, doc="any integer")
    cap: int | None = option(None, low=1, high=9, optional=True, doc="a cap, or none")
    big: bool = option(False, doc="a flag")
    layoff: str = option("auto", choices=("auto", "manual"), doc="a choice")
    sizes: tuple = option((2, 4), low=1, high=50, length=3, doc="up to three numbers")

    def check(self):
        if self.points == 13:
            raise OptionError("option points is not 13")


def test_defaults():
    assert Everything.make().as_dict() == {
        "num_players": 2, "points": 10, "free": 0, "cap": None, "big": False, "layoff": "auto", "sizes": [2, 4],
    }  # fmt: skip
    assert Everything.make().changed() == {}


def test_changed_names_what_differs_from_the_defaults():
    assert Everything.make(points=11, big=True, sizes=[1]).changed() == {"points": 11, "big": True, "sizes": [1]}


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("points", np.int8(7), 7),
        ("cap", 9, 9),
        ("cap", None, None),
        ("big", np.True_, True),
        ("layoff", "manual", "manual"),
        ("sizes", [5, 6, 7], (5, 6, 7)),
        ("sizes", (), ()),
        ("sizes", np.array([1, 50]), (1, 50)),
        ("free", -5, -5),
    ],
)
def test_values_are_kept_as_plain_python_values(name, given, kept):
    value = getattr(Everything.make(**{name: given}), name)
    assert value == kept
    assert type(value) is type(kept)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("points", 101, "option points takes an integer from 0 to 100; got 101"),
        ("points", -1, "got -1"),
        ("points", 1.0, "got 1.0"),
        ("points", "7", "got '7'"),
        ("points", True, "got True"),
        ("points", None, "got None"),
        ("points", 13, "option points is not 13"),
        ("free", 1 << 31, "takes an integer from"),
        ("cap", 0, "takes an integer from 1 to 9 or None; got 0"),
        ("big", 1, "option big takes True or False; got 1"),
        ("big", "true", "option big takes True or False"),
        ("layoff", "never", "option layoff takes one of auto, manual; got 'never'"),
        ("layoff", 0, "takes one of auto, manual; got 0"),
        ("sizes", 3, "option sizes takes a list of up to 3 integers; got 3"),
        ("sizes", (1, 2, 3, 4), "takes a list of up to 3 integers"),
        ("sizes", (0,), "option sizes takes an integer from 1 to 50; got 0"),
        ("sizes", "123", "takes a list of up to 3 integers"),
        ("sizes", np.array(1), "takes a list of up to 3 integers"),
        ("num_players", 7, "option num_players takes an integer from 2 to 6; got 7"),
    ],
)
def test_bad_values_are_refused(name, value, message):
    with pytest.raises(OptionError) as caught:
        Everything.make(**{name: value})
    assert message in str(caught.value)


def test_an_unknown_name_is_refused_and_the_nearest_suggested():
    with pytest.raises(OptionError, match="unknown option 'point'; did you mean 'points'\\? options are: num_players,"):
        Everything.make(point=3)
    for name in ("self", "cls", "values"):  # a file of a stranger may use any name
        with pytest.raises(OptionError, match=f"unknown option '{name}'"):
            get_game("kuhn_poker_v0").make_options(**{name: 1})
    with pytest.raises(OptionError, match="unknown option 'zzz'; options are"):
        Everything.make(zzz=3)


def test_options_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Everything.make().points = 3


def test_options_are_checked_when_made_directly_or_replaced():
    with pytest.raises(OptionError):
        Everything(points=500)
    with pytest.raises(OptionError):
        dataclasses.replace(Everything(), cap=10)


@pytest.mark.parametrize(
    ("texts", "changed"),
    [
        ({"points": "7"}, {"points": 7}),
        ({"points": " 7 "}, {"points": 7}),
        ({"cap": "None"}, {}),
        ({"cap": "5"}, {"cap": 5}),
        ({"big": "true"}, {"big": True}),
        ({"big": "YES"}, {"big": True}),
        ({"big": "0"}, {}),
        ({"layoff": "manual"}, {"layoff": "manual"}),
        ({"sizes": "1,2 3"}, {"sizes": [1, 2, 3]}),
    ],
)
def test_texts(texts, changed):
    assert Everything.parse(texts).changed() == changed


@pytest.mark.parametrize(
    "texts", [{"points": "many"}, {"points": "none"}, {"big": "maybe"}, {"sizes": "a"}, {"nothing": "1"}]
)
def test_bad_texts_are_refused(texts):
    with pytest.raises(OptionError):
        Everything.parse(texts)


def test_rules_hold_every_option_as_integers():
    rules = np.zeros(1, rules_dtype(Everything))
    fill_rules(rules, Everything.make(points=11, big=True, layoff="manual", sizes=(9,)))
    s = rules[0]
    assert (s.num_players, s.points, s.big, s.layoff, s.cap) == (2, 11, 1, 1, NONE)
    assert s.sizes.tolist() == [9, NONE, NONE]
    fill_rules(rules, Everything.make(cap=3))
    assert (rules[0].cap, rules[0].layoff, rules[0].sizes.tolist()) == (3, 0, [2, 4, NONE])


# ---------------------------------------------------------------------------------------------------------------
# Of every game


def test_a_game_names_itself_when_it_refuses_an_option(every_game):
    with pytest.raises(OptionError, match=f"^{every_game.name}: unknown option 'no_such_option'"):
        every_game.new_state(no_such_option=1)
    with pytest.raises(OptionError, match=f"^{every_game.name}: option num_players takes .*; got 0"):
        every_game.make_options(num_players=0)


def test_every_option_of_a_game_is_documented_and_survives_as_values(every_game):
    for field in dataclasses.fields(every_game.options):
        assert field.metadata["doc"], field.name
    options = every_game.make_options()
    assert every_game.make_options(**options.as_dict()) == options
