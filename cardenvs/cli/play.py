"""`cardenvs play`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.files import Outputs
from cardenvs.cli.options import read_options
from cardenvs.cli.shared import MAX_SEED, GameName, OptionTexts, new_console
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.core.text import LONGEST_NAME, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.agents.base import Agent
    from cardenvs.agents.terminal import TerminalAgent
    from cardenvs.core.game import Game
    from cardenvs.core.options import Options
    from cardenvs.core.state import State

_LAST_LINES = 6  # printed of a game that the others finish without the user


def play(
    game: GameName,
    against: Annotated[
        str | None, Option(metavar="AGENTS", help="The other players: one agent for all seats, or one for each.")
    ] = None,
    seat: Annotated[int, Option(min=0, help="Your seat, from 0.")] = 0,
    seed: Annotated[
        str | None, Option("--seed", metavar="SEED", help="A number, or the seed that `play` printed; default: drawn.")
    ] = None,
    option: OptionTexts = None,
    save: Annotated[Path | None, Option(metavar="FILE", help="Write a replay when you stop.")] = None,
) -> None:
    """Play a game in the terminal. You see only what your seat may know.

    Examples:

    - `cardenvs play leduc_poker_v0 --against search`
    - `cardenvs play kuhn_poker_v0 --against random,search -o num_players=3 --seat 1 --save game.json`
    """
    import secrets
    import shlex

    from cardenvs.agents.seeds import MatchSeed
    from cardenvs.agents.specs import is_guest

    found = get_game(game)
    options = read_options(found, option)
    if seat >= options.num_players:
        raise ArenaError(f"--seat {seat} is out of range: {found.name} has players 0 to {options.num_players - 1} here")
    outputs = Outputs({"--save": save})
    specs = _opponents(found, options, against)
    drawn = MatchSeed.of(secrets.randbits(63) if seed is None else seed)
    if drawn.secret > MAX_SEED:
        raise ArenaError(f"--seed {seed} is the seed of a match; a single game takes a number from 0 to 2**63-1")
    compile_for(found, options, specs)
    state = found.state_type(found, options, seed=drawn.secret)
    names = [*specs[:seat], "you", *specs[seat:]]
    _play_in_terminal(state, seat, names, drawn.guests_key)
    if save is not None:
        from cardenvs.core.replay import Replay

        outputs.write("replay", save, Replay.of(state, [one_line(name, LONGEST_NAME) for name in names]).save)
    repeated = drawn.token if any(map(is_guest, specs)) else drawn.text
    again = ["cardenvs", "play", found.name, "--seed", repeated, "--seat", str(seat)]
    again += ["--against", ",".join(specs)] if specs else []
    again += [word for text in option or () for word in ("-o", text)]
    typer.secho(shlex.join(again), dim=True)
    outputs.close()


def _opponents(game: "Game", options: "Options", against: str | None) -> list[str]:
    from cardenvs.agents.specs import split_specs

    specs = split_specs(against) if against else [game.default_opponent]
    others = options.num_players - 1
    if len(specs) not in (1, others):
        raise AgentError(f"--against takes one agent, or one for each of the {others} other players; got {len(specs)}")
    return specs * others if len(specs) == 1 else specs


def _play_in_terminal(state: "State", seat: int, names: list[str], guests_key: str) -> None:
    from cardenvs.agents.python import raised_text
    from cardenvs.agents.seating import Seat, play_out
    from cardenvs.agents.seeds import guest_seed
    from cardenvs.agents.specs import is_guest
    from cardenvs.agents.terminal import QuitGame, TerminalAgent
    from cardenvs.core.results import ResultCheck
    from cardenvs.core.rng import derived_seed

    console = new_console()
    you = TerminalAgent(console)
    agents: list[Agent] = [you if p == seat else _made(names[p], state) for p in range(state.num_players)]
    guests = [p != seat and is_guest(name) for p, name in enumerate(names)]
    seeds = [
        guest_seed(guests_key, state.seed, p) if guest else derived_seed(state.seed, "player", p)
        for p, guest in enumerate(guests)
    ]
    seats = [Seat(agent, p, seeds[p], guests[p]) for p, agent in enumerate(agents)]
    for each in seats:
        each.begin(state)
    check = ResultCheck(state)
    others = ", ".join(f"player_{p} is {name}" for p, name in enumerate(names) if p != seat)
    if state.num_players > 2 and len(set(names)) == 2:
        others = f"the others are {names[seat - 1]}"
    who = f"you are player_{seat}, {others}" if others else "you play alone"
    console.print(f"[bold]{state.game.title}[/bold]: {who}. Type help for help.", markup=True)
    try:
        play_out(state, seats)
    except (QuitGame, KeyboardInterrupt):
        console.print("\nYou leave the game.")
        return
    except CardenvsError:
        raise
    except Exception as error:  # any exception of an agent is its failure
        player = state.current_player
        raise AgentError(f"player_{player}, {names[player]}, failed: {raised_text(error)}") from error
    finally:
        for agent in agents:
            if hasattr(agent, "close"):
                agent.close()
    fault = check.fault(state)
    if fault is not None:
        raise ArenaError(fault)
    _tell_end(console, you, state, seat)
    _print_result(console, state, seat)


def _tell_end(console: "Console", you: "TerminalAgent", state: "State", seat: int) -> None:
    """Print the rest of the game, or only its end if the others finished it without the user."""
    from cardenvs.core.narration import Narrator

    events = state.events(seat)
    seen = _events_until_out(state, seat)
    you.tell(events[:seen], state.game, seat, state.num_players)
    if seen == len(events):
        return
    last = Narrator(state.game, seat, state.num_players).lines(events[seen:])
    if len(last) > _LAST_LINES:
        console.print(f"[dim]· You are out. The others play on; {len(last) - _LAST_LINES} lines are left out.[/dim]")
    for line in last[-_LAST_LINES:]:
        console.print(f"[dim]·[/dim] {line}")


def _events_until_out(state: "State", seat: int) -> int:
    """Return how many events the user had seen when they left the game; all events if they did not."""
    if state.active[seat]:
        return len(state.event_rows(seat))
    again = state.game.state_type(state.game, state.options, seed=state.seed)
    for action in state.actions:
        again.apply(action)
        if not again.active[seat]:
            break
    return len(again.event_rows(seat))


def _made(spec: str, state: "State") -> "Agent":
    from cardenvs.agents.specs import make_agent

    return make_agent(spec, state.game, state.options)


def _print_result(console: "Console", state: "State", seat: int) -> None:
    mine = state.returns[seat]
    colour = "green" if mine > 0 else "red" if mine < 0 else "yellow"
    everyone = ", ".join(
        f"{'you' if p == seat else f'player_{p}'} {value:+.4g}" for p, value in enumerate(state.returns)
    )
    result = _result_text(state, seat)
    console.print(f"[bold {colour}]The game is over: {result}[/bold {colour}] ({everyone})", highlight=False)


def _result_text(state: "State", seat: int) -> str:
    """Return the result in words: won or lost with two players, the place with more."""
    returns, unit = state.returns, state.game.returns(state.options).unit
    mine, best = returns[seat], max(returns)
    if state.game.returns(state.options).cooperative:
        return f"together you get {mine:.4g} of {state.game.returns(state.options).high:g} {unit}."
    points = f"{mine:+.4g} {unit}."
    if state.num_players == 1:
        return points
    if state.num_players == 2:
        won = "you win" if mine > min(returns) and mine == best else "you lose" if mine < best else "a draw"
        return f"{won}, {points}"
    place = state.game.view.place(state.record, seat)
    place = 1 + sum(value > mine for value in returns) if place is None else int(place)
    shared = ", shared" if returns.count(mine) > 1 and state.game.view.place(state.record, seat) is None else ""
    return f"you finish {ordinal(place)} of {state.num_players}{shared}, {points}"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "3rd", "4th", ..."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
