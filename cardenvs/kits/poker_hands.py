"""The category of a poker hand, without kickers. A set of cards is a bit set, int64."""

from cardenvs.core.kernel import kernel

CATEGORIES = (
    "high card", "one pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
HIGH_CARD, ONE_PAIR, TWO_PAIR, THREE_OF_A_KIND, STRAIGHT, FLUSH, FULL_HOUSE, FOUR_OF_A_KIND, STRAIGHT_FLUSH = range(9)

_SUIT = (1 << 13) - 1


@kernel(inline=True)
def suit_of_cards(cards, suit):
    """The ranks of the cards of a suit, a set of 13 bits from the ace up."""
    return cards >> 13 * suit & _SUIT


@kernel(inline=True)
def held_twice(a, b, c, d):
    """The ranks of which at least two suits are there, of the ranks of each suit."""
    return a & b | c & d | (a | b) & (c | d)


@kernel(inline=True)
def held_thrice(a, b, c, d):
    """The ranks of which at least three suits are there, of the ranks of each suit."""
    return a & b & (c | d) | c & d & (a | b)


@kernel(inline=True)
def has_five(bits):
    """Whether at least five bits are set."""
    for _ in range(4):
        bits &= bits - 1
    return bits != 0


@kernel(inline=True)
def has_run(ranks):
    """Whether five ranks follow each other; the ace is low and high."""
    ranks |= (ranks & 1) << 13
    pairs = ranks & ranks >> 1
    return pairs & pairs >> 2 & ranks >> 4 != 0


@kernel(entry=True)
def best_category(cards):
    """The best category of five among the cards, of which there are at least five."""
    category = best_model_category(cards)
    return STRAIGHT_FLUSH if category >= FLUSH and has_straight_flush(cards) else category


@kernel
def has_straight_flush(cards):
    """Whether five of the cards are a straight flush."""
    a, b, c, d = suit_of_cards(cards, 0), suit_of_cards(cards, 1), suit_of_cards(cards, 2), suit_of_cards(cards, 3)
    return has_run(a) or has_run(b) or has_run(c) or has_run(d)


@kernel
def best_model_category(cards):
    """The same with straight flushes as flushes."""
    a, b, c, d = suit_of_cards(cards, 0), suit_of_cards(cards, 1), suit_of_cards(cards, 2), suit_of_cards(cards, 3)
    if a & b & c & d:
        return FOUR_OF_A_KIND
    pairs, threes = held_twice(a, b, c, d), held_thrice(a, b, c, d)
    if threes and pairs & pairs - 1:
        return FULL_HOUSE
    if has_five(a) or has_five(b) or has_five(c) or has_five(d):
        return FLUSH
    if has_run(a | b | c | d):
        return STRAIGHT
    if threes:
        return THREE_OF_A_KIND
    if pairs & pairs - 1:
        return TWO_PAIR
    return ONE_PAIR if pairs else HIGH_CARD
