"""`cardenvs arena schema`."""

from typing import Annotated

import typer

from cardenvs.cli.shared import escaped, new_console, new_table


def schema_command(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON schema, for editors.")] = False,
) -> None:
    """List all settings of an experiment's file.

    Example: `cardenvs arena schema`
    """
    from cardenvs.arena.experiment import ExperimentFile, settings

    if json:
        import json as json_module

        typer.echo(json_module.dumps(ExperimentFile.model_json_schema(), indent=1))
        return
    table = new_table("setting", "takes", "default", "", key=True)
    for row in settings():
        table.add_row(*map(escaped, row))
    new_console().print(table)
