/* The kernel of sim/games/mint_tin.py, line by line in C: what numba is measured against. */

#include "engine.h"

/* ---------------------------------------------------------------- sim/rng.py: the draws of this game alone */

static double draw_unit(Stream *stream) {
    return (double)(next_word(stream) >> 11) * 0x1p-53;
}

static double draw_exponential(Stream *stream) {
    return -log(1.0 - draw_unit(stream));
}

static double draw_normal(Stream *stream) {
    double radius = sqrt(2.0 * draw_exponential(stream));
    return radius * cos(2.0 * M_PI * draw_unit(stream));
}

static double draw_gamma(Stream *stream, double shape) {
    double d = shape - 1.0 / 3.0;
    double c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double x = draw_normal(stream);
        double v = 1.0 + c * x;
        if (v <= 0.0)
            continue;
        v = v * v * v;
        double u = 1.0 - draw_unit(stream);
        if (u < 1.0 - 0.0331 * x * x * x * x)
            return d * v;
        if (log(u) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return d * v;
    }
}

static int64_t draw_poisson(Stream *stream, double mean) {
    if (mean < 10.0) {
        double limit = exp(-mean);
        int64_t count = 0;
        double product = draw_unit(stream);
        while (product > limit) {
            count += 1;
            product *= draw_unit(stream);
        }
        return count;
    }
    double log_mean = log(mean);
    double b = 0.931 + 2.53 * sqrt(mean);
    double a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    double v_r = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        double u = draw_unit(stream) - 0.5;
        double v = 1.0 - draw_unit(stream);
        double us = 0.5 - fabs(u);
        double k = us > 0.0 ? floor((2.0 * a / us + b) * u + mean + 0.43) : -1.0;
        if (us >= 0.07 && v <= v_r)
            return (int64_t)k;
        if (k < 0.0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= k * log_mean - mean - lgamma(k + 1.0))
            return (int64_t)k;
    }
}

static int64_t draw_trials(Stream *stream, double log_miss) {
    return (int64_t)floor(log(1.0 - draw_unit(stream)) / log_miss) + 1;
}

/* ---------------------------------------------------------------- sim/games/mint_tin.py: words */

enum {
    PASS, STAND_UP, ENTER_SHELTER, LIFT_INTO_SHELTER, KNOCK_DOWN, KNOCK_OFF_COVER, TOSS_OUT, SEND_RECON, STAND_RECON,
    KNOCK_RECON, DRAG_BOX, CLOSE_SHELTER, TURN_MONSTER, CLAIM_COVER, PUSH_OFF_COVER, THROW_COVER, PRY_OPEN,
    DECLINE, SACRIFICE_OUTSIDE, SACRIFICE_INSIDE, SACRIFICE_RECON
};

enum { OMG = 1, CRA_CRA = 2 };
enum { UNLIMITED = 1 };
enum { ONE_ROLL = 1, NO_WINDOW = 2 };
enum { ANY_DOUBLE = 1 };
enum { WALK, LIFT };
enum { ALTERNATE = 1 };
enum { RANDOM_FIRST = 0 };
enum { FREE = 2, OUT = 3 };
enum { NO_PAIR = -1, NOBODY = 2 };
enum { BOTH_EATEN = 2, UNFINISHED = 3 };
enum { ROLLING, ACTING, ASKING, OVER };
enum { DICE, CLOCK };
enum { UNREACHABLE = 1000, LEADS = 4096 };

static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- the lead */

