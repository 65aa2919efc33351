"""Write what the documentation takes from the code: `python -m docs.generate` (`--check` only compares).

Five things are generated, and committed:

* `docs/games/NAME.md`, a page for each game of this package, and `docs/games/index.md`;
* `docs/pictures/NAME.svg`, a picture of each game, a thumbnail, an animation, and the chart of speeds;
* `cardenvs/zoo/ratings.json`, the ratings by which the server's lobby orders agents;
* in README.md and the pages of docs/, everything between a pair of markers:
      <!-- games:start -->  ...  <!-- games:end -->      the table of games
      <!-- agents:start -->  ...  <!-- agents:end -->    the table of agents, from their kinds
      <!-- bench:start -->  ...  <!-- bench:end -->      the comparison in benchmarks/results.json
      <!-- results:start -->  ...  <!-- results:end -->  the tables of docs/results
      <!-- repository:start PART -->  ...  <!-- repository:end -->    what depends on where the project is hosted
      <!-- code:start FILE NAME NAME ... -->  ...  <!-- code:end -->    definitions copied from a source file

A game's page takes numbers, options, observation, actions and a picture from the code. Words come from two files in
the game's folder: `page.md`, whose text before its first heading opens the page, and `rules.md`. A section of `page.md`
that has the heading of a generated one is added to it. What most readers want comes first (`FIRST`), what they look up
last (`LAST`); sections of a game's own stand between, in their order.
"""

import argparse
import ast
import dataclasses
import functools
import itertools
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cardenvs.agents.kinds import find_kind, kind_names
from cardenvs.core.events import UNKNOWN
from cardenvs.core.game import Game
from cardenvs.core.narration import Narrator
from cardenvs.core.options import Options, players_text, range_text
from cardenvs.core.registry import game_targets, get_game
from cardenvs.core.replay import Replay
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.core.text import count
from cardenvs.core.view import plain
from cardenvs.pictures import draw_animation, draw_svg, draw_thumbnail
from docs import foreign_tables, ratings, results_tables, score_tables, speed_chart
from docs.repository import page_text, repository

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GENERATED = "<!-- Written by `python -m docs.generate`. Edit page.md and rules.md in the game's folder instead. -->"
PICTURE_PART = {"oh_hell_v0": 8}  # in the middle of Oh Hell, players have one card
PICTURE_SEED = 7
MEASURED = "solving.svg"  # takes a minute; see docs/solving_curves.py
PLAYED_GAMES = 51  # for the typical length of a game
SAMPLED_GAMES = 100  # of random play, from which the action table learns what is legal when
_MARKED = re.compile(
    r"(<!-- (games|agents|bench|results|scores|repository|code):start ?(.*?) -->\n)(.*?)(<!-- \2:end -->)", re.DOTALL
)
FIRST = ("Picture", "Install and play", "Sample game", "Strategy", "Baselines")
LAST = (
    *("Specs", "Options", "Rewards and termination", "Observation", "Actions"),
    *("Rules", "Status", "Version history", "References"),
)
MOST_ROWS = 30  # of an action table
_TOLD_FIRST, _TOLD_LAST = 12, 4  # sentences of a sample game
_MOST_LABELS = 3  # in one of its cells
_TICK = "```"
_LANGUAGES = {".py": "python", ".toml": "toml"}

_T = TypeVar("_T")


