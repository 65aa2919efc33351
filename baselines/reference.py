"""Scores of the agents that ship with cardenvs, and of others that anyone can install, on the protocol of `evaluate`.

    python -m baselines.reference                          # all that is missing, in the order below: hours
    python -m baselines.reference --agents random,heuristic
    python -m baselines.reference --list

Each agent is evaluated by `cardenvs evaluate`. Games and cards stay in --work, so a run that was stopped goes on where
it was. docs/scores.json has the scores, and `python -m docs.generate` makes docs/scores.md from them.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cardenvs.agents.specs import agent_fingerprint
from cardenvs.agents.zoo import zoo_names
from cardenvs.cli.streams import clean_errors
from cardenvs.core.errors import OptionError
from cardenvs.core.files import write_whole
from cardenvs.core.text import did_you_mean

SCORES = Path(__file__).resolve().parents[1] / "docs" / "scores.json"
WORK = Path("runs/reference")
_README = "ppo after 90 s"
_STUB = "llm:stub"


@dataclass(frozen=True)
class Row:
    """An agent of the table.

    Attributes:
        spec: its spec; {game} stands for the game's name.
        games: names of the only games it plays; (): all of the size.
        size: of the protocol.
        name: what the table calls it, by default `spec`.
    """

    spec: str
    games: tuple[str, ...] = ()
    size: str = "full"
    name: str = ""

    @property
    def title(self) -> str:
        """What the table calls it."""
        return self.name or self.spec


_HOLDEM, _GIN, _LEDUC, _RUMMIKUB = ("texas_holdem_v0",), ("gin_rummy_v0",), ("leduc_poker_v0",), ("rummikub_v0",)
_BUDGETS = (10, 50, 200)
# Here 200 simulations a decision take minutes a game, elsewhere far longer.
_QUICK = (
    "blackjack_v0", "bridge_v0", "briscola_v0", "canasta_v0", "casino_v0", "crazy_eights_v0", "dou_dizhu_v0",
    "durak_v0", "euchre_v0", "gin_rummy_v0", "hanabi_v0", "hearts_v0", "kasino_v0", "katko_v0", "kuhn_poker_v0",
    "leduc_poker_v0", "liars_dice_v0", "marjapussi_v0", "ristiseiska_v0", "scopa_v0", "skat_v0", "spades_v0",
    "texas_holdem_v0", "uno_v0", "wingspan_v0",
)  # fmt: skip
ROWS = (
    Row("random"),
    Row("heuristic"),
    Row("zoo:{game}"),
    Row("greedy"),
    Row("planner"),
    Row("melder"),
    Row("max_tiles", _RUMMIKUB),
    *(Row(name, _HOLDEM) for name in ("equity", "tight_aggressive", "push_fold", "plain_equity")),
    Row("zoo:texas_holdem_v0/heads_up", _HOLDEM),
    *(Row(f"always:{style}", _HOLDEM) for style in ("call", "pot", "least_raise")),
    *(Row(f"rlcard:leduc-holdem-rule-v{number}", _LEDUC) for number in (1, 2)),
    Row("rlcard:leduc-holdem-cfr", _LEDUC),
    Row("rlcard:gin-rummy-novice-rule", _GIN),
    Row("rlcard:doudizhu-rule-v1", ("dou_dizhu_v0",)),
    Row("openspiel_bot:uniform", _LEDUC),
    Row("openspiel_bot:simple_gin_rummy", _GIN),
    Row("openspiel_bot:ismcts", _LEDUC),
    Row("pimc", ("bridge_v0",)),
    Row("ppo:runs/gin/latest.pt", _GIN, name=_README),
    *(Row(f"search:simulations={number}", () if number < _BUDGETS[-1] else _QUICK) for number in _BUDGETS),
    *(Row(f"search:simulations={number}", size="tiny") for number in _BUDGETS),
    *(Row(f"ismcts:simulations={number}", size="tiny") for number in (50, 200)),
    Row(_STUB, size="tiny"),
    *(Row(spec, size="tiny") for spec in ("random", "heuristic", "zoo:{game}")),
)  # fmt: skip
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help=__doc__, epilog="Example: `python -m baselines.reference --agents zoo:{game} -p 2`")
def main(
    agents: Annotated[str, typer.Option(metavar="A,B", help="Only these specs; default: all.")] = "",
    processes: Annotated[int, typer.Option("--processes", "-p", min=1)] = 1,
    work: Annotated[Path, typer.Option(help="Folder of stores and cards.")] = WORK,
    out: Annotated[Path, typer.Option(help="File of the scores.")] = SCORES,
    show: Annotated[bool, typer.Option("--list", help="Print the agents and exit.")] = False,
) -> None:
    """Evaluate the agents whose cards are missing, and write the scores."""
    with clean_errors():
        rows = chosen(agents)
        if show:
            for row in rows:
                print(row.size, row.spec, *row.games)
            return
        work.mkdir(parents=True, exist_ok=True)
        for row in rows:
            card = evaluated(row, work, processes)
            add(out, row, json.loads(card.read_text(encoding="utf-8")))


def chosen(agents: str) -> Sequence[Row]:
    """Return the rows of some specs, given with commas between them; "": all.

    Raises:
        OptionError: a spec is not in the table.
    """
    wanted = [text.strip() for text in agents.split(",") if text.strip()]
    specs = list(dict.fromkeys(row.spec for row in ROWS))
    for spec in wanted:
        if spec not in specs:
            raise OptionError(f"the table has no agent {spec!r}; {did_you_mean(spec, specs)}see --list")
    return [row for row in ROWS if not wanted or row.spec in wanted]


def evaluated(row: Row, work: Path, processes: int) -> Path:
    """Evaluate an agent, or go on, and return the file of its card."""
    stem = "".join(letter if letter.isalnum() else "-" for letter in f"{row.spec} {row.size}{_weights(row.spec)}")
    card, store = work / f"{stem}.json", work / f"{stem}.db"
    if not card.exists():
        command = [sys.executable, "-m", "cardenvs", "evaluate", row.spec, "--size", row.size, "--json", str(card)]
        command += ["--store", str(store), *(["--resume"] if store.exists() else []), "--processes", str(processes)]
        command += ["--games", ",".join(row.games)] if row.games else []
        with _ready(row, work) as environment:
            subprocess.run(command, check=True, env=environment)
    return card


def _weights(spec: str) -> str:
    """Return a hash of all weights in the zoo if the agent is from there, so that new policies are evaluated."""
    if not spec.startswith("zoo:"):
        return ""
    found = "".join(agent_fingerprint(f"zoo:{name}") for name in zoo_names())
    return f" {hashlib.sha256(found.encode()).hexdigest()[:8]}"


@contextlib.contextmanager
def _ready(row: Row, work: Path) -> Iterator[dict[str, str]]:
    """Prepare what an agent needs, a server or a trained policy, and yield the environment of its evaluation."""
    environment = dict(os.environ)
    if row.name == _README and not Path("runs/gin/latest.pt").exists():
        train = [sys.executable, "-m", "cardenvs", "train", "gin_rummy_v0", "--seconds", "90", "--out", "runs/gin"]
        subprocess.run(train, check=True)
    if row.spec != _STUB:
        yield environment
        return
    from cardenvs.llm.config import CONFIG_VARIABLE
    from cardenvs.llm.stub import StubSettings, running

    with running(StubSettings(seed=1)) as stub:
        config, model = work / "llm.yaml", {"base_url": stub.base_url, "model": "stub"}
        config.write_text(json.dumps({"models": {"stub": model}}), encoding="utf-8")
        yield {**environment, CONFIG_VARIABLE: str(config)}


def add(out: Path, row: Row, card: dict[str, Any]) -> None:
    """Replace the scores of an agent in the file of all scores."""
    scores = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    scores[f"{row.spec} {row.size}"] = {
        "agent": row.title, "size": row.size, "protocol": card["protocol"], "is_complete": card["is_complete"],
        "score": card["score"], "games": {game["game"]: _result(game) for game in card["games"]},
    }  # fmt: skip
    places = {f"{row.spec} {row.size}": place for place, row in enumerate(ROWS)}
    ordered = sorted(scores.items(), key=lambda item: places.get(item[0], len(places)))
    write_whole(out, json.dumps(dict(ordered), indent=1) + "\n")


def _result(game: dict[str, Any]) -> dict[str, Any]:
    kept = ("title", "reference", "score", "decision_ms", "failures")
    return {name: game[name] for name in kept}


if __name__ == "__main__":
    app()
