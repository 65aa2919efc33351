"""Events in words, one sentence each."""

from cardenvs.core.text import count
from cardenvs.games.wingspan.cards import DUAL_FACE, FOODS
from cardenvs.games.wingspan.state import TOKEN_NAMES


def describe_event(event, text):
    """Return a sentence for an event, with the new value of the counter that it changes."""
    player = "" if event.player is None else f"player_{event.player}"
    token = _token_text(event)
    value = "?" if event.value is None else event.value
    if event.kind in _SENTENCES:
        return _SENTENCES[event.kind](player, token, event.source, value)
    if event.token is None:
        text = text.replace("the bonus card {token}", "{token}")
    target = "" if event.target is None else f"the {event.target[0].replace('_', ' ')}"
    return text.format(player=player, token=token, target=target, value=value)


def _token_text(event):
    if event.token is not None:
        return TOKEN_NAMES[event.token]
    return "a bonus card" if "bonus" in event.kind else "a card"


def _food_now(verb):
    return lambda player, token, source, value: f"{player} {verb} {source[0]} and has {value}."


def _on_slot(did, thing):
    """Return a function that describes a change of a counter of a slot, such as eggs_forest_1."""

    def sentence(player, token, source, value):
        _, habitat, column = source[0].split("_")
        return f"{player} {did} in {habitat} {column}, which now holds {_some(value, thing)}."

    return sentence


def _die_now(where):
    def sentence(player, token, source, value):
        face = source[0].split("_", 1)[1].replace("_or_", "/").replace("_", " ")
        return f"{where}: {value} {face}."

    return sentence


def _carried(player, token, source, value):
    thing, habitat, column = source[0].split("_")
    return f"{player} now has {value} {thing} in {habitat} {column}."


_SENTENCES = {
    "gain_food": _food_now("gains"),
    "pay_food": _food_now("pays"),
    "plan_pay": lambda player, token, source, value: f"{player} will pay {FOODS[value]} for a bird.",
    "lay_egg": _on_slot("lays an egg", "egg"),
    "lose_egg": _on_slot("discards an egg", "egg"),
    "cache_food": _on_slot("caches food", "food"),
    "catch": _on_slot("caches what the hunt has caught", "food"),
    "tucked": _on_slot("has tucked a card", "card"),
    "carry": _carried,
    "die_in": _die_now("In the birdfeeder"),
    "die_out": _die_now("Outside the birdfeeder"),
    "take_die": lambda player, token, source, value: (
        f"{player} takes the {(*FOODS, 'invertebrate/seed')[value]} die from the birdfeeder."
        if value in range(DUAL_FACE + 1)
        else f"{player} takes a die."
    ),
    "turns_left": lambda player, token, source, value: f"{player} has {_some(value, 'turn')} left in this round.",
    "goal_points": lambda player, token, source, value: f"{player} gets {_some(value, 'point')} for the round goal.",
    "score": lambda player, token, source, value: f"{player} scores {_some(value, 'point')} in all.",
    "discards_owed": lambda player, token, source, value: (
        f"{player} owes {count(value, 'discard')} at the end of the turn." if value else f"{player} owes no discards."
    ),
}


def _some(value, thing):
    """Return a number and its noun, such as "2 turns"; "?" for a hidden number."""
    return count(None if value == "?" else value, thing)