def main(arguments: list[str] | None = None) -> int:
    """Write all files, or with --check say which are out of date. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description="Write the generated documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args(arguments).check
    stale = outdated()
    for path, text in stale.items():
        if not check and text is None:
            path.unlink()
        elif not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text or "", encoding="utf-8")
        print(f"{'out of date' if check else 'removed' if text is None else 'written'}: {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


def outdated() -> dict[Path, str | None]:
    """The files that are not as they should be, with the text they should have (None: they should not be there)."""
    wanted: dict[Path, str | None] = dict.fromkeys(_generated_now())
    for game in own_games():
        wanted |= game_files(game)
    return differing(wanted | dict(shared_files()))


def differing(wanted: Mapping[Path, str | None]) -> dict[Path, str | None]:
    """Return the files, with their text (None: no file), that are not as wanted."""
    return {path: text for path, text in wanted.items() if text != _read(path)}


def _generated_now() -> Iterator[Path]:
    yield from (DOCS / "games").glob("*.md")
    yield from (path for path in (DOCS / "pictures").rglob("*.svg") if path.name != MEASURED)


def game_files(game: Game) -> dict[Path, str]:
    """Return the generated files of a game with their text."""
    return {
        DOCS / "games" / f"{game.name}.md": game_page(game),
        DOCS / "pictures" / f"{game.name}.svg": picture_of(game),
        DOCS / "pictures" / "thumbnails" / f"{game.name}.svg": thumbnail_of(game),
    }


def shared_files() -> Iterator[tuple[Path, str]]:
    """Yield all other generated files with their text."""
    yield DOCS / "games" / "index.md", _games_index(own_games())
    yield DOCS / "pictures" / "animation.svg", _animation()
    yield DOCS / "pictures" / "speed.svg", speed_chart.draw()
    yield ROOT / "cardenvs" / "zoo" / "ratings.json", ratings.ratings_text()
    for path in marked_files():
        yield path, fill_markers(path.read_text(encoding="utf-8"), path)


def own_games() -> list[Game]:
    """The games of this package, by name; those of other packages have their pages elsewhere."""
    return [get_game(name) for name, target in game_targets().items() if target.startswith("cardenvs.")]


def marked_files() -> list[Path]:
    """The hand-written files in which markers may stand."""
    pages = [path for path in sorted(DOCS.rglob("*.md")) if path.parent != DOCS / "games"]
    return [path for path in (ROOT / "README.md", *pages) if path.exists()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


# ---------------------------------------------------------------------------------------------------------------
# Markers


def fill_markers(text: str, path: Path) -> str:
    """The text of a file with everything between its markers regenerated."""

    def fill(match: re.Match) -> str:
        start, kind, argument, _, end = match.groups()
        text = _FILLERS[kind](argument, path).strip()
        return f"{start}\n{text}\n\n{end}" if text else f"{start}{end}"

    return _MARKED.sub(fill, text)


def _games_table(argument: str, path: Path) -> str:
    where = "games/" if path.parent == DOCS else "docs/games/"
    return games_table(own_games(), where)


def games_table(games: list[Game], where: str) -> str:
    """A row for each game, with a link to its page in the folder `where`."""
    rows = []
    for game in games:
        options = game.make_options()
        rows.append(
            (
                f"[{game.title}]({where}{game.name}.md)",
                f"`{game.name}`",
                players_text(game.options),
                f"{game.num_actions(options):,}",
                f"{game.layout(options).size:,}",
                f"{typical_length(game):,}",
            )
        )
    return table(("game", "name", "players", "actions", "observation", "decisions a game"), rows)


@functools.cache
def typical_length(game: Game) -> int:
    """The median number of decisions in games that the default opponent plays against itself."""
    lengths = []
    for seed in range(PLAYED_GAMES):
        state = game.new_state(seed=seed)
        while not state.is_terminal:
            state.apply_unchecked(state.policy_action(game.default_opponent, derived_seed(seed, "docs", state.ply)))
        lengths.append(state.ply)
    return int(statistics.median(lengths))


def _agents_table(argument: str, path: Path) -> str:
    kinds = [kind for kind in map(find_kind, kind_names(own=True)) if kind is not None]
    rows = [
        ("`random`", "a legal action, uniformly"),
        ("`heuristic`, ...", "a policy that the game brings along; `cardenvs info GAME` lists them"),
        *((f"`{kind.form}`", kind.row) for kind in kinds),
    ]
    return table(("spec", "agent"), rows)


def _bench_table(argument: str, path: Path) -> str:
    results = ROOT / "benchmarks" / "results.json"
    if not results.exists():
        return "No figures yet. `make bench` measures and prints them."
    rows = [row for section in json.loads(results.read_text(encoding="utf-8")).values() for row in section]
    if argument == "headlines":
        return bench_table([{**row, "what": name} for name, row in _headlines(rows)])
    compared = bench_table([row for row in rows if row["theirs"]])
    alone = table(("what", "cardenvs"), [(row["what"], _figure(row["ours"], row)) for row in rows if not row["theirs"]])
    return f"{compared}\n\nWithout a peer:\n\n{alone}"


_HEADLINES = {
    ("gin_rummy_v0 batch, 1 core", "OpenSpiel from Python"): "Gin rummy, batched, one core",
    ("gin_rummy_v0 batch, 1 core", "RLCard"): "Gin rummy, batched, one core",
    ("texas_holdem_v0 batch, 1 core", "OpenSpiel from Python"): "No-limit hold'em for six, batched, one core",
    ("leduc_poker_v0 batch, 2 cores", "pgx on the CPU"): "Leduc poker, batched, two cores",
    ("leduc_poker_v0 AEC loop", "PettingZoo classic leduc_holdem_v4"): "Leduc poker, PettingZoo AEC loop",
    ("rummikub_v0 solver, 3000 positions of self-play, median", "HiGHS, median"): "Best Rummikub play, median position",
}  # the rows of the README, each with a name that needs no explanation


def _headlines(rows: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    found = {(row["what"], row["peer"]): row for row in rows}
    for key, name in _HEADLINES.items():
        yield name, found[key]


def _results(argument: str, path: Path) -> str:
    return results_tables.sections(table)


def _scores(argument: str, path: Path) -> str:
    return score_tables.sections(table)


def bench_table(rows: list[dict[str, Any]]) -> str:
    """Return a table of rows with a peer, as `python -m benchmarks.run --json` writes them."""
    lines = []
    for row in rows:
        ours, theirs = row["ours"], row["theirs"]
        times = ours / theirs if row["unit"] == "/s" else theirs / ours
        lines.append((row["what"], _figure(ours, row), row["peer"], _figure(theirs, row), f"{times:,.3g}x"))
    return table(("what", "cardenvs", "peer", "peer's figure", "speedup"), lines)


def _figure(value: float, row: dict[str, Any]) -> str:
    text = f"{value / 1e6:,.3g} M" if value >= 1e6 else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{text}{'' if row['unit'] == '/s' else ' '}{row['unit']}"


def _repository(argument: str, path: Path) -> str:
    return page_text(argument, repository(ROOT))


def _code(argument: str, path: Path) -> str:
    """Definitions of a Python file, by name, in the order asked for; or any file, whole."""
    file, *names = argument.split()
    source = (ROOT / file).read_text(encoding="utf-8")
    if not names:
        return f"{_TICK}{_LANGUAGES[Path(file).suffix]}\n{source.strip()}\n{_TICK}"
    parts = {name: text for defined, text in definitions(source) for name in defined}
    missing = [name for name in names if name not in parts]
    if missing:
        raise ValueError(f"{path}: {file} defines no {', '.join(missing)}")
    chosen = dict.fromkeys(parts[name] for name in names)  # once each: one statement may define several names
    return f"{_TICK}python\n{chr(10).join(_spaced(list(chosen)))}\n{_TICK}"


def _spaced(parts: list[str]) -> list[str]:
    """Two blank lines around functions and classes, none between plain statements."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        is_block = re.match(r"(@|def |class )", part)
        if number and (is_block or re.match(r"(@|def |class )", parts[number - 1])):
            lines += ["", ""]
        lines.append(part)
    return lines


