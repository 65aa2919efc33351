"""What a player of Katko observes."""

from cardenvs.core.kernel import kernel
from cardenvs.games.katko.rules import TRICKS
from cardenvs.games.katko.state import EXCHANGE, MAX_TARGET, STATE
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS
from cardenvs.kits.sections import Observation, cards, in_stock, number, one_hot, one_seat, per_seat, written
from cardenvs.kits.tricks import trick_sections


@kernel(inline=True)
def _trick_number(s, p):
    return s.trick if s.trick < s.rules.cards_per_player else -1


@kernel(inline=True)
def _write_exchange(s, p, out, at):
    out[at] = s.phase == EXCHANGE
    out[at + 1] = s.num_setting_aside


_HAND, *_PLAYED, _VOIDS, _LED_SUIT, _LEADER, _TO_ACT = trick_sections(TRICKS)

OBSERVATION = Observation(
    STATE,
    _HAND,
    cards("set_aside", CARD_LABELS, "cards that the observer has set aside since the last shuffle", "set_aside"),
    cards("gone", CARD_LABELS, "cards played in earlier deals since the last shuffle", "gone"),
    *_PLAYED,
    per_seat(cards("last_played", CARD_LABELS, "cards played in the deal before", "last_played")),
    _VOIDS, _LED_SUIT, _LEADER, _TO_ACT,
    one_seat("dealer", "the dealer", "dealer"),
    per_seat(number("present", "1 for each player who has not left", "active")),
    one_hot("trick_number", lambda size: [str(k + 1) for k in range(size)], "one-hot number of the trick",
            _trick_number, size="cards_per_player"),
    per_seat(number("scores", "points", "scores", high=MAX_TARGET + 1)),
    number("rest", "undealt cards", in_stock, high=NUM_CARDS),
    written("exchange", ("is_on", "set_aside"),
            "1 while cards are exchanged; cards that the player to act has set aside",
            _write_exchange, high=lambda options: options.cards_per_player),
)  # fmt: skip
