"""The games as the lobby shows them: options, agents and a line of text."""

import dataclasses
import re
from typing import Any

from cardenvs.core.game import Game
from cardenvs.core.options import players_text
from cardenvs.server.agents import agent_specs
from cardenvs.server.settings import Settings
from cardenvs.server.strength import RANDOM, label, levels, own_agents, rated_with

_SENTENCE = re.compile(r".*?[.!?:](?=\s|$)", re.DOTALL)


def game_json(game: Game, settings: Settings) -> dict[str, Any]:
    """Return what a client needs to know about a game to open a table, as JSON values.

    "agents" play with the default options; "opponents" are all agents, from easy to strong, then the owner's.
    """
    options, owners = game.make_options(), settings.offered_agents()
    own = [agent for agent in own_agents(game, None) if agent.name not in owners]
    is_rated = any(agent.name == RANDOM and agent.rating for agent in own)  # else the ratings have another zero
    return {
        "name": game.name,
        "title": game.title,
        "about": about(game),
        "players": players_text(game.options),
        "options": _options_json(game),
        "agents": list(agent_specs(game, settings, options)),
        "opponents": [
            *(
                {"name": agent.name, "label": label(agent.name, game), "rating": agent.rating if is_rated else None}
                for agent in own
            ),
            *({"name": name, "label": name, "rating": None} for name in owners),
        ],
        "levels": levels(game, options, owners),
        "rated_with": rated_with(game),
        "default_opponent": game.default_opponent,
    }


def _options_json(game: Game) -> list[dict[str, Any]]:
    found = []
    for field in dataclasses.fields(game.options):
        meta = {name: value for name, value in field.metadata.items() if value is not None}
        kind = "choice" if "choices" in meta else "flag" if isinstance(field.default, bool) else "number"
        kind = "list" if "length" in meta else kind
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        if "values" in meta:
            kind = "choice"
            meta["choices"] = [str(value) for value in meta["values"]]
        found.append(meta | {"name": field.name, "kind": kind, "default": default})
    return found


def about(game: Game) -> str:
    """Return the first sentence of the game's page; "" if it has none."""
    page = game.folder / "page.md"
    text = page.read_text(encoding="utf-8").partition("\n#")[0] if page.exists() else ""
    found = _SENTENCE.match(" ".join(text.replace("*", "").replace("`", "").split()))
    return found[0].replace(":", ".") if found else ""