static int64_t rolls_to_close(const State *state, const Rules *rules, int64_t seat) {
    int64_t other = 1 - seat;
    int64_t standing = state->standing[seat];
    int64_t down = state->down[seat];
    int64_t inside = state->inside[seat];
    int64_t pair = state->pair[seat];
    int64_t boxes_needed = most_of(rules->boxes_to_close - state->boxes, 0);
    if (boxes_needed > 0 && rules->boxes_to_close > rules->supply_boxes - (state->pair[other] != NO_PAIR))
        return UNREACHABLE;
    int64_t least = UNREACHABLE;
    for (int64_t use_pair = 0; use_pair < 2; use_pair++) {
        if (use_pair == (pair == NO_PAIR) && (use_pair || boxes_needed > 0))
            continue;
        int64_t trips = boxes_needed - (use_pair && boxes_needed > 0);
        int64_t goal = trips > 0 ? most_of(rules->meeples_to_close, 2) : rules->meeples_to_close;
        int64_t base = inside + 2 * use_pair;
        int64_t entering = most_of(goal - base, 0);
        int64_t room = rules->shelter_capacity - inside - state->inside[other];
        if (inside == 0 && use_pair && room < 2)
            entering = most_of(entering, 1);
        if (entering > standing + down || (inside == 0 && room <= 0))
            continue;
        int64_t rolls = 1 + 2 * trips + most_of(2 * use_pair + entering - room, 0);
        if (rules->enter == WALK)
            rolls += entering + most_of(entering - standing, 0);
        else
            rolls += entering + (standing == 0 && entering > 0);
        if (use_pair) {
            rolls += 3 - pair;
            if (pair < 2 && rules->recon_needs_helper && standing == 0 && entering == 0) {
                if (down == 0)
                    continue;
                rolls += 1;
            }
        }
        least = least_of(least, rolls);
    }
    return least;
}

static void update_lead(State *state, const Rules *rules) {
    for (int64_t seat = 0; seat < 2; seat++)
        state->to_close[seat] = rolls_to_close(state, rules, seat);
    if (state->closed_by != NOBODY)
        state->leader = state->closed_by;
    else if (state->to_close[0] == state->to_close[1])
        state->leader = NOBODY;
    else
        state->leader = state->to_close[0] < state->to_close[1] ? 0 : 1;
    if (state->leader != NOBODY) {
        if (state->last_leader == 1 - state->leader)
            state->lead_changes += 1;
        state->last_leader = state->leader;
    }
}

static void record_lead(State *state) {
    int64_t entry = state->events >> state->lead_shift;
    if (entry << state->lead_shift != state->events)
        return;
    if (entry == LEADS) {
        for (int64_t k = 0; k < LEADS / 2; k++)
            state->leads[k] = state->leads[2 * k];
        state->lead_shift += 1;
        entry = LEADS / 2;
    }
    state->leads[entry] = state->leader;
}

static int64_t leader_at(const State *state, int64_t quarters) {
    return state->leads[state->events * quarters / 4 >> state->lead_shift];
}

/* ---------------------------------------------------------------- set-up and turns */

static void set_up(State *state, const Rules *rules, Stream *streams) {
    for (int64_t seat = 0; seat < 2; seat++) {
        state->standing[seat] = 1;
        state->down[seat] = rules->meeples - 1;
        state->inside[seat] = 0;
        state->pair[seat] = NO_PAIR;
        state->sacrificed[seat] = 0;
    }
    state->boxes = 0;
    state->die = rules->monster_die;
    state->active = rules->mode == OMG;
    state->monster_down = 0;
    state->cover = rules->manhole ? FREE : OUT;
    state->closed_by = NOBODY;
    state->pried = 0;
    state->phase = ROLLING;
    state->seat = 0;
    state->roller = 0;
    state->double_ = 0;
    state->action_roll = 0;
    state->asked = 0;
    state->ending = UNFINISHED;
    state->events = 0;
    state->untimed = 0;
    state->rolls = 0;
    state->seconds = 0.0;
    state->lead_changes = 0;
    state->lead_shift = 0;
    state->leader = NOBODY;
    state->last_leader = NOBODY;
    state->next_roller = 0;
    if (rules->rolling == ALTERNATE)
        state->next_roller = rules->first_roller == RANDOM_FIRST ? draw_below(&streams[CLOCK], 2) : rules->first_roller - 1;
    update_lead(state, rules);
}

static int64_t turn(const State *state) {
    if (state->phase == ROLLING)
        return CHANCE;
    if (state->phase == OVER)
        return NO_TURN;
    return state->seat;
}

