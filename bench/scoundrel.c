/* The kernel of sim/games/scoundrel.py, line by line in C: what numba is measured against. */

#include "engine.h"

/* ---------------------------------------------------------------- sim/games/scoundrel.py: words */

enum { ROOM_MOST = 6 };
enum { AVOID = 0, TAKE_1 = 1, FIGHT_1 = TAKE_1 + ROOM_MOST, DISCARD_1 = FIGHT_1 + ROOM_MOST };

enum { REVERSED = 1, SHUFFLED = 2 };
enum { LEAVE_ONE = 1, LEAVE_SHORT = 2 };
enum { NO_LIMIT = 2 };
enum { ONLY_WITHOUT_USABLE_WEAPON = 1 };
enum { DUNGEON_AND_ROOM = 1, LIFE_MINUS_DUNGEON = 2, LIFE_MINUS_DUNGEON_AND_ROOM = 3 };

enum { WEAPONS_FROM = 32, POTIONS_FROM = 48 };
enum { NO_WEAPON = 0, FRESH = 15, RING = 64 };
enum { DEALING, DECIDING, OVER };
enum { DECK, AVOIDED };

/* ---------------------------------------------------------------- cards */

static int64_t value_of(int64_t card) { return card & 15; }
static int is_monster(int64_t card) { return card < WEAPONS_FROM; }
static int is_potion(int64_t card) { return card >= POTIONS_FROM; }

static void shuffle(int64_t *cards, int64_t first, int64_t after, Stream *stream) {
    for (int64_t n = after - 1; n > first; n--) {
        int64_t place = first + draw_below(stream, n - first + 1);
        int64_t card = cards[n];
        cards[n] = cards[place];
        cards[place] = card;
    }
}

/* ---------------------------------------------------------------- set-up and turns */

static void set_up(State *state, const Rules *rules, Stream *streams) {
    for (int64_t n = 0; n < rules->cards; n++) {
        int64_t place = draw_below(&streams[DECK], n + 1);
        state->dungeon[n] = state->dungeon[place];
        state->dungeon[place] = rules->deck[n];
    }
    state->phase = DEALING;
    state->health = rules->health;
    state->weapon = NO_WEAPON;
    state->limit = FRESH;
    state->room_cards = 0;
    state->room_full = 0;
    state->resolved_here = 0;
    state->potions_here = 0;
    state->avoids = 0;
    state->top = 0;
    state->face_down = rules->cards;
    state->never_seen = rules->cards;
    state->unseen = rules->deck_set;
    state->last_card = 0;
    state->killer = 0;
    state->faced = 0;
    state->avoided = 0;
    state->resolved = 0;
    state->damage_bare = 0;
    state->damage_armed = 0;
    state->absorbed = 0;
    state->healed = 0;
    state->wasted = 0;
}

static int64_t turn(const State *state) {
    if (state->phase == DECIDING)
        return 0;
    return state->phase == DEALING ? CHANCE : NO_TURN;
}

static int is_crossed(const State *state, const Rules *rules) {
    return state->face_down == 0 && state->room_cards <= (rules->last_room == LEAVE_ONE ? 1 : 0);
}

static void chance(State *state, const Rules *rules, Stream *streams) {
    (void)streams;
    while (state->room_cards < rules->room_size && state->face_down > 0) {
        int64_t card = state->dungeon[state->top & (RING - 1)];
        state->room[state->room_cards] = card;
        state->room_cards += 1;
        state->top += 1;
        state->face_down -= 1;
        if (state->never_seen > 0) {
            state->never_seen -= 1;
            state->unseen &= ~bit(card);
        }
    }
    state->room_full = state->room_cards == rules->room_size;
    state->resolved_here = 0;
    state->potions_here = 0;
    state->phase = is_crossed(state, rules) || (rules->last_room == LEAVE_SHORT && !state->room_full) ? OVER : DECIDING;
}

