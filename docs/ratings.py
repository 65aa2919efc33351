"""The ratings by which the server's lobby orders agents, taken from docs/results: cardenvs/zoo/ratings.json."""

import json
from typing import Any

from cardenvs.agents.zoo import zoo_names
from cardenvs.core.registry import get_game
from docs.results_tables import FOLDER

TRAINED = "ppo"  # the trained policy on a board; it comes with cardenvs as the only one of its game in the zoo


def ratings_text() -> str:
    """Return the file: for each game, options of its board that are not the defaults, and ratings by spec."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    boards = {result["game"]: {"options": result["options"], "ratings": _ratings(result)} for result in found}
    return json.dumps(boards, indent=1) + "\n"


def _ratings(result: dict[str, Any]) -> dict[str, int]:
    name = result["game"]
    policies = get_game(name).engine.policy_names()
    (trained,) = (f"zoo:{one}" for one in zoo_names() if one.startswith(f"{name}/"))
    specs = {one: one for one in policies} | {TRAINED: trained}
    ratings = {one["agent"]: round(one["rating"]) for one in result["board"]["overall"]}
    return {
        specs.get(agent, agent): rating
        for agent, rating in sorted(ratings.items(), key=lambda one: one[1])
        if agent in specs or agent.startswith("search:")
    }