static void look(const State *state, const Rules *rules, int64_t seat, View *view) {
    (void)rules;
    int64_t other = 1 - seat;
    view->standing = state->standing[seat];
    view->down = state->down[seat];
    view->inside = state->inside[seat];
    view->pair = state->pair[seat];
    view->sacrificed = state->sacrificed[seat];
    view->to_close = state->to_close[seat];
    view->their_standing = state->standing[other];
    view->their_down = state->down[other];
    view->their_inside = state->inside[other];
    view->their_pair = state->pair[other];
    view->their_sacrificed = state->sacrificed[other];
    view->their_to_close = state->to_close[other];
    view->boxes = state->boxes;
    view->die = state->die;
    view->active = state->active;
    view->monster_down = state->monster_down;
    view->my_cover = state->cover == seat;
    view->their_cover = state->cover == other;
    view->closed = state->closed_by != NOBODY;
    view->asked = state->asked;
    view->rolled = state->roller == seat;
}

/* ---------------------------------------------------------------- time */

static void let_time_pass(State *state, const Rules *rules, Stream *streams) {
    if (state->untimed == 0)
        return;
    double rate = state->closed_by == NOBODY ? rules->rolls_per_second[0] + rules->rolls_per_second[1]
                                             : rules->rolls_per_second[1 - state->closed_by];
    double events_time = draw_gamma(&streams[CLOCK], (double)state->untimed) / rules->event_chance;
    int64_t idle = draw_poisson(&streams[CLOCK], events_time * (1.0 - rules->event_chance));
    state->rolls += state->untimed + idle;
    state->seconds += events_time / rate;
    state->untimed = 0;
}

static int64_t alternate(State *state, const Rules *rules, Stream *clock) {
    int64_t gap = draw_trials(clock, rules->log_no_event);
    state->rolls += gap;
    if (state->closed_by != NOBODY) {
        int64_t seat = 1 - state->closed_by;
        state->seconds += gap / rules->rolls_per_second[seat];
        return seat;
    }
    int64_t first = state->next_roller;
    state->seconds += (gap - gap / 2) / rules->rolls_per_second[first] + (gap / 2) / rules->rolls_per_second[1 - first];
    state->next_roller = gap % 2 == 0 ? first : 1 - first;
    return 1 - state->next_roller;
}

/* ---------------------------------------------------------------- actions */

static int64_t legal_actions(const State *state, const Rules *rules) {
    int64_t seat = state->seat;
    int64_t other = 1 - seat;
    if (state->phase == ASKING) {
        int64_t mask = bit(DECLINE);
        if (state->standing[seat] > 0)
            mask |= bit(SACRIFICE_OUTSIDE);
        if (state->inside[seat] > 0 && state->closed_by == NOBODY)
            mask |= bit(SACRIFICE_INSIDE);
        if (state->pair[seat] > 0)
            mask |= bit(SACRIFICE_RECON);
        return mask;
    }
    int64_t mask = bit(PASS);
    if (state->closed_by != NOBODY) {
        if (state->cover == seat)
            mask |= bit(PRY_OPEN);
        return mask;
    }
    int64_t down = state->down[seat];
    int64_t inside = state->inside[seat];
    int64_t pair = state->pair[seat];
    int64_t room = rules->shelter_capacity - inside - state->inside[other];
    if (state->standing[seat] > 0) {
        if (room > 0) {
            if (rules->enter != LIFT || down == 0)
                mask |= bit(ENTER_SHELTER);
            if (rules->enter != WALK && down > 0)
                mask |= bit(LIFT_INTO_SHELTER);
        }
        if (state->standing[other] > (state->cover == other))
            mask |= bit(KNOCK_DOWN);
        if (state->pair[other] > 0)
            mask |= bit(KNOCK_RECON);
        if (state->cover == FREE)
            mask |= bit(CLAIM_COVER);
        if (state->cover == other) {
            mask |= bit(PUSH_OFF_COVER);
            if (rules->holder_knockable)
                mask |= bit(KNOCK_OFF_COVER);
        }
    }
    if (down > 0 && (state->standing[seat] == 0 || rules->stand_any))
        mask |= bit(STAND_UP);
    if (inside > 0 && state->inside[other] > 0)
        mask |= bit(TOSS_OUT);
    if (pair == NO_PAIR) {
        if (inside >= 2 && state->boxes + (state->pair[other] != NO_PAIR) < rules->supply_boxes)
            mask |= bit(SEND_RECON);
    } else if (pair == 2) {
        if (room >= 2)
            mask |= bit(DRAG_BOX);
    } else if (!rules->recon_needs_helper || state->standing[seat] > 0)
        mask |= bit(STAND_RECON);
    if (inside >= rules->meeples_to_close && state->boxes >= rules->boxes_to_close)
        mask |= bit(CLOSE_SHELTER);
    if (rules->mode == CRA_CRA && (!state->active || (state->die > 1 && !state->monster_down)))
        mask |= bit(TURN_MONSTER);
    if (state->cover == seat && state->active && !state->monster_down)
        mask |= bit(THROW_COVER);
    return mask;
}

