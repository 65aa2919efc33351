"""What a player of Kasino observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.kasino.state import STATE
from cardenvs.kits.cards import CARD_LABELS
from cardenvs.kits.fishing.observation import SECTIONS
from cardenvs.kits.sections import Observation, cards, one_hot, written

_MOST = 127  # prizes are clipped here


@kernel(inline=True)
def _write_prizes(s, p, out, at):
    out[at] = s.cards_prize
    out[at + 1] = s.spades_prize


OBSERVATION = Observation(
    STATE,
    *SECTIONS,
    written("prizes", ("cards", "spades"), f"points for most cards and for most spades, clipped at {_MOST}",
            _write_prizes, high=_MOST),
    one_hot("playing", CARD_LABELS, "one-hot card with which cards are taken one by one", "playing"),
    cards("taken", CARD_LABELS, "cards taken with it so far", "taken"),
    cards("group", CARD_LABELS, "of these, the group that is not complete", "group"),
)  # fmt: skip
