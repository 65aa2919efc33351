/* Gin rummy, one hand, as in cardenvs/games/gin_rummy with its default options. */

#include <stdint.h>

enum { RANKS = 52, COPIES = 1, CARDS = 52, ACTIONS = 108, OBSERVATION = 432 }; /* RANKS: every card is one of its own */
enum { TAKE_UPCARD = 52, DRAW_STOCK, PASS, KNOCK, BIG_GIN = KNOCK + 52 };
enum { FIRST_UPCARD, DRAW, DISCARD };
enum { HAND_SIZE = 10, KNOCK_MAX = 10, BONUS = 25, LAST_STOCK_CARDS = 2, MAX_UPCARD_DRAWS = 50, MAX_MELDS = 3 };

typedef uint64_t set; /* of cards; bit suit * 13 + rank */

typedef struct {
    set hands[2], known[2], discards, discarded[2];
    set discardable, knocks; /* legal for the player to act */
    int8_t deck[CARDS], pile[32];
    int8_t player, phase, passes, taken, stock, piled, upcard_draws;
} game;

/* ---- melds ---- */

#define SUIT 0x1FFFull
#define COLUMN (1ull | 1ull << 13 | 1ull << 26 | 1ull << 39)
#define ACES COLUMN
#define KINGS (COLUMN << 12)
#define RUN_STARTS (COLUMN * (SUIT >> 2))

static int16_t suit_points[1 << 13];

__attribute__((constructor)) static void fill_points(void)
{
    for (int held = 0; held < 1 << 13; held++)
        for (int rank = 0; rank < 13; rank++)
            if (held >> rank & 1)
                suit_points[held] += rank < 10 ? rank + 1 : 10;
}

static inline int points(set cards)
{
    return suit_points[cards & SUIT] + suit_points[cards >> 13 & SUIT] + suit_points[cards >> 26 & SUIT] +
           suit_points[cards >> 39 & SUIT];
}

static inline set lowest(set cards) { return cards & -cards; }

static inline set in_runs(set cards)
{
    set starts = cards & cards >> 1 & cards >> 2 & RUN_STARTS;
    return starts | starts << 1 | starts << 2;
}

/* The ranks held three or four times, as 13 bits. */
static inline set set_ranks(set cards)
{
    set s = cards & SUIT, c = cards >> 13 & SUIT, d = cards >> 26 & SUIT, h = cards >> 39;
    return (s & c & (d | h)) | (d & h & (s | c));
}

static inline set ranks_of(set cards) { return (cards | cards >> 13 | cards >> 26 | cards >> 39) & SUIT; }

/* Ranks held three or four times whose cards could also be in a run: the only choice that an arrangement leaves. */
static inline set contested_ranks(set hand) { return set_ranks(hand) & ranks_of(in_runs(hand)); }

static inline int num_options(set hand, set rank) { return COLUMN * rank & ~hand ? 2 : 6; }

static int num_choices(set hand, set contested)
{
    int n = 1;
    for (; contested; contested &= contested - 1)
        n *= num_options(hand, lowest(contested));
    return n;
}

static set chosen_sets(set hand, set contested, int n, int choice)
{
    set sets = hand & (set_ranks(hand) & ~contested) * COLUMN;
    for (; contested; contested &= contested - 1) {
        set rank = lowest(contested);
        int options = num_options(hand, rank);
        n /= options;
        int option = choice / n;
        choice -= option * n;
        if (options == 6 && option < 4)
            sets |= (rank * COLUMN) ^ (rank << 13 * option);
        else if (option < options - 1)
            sets |= hand & rank * COLUMN;
    }
    return sets;
}

static inline int deadwood_with(set hand, set sets)
{
    set rest = hand ^ sets;
    return points(rest ^ in_runs(rest));
}

static set best_sets(set hand)
{
    set sets = hand & set_ranks(hand) * COLUMN, contested = sets ? contested_ranks(hand) : 0;
    if (!contested)
        return sets;
    int n = num_choices(hand, contested), least = 1 << 20;
    set best = sets;
    for (int choice = 0; choice < n; choice++) {
        set chosen = chosen_sets(hand, contested, n, choice);
        int deadwood = deadwood_with(hand, chosen);
        if (deadwood < least) {
            least = deadwood;
            best = chosen;
        }
    }
    return best;
}

static inline set best_melded(set hand)
{
    set sets = best_sets(hand);
    return sets | in_runs(hand ^ sets);
}

static inline int min_deadwood(set hand) { return points(hand ^ best_melded(hand)); }

static int min_deadwood_after_discard(set hand)
{
    set melded = best_melded(hand);
    int deadwood = points(hand ^ melded), least = 1 << 20;
    for (set loose = hand ^ melded; loose; loose &= loose - 1) {
        int left = deadwood - points(lowest(loose));
        least = left < least ? left : least;
    }
    for (set rest = melded; rest; rest &= rest - 1) {
        set card = lowest(rest);
        if (deadwood - points(card) >= least) /* no discard lowers the deadwood by more than its points */
            continue;
        int left = min_deadwood(hand ^ card);
        least = left < least ? left : least;
    }
    return least;
}