def definitions(source: str) -> list[tuple[list[str], str]]:
    """The top-level statements of a Python source that name something: (names, text), decorators included."""
    lines, found = source.splitlines(), []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names, first = [node.name], min([node.lineno, *(d.lineno for d in node.decorator_list)])
        elif isinstance(node, ast.Assign):
            targets = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            names, first = [name.id for name in targets], node.lineno
        else:
            continue
        found.append((names, "\n".join(lines[first - 1 : node.end_lineno])))
    return found


_FILLERS: dict[str, Callable[[str, Path], str]] = {
    "games": _games_table, "agents": _agents_table, "bench": _bench_table, "results": _results, "scores": _scores,
    "repository": _repository, "code": _code,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------
# A game's page


def _games_index(games: list[Game]) -> str:
    text = (
        "Sizes are those with default options. Decisions a game are the median over "
        f"{PLAYED_GAMES} games that the game's default opponent plays against itself."
    )
    tables = "\n".join(
        f'<a href="{game.name}/"><img src="../pictures/thumbnails/{game.name}.svg" alt="{game.title}">'
        f"<span>{game.title}</span></a>"
        for game in games
    )
    gallery = f'<div class="gallery">\n{tables}\n</div>'
    return f"# Games\n\n{GENERATED}\n\n## Gallery\n\n{gallery}\n\n## Numbers\n\n{text}\n\n{games_table(games, '')}\n"


def game_page(game: Game) -> str:
    """The whole page of a game."""
    options = game.make_options()
    opening, words = read_page(game)
    sections = {
        "Picture": _picture(game),
        "Install and play": _example(game),
        "Sample game": _sample_game(game, options),
        "Baselines": "\n\n".join(
            filter(None, (results_tables.baseline(game, table), foreign_tables.of_game(game, table)))
        ),
        "Specs": _specs(game, options),
        "Options": _options(game),
        "Rewards and termination": _rewards(game, options),
        "Observation": _observation(game, options),
        "Actions": _actions(game, options),
        "Rules": rules_section(game.rules_text),
    }
    for heading, text in words.items():
        sections[heading] = f"{sections.get(heading, '')}\n\n{text}"
    own = [heading for heading in sections if heading not in FIRST + LAST]
    parts = [(heading, sections[heading].strip()) for heading in (*FIRST, *own, *LAST) if sections.get(heading)]
    body = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts)
    return f"# {game.title}\n\n{GENERATED}\n\n{opening}\n\n{body}\n"


