// Sorts the cards of a hand on the picture. Only the picture: ids, and what a click means, stay as they are.
const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "T", "J", "Q", "K", "A"];
const rankOf = rank => (RANKS.includes(rank) ? RANKS.indexOf(rank) : Number(rank) || 0);
const bySuit = (a, b) => a.suit.localeCompare(b.suit) || rankOf(a.rank) - rankOf(b.rank) || a.rank.localeCompare(b.rank);
const byRank = (a, b) => rankOf(a.rank) - rankOf(b.rank) || a.rank.localeCompare(b.rank) || a.suit.localeCompare(b.suit);

// `parts`: the group with the picture; `held`: hands as lists of {id, suit, rank}; `order`: "suit", "rank" or "".
// Each card of a hand lies in a slot; the sorted cards are put into the slots from left to right.
export function sortHands(parts, held, order) {
  if (!order) return;
  for (const hand of held) {
    const cards = hand.map(card => parts.querySelector(`[data-slot] > [data-token="${CSS.escape(card.id)}"]`));
    if (cards.length < 2 || cards.includes(null)) continue;
    const slots = cards.map(card => card.parentNode);
    const sorted = [...hand].sort(order === "suit" ? bySuit : byRank).map(card => cards[hand.indexOf(card)]);
    slots.forEach((slot, k) => slot.append(sorted[k]));
  }
}
