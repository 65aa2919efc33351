"""The games of cardenvs as OpenSpiel games.

    import cardenvs.openspiel

    game = cardenvs.openspiel.load_game("leduc_poker_v0", num_players=3)
    state = game.new_initial_state()

Importing this package registers every game with OpenSpiel under the prefix "cardenvs_", so that OpenSpiel's own
`pyspiel.load_game("cardenvs_leduc_poker_v0(num_players=3)")` and pickled games work, too. docs/openspiel.md says how
deals become chance nodes, what an information state is, and what does not run.
"""

from cardenvs.core.errors import require

require("pyspiel", "openspiel")

from cardenvs.openspiel.game import SpielGame, SpielState, load_game, register_games  # noqa: E402

register_games()

__all__ = ["SpielGame", "SpielState", "load_game"]
