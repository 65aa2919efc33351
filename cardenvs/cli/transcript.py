"""`cardenvs transcript`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cardenvs.cli.files import input_file
from cardenvs.cli.shared import escaped, new_console, new_table
from cardenvs.core.errors import AgentError
from cardenvs.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console

_TOKENS = ("prompt", "completion")

transcript_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Inspect calls of language models."
)


@transcript_app.command()
def show(
    file: Annotated[Path, Argument(metavar="FILE", callback=input_file, help="A transcript.")],
    agent: Annotated[str | None, Option(metavar="NAME", help="Only calls of this agent.")] = None,
    outcome: Annotated[str | None, Option(metavar="NAME", help="Only calls with this outcome.")] = None,
    call: Annotated[int | None, Option(min=1, metavar="K", help="Show only the K-th of these calls, in full.")] = None,
    full: Annotated[bool, Option("--full", help="Show prompts and replies.")] = False,
) -> None:
    """Show the calls of a transcript, one per line, then outcomes, times and tokens of each agent.

    Examples:

    - `cardenvs transcript show calls.jsonl`
    - `cardenvs transcript show calls.jsonl --outcome illegal --full`
    - `cardenvs transcript show calls.jsonl --call 12`
    """
    from cardenvs.llm.transcript import read_calls

    console = new_console()
    calls = list(read_calls(file))
    for option, name, value in (("--agent", "agent", agent), ("--outcome", "outcome", outcome)):
        found = sorted({str(one.get(name)) for one in calls})
        if value is not None and value not in found:
            raise AgentError(
                f"{option} {value}: no call in {file} has it; there are {printable(', '.join(found)) or 'none'}"
            )
    chosen = [one for one in calls if agent in (None, one.get("agent")) and outcome in (None, one.get("outcome"))]
    if call is not None and call > len(chosen):
        raise AgentError(f"--call {call} is out of range: {file} has {len(chosen)} such calls")
    for number, one in enumerate(chosen, 1):
        if call in (None, number):
            _print_call(console, number, one, full or call is not None)
    if call is None:
        _print_summary(console, chosen)


def _print_call(console: "Console", number: int, call: dict[str, Any], full: bool) -> None:
    def text(name: str) -> str:
        value = call.get(name)
        return escaped(printable("" if value is None else str(value)))

    colour = "green" if call.get("outcome") == "ok" else "red"
    chosen = text("candidate") or text("reason")
    console.print(
        f"[dim]{number:>5}[/dim] {text('agent')}  {text('game')} player_{text('player')} decision {text('decision')} "
        f"try {text('attempt')}.{text('request')}  [{colour}]{text('outcome')}[/{colour}] {chosen}  "
        f"[dim]{text('seconds')} s[/dim]"
    )
    if not full:
        return
    sent = call.get("messages")
    messages = [{"role": "system", "content": call.get("system_text")}, *(sent if isinstance(sent, list) else [])]
    for message in [*messages, {"role": "reply", "content": call.get("reply")}]:
        if isinstance(message, dict):
            console.print(f"[bold]--- {escaped(printable(str(message.get('role'))))} ---[/bold]")
            console.print(escaped(printable(str(message.get("content")))))


def _print_summary(console: "Console", calls: list[dict[str, Any]]) -> None:
    table = new_table("agent", "outcomes", "calls", "median s", "slowest s", "tokens in", "tokens out", right=2)
    by_agent: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        by_agent.setdefault(str(call.get("agent")), []).append(call)
    for name, own in by_agent.items():
        outcomes = Counter(str(call.get("outcome")) for call in own)
        seconds = sorted(float(call.get("seconds") or 0) for call in own)
        tokens = [sum(int((call.get("tokens") or {}).get(which) or 0) for call in own) for which in _TOKENS]
        counts = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        table.add_row(
            escaped(printable(name)), escaped(printable(counts)), str(len(own)), f"{seconds[len(seconds) // 2]:.2f}",
            f"{seconds[-1]:.2f}", *(str(count) for count in tokens),
        )  # fmt: skip
    console.print(table)
