"""`cardenvs new-game`."""

import enum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cardenvs.core.errors import CardenvsError, FileError
from cardenvs.core.files import check_output_folder, write_whole


class Kit(enum.StrEnum):
    """The kits with which a new game can begin."""

    NONE = "none"
    TRICKS = "tricks"


def new_game(
    name: Annotated[str, Argument(metavar="NAME", help="Name of the game, without version: my_game.")],
    package: Annotated[
        Path | None, Option(metavar="FOLDER", help="Write a separate package into this new folder; default: see below.")
    ] = None,
    kit: Annotated[
        Kit, Option(help="The kit that the game uses: tricks for a trick-taking game, none for a game without.")
    ] = Kit.NONE,
) -> None:
    """Write a small working game, with tests, scenarios and a page, as a start for your own.

    In the root of a checkout of cardenvs, it adds a game to cardenvs itself: cardenvs/games/NAME, its tests, and the
    line in pyproject.toml that registers it. Elsewhere, use --package. No file is overwritten.

    The game passes `cardenvs.testing.check_game`. docs/adding-a-game.md explains its files.

    Examples:

    - `cardenvs new-game my_game --package ./my_game`
    - `cardenvs new-game my_whist --kit tricks --package ./my_whist`
    - `cardenvs new-game my_game`
    """
    from cardenvs.cli.scaffold import checked_name, checkout_files, package_files, registered

    checked_name(name, is_package=package is not None)
    if package is None:
        root, files = Path(), checkout_files(name, kit)
        pyproject = _pyproject_of_checkout()
        registration = registered(pyproject.read_text(encoding="utf-8"), name)
    else:
        root, files = package, package_files(name, kit)
        check_output_folder(root)
        if root.is_dir() and any(root.iterdir()):
            raise FileError(f"cannot write {root}: the folder is not empty; give a new one")
    for path in files:
        if (root / path).exists():
            raise FileError(f"cannot write {root / path}: it exists already")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(root / path, text)
        typer.echo(f"written: {root / path}")
    if package is None:
        write_whole(pyproject, registration)
        typer.echo(f"registered in: {pyproject}")
        install, tests = "python -m pip install --editable .", f"tests/games/test_{name}.py tests/scenarios"
    else:
        install, tests = "python -m pip install --editable '.[test]'", "tests"
        typer.echo(f"\nNext, in {root}:")
    typer.echo(f"  {install}\n  cardenvs play {name}_v0\n  python -m pytest {tests}")


def _pyproject_of_checkout() -> Path:
    """Return the path of the pyproject.toml of the checkout that the command runs in.

    Raises:
        CardenvsError: the working folder is not the root of a checkout.
    """
    import tomllib

    path = Path("pyproject.toml")
    try:
        name = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {}).get("name")
    except (FileNotFoundError, ValueError):
        name = None
    if name != "cardenvs" or not Path("cardenvs", "games").is_dir():
        raise CardenvsError(
            "this is not the root of a checkout of cardenvs; to write a separate package, add --package FOLDER"
        )
    return path
