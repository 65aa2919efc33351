"""`cardenvs llm-stub`."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from cardenvs.cli.files import input_file
from cardenvs.cli.options import parse_pairs
from cardenvs.cli.shared import MAX_SEED, finite
from cardenvs.core.errors import AgentError


def llm_stub(
    port: Annotated[int, Option(min=1, max=65535, help="Port on this machine.")] = 8123,
    fault: Annotated[
        list[str] | None, Option(metavar="NAME=SHARE", help="Share of replies with this fault. May be repeated.")
    ] = None,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of all random choices.")] = 0,
    script: Annotated[
        Path | None, Option(metavar="FILE", callback=input_file, help="Serve the lines of this file in turn instead.")
    ] = None,
    pick: Annotated[str, Option(help="Action that a good reply picks: first, last or random.")] = "random",
    slow_seconds: Annotated[float, Option(min=0, callback=finite, help="Seconds that a slow reply takes.")] = 30.0,
    retry_after: Annotated[
        float, Option(min=0, callback=finite, help="Seconds that a rate-limited reply asks to wait.")
    ] = 1.0,
    latency: Annotated[float, Option(min=0, callback=finite, help="Seconds that every reply takes.")] = 0.0,
) -> None:
    """Serve a fake model for tests on this machine: OpenAI-compatible, with chosen faults. Ctrl-C ends it.

    Faults: slow, rate_limited, broken, dropped, no_json, empty, truncated, garbage, illegal, hostile, endless. A line
    of a script is good, a fault, or the text of the reply. GET /stub/served counts the replies.

    Examples:

    - `cardenvs llm-stub --port 8123 --fault slow=0.05 --fault garbage=0.05 --seed 7`
    - `LLM_BASE_URL=http://127.0.0.1:8123/v1 LLM_MODEL=stub cardenvs match kuhn_poker_v0 --agents llm:env,random`
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
    for name, text in parse_pairs(texts, "--fault", "slow=0.05", AgentError).items():
        try:
            shares[name] = float(text)
            if not 0 <= shares[name] <= 1:
                raise ValueError(text)
        except ValueError:
            raise AgentError(
                f"--fault takes a share from 0 to 1, as in --fault slow=0.05; got {name}={text!r}"
            ) from None
    return shares
