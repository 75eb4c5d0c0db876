/* What the kernels of all games share, line by line in C: sim/engine.py, and of sim/rng.py the stream and its plainest draw.

   A game's .c file includes this first and then defines the functions declared here. records.h is written by kernel_vs_c.py from the
   record dtypes of the Python sources, so both kernels read the very same rules and write the very same rows. It declares Stream,
   Parameters, Rules, State, View, Outcome, where a field that is a word of C has a _ behind, and PURPOSES and SEATS. */

#include <math.h>
#include <stdint.h>

#include "records.h"

enum { CHANCE = -1, NO_TURN = -2, ALL_WELL = -1 };

static const int64_t MISSING = -((int64_t)1 << 62);

typedef int64_t (*Policy)(const View *, int64_t legal, const Rules *, const Parameters *, Stream *);

static void set_up(State *state, const Rules *rules, Stream *streams);
static int64_t turn(const State *state);
static void chance(State *state, const Rules *rules, Stream *streams);
static int64_t legal_actions(const State *state, const Rules *rules);
static void look(const State *state, const Rules *rules, int64_t seat, View *view);
static void act(State *state, const Rules *rules, Stream *streams, int64_t action);
static void score(State *state, const Rules *rules, Stream *streams, Outcome *row);

static int64_t bit(int64_t action) { return (int64_t)1 << action; }
static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---------------------------------------------------------------- policies/tools.py */

static int can(int64_t legal, int64_t action) {
    return (legal >> action) & 1;
}

/* ---------------------------------------------------------------- sim/rng.py */

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15, LOW_32 = 0xFFFFFFFF;

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

static void open_stream(Stream *stream, uint64_t seed, int64_t game, int64_t purpose) {
    uint64_t x = mix(mix(mix(seed + GOLDEN) ^ (uint64_t)game) + (uint64_t)purpose * GOLDEN);
    stream->a = mix(x += GOLDEN);
    stream->b = mix(x += GOLDEN);
    stream->c = mix(x += GOLDEN);
    stream->d = mix(x += GOLDEN);
}

static uint64_t next_word(Stream *stream) {
    uint64_t a = stream->a, b = stream->b, c = stream->c, d = stream->d;
    uint64_t total = a + d;
    uint64_t result = ((total << 23) | (total >> 41)) + a;
    uint64_t shifted = b << 17;
    c ^= a;
    d ^= b;
    stream->b = b ^ c;
    stream->a = a ^ d;
    stream->c = c ^ shifted;
    stream->d = (d << 45) | (d >> 19);
    return result;
}

static int64_t draw_below(Stream *stream, int64_t n) {
    uint64_t wide = (uint64_t)n;
    uint64_t product = (next_word(stream) >> 32) * wide;
    if ((product & LOW_32) < wide) {
        uint64_t least = (0x100000000 - wide) % wide;
        while ((product & LOW_32) < least)
            product = (next_word(stream) >> 32) * wide;
    }
    return (int64_t)(product >> 32);
}

/* ---------------------------------------------------------------- sim/engine.py */

static int64_t only(int64_t legal) {
    int64_t action = 0;
    while (legal > 1) {
        legal >>= 1;
        action += 1;
    }
    return action;
}

static int64_t play_game(State *state, const Rules *rules, Stream *streams, View *view, const Rules *shown_rules, const Policy *policies,
                         const Parameters *parameters) {
    set_up(state, rules, streams);
    for (;;) {
        int64_t seat = turn(state);
        if (seat == CHANCE) {
            chance(state, rules, streams);
        } else if (seat == NO_TURN) {
            return ALL_WELL;
        } else {
            int64_t legal = legal_actions(state, rules);
            int64_t action;
            if ((legal & (legal - 1)) == 0) {
                action = only(legal);
            } else {
                look(state, rules, seat, view);
                action = policies[seat](view, legal, shown_rules, &parameters[seat], &streams[PURPOSES + seat]);
                if (action < 0 || action > 62 || ((legal >> action) & 1) == 0)
                    return seat;
            }
            act(state, rules, streams, action);
        }
    }
}

int64_t play_block(uint64_t seed, int64_t first, const Rules *rules, State *state, Stream *streams, View *view,
                   const Policy *policies, const Parameters *parameters, Outcome *rows, int64_t games) {
    for (int64_t k = 0; k < games; k++) {
        for (int64_t purpose = 0; purpose < PURPOSES + SEATS; purpose++)
            open_stream(&streams[purpose], seed, first + k, purpose);
        if (play_game(state, &rules[0], streams, view, &rules[1], policies, parameters) != ALL_WELL)
            return k;
        score(state, &rules[0], streams, &rows[k]);
    }
    return ALL_WELL;
}
