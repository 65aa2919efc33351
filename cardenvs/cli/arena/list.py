"""`cardenvs arena list`."""

from cardenvs.cli.shared import StorePath, escaped, new_console, new_table


def list_command(store: StorePath) -> None:
    """List the experiments and matches of a store.

    Example: `cardenvs arena list small_poker.db`
    """
    from cardenvs.arena.results.board import title_of
    from cardenvs.arena.store import Store

    console = new_console()
    with Store(store, read_only=True) as opened:
        for experiment in opened.experiments():
            name = escaped(experiment.name)
            console.print(f"[bold]{name}[/bold], an experiment of {len(experiment.matches)} matches")
        table = new_table("match", "game", "agents", "games", right=3)
        for match_id in opened.match_ids():
            match = opened.match(match_id)
            table.add_row(
                match_id, escaped(title_of(match)), escaped(", ".join(match.names)), str(opened.count(match_id))
            )
        console.print(table)
        console.print(f"[dim]digest {opened.digest()} (times aside)[/dim]")
