"""The cards of the policies that come with cardenvs: their figures are those of the commands beside them."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from agents.untrained import untrained

from cardenvs.agents.checkpoint_file import read_checkpoint, write_weights
from cardenvs.agents.specs import split_specs
from cardenvs.agents.zoo import FOLDER, card, weights_file, zoo_names
from cardenvs.arena import Match, run_match
from cardenvs.cli import app
from cardenvs.cli.options import read_options
from cardenvs.core.registry import get_game
from cardenvs.training.exploit import Gain

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
SECTIONS = ("## How it was trained", "## How strong it is", "## What it does badly")
MAGNETS = [name for name in zoo_names() if name.endswith("/magnet")]  # whose cards have exact figures
PLAYED = sorted(set(zoo_names()) - set(MAGNETS))
RUNNER = CliRunner()

# Enough for an interval of the first figure that leaves out random weights and every rule agent that is clearly weaker.
FEW_DEALS = {
    "blackjack_v0/ppo": 2000,
    "bridge_v0/ppo_auction": 100,
    "briscola_v0/ppo": 150,
    "canasta_v0/ppo": 30,
    "casino_v0/ppo": 100,
    "crazy_eights_v0/ppo": 200,
    "cribbage_v0/ppo": 100,
    "dou_dizhu_v0/dmc": 100,
    "durak_v0/ppo": 100,
    "euchre_v0/ppo": 400,
    "gin_rummy_v0/ppo": 200,
    "hanabi_v0/ppo": 60,
    "hearts_v0/ppo": 100,
    "kasino_v0/ppo": 400,
    "katko_v0/ppo": 200,
    "liars_dice_v0/ppo": 200,
    "marjapussi_v0/ppo": 200,
    "oh_hell_v0/ppo": 40,
    "one_player_poker_v0/ppo": 200,
    "pinnacola_v0/ppo": 100,
    "riichi_v0/ppo": 30,
    "ristiseiska_v0/ppo": 100,
    "rummikub_v0/ppo": 20,
    "scopa_v0/ppo": 400,
    "skat_v0/ppo": 100,
    "spades_v0/ppo": 100,
    "texas_holdem_v0/heads_up": 400,
    "texas_holdem_v0/limit": 400,
    "uno_v0/ppo": 200,
    "wingspan_v0/ppo": 60,
}


@dataclass(frozen=True)
class Claim:
    """A row of a card's table: what the policy gets a deal against an opponent, in the match above the table. In a
    cooperative game the opponent is a partner, which may be the policy itself."""

    game: str
    options: list[str]
    agents: list[str]
    opponent: str
    deals: int
    seed: int
    mean: float
    half: float

    def measured(self, deals, policy=None):
        """The estimate of the first `deals` deals; with another agent in place of the policy, if given."""
        game = get_game(self.game)
        options = read_options(game, self.options)
        agents = self.agents if options.num_players > 2 else [*dict.fromkeys((self.agents[0], self.opponent))]
        if policy is not None:
            agents = [policy if agent == self.agents[0] else agent for agent in agents]
        found = run_match(Match.make(game, options, agents, deals, self.seed))
        if found.cross_play:
            return found.cross_play[0, len(agents) - 1]
        if options.num_players > 2:
            return found.standings[0].mean
        return found.advantage(0, 1)  # for one player, the mean says nothing about the opponent


def tables(name, command):
    """The calls of a cardenvs command in a card that have a table below: [(words, rows of the table)]."""
    found = re.findall(rf"```bash\n(cardenvs {command} .+)\n```\n\n\|.*\n\| ---.*\n((?:\|.*\n)+)", card(name))
    return [(shlex.split(call), rows.splitlines()) for call, rows in found]


def claims(name):
    """The rows of a card's tables, first to last."""
    return [_claim(words, row) for words, rows in tables(name, "match") for row in rows]


def _claim(words, row):
    opponent, mean, half = re.fullmatch(r"\| ([^ |]+) \| ([+-][\d.,]+) ± ([\d.,]+) \|", row).groups()
    game, flags = words[2], list(zip(words[3::2], words[4::2], strict=True))
    given = dict(flags)
    options = [value for flag, value in flags if flag == "-o"]
    agents = split_specs(given["--agents"])
    numbers = [float(text.replace(",", "")) for text in (mean, half)]
    return Claim(game, options, agents, opponent, int(given["--deals"]), int(given["--seed"]), *numbers)