static void look(const State *state, const Rules *rules, int64_t seat, View *view) {
    (void)seat;
    view->health = state->health;
    view->weapon = state->weapon;
    view->limit = state->limit;
    view->room_cards = state->room_cards;
    for (int64_t n = 0; n < ROOM_MOST; n++)
        view->room[n] = n < state->room_cards ? state->room[n] : 0;
    view->room_full = state->room_full;
    view->resolved_here = state->resolved_here;
    view->potions_here = state->potions_here;
    view->avoids = state->avoids;
    view->face_down = state->face_down;
    view->unseen = state->unseen;
    view->unders = state->face_down - state->never_seen;
    int64_t first = state->top + state->never_seen;
    for (int64_t n = 0; n < view->unders; n++) {
        int64_t card = state->dungeon[(first + n) & (RING - 1)];
        int64_t batch = rules->avoid_order == SHUFFLED ? state->put_under[(first + n) & (RING - 1)] : n;
        int64_t place = n;
        while (place > 0 && view->under_batch[place - 1] == batch && view->under[place - 1] > card) {
            view->under[place] = view->under[place - 1];
            place -= 1;
        }
        view->under[place] = card;
        view->under_batch[n] = batch;
    }
}

/* ---------------------------------------------------------------- actions */

static int64_t reach_of(const Rules *rules, int64_t weapon, int64_t limit) {
    if (weapon == NO_WEAPON)
        return 0;
    return rules->weapon_limit == NO_LIMIT ? FRESH : limit + rules->weapon_limit;
}

static int can_avoid(const State *state, const Rules *rules) {
    return state->resolved_here == 0 && state->avoids < rules->avoids_in_a_row && (state->room_full == 1 || rules->avoid_short_room == 1);
}

static int64_t legal_actions(const State *state, const Rules *rules) {
    int64_t reach = reach_of(rules, state->weapon, state->limit);
    int64_t fights = 0, potions = 0;
    for (int64_t n = 0; n < state->room_cards; n++) {
        int64_t card = state->room[n];
        fights |= (int64_t)(is_monster(card) & (value_of(card) < reach)) << n;
        potions |= (int64_t)is_potion(card) << n;
    }
    int64_t takes = bit(state->room_cards) - 1;
    if (rules->bare_hands == ONLY_WITHOUT_USABLE_WEAPON)
        takes &= ~fights;
    int64_t mask = can_avoid(state, rules) | takes << TAKE_1 | fights << FIGHT_1;
    return rules->potion_optional ? mask | potions << DISCARD_1 : mask;
}

static void fight(State *state, int64_t monster, int armed) {
    if (armed) {
        int64_t kept_off = least_of(state->weapon, monster);
        state->limit = monster;
        state->absorbed += kept_off;
        state->damage_armed += monster - kept_off;
        state->health -= monster - kept_off;
    } else {
        state->damage_bare += monster;
        state->health -= monster;
    }
}

static void resolve_potion(State *state, const Rules *rules, int64_t value, int drunk) {
    int64_t gained = 0;
    if (drunk && state->potions_here < rules->potions_per_turn)
        gained = least_of(value, rules->full_health - state->health);
    if (drunk)
        state->potions_here += 1;
    state->health += gained;
    state->healed += gained;
    state->wasted += value - gained;
}

static void avoid(State *state, const Rules *rules, Stream *streams) {
    if (rules->avoid_order == SHUFFLED)
        shuffle(state->room, 0, state->room_cards, &streams[AVOIDED]);
    state->avoids += 1;
    state->avoided += 1;
    int64_t bottom = state->top + state->face_down;
    for (int64_t n = 0; n < state->room_cards; n++) {
        int64_t place = (bottom + n) & (RING - 1);
        state->dungeon[place] = state->room[rules->avoid_order == REVERSED ? state->room_cards - 1 - n : n];
        state->put_under[place] = state->avoided;
    }
    state->face_down += state->room_cards;
    state->room_cards = 0;
    state->phase = DEALING;
}