static void end(State *state, int64_t ending) {
    state->phase = OVER;
    state->ending = ending;
}

static void free_cover_if_left(State *state, int64_t seat) {
    if (state->standing[seat] == 0 && state->cover == seat)
        state->cover = FREE;
}

static void spend_cover(State *state, const Rules *rules) {
    state->cover = rules->cover_throws == UNLIMITED ? FREE : OUT;
}

static void close_shelter(State *state, const Rules *rules, Stream *streams, int64_t seat) {
    let_time_pass(state, rules, streams);
    state->closed_by = seat;
    int may_pry = state->cover == 1 - seat && rules->pry_window != NO_WINDOW && (state->pried == 0 || rules->cover_throws == UNLIMITED);
    if (!may_pry)
        end(state, seat);
}

/* ---------------------------------------------------------------- the monster */

static void monster_eats(State *state) {
    state->asked = 0;
    end(state, state->closed_by == NOBODY ? BOTH_EATEN : state->closed_by);
}

static void ask_next(State *state) {
    int shut = state->closed_by != NOBODY;
    while (state->asked < (shut ? 1 : 3)) {
        state->asked += 1;
        int64_t seat = shut ? 1 - state->closed_by : state->asked == 2 ? 1 - state->roller : state->roller;
        if (state->standing[seat] > 0 || state->pair[seat] > 0 || (state->inside[seat] > 0 && !shut)) {
            state->phase = ASKING;
            state->seat = seat;
            return;
        }
    }
    monster_eats(state);
}

static void answer(State *state, const Rules *rules, int64_t action) {
    int64_t seat = state->seat;
    if (action == DECLINE) {
        ask_next(state);
        return;
    }
    state->phase = ROLLING;
    state->asked = 0;
    state->sacrificed[seat] += 1;
    if (action == SACRIFICE_OUTSIDE) {
        state->standing[seat] -= 1;
        free_cover_if_left(state, seat);
    } else if (action == SACRIFICE_INSIDE) {
        state->inside[seat] -= 1;
    } else {
        if (state->pair[seat] == 2)
            state->standing[seat] += 1;
        else
            state->down[seat] += 1;
        state->pair[seat] = NO_PAIR;
    }
    update_lead(state, rules);
}

static void double_rolled(State *state, const Rules *rules, int64_t number) {
    if (!state->active)
        return;
    if (state->monster_down) {
        if (number == state->die || rules->wake == ANY_DOUBLE)
            state->monster_down = 0;
    } else if (number == state->die) {
        if (state->die > 1) {
            state->die -= 1;
        } else if (rules->sacrifice) {
            state->asked = 0;
            ask_next(state);
        } else {
            monster_eats(state);
        }
    }
}

