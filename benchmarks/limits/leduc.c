/* Leduc poker for two players, as in cardenvs/games/leduc_poker with its default options. */

#include <stdint.h>

enum { RANKS = 3, COPIES = 2, CARDS = 3, ACTIONS = 3, OBSERVATION = 36 };
enum { FOLD, CALL, RAISE };
enum { MOST_RAISES = 2, MOST_DECISIONS = 4 }; /* in a round */

typedef struct {
    int8_t player, round, raises, to_act;
    int8_t cards[3], chips[2]; /* cards: each player's, then the public one */
    int8_t decisions[2], history[2][MOST_DECISIONS];
} game;

static inline void begin(game *g, const int8_t *cards)
{
    *g = (game){.to_act = 2, .cards = {cards[0], cards[1], cards[2]}, .chips = {1, 1}};
}

static inline unsigned legal(const game *g)
{
    int owed = g->chips[1 - g->player] > g->chips[g->player];
    return (unsigned)(owed << FOLD | 1 << CALL | (g->raises < MOST_RAISES) << RAISE);
}

static inline void pay(const game *g, int winner, float *reward)
{
    int lost = g->chips[1 - winner];
    reward[winner] = (float)lost;
    reward[1 - winner] = (float)-lost;
}

static inline int strength(const game *g, int player)
{
    int rank = g->cards[player];
    return rank == g->cards[2] ? rank + RANKS : rank;
}

static inline int apply(game *g, int action, float *reward)
{
    int player = g->player, other = 1 - player;
    g->history[g->round][g->decisions[g->round]++] = (int8_t)action;
    if (action == FOLD) {
        pay(g, other, reward);
        return 1;
    }
    g->chips[player] = g->chips[other];
    g->to_act--;
    if (action == RAISE) {
        g->chips[player] += g->round == 0 ? 2 : 4;
        g->raises++;
        g->to_act = 1;
    }
    g->player = (int8_t)other;
    if (g->to_act > 0)
        return 0;
    if (g->round == 0) {
        g->round = 1;
        g->player = g->raises = 0;
        g->to_act = 2;
        return 0;
    }
    int lead = strength(g, 0) - strength(g, 1);
    if (lead != 0)
        pay(g, lead < 0, reward);
    return 1;
}

static inline void observe(const game *g, int8_t *out)
{
    int player = g->player;
    out[g->cards[player]] = 1;
    if (g->round == 1)
        out[3 + g->cards[2]] = 1;
    out[6 + player] = 1;
    out[8] = g->chips[player];
    out[9] = g->chips[1 - player];
    /* 10 and 11: who has folded; then the game is over */
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < g->decisions[r]; k++)
            out[12 + (r * MOST_DECISIONS + k) * ACTIONS + g->history[r][k]] = 1;
}

#include "batch.h"