static void act(State *state, const Rules *rules, Stream *streams, int64_t action) {
    if (action == AVOID) {
        avoid(state, rules, streams);
        return;
    }
    int64_t n = (action - TAKE_1) % ROOM_MOST;
    int64_t card = state->room[n];
    state->room_cards -= 1;
    for (int64_t place = 0; place < ROOM_MOST - 1; place++)
        state->room[place] = state->room[place + (place >= n)];
    if (state->resolved_here == 0) {
        state->faced += 1;
        state->avoids = 0;
    }
    state->resolved_here += 1;
    state->resolved += 1;
    state->last_card = card;
    int64_t value = value_of(card);
    if (is_monster(card)) {
        fight(state, value, action >= FIGHT_1);
        if (state->health <= 0) {
            state->killer = value;
            state->phase = OVER;
            return;
        }
    } else if (is_potion(card)) {
        resolve_potion(state, rules, value, action < DISCARD_1);
    } else {
        state->weapon = value;
        state->limit = FRESH;
    }
    if (is_crossed(state, rules))
        state->phase = OVER;
    else if (state->resolved_here == rules->cards_per_room || state->room_cards == 0)
        state->phase = DEALING;
}

/* ---------------------------------------------------------------- outcome */

static int64_t won_score(const State *state, const Rules *rules) {
    int bonus = rules->potion_bonus && is_potion(state->last_card) && state->health == rules->full_health;
    return state->health + (bonus ? value_of(state->last_card) : 0);
}

static int64_t lost_score(const State *state, const Rules *rules, int64_t below, int64_t lying) {
    int64_t total = -below;
    if (rules->death_score == DUNGEON_AND_ROOM || rules->death_score == LIFE_MINUS_DUNGEON_AND_ROOM)
        total -= lying;
    if (rules->death_score == LIFE_MINUS_DUNGEON || rules->death_score == LIFE_MINUS_DUNGEON_AND_ROOM)
        total += state->health;
    return total;
}

static int64_t in_10000(int64_t part, int64_t whole) {
    return (20000 * part + whole) / (2 * whole);
}

static void score(State *state, const Rules *rules, Stream *streams, Outcome *row) {
    (void)streams;
    int won = state->health > 0;
    int64_t below = 0, left = 0, lying = 0;
    for (int64_t n = 0; n < state->face_down; n++) {
        int64_t card = state->dungeon[(state->top + n) & (RING - 1)];
        below += is_monster(card) * value_of(card);
        left += is_monster(card);
    }
    for (int64_t n = 0; n < state->room_cards; n++) {
        lying += is_monster(state->room[n]) * value_of(state->room[n]);
        left += is_monster(state->room[n]);
    }
    row->won = won;
    row->score = won ? won_score(state, rules) : lost_score(state, rules, below, lying);
    row->health = state->health;
    row->health_won = won ? state->health : MISSING;
    row->rooms = state->faced + state->avoided;
    row->faced = state->faced;
    row->avoided = state->avoided;
    row->avoided_share = in_10000(state->avoided, row->rooms);
    row->resolved = state->resolved;
    row->crossed = in_10000(state->resolved, rules->cards);
    row->damage_bare = state->damage_bare;
    row->damage_armed = state->damage_armed;
    row->absorbed = state->absorbed;
    row->healed = state->healed;
    row->wasted = state->wasted;
    row->monsters_left = left;
    row->killer = won ? MISSING : state->killer;
    row->died_at = won ? MISSING : state->resolved;
    row->seconds = (state->resolved + state->avoided) * rules->seconds_per_decision;
}

/* ---------------------------------------------------------------- policies/scoundrel.py */

int64_t policy_random(const View *view, int64_t legal, const Rules *rules, const Parameters *parameters, Stream *stream) {
    (void)rules, (void)parameters;
    if (can(legal, AVOID) && draw_below(stream, 2) == 0)
        return AVOID;
    int64_t card = draw_below(stream, view->room_cards);
    int armed = can(legal, FIGHT_1 + card);
    if (armed && (!can(legal, TAKE_1 + card) || draw_below(stream, 2) == 0))
        return FIGHT_1 + card;
    return TAKE_1 + card;
}

int64_t policy_first(const View *view, int64_t legal, const Rules *rules, const Parameters *parameters, Stream *stream) {
    (void)view, (void)rules, (void)parameters, (void)stream;
    return can(legal, FIGHT_1) ? FIGHT_1 : TAKE_1;
}
