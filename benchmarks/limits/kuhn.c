/* Kuhn poker for two players, as in cardenvs/games/kuhn_poker with its default options. */

#include <stdint.h>

enum { RANKS = 3, COPIES = 1, CARDS = 2, ACTIONS = 2, OBSERVATION = 13 };

typedef struct {
    int8_t player, decisions, bets; /* bets: bit k is decision k */
    int8_t cards[2], chips[2];
} game;

static inline void begin(game *g, const int8_t *cards)
{
    *g = (game){.cards = {cards[0], cards[1]}, .chips = {1, 1}};
}

static inline unsigned legal(const game *g)
{
    (void)g;
    return 3;
}

static inline int apply(game *g, int action, float *reward)
{
    g->chips[g->player] += (int8_t)action;
    g->bets |= (int8_t)(action << g->decisions);
    g->decisions++;
    g->player = g->decisions & 1;
    if (g->decisions == 1 || (g->decisions == 2 && g->bets == 2)) /* one to answer; pass, bet */
        return 0;
    int winner = g->chips[0] != g->chips[1] ? g->chips[1] > g->chips[0] : g->cards[1] > g->cards[0];
    int lost = g->chips[1 - winner];
    reward[winner] = (float)lost;
    reward[1 - winner] = (float)-lost;
    return 1;
}

static inline void observe(const game *g, int8_t *out)
{
    int player = g->player;
    out[g->cards[player]] = 1;
    out[3 + player] = 1;
    out[5] = g->chips[player];
    out[6] = g->chips[1 - player];
    for (int k = 0; k < g->decisions; k++)
        out[7 + 2 * k + ((g->bets >> k) & 1)] = 1;
}

#include "batch.h"