static void act(State *state, const Rules *rules, Stream *streams, int64_t action) {
    if (state->phase == ASKING) {
        answer(state, rules, action);
        return;
    }
    int64_t seat = state->seat;
    int64_t other = 1 - seat;
    state->phase = ROLLING;
    switch (action) {
    case PASS:
        if (state->closed_by != NOBODY && rules->pry_window == ONE_ROLL)
            end(state, state->closed_by);
        return;
    case STAND_UP:
        state->down[seat] -= 1;
        state->standing[seat] += 1;
        break;
    case ENTER_SHELTER:
        state->standing[seat] -= 1;
        state->inside[seat] += 1;
        free_cover_if_left(state, seat);
        break;
    case LIFT_INTO_SHELTER:
        state->down[seat] -= 1;
        state->inside[seat] += 1;
        break;
    case KNOCK_DOWN:
        state->standing[other] -= 1;
        state->down[other] += 1;
        break;
    case KNOCK_OFF_COVER:
        state->standing[other] -= 1;
        state->down[other] += 1;
        state->cover = FREE;
        break;
    case TOSS_OUT:
        state->inside[other] -= 1;
        state->standing[other] += 1;
        break;
    case SEND_RECON:
        state->inside[seat] -= 2;
        state->pair[seat] = 2;
        break;
    case STAND_RECON:
        state->pair[seat] += 1;
        break;
    case KNOCK_RECON:
        state->pair[other] -= 1;
        break;
    case DRAG_BOX:
        state->pair[seat] = NO_PAIR;
        state->inside[seat] += 2;
        state->boxes += 1;
        state->active = 1;
        break;
    case CLOSE_SHELTER:
        close_shelter(state, rules, streams, seat);
        break;
    case TURN_MONSTER:
        if (state->active || (rules->turn_on_activation && state->die > 1))
            state->die -= 1;
        state->active = 1;
        break;
    case CLAIM_COVER:
    case PUSH_OFF_COVER:
        state->cover = seat;
        state->active = 1;
        break;
    case THROW_COVER:
        state->monster_down = 1;
        spend_cover(state, rules);
        break;
    case PRY_OPEN:
        let_time_pass(state, rules, streams);
        state->closed_by = NOBODY;
        state->pried += 1;
        state->next_roller = other;
        spend_cover(state, rules);
        break;
    }
    update_lead(state, rules);
}

/* ---------------------------------------------------------------- dice */

static void roll_dice(State *state, const Rules *rules, int64_t seat, int64_t number, int action_roll) {
    state->roller = seat;
    state->double_ = number;
    state->action_roll = action_roll;
    if (action_roll) {
        state->seat = seat;
        state->phase = ACTING;
    } else if (state->closed_by != NOBODY && rules->pry_window == ONE_ROLL) {
        end(state, state->closed_by);
    } else if (number > 0) {
        double_rolled(state, rules, number);
    }
}

static int64_t pick(Stream *stream, uint64_t word, int64_t ways) {
    uint64_t wide = (uint64_t)ways;
    uint64_t product = (word & LOW_32) * wide;
    if ((product & LOW_32) < wide) {
        uint64_t least = (0x100000000 - wide) % wide;
        while ((product & LOW_32) < least)
            product = (next_word(stream) & LOW_32) * wide;
    }
    return (int64_t)(product >> 32);
}

static void chance(State *state, const Rules *rules, Stream *streams) {
    int shut = state->closed_by != NOBODY;
    int64_t seat, kind;
    record_lead(state);
    state->events += 1;
    if (shut && rules->pry_window == ONE_ROLL) {
        seat = 1 - state->closed_by;
        kind = draw_below(&streams[DICE], 36);
        double wait = rules->rolling != ALTERNATE ? draw_exponential(&streams[CLOCK]) : 1.0;
        state->rolls += 1;
        state->seconds += wait / rules->rolls_per_second[seat];
    } else {
        uint64_t word = next_word(&streams[DICE]);
        kind = pick(&streams[DICE], word, rules->ways);
        if (rules->rolling == ALTERNATE) {
            seat = alternate(state, rules, &streams[CLOCK]);
        } else {
            seat = (int64_t)(word >> 32) >= rules->first_seat_below;
            if (shut)
                seat = 1 - state->closed_by;
            state->untimed += 1;
            if (state->events > rules->events_in_bulk)
                let_time_pass(state, rules, streams);
        }
    }
    if (state->rolls > rules->max_rolls)
        end(state, UNFINISHED);
    else if (kind < rules->action_ways)
        roll_dice(state, rules, seat, 0, 1);
    else if (kind < rules->ways)
        roll_dice(state, rules, seat, rules->wake == ANY_DOUBLE ? kind - rules->action_ways + 1 : state->die, 0);
    else
        roll_dice(state, rules, seat, 0, 0);
}

/* ---------------------------------------------------------------- outcome */

static int64_t points_of(const State *state, const Rules *rules, int64_t seat) {
    if (state->ending == BOTH_EATEN)
        return rules->points[4];
    if (state->ending == seat)
        return state->sacrificed[seat] > 0 || state->inside[seat] == rules->meeples ? rules->points[0] : rules->points[1];
    return state->sacrificed[seat] > 0 ? rules->points[2] : rules->points[3];
}

