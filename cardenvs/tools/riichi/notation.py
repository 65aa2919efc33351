"""Words of the mjai notation, JSON lines in which programs for Japanese mahjong write and exchange games.

Tiles are 1m to 9m, 1p to 9p, 1s to 9s, E S W N for the winds, P F C for the white, green and red dragon, and 5mr, 5pr,
5sr for the red fives. A tile that the owner of a log has not seen is "?".
"""

from cardenvs.games.riichi.tiles import HONOURS, LABELS, RED

HIDDEN = "?"
WINDS = "ESWN"
TILES = (*LABELS[:HONOURS], *WINDS, *"PFC", *(f"5{label[1]}r" for label in LABELS[RED:]))  # by face
FACES = {name: face for face, name in enumerate(TILES)}

# Why a round ends without a win, as riichienv writes it; other programs have words of their own, or none.
EXHAUSTED, NAGASHI, NINE, FOUR_WINDS, FOUR_RIICHI, FOUR_KANS, THREE_RONS = (
    "exhaustive_draw", "nagashimangan", "kyushu_kyuhai", "sufuurenta", "suucha_riichi", "suukansansen", "sanchaho"
)  # fmt: skip
REASONS = {
    EXHAUSTED: "exhaustive draw", NAGASHI: "nagashi mangan", NINE: "nine terminals and honours",
    FOUR_WINDS: "four winds", FOUR_RIICHI: "four riichi", FOUR_KANS: "four kans", THREE_RONS: "three rons",
}  # fmt: skip


def tile_name(face: int | None) -> str:
    """Return the name of a face, "?" for None."""
    return HIDDEN if face is None else TILES[face]


def round_name(wind: int, dealer: int, honba: int) -> str:
    """Return the name of a round, such as "south 3" or "south 3, honba 1"."""
    name = f"{('east', 'south', 'west', 'north')[wind]} {dealer + 1}"
    return f"{name}, honba {honba}" if honba else name
