"""Intents: what a person or a client wants to do, as JSON, legal or not.

    {"action": 12}                                          an action by id
    {"action": "play 7♥"}                                   an action by label, also as "play 7h"
    {"move": {"card": TOKEN, "from": PILE, "to": PILE}}     one token, with ids from the viewer's `State.view`
    {"move": {"cards": [TOKEN, ...], "to": PILE}}           several; "from" and "to" may be left out
    {"move": {"from": PILE}}                                a pile is chosen, such as the stock

`validate` says whether an intent is legal and, if not, why. It changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cardenvs.core.checks import is_integer, short
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.events import Event

if TYPE_CHECKING:
    from cardenvs.core.state import State

_MOVE_KEYS = ("card", "cards", "from", "to")
_GUESSES = 3  # worlds in which an intent is tried


@dataclass(frozen=True)
class Verdict:
    """What `validate` found."""

    valid: bool  # whether the intent is legal
    reason: str = ""  # why it is not; empty if it is
    action: int | None = None  # the id of the action it stands for, if it is legal
    # what is sure to happen first, as the player would see it. What depends on hidden information (the card that is
    # drawn) ends the list.
    events: list[Event] = field(default_factory=list)


def validate(state: "State", player: int, intent: Any, key: bytes = b"") -> Verdict:
    """Return whether `player` may do what an intent says. The state stays as it is.

    The intent, JSON-compatible data as above, may come from a stranger. `key` is that of the view with the ids of
    tokens.
    """
    try:
        action = resolve(state, player, intent, key)
    except (FormatError, IllegalActionError) as error:
        return Verdict(False, str(error))
    return Verdict(True, "", action, _sure_events(state, player, action))


def resolve(state: "State", player: int, intent: Any, key: bytes = b"") -> int:
    """Return the legal action that an intent stands for; see `validate`.

    Raises:
        FormatError: it is not an intent, or names tokens or piles that are not there.
        IllegalActionError: it is illegal, or fits several actions.
    """
    if state.is_terminal:
        raise IllegalActionError("the game is over")
    if player != state.current_player:
        raise IllegalActionError(f"it is not your turn; player_{state.current_player} is to act")
    if not isinstance(intent, dict) or len(intent) != 1 or not {"action", "move"} & intent.keys():
        raise FormatError('an intent is {"action": ID or LABEL} or {"move": {...}}; got ' + short(intent))
    if "action" in intent:
        return _named_action(state, intent["action"])
    return _moved(state, player, _checked_move(intent["move"]), key)


def resolve_play(state: "State", player: int, intents: Sequence[Any], key: bytes = b"") -> list[int]:
    """Return the actions that the intents of a play, at least one, stand for: each follows the one before it.

    The play must not go on past an action that shows the player something, such as a card that is drawn. Otherwise a
    refusal of a later intent would tell what is hidden, and nothing would have been done for it. So later intents are
    resolved in guessed worlds, never in the true one; there, the last actions may be illegal in the rare case that all
    guesses are wrong in the same way.

    Raises:
        FormatError: one of them is not an intent, or names tokens or piles that are not there.
        IllegalActionError: one is illegal or fits several actions, or an earlier one shows something.
    """
    actions = [resolve(state, player, intents[0], key)]
    worlds = [state.determinize(player, seed) for seed in range(_GUESSES)] if len(intents) > 1 else []
    for intent in intents[1:]:
        label = worlds[0].action_label(actions[-1])
        if not _apply_alike(worlds, player, actions[-1]):
            raise IllegalActionError(
                f"{label!r} may show you something new; make it alone, and then choose what follows"
            )
        actions.append(resolve(worlds[0], player, intent, key))
    return actions


def _apply_alike(worlds: "list[State]", player: int, action: int) -> bool:
    """Apply an action to worlds that look alike to `player`. Returns whether they still do."""
    seen = []
    for world in worlds:
        before = len(world.event_rows(player))
        world.apply_unchecked(action)
        seen.append((world.events(player)[before:], world.current_player))
    return all(one == seen[0] for one in seen)


def intent_of(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the move that a choice of a view stands for, or the action if it moves nothing people can see."""
    move: dict[str, Any] = {}
    tokens = choice.get("tokens", [])
    if tokens:
        move |= {"card": tokens[0]} if len(tokens) == 1 else {"cards": tokens}
    move |= {short_name: choice[name] for short_name, name in (("from", "source"), ("to", "target")) if name in choice}
    return {"move": move} if move else {"action": choice["action"]}


# -- actions and moves --------------------------------------------------------------------------------------------