static int64_t leader_won(int64_t leader, int64_t winner) {
    return leader == NOBODY ? MISSING : leader == winner;
}

static void score(State *state, const Rules *rules, Stream *streams, Outcome *row) {
    let_time_pass(state, rules, streams);
    if (state->rolls > rules->max_rolls)
        state->ending = UNFINISHED;
    int64_t winner = state->ending < 2 ? state->ending : NOBODY;
    int finished = state->ending != UNFINISHED;
    row->ending = state->ending;
    row->finished = finished;
    row->rolls = finished ? state->rolls : MISSING;
    row->seconds = finished ? (int64_t)rint(state->seconds * 100.0) : MISSING;
    row->boxes_inside = state->boxes;
    row->final_die = state->die;
    row->pried = state->pried;
    row->lead_changes = state->lead_changes;
    for (int64_t seat = 0; seat < 2; seat++) {
        row->points[seat] = finished ? points_of(state, rules, seat) : MISSING;
        row->sacrifices[seat] = state->sacrificed[seat];
    }
    row->leader_at_quarter = leader_at(state, 1);
    row->leader_at_half = leader_at(state, 2);
    row->leader_at_three_quarters = leader_at(state, 3);
    row->leader_at_quarter_won = leader_won(row->leader_at_quarter, winner);
    row->leader_at_half_won = leader_won(row->leader_at_half, winner);
    row->leader_at_three_quarters_won = leader_won(row->leader_at_three_quarters, winner);
    row->winner_led_at_half = winner == NOBODY ? MISSING : row->leader_at_half == winner;
    row->margin = winner == NOBODY || state->to_close[1 - winner] == UNREACHABLE ? MISSING : state->to_close[1 - winner];
}

/* ---------------------------------------------------------------- policies/mint_tin.py and policies/tools.py */

static int64_t draw_legal(Stream *stream, int64_t legal) {
    int64_t count = 0;
    for (int64_t rest = legal; rest != 0; rest &= rest - 1)
        count += 1;
    int64_t skip = draw_below(stream, count);
    for (int64_t k = 0; k < skip; k++)
        legal &= legal - 1;
    int64_t action = 0;
    while (((legal >> action) & 1) == 0)
        action += 1;
    return action;
}

int64_t policy_random(const View *view, int64_t legal, const Rules *rules, const Parameters *parameters, Stream *stream) {
    (void)view, (void)rules, (void)parameters;
    return draw_legal(stream, legal & ~bit(PASS));
}

int64_t policy_racer(const View *view, int64_t legal, const Rules *rules, const Parameters *parameters, Stream *stream) {
    (void)parameters, (void)stream;
    if (can(legal, DECLINE))
        return DECLINE;
    if (can(legal, PRY_OPEN))
        return PRY_OPEN;
    if (can(legal, CLOSE_SHELTER))
        return CLOSE_SHELTER;
    if (can(legal, DRAG_BOX))
        return DRAG_BOX;
    if (can(legal, STAND_RECON))
        return STAND_RECON;
    if (can(legal, SEND_RECON) && view->boxes < rules->boxes_to_close && view->inside >= rules->meeples_to_close)
        return SEND_RECON;
    if (can(legal, ENTER_SHELTER))
        return ENTER_SHELTER;
    if (can(legal, LIFT_INTO_SHELTER))
        return LIFT_INTO_SHELTER;
    if (can(legal, STAND_UP))
        return STAND_UP;
    return PASS;
}

int64_t policy_brawler(const View *view, int64_t legal, const Rules *rules, const Parameters *parameters, Stream *stream) {
    if (can(legal, CLOSE_SHELTER) || can(legal, DRAG_BOX) || can(legal, STAND_RECON))
        return policy_racer(view, legal, rules, parameters, stream);
    if (can(legal, TOSS_OUT))
        return TOSS_OUT;
    if (can(legal, KNOCK_RECON))
        return KNOCK_RECON;
    if (can(legal, KNOCK_DOWN))
        return KNOCK_DOWN;
    return policy_racer(view, legal, rules, parameters, stream);
}
