"""What commands compile before they begin."""

import os
import subprocess
import sys

import pytest

import cardenvs
from cardenvs.cli import compiling
from cardenvs.core.kernel import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="there is nothing to compile with the compiler off")

SCRIPT = """
import sys
import cardenvs
from cardenvs.arena import Match, run_match
from cardenvs.cli.compiling import compile_for
from cardenvs.core.warmup import _counted_compiles

specs = sys.argv[1].split()
game = cardenvs.get_game("kuhn_poker_v0")
with _counted_compiles(lambda: None) as before:
    compile_for(game, game.make_options(), specs)
with _counted_compiles(lambda: None) as after:
    run_match(Match.of(game.name, specs, deals=3, seed=0))
print(len(before) > 0, len(after))
"""


@pytest.mark.parametrize("specs", ["random random", "search:simulations=4 random", "ismcts:simulations=4 random"])
def test_all_that_a_match_needs_is_compiled_before_it(tmp_path, specs):
    env = {**os.environ, "CARDENVS_CACHE_DIR": str(tmp_path), "CARDENVS_PREBUILT": "0"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, specs], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]
    assert done.stderr.count("Compiling Kuhn poker") <= 1  # one bar, drawn once where there is no terminal


def test_only_the_policies_of_the_agents_are_compiled():
    game = cardenvs.get_game("texas_holdem_v0")
    assert compiling._policies(game, ["tight_aggressive", "llm:model"]) == ["random", "tight_aggressive"]
    assert compiling._playout_policies(game, ["random", "ismcts"], "search") == []
    assert compiling._playout_policies(game, ["search:playout=random"], "search") == ["random"]
    assert compiling._playout_policies(game, ["search"], "search") == [game.playout_policy]
    assert compiling._playout_policies(game, ["ismcts:simulations=9", "search:playout=random"], "ismcts") == [
        game.playout_policy
    ]


def test_nothing_is_drawn_if_everything_is_in_the_cache(capfd):
    game = cardenvs.get_game("kuhn_poker_v0")
    compiling.compile_for(game, game.make_options())
    capfd.readouterr()
    compiling.compile_for(game, game.make_options())
    assert capfd.readouterr().err == ""