def result_of(name):
    """The results of a policy: those of its game, or its own if it is a further policy of the game."""
    own = RESULTS / f"{name.replace('/', '-')}.json"
    path = own if own.exists() else RESULTS / f"{name.partition('/')[0]}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_list_and_the_cards():
    listed = RUNNER.invoke(app, ["zoo", "list"], env={"COLUMNS": "200"})
    assert listed.exit_code == 0
    for name in zoo_names():
        assert f"zoo:{name}" in listed.output
        assert all(section in card(name) for section in SECTIONS), name
        assert RUNNER.invoke(app, ["zoo", "show", name]).exit_code == 0
    assert {path.suffix for path in FOLDER.glob("*/*")} <= {".safetensors", ".md"}


@pytest.mark.parametrize("name", PLAYED)
def test_every_figure_has_its_command_and_the_first_one_is_in_the_summary(name):
    found = claims(name)
    for claim in found:
        assert claim.agents[0].partition(",")[0] == f"zoo:{name}"
        assert claim.opponent in claim.agents
    summary = card(name).split("\n\n")[1].replace("\n", " ")
    first = re.search(r"[+-][\d.,]+ ± [\d.,]+", card(name).partition("## How strong it is")[2])[0]
    assert first in summary
    assert f"{found[0].deals:,} deals" in summary


@pytest.mark.parametrize("name", PLAYED)
def test_cards_and_results_say_the_same_of_the_training(name):
    result = result_of(name)
    (run,), text = result["runs"], " ".join(card(name).split())
    millions = run["steps"] / 1e6
    cores = "one core" if "--threads 1" in result["command"] else "a machine with two cores"
    where = cores if run.get("device", "cpu") == "cpu" else f"an {run['device']}"
    assert result["command"] in text
    assert re.search(
        rf"{millions:.{0 if millions > 10 else 1}f} million [a-z]+ in {run['seconds'] / 60:.0f} minutes?", text
    )
    assert re.search(rf"minutes? on {where}, with", text)
    if result.get("response"):
        game = get_game(result["game"])
        returns = game.returns(game.make_options(**result["options"]))
        gain = Gain(**result["response"]["reported"][result["response"]["mode"]]).times(returns.result_factor)
        assert f"{gain.mean:+.2f} ± {gain.half:.2f} {returns.result_unit_label} on {gain.deals:,} deals" in text


@pytest.mark.rotating
@pytest.mark.parametrize("name", PLAYED)
def test_a_few_deals_agree_with_the_first_figure(name):
    claim = claims(name)[0]
    found = claim.measured(FEW_DEALS[name])
    assert found.low <= claim.mean <= found.high


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_a_few_deals_tell_random_weights_from_the_policy(name, tmp_path):
    claim = claims(name)[0]
    trained = read_checkpoint(weights_file(name))
    game = get_game(claim.game)
    weights = untrained(game, game.make_options(**trained["options"]), trained["shape"]["hidden"])
    write_weights(weights, tmp_path / "untrained.safetensors")
    parameters = claim.agents[0].partition(",")[2]
    found = claim.measured(FEW_DEALS[name], f"ppo:{tmp_path}/untrained.safetensors,{parameters}".rstrip(","))
    assert found.high < claim.mean


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_all_deals_give_the_figures(name):
    for claim in claims(name):
        found = claim.measured(claim.deals)
        tolerance = 0.1 * claim.half  # for a processor that rounds otherwise
        assert found.mean == pytest.approx(claim.mean, abs=tolerance), claim
        assert (found.high - found.low) / 2 == pytest.approx(claim.half, abs=tolerance), claim


@pytest.mark.parametrize("name", MAGNETS)
def test_exact_figures(name):
    mixed, greedy = tables(name, "exploitability")
    assert mixed[0][-1] == f"zoo:{name}"
    assert greedy[0][-1] == f"zoo:{name},sample=false"
    for words, rows in (mixed, greedy):
        output = RUNNER.invoke(app, words[1:]).output
        gains = re.findall(r"(player_\d) .* ([\d.]+)\n", output) + re.findall(r"(NashConv) ([\d.]+)", output)
        assert rows == [f"| {label} | {float(gain):.3f} |" for label, gain in gains]
    assert f"a NashConv of {mixed[1][-1].split()[-2]} chips" in card(name)