def read_page(game: Game) -> tuple[str, dict[str, str]]:
    """The words of a game's page.md: what precedes the first heading, and the sections by heading."""
    opening, *parts = re.split(r"^## (.+)\n", (game.folder / "page.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    headings, texts = parts[::2], parts[1::2]
    if len(set(headings)) < len(headings):
        raise ValueError(f"{game.name}: page.md has a heading twice: {headings}")
    return opening.strip(), {heading.strip(): text.strip() for heading, text in zip(headings, texts, strict=True)}


def rules_section(rules: str) -> str:
    """rules.md without its title, its headings one level down."""
    return re.sub(r"^#", "##", re.sub(r"\A# .*\n", "", rules), flags=re.MULTILINE).strip()


def _picture(game: Game) -> str:
    state = middle_position(game)
    player = state.current_player
    played = f"seed {PICTURE_SEED} after {count(state.ply, 'action')} of {game.default_opponent}"
    what = f"<summary>The same position in a terminal ({played}, as player_{player}, who is to act, sees it)</summary>"
    image = f"![{game.title} in the middle of a game](../pictures/{game.name}.svg)"
    return f"{image}\n\n<details markdown>\n{what}\n\n{_TICK}text\n{state.render(player)}\n{_TICK}\n\n</details>"


def picture_of(game: Game) -> str:
    """The picture of a position in the middle of a game, as the player to act sees it."""
    state = middle_position(game)
    return draw_svg(state.view(state.current_player), "auto") + "\n"


def thumbnail_of(game: Game) -> str:
    """The small picture of the same position."""
    state = middle_position(game)
    return draw_thumbnail(state.view(state.current_player), "auto") + "\n"


@functools.cache
def middle_position(game: Game) -> State:
    """Where half of a typical game of the default opponent has been played, or the part that PICTURE_PART gives."""
    state = game.new_state(seed=PICTURE_SEED)
    for ply in range(typical_length(game) // PICTURE_PART.get(game.name, 2)):
        after = state.clone()
        after.apply(state.policy_action(game.default_opponent, ply))
        if after.is_terminal:
            break
        state = after
    return state


def _animation() -> str:
    """A hand of gin rummy as player 0 saw it."""
    game = get_game("gin_rummy_v0")
    state = game.new_state(seed=PICTURE_SEED)
    while not state.is_terminal:
        state.apply(state.policy_action(game.default_opponent, state.ply))
    return draw_animation((frame.view for frame in Replay.of(state).frames(0)), theme="auto") + "\n"


def random_play(game: Game, options: Options, seed: int) -> Iterator[State]:
    """The positions of a random game, the same on every machine; one State, moving on."""
    state = game.state_type(game, options, seed=seed)
    yield state
    while not state.is_terminal:
        state.apply_unchecked(state.policy_action("random", derived_seed(seed, "docs", state.ply)))
        yield state


def _example(game: Game) -> str:
    example = f"""import cardenvs

env = cardenvs.make("{game.name}")
env.reset(seed={PICTURE_SEED})
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    print(agent, "got", reward, "and leaves" if over else "")
env.close()"""
    play = (
        f"cardenvs play {game.name} --against {game.default_opponent}   # in the terminal\n"
        "cardenvs serve   # in the browser"
    )
    return (
        f"[Install cardenvs](../installation.md), then play it yourself:\n\n{_TICK}bash\n{play}\n{_TICK}\n\n"
        f"or let a program play:\n\n{_TICK}python\n{example}\n{_TICK}"
    )


def _sample_game(game: Game, options: Options) -> str:
    """How a game of the default opponent begins and ends, as player 0 saw it."""
    state = game.state_type(game, options, seed=PICTURE_SEED)
    while not state.is_terminal:
        state.apply(state.policy_action(game.default_opponent, derived_seed(PICTURE_SEED, "docs", state.ply)))
    told = Narrator(game, 0, options.num_players).sentences(state.events(0))
    if len(told) > _TOLD_FIRST + _TOLD_LAST:
        told = [*told[:_TOLD_FIRST], "...", *told[-_TOLD_LAST:]]
    who = "alone" if options.num_players == 1 else "against itself"
    what = f"`{game.default_opponent}` {who} with seed {PICTURE_SEED}, through the eyes of `player_0`:"
    return f"{what}\n\n{_TICK}text\n{chr(10).join(told)}\n{_TICK}"


def _specs(game: Game, options: Options) -> str:
    layout, returns = game.layout(options), game.returns(options)
    total = "varies" if returns.total is None else f"{returns.total:g}"
    rows = [
        ("Name", f"`{game.name}`"),
        ("Players", players_text(game.options)),
        ("Actions", f"{game.num_actions(options):,}, at most {game.max_legal(options):,} legal at once"),
        ("Observation", f"`({layout.size},)` `{layout.dtype}`, layout `{layout.hash}`"),
        ("Returns", returns.text),
        ("Sum of the returns", total),
        ("Longest game", f"{game.max_length(options):,} actions"),
        ("Phases", ", ".join(f"`{phase}`" for phase in game.phases)),
        ("Hidden information", hidden_information(game, options)),
        ("Chance", "drawn inside the game from the episode's seed; there is no chance player"),
        ("Explicit deck", f"{len(game.deck(options))} tokens, such as `{game.deck_text(game.deck(options)[:4])}`"),
        (
            "Deals can be listed",
            "yes, `enumerate_deals()`" if game.can_list_deals() else "no, they are too many",
        ),
        ("Built-in policies", ", ".join(f"`{name}`" for name in game.engine.policy_names())),
        ("State", f"{game.state_dtype.itemsize:,} bytes"),
    ]
    return "With default options.\n\n" + table(("what", "value"), rows)


@functools.cache
def hidden_information(game: Game, options: Options) -> str:
    """Which piles hide something from whom, as seen in random play."""
    hides: dict[str, set[bool]] = defaultdict(set)
    for seed in range(20):
        for state in random_play(game, options, seed):
            if state.ply % 4:  # tables are slow to describe, and what they hide rarely changes
                continue
            for viewer in range(options.num_players):
                for (pile, owner), tokens in zip(game.table.pile_of, state.table(viewer).piles, strict=True):
                    if UNKNOWN in tokens:
                        hides[pile.name].add(owner is not None and owner != viewer)
    texts = []
    for name, only_from_others in hides.items():
        hidden_from = "all but its owner" if only_from_others == {True} else "everybody"
        texts.append(f"{name.replace('_', ' ')} from {hidden_from}")
    return "; ".join(texts) or "none"


def _observation(game: Game, options: Options) -> str:
    layout = game.layout(options)
    rows = [
        (_span(start, section.size), f"`{section.name}`", section.range_text, section.doc)
        for section, start in zip(layout.sections, layout.starts, strict=True)
    ]
    text = "With default options. `game.layout(options).describe(observation)` prints an observation by section."
    return f"{text}\n\n{table(('at', 'section', 'values', ''), rows)}"


def _options(game: Game) -> str:
    rows = []
    for field in dataclasses.fields(game.options):
        rows.append((f"`{field.name}`", f"`{field.default!r}`", allowed(field), field.metadata["doc"]))
    return table(("option", "default", "allowed", ""), rows)


def allowed(field: dataclasses.Field) -> str:
    """What an option takes, in words."""
    meta = field.metadata
    if meta["choices"]:
        text = ", ".join(f"`{choice!r}`" for choice in meta["choices"])
    elif isinstance(field.default, bool):
        text = "`True`, `False`"
    else:
        text = range_text(field) or "any integer"
        at_most = "" if meta["min_length"] == meta["length"] else "up to "
        text = f"{at_most}{meta['length']} integers, {text}" if meta["length"] else text
    return f"{text}, or `None`" if meta["optional"] else text


def _rewards(game: Game, options: Options) -> str:
    returns = game.returns(options)
    total = "" if returns.total is None else f" The players' returns add up to {returns.total:g}."
    bounds = returns.meaning or f"between {returns.low:,g} and {returns.high:,g} {returns.unit}"
    return (
        f"With default options, a player's return is {bounds}.{total}\n"
        f"The rules end every game within {game.max_length(options):,} actions, so none is truncated."
    )


def _span(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start} to {start + size - 1}"


def table(columns: tuple[str, ...], rows: list[tuple]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in lines)


# ---------------------------------------------------------------------------------------------------------------
# The action table, learnt from play


@dataclasses.dataclass
class _Ids:
    """Consecutive action ids that read alike but for the tokens and amounts in their labels."""

    first: int
    last: int
    patterns: dict[str, str]  # a pattern, and the first label of that pattern
    phases: set[str]


def _actions(game: Game, options: Options) -> str:
    rows = []
    for family in action_families(game, options):
        met = [phase for phase in game.phases if phase in family.phases]
        phases = "all" if len(met) == len(game.phases) > 1 else ", ".join(f"`{phase}`" for phase in met)
        labels = [_label_text(family, first, last) for first, last in family.labels.values()]
        shown = " / ".join(labels[:_MOST_LABELS]) + (" / ..." if len(labels) > _MOST_LABELS else "")
        rows.append((_span(family.first, family.last - family.first + 1), shown, phases or "not met"))
    text = (
        f"With default options. Labels and phases are those met in {SAMPLED_GAMES} games of random play; "
        "`state.action_label(action)` gives the label in a state."
    )
    return f"{text}\n\n{table(('id', 'label', 'legal in phase'), rows)}"


def _label_text(family: "_Family", first: str, last: str) -> str:
    if first != last:
        return f"{first} ... {last}"
    return f"{first}, ..." if family.last > family.first and "CARD" not in first else first


@functools.cache
def action_families(game: Game, options: Options) -> list["_Family"]:
    """All action ids in at most MOST_ROWS families, as fine as that allows."""
    groups = action_groups(game, options)
    families = [_Family(group, None) for group in groups]
    for words in (3, 2, 1):
        if len(families) <= MOST_ROWS:
            break
        families = []
        for group in groups:
            family = _Family(group, words)
            if families and families[-1].labels.keys() & family.labels.keys():
                families[-1].add(family)
            else:
                families.append(family)
        families = [_Family.joined(run) for run in _in_turn(families, lambda family: set(family.labels))]
    return families


class _Family:
    """Consecutive ids whose labels begin alike: a row of the table.

    Attributes:
        first, last: the ids.
        labels: by how they begin, the first and the last label.
        phases: in which one of them was legal.
    """

    def __init__(self, group: _Ids, words: int | None) -> None:
        """The family of one group; `words`: how many words of a pattern must agree, None for all."""
        self.first, self.last, self.phases = group.first, group.last, set(group.phases)
        self.labels: dict[str, tuple[str, str]] = {}
        for pattern, label in sorted(group.patterns.items()):
            start = " ".join(itertools.takewhile(str.islower, pattern.split()[:words])) if words else pattern
            shown = label if pattern == label or words else f"{pattern}, as in *{label}*"
            self.labels.setdefault(start, (shown, shown))

    @staticmethod
    def joined(run: Sequence["_Family"]) -> "_Family":
        """Join families that follow each other."""
        first, *others = run
        for other in others:
            first.add(other)
        return first

    def add(self, other: "_Family") -> None:
        """Append the ids that follow."""
        self.last = other.last
        self.phases |= other.phases
        for start, (first, last) in other.labels.items():
            self.labels[start] = (self.labels.get(start, (first, last))[0], last)


def action_groups(game: Game, options: Options) -> list[_Ids]:
    """All action ids, in groups."""
    labels, phases = _met_in_play(game, options)
    deck = [int(token) for token in game.deck(options)]
    tokens = {game.view.token_label(token) for token in deck} | {plain(game.view.token_markup(token)) for token in deck}
    groups: list[_Ids] = []
    for action in range(game.num_actions(options)):
        patterns = {_pattern(label, tokens): label for label in reversed(labels[action])}
        group = _Ids(action, action, patterns, phases[action])
        if groups and _read_alike(groups[-1], group):
            groups[-1].last = action
            groups[-1].phases |= group.phases
            groups[-1].patterns = group.patterns | groups[-1].patterns
        else:
            groups.append(group)
    return _without_repeats(groups)


def _without_repeats(groups: list[_Ids]) -> list[_Ids]:
    """Merge groups that come in turn, such as a card into each of three places and then the next card."""
    short = []
    for run in _in_turn(groups, lambda group: set(group.patterns)):
        patterns = {pattern: label for group in reversed(run) for pattern, label in group.patterns.items()}
        short.append(_Ids(run[0].first, run[-1].last, patterns, set().union(*(group.phases for group in run))))
    return short


def _in_turn(items: Sequence[_T], kind: Callable[[_T], set[str]]) -> Iterator[Sequence[_T]]:
    """Split `items` into runs: two to four kinds that come in turn more than twice, or else a single item."""
    kinds = [kind(item) for item in items]
    at = 0
    while at < len(items):
        period = next((n for n in range(2, 5) if _times(kinds, at, n) > 2), 1)
        size = period * (_times(kinds, at, period) if period > 1 else 1)
        yield items[at : at + size]
        at += size


def _times(kinds: list[set[str]], at: int, period: int) -> int:
    """Count how often the `period` kinds from `at` on come in the same order."""
    number = 0
    while kinds[at + number * period :][:period] == kinds[at : at + period]:
        number += 1
    return number


def _read_alike(group: _Ids, other: _Ids) -> bool:
    """Whether two groups share a pattern that contains a token."""
    return any(pattern in other.patterns and "CARD" in pattern for pattern in group.patterns)


def _pattern(label: str, tokens: set[str]) -> str:
    left, words = label.split(), []
    longest = max((len(token.split()) for token in tokens), default=1)
    while left:
        size = next((n for n in range(min(longest, len(left)), 0, -1) if " ".join(left[:n]) in tokens), 0)
        words.append("CARD" if size else left[0])
        left = left[size or 1 :]
    return re.sub(r"(?<= )\d+(?=,| |$)", "N", " ".join(words))  # an amount


@functools.cache
def _met_in_play(game: Game, options: Options) -> tuple[dict[int, list[str]], dict[int, set[str]]]:
    """By action id: the labels it had where it was legal (or else at the start), and the phases of those states."""
    labels: dict[int, list[str]] = defaultdict(list)
    phases: dict[int, set[str]] = defaultdict(set)
    for seed in range(SAMPLED_GAMES):
        for state in random_play(game, options, seed):
            phase = state.phase
            for action in state.legal_actions():
                label = state.action_label(action)
                if label not in labels[action]:
                    labels[action].append(label)
                phases[action].add(phase)
    start = game.state_type(game, options, seed=0)
    for action in range(game.num_actions(options)):
        if not labels[action]:
            labels[action].append(start.action_label(action))
    return labels, phases


if __name__ == "__main__":
    sys.exit(main())
