"""Corrected results as JSON values, and in the terminal."""

import math

from rich.console import Console
from rich.markup import escape

from cardenvs.arena.luck.adjust import Adjustment, Corrected
from cardenvs.arena.output.terminal import numbers_table
from cardenvs.arena.results.document import Document
from cardenvs.arena.results.statistics import Estimate

FORMAT, FORMAT_VERSION = "cardenvs-adjusted", 1
_METHODS = {
    "chance": "the luck of the draws",
    "aivat": "the luck of cards, and of the actions and hands of agents whose policy is known (AIVAT)",
}


def adjustment_document(adjustment: Adjustment) -> Document:
    """Return corrected results as JSON values. Bounds of intervals are null if they are infinite."""
    match, names = adjustment.match, adjustment.match.names
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "match": match.id,
        "game": match.game.name,
        "method": adjustment.method,
        "unit": match.game.returns(match.options).result_unit_label,
        "agents": [
            {
                "agent": name,
                **_corrected(found),
                "luck": dict(zip(adjustment.parts, luck.tolist(), strict=True)),
                "coefficients": dict(zip(adjustment.parts, fitted.tolist(), strict=True)),
            }
            for name, found, luck, fitted in zip(
                names, adjustment.means, adjustment.luck, adjustment.coefficients, strict=True
            )
        ],
        "head_to_head": [
            {"agents": [names[first], names[second]], **_corrected(found)}
            for (first, second), found in adjustment.advantages.items()
        ],
    }


def _corrected(found: Corrected) -> Document:
    needed = found.deals_saved_by
    return {
        "plain": _estimate(found.plain),
        "corrected": _estimate(found.corrected),
        "plain_deals_needed": None if math.isinf(needed) or math.isnan(needed) else needed,
    }


def _estimate(found: Estimate) -> Document:
    low, high = (None if math.isinf(bound) else bound for bound in (found.low, found.high))
    return {"mean": found.mean, "low": low, "high": high, "deals": found.deals}


def print_adjustment(adjustment: Adjustment, console: Console) -> None:
    """Print plain and corrected results side by side, and how many deals plain results would have needed."""
    document = adjustment_document(adjustment)
    console.print(f"\n[bold]Corrected for {_METHODS[document['method']]}[/bold], in {document['unit']}")
    table = numbers_table("agent", "plain", "corrected", "narrower", "plain deals needed")
    pairs = [(" against ".join(row["agents"]), row) for row in document["head_to_head"]]
    shown = [(row["agent"], row) for row in document["agents"]] + (pairs if len(pairs) > 1 else [])
    for name, row in shown:
        table.add_row(escape(name), _text(row["plain"]), _text(row["corrected"]), *_gain(row))
    console.print(table)
    deals = document["agents"][0]["plain"]["deals"]
    console.print(
        f"Both are estimates from the same {deals} deals without bias. The last column is how many deals plain results "
        "need for intervals as narrow."
    )


def _text(found: Document) -> str:
    return f"{found['mean']:+.3f} ± {(found['high'] - found['low']) / 2:.3f}"


def _gain(row: Document) -> tuple[str, str]:
    needed = row["plain_deals_needed"]
    if needed is None:
        return "·", "·"
    return f"{math.sqrt(needed / row['plain']['deals']):.2f} times", f"{needed:,.0f}"
