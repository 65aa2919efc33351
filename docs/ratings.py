"""The ratings by which the server's lobby orders agents, taken from docs/results: cardenvs/zoo/ratings.json."""

import json
from typing import Any

from cardenvs.agents.zoo import zoo_names
from cardenvs.core.registry import get_game
from docs.results_tables import read_results

TRAINED = "ppo"  # the trained policy on a board


def ratings_text() -> str:
    """Return the file: for each game, options of its board that are not the defaults, and ratings by spec.

    Ratings are null in cooperative games. Boards of further policies of a game are left out.
    """
    found = [result for result in read_results() if not result["policy"]]
    boards = {result["game"]: {"options": result["options"], "ratings": _ratings(result)} for result in found}
    return json.dumps(boards, indent=1) + "\n"


def _ratings(result: dict[str, Any]) -> dict[str, int | None]:
    name = result["game"]
    policies = get_game(name).engine.policy_names()
    further = {f"{one['game']}/{one['policy']}" for one in read_results()}
    (trained,) = (f"zoo:{one}" for one in zoo_names() if one.startswith(f"{name}/") and one not in further)
    specs = {one: one for one in policies} | {TRAINED: trained}
    if get_game(name).returns(get_game(name).make_options(**result["options"])).cooperative:
        return {trained: None}
    ratings = {one["agent"]: round(one["rating"]) for one in result["board"]["overall"]}
    return {
        specs.get(agent, agent): rating
        for agent, rating in sorted(ratings.items(), key=lambda one: one[1])
        if agent in specs or agent.startswith("search:")
    }
