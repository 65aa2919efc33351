"""The commands for language models: prompt, transcript, llm-stub."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli_files import finite, input_file
from cardenvs.core.errors import AgentError

if TYPE_CHECKING:
    from cardenvs.core.state import State
    from cardenvs.llm.config import PromptSettings

_MAX_SEED = 2**63 - 1
_SETTING = "--set"


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(prompt)
    app.command("llm-stub")(llm_stub)
    transcript = typer.Typer(
        no_args_is_help=True, rich_markup_mode="markdown", help="Look at calls of language models."
    )
    transcript.command("show")(show)
    app.add_typer(transcript, name="transcript")


def prompt(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Name of a game.")],
    seed: Annotated[int, typer.Option(min=0, max=_MAX_SEED, help="Of the deal, and of the play up to there.")] = 0,
    ply: Annotated[int, typer.Option(min=0, max=10**9, help="After how many actions.")] = 0,
    player: Annotated[int | None, typer.Option(min=0, help="Who is to act; refused if it is somebody else.")] = None,
    policy: Annotated[str, typer.Option(help="Who plays up to there: random, or a policy of the game.")] = "random",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="With the settings of this model.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option(_SETTING, metavar="NAME=VALUE", help="A setting of prompts. May be repeated.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the messages as they are sent.")] = False,
) -> None:
    """Print exactly what a language model would see of one decision.

    Settings are candidates, rules, thinking (true or false), recap (a number) and answer (candidate, label or game).

    Examples: `cardenvs prompt leduc_poker_v0 --seed 7 --ply 2`,
    `cardenvs prompt gin_rummy_v0 --ply 5 --set rules=false --set recap=5`,
    `cardenvs prompt texas_holdem_v0 --ply 4 --set answer=game --set candidates=false --json`
    """
    import json

    from cardenvs.agents.base import Turn
    from cardenvs.cli import read_options
    from cardenvs.core.registry import get_game
    from cardenvs.core.text import printable
    from cardenvs.llm.prompt import write_prompt

    found = get_game(game)
    options = read_options(found, option)
    state = found.new_state(seed=seed, **options.as_dict())
    _play_on(state, ply, policy, seed)
    if player is not None and player != state.current_player:
        raise AgentError(f"after {ply} actions player_{state.current_player} is to act, not player_{player}")
    written = write_prompt(Turn(state, seed), _settings(model, setting))
    if as_json:
        typer.echo(json.dumps(written.messages, indent=1, ensure_ascii=False))
        return
    for message in written.messages:
        typer.secho(f"--- {message['role']} ---", dim=True)
        typer.echo(printable(message["content"]))


def _play_on(state: "State", ply: int, policy: str, seed: int) -> None:
    from cardenvs.core.rng import derived_seed

    for k in range(ply):
        if state.is_terminal:
            break
        state.apply(state.policy_action(policy, derived_seed(seed, "prompt", k)))
    if state.is_terminal:
        raise AgentError(f"with seed {seed} the game is over after {state.ply} actions; choose a smaller --ply")


def _settings(model: str | None, texts: list[str] | None) -> "PromptSettings":
    from cardenvs.llm.config import LLMConfig

    changes: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise AgentError(f"{_SETTING} takes NAME=VALUE, as in {_SETTING} rules=false; got {text!r}")
        changes[name.strip()] = value.strip()
    return LLMConfig.named(model or "first_candidate", **changes).prompt


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", callback=input_file, help="A transcript.")],
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Calls of this agent only.")] = None,
    outcome: Annotated[str | None, typer.Option(metavar="NAME", help="Calls with this outcome only.")] = None,
    call: Annotated[int | None, typer.Option(min=1, metavar="K", help="Only the K-th of them, with all of it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="With prompts and replies.")] = False,
) -> None:
    """Show the calls of a transcript: a line each, then how many came to what, in which time.

    Examples: `cardenvs transcript show calls.jsonl`, `cardenvs transcript show calls.jsonl --outcome illegal --full`,
    `cardenvs transcript show calls.jsonl --call 12`
    """
    from rich.console import Console

    from cardenvs.llm.transcript import read_calls

    console = Console(highlight=False)
    chosen = [
        one for one in read_calls(file) if agent in (None, one.get("agent")) and outcome in (None, one.get("outcome"))
    ]
    if call is not None and call > len(chosen):
        raise AgentError(f"there are {len(chosen)} such calls in {file}; --call {call} is none of them")
    for number, one in enumerate(chosen, 1):
        if call in (None, number):
            _print_call(console, number, one, full or call is not None)
    if call is None:
        _print_summary(console, chosen)


def _print_call(console: Any, number: int, call: dict[str, Any], full: bool) -> None:
    from rich.markup import escape

    def text(name: str) -> str:
        from cardenvs.core.text import printable

        value = call.get(name)
        return escape(printable("" if value is None else str(value)))

    colour = "green" if call.get("outcome") == "ok" else "red"
    chosen = text("candidate") or text("reason")
    console.print(
        f"[dim]{number:>5}[/dim] {text('agent')}  {text('game')} player_{text('player')} ply {text('ply')} "
        f"try {text('attempt')}.{text('request')}  [{colour}]{text('outcome')}[/{colour}] {chosen}  "
        f"[dim]{text('seconds')} s[/dim]"
    )
    if not full:
        return
    messages = [{"role": "system", "content": call.get("system_text")}, *_list(call.get("messages"))]
    for message in [*messages, {"role": "reply", "content": call.get("reply")}]:
        from cardenvs.core.text import printable

        if isinstance(message, dict):
            console.print(f"[bold]--- {escape(printable(str(message.get('role'))))} ---[/bold]")
            console.print(escape(printable(str(message.get("content")))))


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []


def _print_summary(console: Any, calls: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from cardenvs.core.text import printable

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("agent", "calls", "outcomes", "median s", "slowest s", "tokens in", "tokens out"):
        table.add_column(column, justify="left" if column in ("agent", "outcomes") else "right")
    by_agent: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        by_agent.setdefault(str(call.get("agent")), []).append(call)
    for name, own in by_agent.items():
        outcomes = Counter(str(call.get("outcome")) for call in own)
        seconds = sorted(float(call.get("seconds") or 0) for call in own)
        tokens = [sum(int((call.get("tokens") or {}).get(which) or 0) for call in own) for which in _TOKENS]
        counts = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        table.add_row(
            escape(printable(name)), str(len(own)), escape(printable(counts)), f"{seconds[len(seconds) // 2]:.2f}",
            f"{seconds[-1]:.2f}", *(str(count) for count in tokens),
        )  # fmt: skip
    console.print(table)


_TOKENS = ("prompt", "completion")


def llm_stub(
    port: Annotated[int, typer.Option(min=1, max=65535, help="On this machine only.")] = 8123,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="NAME=SHARE", help="Share of a fault in all replies. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=_MAX_SEED, help="Of all that is drawn.")] = 0,
    script: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=input_file, help="Lines to serve in turn instead.")
    ] = None,
    pick: Annotated[str, typer.Option(help="What a good reply picks: first, last or random.")] = "random",
    slow_seconds: Annotated[float, typer.Option(min=0, callback=finite, help="How long a slow reply takes.")] = 30.0,
    retry_after: Annotated[
        float, typer.Option(min=0, callback=finite, help="Seconds that a rate-limited reply asks to wait.")
    ] = 1.0,
    latency: Annotated[float, typer.Option(min=0, callback=finite, help="Seconds that every reply takes.")] = 0.0,
) -> None:
    """Serve a model for tests on this machine: OpenAI-compatible, with the faults you ask for. Ctrl-C ends it.

    Faults: slow, rate_limited, broken, dropped, no_json, empty, truncated, garbage, illegal, hostile, endless. A line
    of a script is good, a fault, or a text to say. GET /stub/served counts what was served.

    Examples: `cardenvs llm-stub --port 8123 --fault slow=0.05 --fault garbage=0.05 --seed 7`,
    then `LLM_BASE_URL=http://127.0.0.1:8123/v1 LLM_MODEL=stub cardenvs match kuhn_poker_v0 --agents llm:env,random`
    """
    from cardenvs.llm.stub import StubSettings, serve

    try:
        lines = script.read_text(encoding="utf-8").splitlines() if script is not None else []
    except UnicodeDecodeError:
        raise AgentError(f"{script} is not text in UTF-8") from None
    settings = StubSettings(
        _shares(fault), seed, [line for line in lines if line.strip()], slow_seconds, retry_after, pick, latency
    )
    typer.echo(f"http://127.0.0.1:{port}/v1 serves; counts: http://127.0.0.1:{port}/stub/served", err=True)
    serve(settings, "127.0.0.1", port)


def _shares(texts: list[str] | None) -> dict[str, float]:
    shares = {}
    for text in texts or ():
        name, _, share = text.partition("=")
        try:
            if not 0 <= float(share) <= 1:
                raise ValueError(share)
            shares[name.strip()] = float(share)
        except ValueError:
            raise AgentError(
                f"--fault takes NAME=SHARE, a share from 0 to 1, as in --fault slow=0.05; got {text!r}"
            ) from None
    return shares
