"""What a player of Oh Hell observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.oh_hell.rules import BIDS, MAX_DEALS, MAX_HAND, PACK, POINTS, STATE, TRICKS
from cardenvs.kits.bids import bid_sections
from cardenvs.kits.sections import Observation, number, only, per_seat
from cardenvs.kits.trick_deals import deal_sections
from cardenvs.kits.tricks import trick_sections
from cardenvs.kits.trumps import trump_sections

_MOST = 30_000  # points


@kernel(inline=True)
def _scores_matter(rules):
    return rules.returns != POINTS


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    *deal_sections(PACK, MAX_HAND, MAX_DEALS),
    *trump_sections(PACK),
    *bid_sections(BIDS, MAX_HAND),
    *only(lambda options: options.returns != "points",  # each deal is paid by itself
          per_seat(number("scores", "points", "scores", low=-_MOST, high=_MOST)), rules=_scores_matter),
    dtype=lambda options: "int8" if options.returns == "points" else "int16",
)  # fmt: skip
