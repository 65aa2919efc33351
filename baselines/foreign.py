"""What opponents from outside win from agents of the house on duplicate deals, and what best responses win.

    python -m baselines.foreign                        # all that is missing: an hour or two
    python -m baselines.foreign --games gin_rummy_v0,uno_v0
    python -m baselines.foreign --list

foreign.yaml says who meets whom, docs/agents.md who they are. Each meeting is a command of cardenvs. Its games stay in
--work, so a run that was stopped goes on where it was. docs/foreign.json has the results, and `python -m docs.generate`
makes tables of them.
"""

import hashlib
import json
import shlex
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cardenvs.agents.specs import agent_fingerprint
from cardenvs.cli.options import option_text
from cardenvs.cli.streams import clean_errors
from cardenvs.core.errors import OptionError
from cardenvs.core.files import write_whole
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean, read_yaml
from cardenvs.core.validation import validation_text

FILE = Path(__file__).with_name("foreign.yaml")
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "foreign.json"
WORK = Path("runs/foreign")
RESPONSE = "local best response"
_SEED = "1"


class Entry(BaseModel):
    """An entry of the file, whose top explains it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str
    options: dict[str, Any] = {}
    pairs: bool = False
    agents: tuple[str, ...] = Field(min_length=1)
    against: tuple[str, ...] = Field(min_length=1)
    deals: int = Field(ge=2)
    responses: int | None = Field(default=None, ge=2)


@dataclass(frozen=True)
class Meeting:
    """A match of an agent of the house with an opponent from outside."""

    entry: Entry
    agent: str
    foreign: str

    def words(self) -> list[str]:
        """Return the words of its command after `cardenvs`."""
        entry = self.entry
        settings = get_game(entry.game).make_options(**entry.options)
        texts = {name: option_text(getattr(settings, name)) for name in entry.options}
        options = [word for name, text in texts.items() for word in ("-o", f"{name}={text}")]
        if self.foreign == RESPONSE:
            agent = ["--agent", self.agent]
            return [entry.game.removesuffix("_v0"), "exploit", *agent, *options, "--deals", str(entry.responses)]
        others = settings.num_players - 1
        agents = [self.foreign, self.agent] * 2 if entry.pairs else [self.foreign, *[self.agent] * others]
        together = ",".join(agents)
        return ["match", entry.game, *options, "--agents", together, "--deals", str(entry.deals), "--seed", _SEED]

    @property
    def command(self) -> str:
        """The command as a line for a shell."""
        return shlex.join(["cardenvs", *self.words()])


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help=__doc__, epilog="Example: `python -m baselines.foreign --games gin_rummy_v0 -p 2`")
def main(
    games: Annotated[str, typer.Option(metavar="A,B", help="Only these games; default: all.")] = "",
    processes: Annotated[int, typer.Option("--processes", "-p", min=1)] = 1,
    work: Annotated[Path, typer.Option(help="Folder of the games that were played.")] = WORK,
    out: Annotated[Path, typer.Option(help="File of the results.")] = RESULTS,
    show: Annotated[bool, typer.Option("--list", help="Print the matches and exit.")] = False,
) -> None:
    """Play the matches that are missing, and write the results."""
    with clean_errors():
        for meeting in meetings(games):
            if show:
                print(meeting.command)
                continue
            work.mkdir(parents=True, exist_ok=True)
            add(out, meeting, played(meeting, work, processes))


def meetings(games: str = "") -> list[Meeting]:
    """Return the matches of some games, given with commas between them; "": of all.

    Raises:
        OptionError: the file is wrong or lacks one of the games.
    """
    try:
        entries = TypeAdapter(list[Entry]).validate_python(read_yaml(FILE, "train", OptionError))
    except ValidationError as error:
        raise OptionError(validation_text(error, Entry, str(FILE))) from None
    known, wanted = {entry.game for entry in entries}, [name.strip() for name in games.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise OptionError(f"{FILE} does not have {name}; {did_you_mean(name, known)}it has {', '.join(known)}")
    return [
        Meeting(entry, agent, foreign)
        for entry in entries
        for foreign in (*entry.against, *([RESPONSE] if entry.responses else []))
        for agent in entry.agents
        if not wanted or entry.game in wanted
    ]


def played(meeting: Meeting, work: Path, processes: int) -> dict[str, Any]:
    """Play a match, or go on, and return its summary."""
    weights = agent_fingerprint(meeting.agent)  # a policy with new weights plays a new match
    stem = hashlib.sha256(f"{meeting.command}{weights}".encode()).hexdigest()[:16]
    summary, store = work / f"{stem}.json", work / f"{stem}.db"
    if not summary.exists():
        command = [sys.executable, "-m", "cardenvs", *meeting.words(), "--json", str(summary)]
        if meeting.foreign != RESPONSE:
            command += ["--store", str(store), *(["--resume"] if store.exists() else []), "--processes", str(processes)]
        subprocess.run(command, check=True)
    found: dict[str, Any] = json.loads(summary.read_text(encoding="utf-8"))
    return found


def add(out: Path, meeting: Meeting, summary: dict[str, Any]) -> None:
    """Replace the result of a match in the file of all results, which are in the order of the matches."""
    results = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    is_match = meeting.foreign != RESPONSE
    won = _won(meeting, summary) if is_match else {name: summary[name] for name in ("mean", "half", "deals")}
    times = {one["agent"]: one["decision_ms"] for one in summary.get("leaderboard", ())}
    results[meeting.command] = {
        "game": meeting.entry.game, "options": meeting.entry.options, "agent": meeting.agent,
        "foreign": meeting.foreign, "won": won, "unit": summary["unit"], "decision_ms": times.get(meeting.foreign),
    }  # fmt: skip
    ordered = {one.command: results[one.command] for one in meetings() if one.command in results}
    write_whole(out, json.dumps(ordered, indent=1) + "\n")


def _won(meeting: Meeting, summary: dict[str, Any]) -> dict[str, Any]:
    """Return half the difference of what the foreign agent and those of the house have, with half its 95% interval.

    With several of the house, it is the mean over them, and so is the half interval, which is at least as wide as that
    of the mean.
    """
    specs = {one["name"]: one["spec"] for one in summary["agents"]}
    found = []
    for pair in summary["head_to_head"]:
        first, second = (specs[name] for name in pair["agents"])
        sign = {(meeting.foreign, meeting.agent): 1, (meeting.agent, meeting.foreign): -1}.get((first, second), 0)
        one = pair["advantage"]
        if sign:
            found.append((sign * one["mean"], (one["high"] - one["low"]) / 2, one["deals"]))
    means, halves, deals = zip(*found, strict=True)
    return {"mean": statistics.fmean(means), "half": statistics.fmean(halves), "deals": min(deals)}


if __name__ == "__main__":
    app()