static set knock_discards(set hand, set forbidden)
{
    set loose = hand ^ best_melded(hand), found = 0;
    int deadwood = points(loose);
    if (deadwood - 10 > KNOCK_MAX)
        return 0;
    for (set rest = hand & ~forbidden; rest; rest &= rest - 1) {
        set card = lowest(rest);
        if (deadwood - points(card) <= KNOCK_MAX && (card & loose || min_deadwood(hand ^ card) <= KNOCK_MAX))
            found |= card;
    }
    return found;
}

static inline set neighbours(set run) { return ((run & ~KINGS) << 1 | (run & ~ACES) >> 1) & ~run; }
static inline int is_set(set meld) { return !(meld & meld >> 1); }

/* The cards of `available` that carry a run, or a single card, on at either end. */
static set carried_on(set run, set available)
{
    set grown = run, more;
    while ((more = neighbours(grown) & available))
        grown |= more;
    return grown ^ run;
}

static inline set fourth(set meld) { return (ranks_of(meld) * COLUMN) ^ meld; }

static int lay(set hand, set sets, set *melds)
{
    int n = 0;
    for (set ranks = ranks_of(sets); ranks; ranks &= ranks - 1)
        melds[n++] = sets & lowest(ranks) * COLUMN;
    for (set runs = in_runs(hand ^ sets); runs; runs ^= melds[n++]) {
        set first = lowest(runs);
        melds[n] = first | carried_on(first, runs);
    }
    return n;
}

/* The cards of `available` that fit on one of the melds, if each meld had all of them to itself. */
static set reach(const set *melds, int n, set available)
{
    set cards = 0;
    for (int i = 0; i < n; i++)
        cards |= is_set(melds[i]) ? fourth(melds[i]) & available : carried_on(melds[i], available);
    return cards;
}

/* The knocker's melds: least deadwood, then the fewest points that might be laid off. */
static int knocker_melds(set hand, set seen, set *melds)
{
    set contested = contested_ranks(hand), best = 0;
    int n = num_choices(hand, contested), least = 1 << 20;
    for (int choice = 0; choice < n; choice++) {
        set sets = chosen_sets(hand, contested, n, choice);
        int laid = lay(hand, sets, melds);
        int key = deadwood_with(hand, sets) * 1000 + points(reach(melds, laid, ~seen));
        if (key < least) {
            least = key;
            best = sets;
        }
    }
    return lay(hand, best, melds);
}

static set left_over(set cards, const set *melds, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_set(melds[i]))
            cards ^= carried_on(melds[i], cards);
    for (int i = 0; i < n; i++)
        if (is_set(melds[i]))
            cards &= ~fourth(melds[i]);
    return cards;
}

/* The defender's deadwood after the best lay-offs. */
static int defended(set hand, const set *melds, int n)
{
    set candidates = reach(melds, n, hand), cards = 0;
    int least = 1 << 20;
    do {
        if (!left_over(cards, melds, n)) {
            int deadwood = min_deadwood(hand ^ cards);
            least = deadwood < least ? deadwood : least;
        }
        cards = (cards - candidates) & candidates; /* the next subset */
    } while (cards);
    return least;
}

/* ---- play ---- */

static inline set bit(int card) { return 1ull << card; }
static inline int top(const game *g) { return g->pile[g->piled - 1]; }

static inline void list_legal(game *g)
{
    if (g->phase != DISCARD)
        return;
    set hand = g->hands[g->player], forbidden = g->taken >= 0 ? bit(g->taken) : 0;
    g->discardable = hand & ~forbidden;
    g->knocks = knock_discards(hand, forbidden);
}

static inline void begin(game *g, const int8_t *cards)
{
    *g = (game){.taken = -1, .stock = CARDS - 2 * HAND_SIZE - 1, .piled = 1};
    for (int k = 0; k < CARDS; k++)
        g->deck[k] = cards[k];
    for (int k = 0; k < HAND_SIZE; k++) {
        g->hands[0] |= bit(cards[k]);
        g->hands[1] |= bit(cards[HAND_SIZE + k]);
    }
    g->pile[0] = cards[2 * HAND_SIZE];
    g->discards = bit(g->pile[0]);
}

static inline void discard(game *g, int card)
{
    int player = g->player;
    g->hands[player] ^= bit(card);
    g->known[player] &= ~bit(card);
    g->discarded[player] |= bit(card);
    g->discards |= bit(card);
    g->pile[g->piled++] = (int8_t)card;
    g->taken = -1;
}

