/* A batch of one game, stepped by plain loops. The file that includes this has defined

       RANKS, COPIES, CARDS             ranks of the deck, cards of each, and how many cards an episode uses
       ACTIONS, OBSERVATION             action ids, entries of an observation
       game                             a struct with `player`, who is to act
       begin(game *, cards)             start an episode with these cards
       legal(const game *) -> bits      bit a: action a is legal
       apply(game *, action, reward)    returns 1 where the episode is over, and then writes the two rewards
       observe(const game *, out)       what the player to act sees

   A game whose action ids do not fit in 32 bits defines CHOOSES and has, in place of legal,

       write_mask(game *, mask)         1 for each legal action; the rest is 0 already
       choose(const game *, rng)        a legal action, uniformly
*/

#include <stdint.h>
#include <string.h>

enum { DECK = RANKS * COPIES };

const long game_size = sizeof(game), num_ranks = RANKS, num_cards = CARDS;
const long num_actions = ACTIONS, observation_size = OBSERVATION;

/* SplitMix64 */
static inline uint64_t next_random(uint64_t *rng)
{
    uint64_t x = *rng += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline uint32_t random_below(uint64_t *rng, uint32_t n)
{
    return (uint32_t)(((next_random(rng) >> 32) * n) >> 32);
}

static inline void deal(game *g, uint64_t *rng)
{
    int8_t deck[DECK];
    for (int k = 0; k < DECK; k++)
        deck[k] = (int8_t)(k / COPIES);
    for (int k = 0; k < CARDS; k++) {
        int j = k + (int)random_below(rng, (uint32_t)(DECK - k));
        int8_t card = deck[j];
        deck[j] = deck[k];
        deck[k] = card;
    }
    begin(g, deck);
}

#ifndef CHOOSES
static inline void write_mask(const game *g, int8_t *mask)
{
    unsigned bits = legal(g);
    for (int a = 0; a < ACTIONS; a++)
        mask[a] = (bits >> a) & 1;
}

static inline int choose(const game *g, uint64_t *rng)
{
    unsigned bits = legal(g);
    for (uint32_t k = random_below(rng, (uint32_t)__builtin_popcount(bits)); k > 0; k--)
        bits &= bits - 1;
    return __builtin_ctz(bits);
}
#endif

static inline void encode(game *g, int8_t *observation, int8_t *mask, int32_t *player)
{
    memset(mask, 0, ACTIONS);
    write_mask(g, mask);
    *player = g->player;
    memset(observation, 0, OBSERVATION);
    observe(g, observation);
}

/* Start environment i with explicit cards. */
void place(game *games, long i, const int8_t *cards, int8_t *observation, int8_t *mask, int32_t *player)
{
    begin(&games[i], cards);
    encode(&games[i], observation + i * OBSERVATION, mask + i * ACTIONS, player + i);
}

void reset(game *games, long n, uint64_t *rng, int8_t *observation, int8_t *mask, int32_t *player)
{
    for (long i = 0; i < n; i++) {
        deal(&games[i], rng);
        encode(&games[i], observation + i * OBSERVATION, mask + i * ACTIONS, player + i);
    }
}

/* Apply a legal action in every environment; ended episodes restart. */
void step(game *restrict games, long n, uint64_t *restrict rng, const int32_t *restrict actions,
          int8_t *restrict observation, int8_t *restrict mask, int32_t *restrict player, float *restrict reward,
          uint8_t *restrict terminated)
{
    uint64_t state = *rng;
    for (long i = 0; i < n; i++) {
        reward[2 * i] = reward[2 * i + 1] = 0;
        terminated[i] = (uint8_t)apply(&games[i], actions[i], reward + 2 * i);
        if (terminated[i])
            deal(&games[i], &state);
        encode(&games[i], observation + i * OBSERVATION, mask + i * ACTIONS, player + i);
    }
    *rng = state;
}

/* A legal action for every environment, uniformly. */
void sample(const game *games, long n, uint64_t *rng, int32_t *actions)
{
    uint64_t state = *rng;
    for (long i = 0; i < n; i++)
        actions[i] = choose(&games[i], &state);
    *rng = state;
}