def _named_action(state: "State", action: Any) -> int:
    if isinstance(action, str):
        return state.action_from_label(action)
    if not is_integer(action):
        raise FormatError(f'"action" is the id or the label of an action; got {short(action)}')
    if not 0 <= action < min(FORFEIT, state.game.num_actions(state.options)):
        raise FormatError(f"ids of actions are 0 to {state.game.num_actions(state.options) - 1}; got {short(action)}")
    state.check_legal(action)
    return int(action)


def _checked_move(move: Any) -> dict[str, Any]:
    """Return a move with "cards" as a list."""
    if not isinstance(move, dict) or not move or set(move) - set(_MOVE_KEYS):
        raise FormatError(f'"move" has some of the keys {", ".join(_MOVE_KEYS)}; got {short(move)}')
    if "card" in move and "cards" in move:
        raise FormatError('a move has "card" or "cards", not both')
    cards = [move["card"]] if "card" in move else move.get("cards", [])
    if not isinstance(cards, list) or not all(isinstance(card, str) for card in cards):
        raise FormatError('"card" is the id of a token, "cards" a list of ids')
    if "cards" in move and not cards:
        raise FormatError('"cards" names no token')
    if len(set(cards)) < len(cards):
        raise FormatError('"cards" names a token twice')
    for name in ("from", "to"):
        if name in move and not isinstance(move[name], str):
            raise FormatError(f'"{name}" is the id of a pile; got {short(move[name])}')
    if "to" in move and move.get("from") == move["to"]:
        raise FormatError('"from" and "to" are the same pile, so nothing would move')
    if not cards and "from" not in move:
        raise FormatError('a move names a token or the pile it comes from, in "card", "cards" or "from"')
    return {"cards": cards} | {name: move[name] for name in ("from", "to") if name in move}


def _moved(state: "State", player: int, move: dict[str, Any], key: bytes) -> int:
    view = state.view(player, key)
    piles = {pile["id"]: _visible(pile) for pile in view["piles"]}
    for name in ("from", "to"):
        if name in move and move[name] not in piles:
            raise FormatError(f"there is no pile {short(move[name])}; piles are {', '.join(piles)}")
    texts = {one: text for tokens in piles.values() for one, text in tokens.items()}
    for card in move["cards"]:
        if card not in texts:
            raise FormatError(f"you see no token with the id {short(card)}")
        if "from" in move and card not in piles[move["from"]]:
            raise FormatError(f"{texts[card]} is not in {move['from']}")
    fitting = [choice for choice in view["choices"] if _fits(choice, move)]
    if len(fitting) == 1:
        return fitting[0]["action"]
    if fitting:
        labels = ", ".join(repr(choice["label"]) for choice in fitting[:8])
        raise IllegalActionError(f"that may be {labels}; name one of them as an action")
    what = " ".join(texts[card] for card in move["cards"]) or move["from"]
    possible = [choice["label"] for choice in view["choices"] if set(move["cards"]) & set(choice.get("tokens", []))]
    if len(move["cards"]) == 1 and not possible:
        words = state.game.view
        meant = words.meant_by(state.record, words.parse_token(what))
        if meant is not None:
            state.check_legal(meant)  # raises the reason
    hint = f"with it you may: {', '.join(possible[:8])}" if possible else f"you may: {state.legal_text()}"
    raise IllegalActionError(f"no legal action moves {what} so; {hint}")


def _visible(pile: dict[str, Any]) -> dict[str, str]:
    """Return the texts of a pile's visible tokens by id."""
    return {token["id"]: token["text"] for token in pile["tokens"] if "id" in token}


def _fits(choice: dict[str, Any], move: dict[str, Any]) -> bool:
    if sorted(choice.get("tokens", [])) != sorted(move["cards"]):
        return False
    named = (("from", "source"), ("to", "target"))
    return all(name not in move or choice.get(other) == move[name] for name, other in named)


def _sure_events(state: "State", player: int, action: int) -> list[Event]:
    """Return the events that `player` would see first in every guessed world."""
    sure = []
    for events in zip(*guessed_events(state, player, action), strict=False):
        if any(event != events[0] for event in events):
            break
        sure.append(events[0])
    return sure


def guessed_events(state: "State", player: int, action: int) -> list[list[Event]]:
    """Return the events that `player` would see after a legal action, in several worlds that fit what they know.

    Nothing is tried in the true world, so the result cannot depend on it.
    """
    found = []
    for seed in range(_GUESSES):
        twin = state.determinize(player, seed)
        before = len(twin.event_rows(player))
        twin.apply_unchecked(action)
        found.append(twin.events(player)[before:])
    return found