static void score(const game *g, float *reward)
{
    int knocker = g->player;
    set hand = g->hands[knocker], melds[MAX_MELDS];
    int n = knocker_melds(hand, hand | g->discards, melds);
    int own = min_deadwood(hand);
    int theirs = own ? defended(g->hands[1 - knocker], melds, n) : min_deadwood(g->hands[1 - knocker]);
    int won = own == 0 ? theirs + BONUS : own < theirs ? theirs - own : theirs - own - BONUS;
    reward[knocker] = (float)won;
    reward[1 - knocker] = (float)-won;
}

static inline int apply(game *g, int action, float *reward)
{
    int player = g->player;
    if (g->phase == DISCARD) {
        if (action >= KNOCK) {
            discard(g, action - KNOCK);
            score(g, reward);
            return 1;
        }
        discard(g, action);
        g->player = (int8_t)(1 - player);
        g->phase = DRAW;
        return g->upcard_draws >= MAX_UPCARD_DRAWS || g->stock <= LAST_STOCK_CARDS;
    }
    if (action == PASS) {
        g->player = (int8_t)(1 - player);
        if (++g->passes == 2)
            g->phase = DRAW;
        return 0;
    }
    if (action == TAKE_UPCARD) {
        int card = g->pile[--g->piled];
        g->discards ^= bit(card);
        g->discarded[0] &= ~bit(card);
        g->discarded[1] &= ~bit(card);
        g->hands[player] |= bit(card);
        g->known[player] |= bit(card);
        g->taken = (int8_t)card;
        g->upcard_draws++;
    } else {
        g->hands[player] |= bit(g->deck[CARDS - g->stock--]);
    }
    g->passes = 0;
    g->phase = DISCARD;
    return 0;
}

static inline void mark(set cards, int8_t value, int8_t *out)
{
    for (; cards; cards &= cards - 1)
        out[__builtin_ctzll(cards)] = value;
}

static inline void mark_deadwood(int deadwood, int8_t *out)
{
    static const int8_t steps[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 20, 25, 30, 40, 50, 60, 70, 80};
    for (int k = 0; k < 20; k++)
        out[k] = deadwood >= steps[k];
}

static inline void observe(const game *g, int8_t *out)
{
    int player = g->player, other = 1 - player;
    set hand = g->hands[player], melded = best_melded(hand);
    mark(hand, 1, out);
    mark((hand & set_ranks(hand) * COLUMN) | in_runs(hand), 1, out + 52);
    mark(melded, 2, out + 52);
    mark(g->known[player], 1, out + 104);
    mark(g->known[other], 1, out + 156);
    mark(g->discards, 1, out + 208);
    mark(g->discarded[other], 1, out + 260);
    if (g->taken >= 0)
        out[364] = out[312 + g->taken] = 1;
    else
        out[312 + top(g)] = 1;
    out[365 + g->phase] = 1;
    out[370] = 1; /* to act */
    out[371] = (int8_t)player; /* player 1 is the dealer */
    mark_deadwood(g->phase == DISCARD ? min_deadwood_after_discard(hand) : points(hand ^ melded), out + 372);
    if (g->phase == FIRST_UPCARD || (g->phase == DRAW && g->passes < 2))
        mark_deadwood(min_deadwood_after_discard(hand | bit(top(g))), out + 392);
    for (int k = 0; k < 16; k++)
        out[412 + k] = g->stock >= 2 * k + 1;
    for (int k = 0; k < 4; k++)
        out[428 + k] = MAX_UPCARD_DRAWS - g->upcard_draws <= k + 1;
}

static inline void write_mask(game *g, int8_t *mask)
{
    list_legal(g);
    if (g->phase == DISCARD) {
        mark(g->discardable, 1, mask);
        mark(g->knocks, 1, mask + KNOCK);
    } else if (g->phase == FIRST_UPCARD) {
        mask[TAKE_UPCARD] = mask[PASS] = 1;
    } else {
        mask[TAKE_UPCARD] = g->passes < 2;
        mask[DRAW_STOCK] = 1;
    }
}

static inline int nth(set cards, uint32_t n)
{
    for (; n > 0; n--)
        cards &= cards - 1;
    return __builtin_ctzll(cards);
}

#define CHOOSES /* has choose() of its own: the ids do not fit in the bits of a number */

static inline uint32_t random_below(uint64_t *rng, uint32_t n);

static inline int choose(const game *g, uint64_t *rng)
{
    if (g->phase == FIRST_UPCARD)
        return random_below(rng, 2) ? PASS : TAKE_UPCARD;
    if (g->phase != DISCARD)
        return g->passes < 2 && random_below(rng, 2) ? TAKE_UPCARD : DRAW_STOCK;
    uint32_t discards = (uint32_t)__builtin_popcountll(g->discardable);
    uint32_t n = random_below(rng, discards + (uint32_t)__builtin_popcountll(g->knocks));
    return n < discards ? nth(g->discardable, n) : KNOCK + nth(g->knocks, n - discards);
}

#include "batch.h"
