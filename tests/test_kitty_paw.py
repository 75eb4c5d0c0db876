"""Kitty Paw: what must come out exactly, the laws of the modelled times, the card file, and who beats whom."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from policies.loading import load_line_ups
from reports.findings import find
from reports.results import Results
from reports.run import Run
from reports.tables import differences_of
from sim.errors import InputError
from sim.experiment import read_experiment
from sim.games import kitty_paw
from sim.games.kitty_paw import NOBODY, SHIPPED_CARDS, Rules, is_symmetric, read_cards
from sim.jit import set_field
from sim.replay import watch
from sim.store import build_arrays, build_manifest, fill_manifest
from sim.tally import figures_of
from sim.workers import play_experiment
from tests.players import play_columns, seat_table

FIVE_SIGMA = 2 * stats.norm.sf(5)
NO_CHANCE: dict[str, Any] = {"reaction_sd": 0.0, "reach_sd": 0.0, "noise_cv": 0.0, "error_per_kitten": 0.0}


def test_choices_in_compiled_code_follow_the_declaration() -> None:
    places = {
        "deck_order": {"shuffled": kitty_paw.SHUFFLED},
        "shuffled_deck": {48: kitty_paw.ALL_48},
        "wrong_call": {"caller": kitty_paw.CALLER, "last": kitty_paw.LAST},
        "last_to_touch": {"all_others": kitty_paw.ALL_OTHERS},
        "five_counts": {"all": kitty_paw.ALL_CARDS},
    }
    for knob, words in places.items():
        allowed = get_args(Rules.model_fields[knob].annotation)
        for word, index in words.items():
            assert allowed[index] == word


# ---------------------------------------------------------------- what must come out exactly


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("policy", ["random", "plain", "quick", "greedy", "adaptive"])
def test_seats_alike_win_equally_often(policy: str, seats: int) -> None:
    columns = play_columns(seat_table(kitty_paw, Rules(), [policy] * seats), 7, 20_000)
    wins = [(columns["winner"] == seat).sum() for seat in range(seats)]
    assert stats.chisquare(wins).pvalue > FIVE_SIGMA


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("fast", [0, 1])
def test_without_chance_a_seat_twice_as_fast_wins_every_round(seats: int, fast: int) -> None:
    rules = Rules(**NO_CHANCE, speed=tuple(2.0 if seat == fast else 1.0 for seat in range(seats)))
    table = seat_table(kitty_paw, rules, ["plain"] * seats)
    columns = play_columns(table, 3, 2_000)
    assert (columns["winner"] == fast).all()
    assert (columns["rounds"] == 5).all()
    assert (columns[f"completed[{fast}]"] == 5).all()
    assert (columns[f"penalty_cards[{fast}]"] == 0).all()
    for index in range(20):
        play = watch(table, 3, index)
        calls = [step.after for step in play.steps if step.before["phase"] == kitty_paw.CALLED]
        worth = sum(rules._cards[state["row"][state["slot"][fast]]].kittens for state in calls)
        assert play.outcome[f"points[{fast}]"] == worth


def test_a_fifth_faster_is_not_enough_to_win_every_round() -> None:
    """7 kittens against 5 is a factor of 1.4."""
    columns = play_columns(seat_table(kitty_paw, Rules(**NO_CHANCE, speed=(1.2, 1.0)), ["plain", "plain"]), 3, 2_000)
    assert (columns["completed[1]"] > 0).any()


@pytest.mark.parametrize("policies", [("random", "random"), ("quick", "greedy"), ("bluffer", "plain"), ("plain", "plain")])
def test_two_seats_end_after_five_rounds_if_all_cards_count(policies: tuple[str, str]) -> None:
    columns = play_columns(seat_table(kitty_paw, Rules(five_counts="all", tie_break=False), policies), 5, 10_000)
    assert (columns["rounds"] == 5).all()
    columns = play_columns(seat_table(kitty_paw, Rules(five_counts="all"), policies), 5, 10_000)
    assert (columns["rounds"] - columns["tie_breaks"] == 5).all()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_forty_cards_last_ten_rounds_at_most(seats: int) -> None:
    for rules in (Rules(), Rules(deck_order="shuffled", shuffled_deck=40), Rules(cards_to_win=12)):
        for policy in ("random", "quick", "greedy", "bluffer"):
            columns = play_columns(seat_table(kitty_paw, rules, [policy] * seats), 5, 5_000)
            assert (columns["rounds"] - columns["tie_breaks"]).max() <= 10
    columns = play_columns(seat_table(kitty_paw, Rules(deck_order="shuffled", cards_to_win=12), ["plain"] * seats), 5, 5_000)
    assert (columns["rounds"] - columns["tie_breaks"] == 12).any()


def test_two_seats_without_errors_play_five_to_nine_rounds() -> None:
    for policies in (("plain", "plain"), ("quick", "greedy"), ("random", "random")):
        columns = play_columns(seat_table(kitty_paw, Rules(error_per_kitten=0.0), policies), 5, 20_000)
        rounds = columns["rounds"] - columns["tie_breaks"]
        assert rounds.min() >= 5
        assert rounds.max() <= 9


@pytest.mark.parametrize("bluffer", [0, 1])
def test_two_seats_of_which_one_bluffs_lose_alike_and_share_at_the_cap(bluffer: int) -> None:
    for cap in (10, 3):
        policies = ["bluffer" if seat == bluffer else "plain" for seat in range(2)]
        columns = play_columns(seat_table(kitty_paw, Rules(max_tie_breaks=cap), policies), 5, 2_000)
        assert (columns["winner"] == NOBODY).all()
        assert (columns["points[0]"] == -16).all()  # 6 rounds of level I, 2 of II, 2 of III
        assert (columns["points[1]"] == -16).all()
        assert (columns["tie_breaks"] == cap).all()


def test_lots_are_drawn_at_the_same_instant() -> None:
    """Without any chance two plain seats grab and finish together where their cards are alike."""
    columns = play_columns(seat_table(kitty_paw, Rules(**NO_CHANCE), ["plain", "plain"]), 5, 20_000)
    assert stats.chisquare([(columns["winner"] == seat).sum() for seat in range(2)]).pvalue > FIVE_SIGMA


# ---------------------------------------------------------------- policies


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("others", ["random", "plain", "quick", "greedy"])
def test_adaptive_beats_each_reference_policy(others: str, seats: int) -> None:
    """It wins more often than the luckiest of the others, by five standard errors of the difference."""
    games = 10_000
    columns = play_columns(seat_table(kitty_paw, Rules(), ["adaptive", *[others] * (seats - 1)]), 13, games)
    mine = (columns["winner"] == 0).mean()
    best = max((columns["winner"] == seat).mean() for seat in range(1, seats))
    assert mine - best > 5 * math.sqrt((mine + best - (mine - best) ** 2) / games)


def test_adaptive_wins_a_game_of_four_different_policies() -> None:
    columns = play_columns(seat_table(kitty_paw, Rules(), ["plain", "adaptive", "quick", "greedy"]), 13, 10_000)
    wins = np.array([(columns["winner"] == seat).mean() for seat in range(4)])
    assert wins.argmax() == 1
    assert wins[1] - np.delete(wins, 1).max() > 5 * math.sqrt(wins[1] / 10_000 * 2)


@pytest.mark.parametrize(
    ("policy", "grabs", "then"),
    [
        ("plain", ["first_normal", "second_normal"], ["shout"]),
        ("quick", ["second_rush", "fourth_rush"], ["shout"]),
        ("greedy", ["third_normal", "first_normal"], ["check", "shout"]),
    ],
)
def test_reference_policies_grab_and_decide_as_defined(policy: str, grabs: list[str], then: list[str]) -> None:
    """On a row of 6, 5, 7 and 5 + a box: cards in the order each wants them."""
    table = seat_table(kitty_paw, Rules(), [policy] * 2)
    view, call = table.views[0], table.policies[0]
    for name, values in (("level", (1, 1, 1, 2)), ("kittens", (6, 5, 7, 4)), ("boxes", (0, 0, 0, 1)), ("taken_by", (NOBODY,) * 4), ("drafting", 1)):
        set_field(view, name, values)
    for grab in grabs:
        action = int(call(view, 0xFFFF, table.rules[1], table.parameters[0], table.streams[0]))
        assert kitty_paw.Action(action).name.lower() == grab
        set_field(view, "taken_by", tuple(0 if slot == action // kitty_paw.TEMPOS else NOBODY for slot in range(4)))
    set_field(view, "drafting", 0)
    both = 1 << kitty_paw.Action.SHOUT | 1 << kitty_paw.Action.CHECK
    for checks, word in enumerate(then):
        set_field(view, "checks", checks)
        action = int(call(view, both, table.rules[1], table.parameters[0], table.streams[0]))
        assert kitty_paw.Action(action).name.lower() == word


# ---------------------------------------------------------------- clauses


def test_a_seat_without_penalties_turns_nothing_over() -> None:
    columns = play_columns(seat_table(kitty_paw, Rules(penalties=(True, False)), ["plain", "plain"]), 5, 3_000)
    assert (columns["penalty_cards[1]"] == 0).all()
    assert (columns["points[1]"] >= 0).all()
    assert (columns["penalty_cards[0]"] > 0).any()


def test_the_last_value_of_a_list_holds_for_further_seats() -> None:
    plain = ["plain"] * 4
    for short, whole in ((0.7, (0.7,) * 4), ((0.7, 1.0), (0.7, 1.0, 1.0, 1.0)), ((0.7,), (0.7,) * 4)):
        a, b = (seat_table(kitty_paw, Rules.model_validate({"speed": speed}), plain).play(1, 0, 500) for speed in (short, whole))
        assert np.array_equal(a, b)


def test_rounds_stay_aligned_between_settings() -> None:
    """The cards of every round, and each seat's reactions and noise, are the same whatever the other knobs."""
    plays = [watch(seat_table(kitty_paw, rules, ["plain", "plain", "quick"]), 5, 3) for rules in (Rules(), Rules(wrong_call="caller", speed=(0.6, 1.0)))]
    builds = [[step.after for step in play.steps if step.before["phase"] == kitty_paw.BUILDING and step.after["tie_breaks"] == 0] for play in plays]
    assert min(map(len, builds)) >= 5
    for one, other in zip(*builds, strict=False):
        for name in ("row", "grab", "noise", "error_draw"):
            assert one[name] == other[name]


def test_reset_and_talk_are_counted_between_rounds_only() -> None:
    short, long = (play_columns(seat_table(kitty_paw, Rules(reset_seconds=seconds), ["plain"] * 3), 5, 500) for seconds in (0.0, 50.0))
    assert (abs(long["seconds"] - short["seconds"] - 5_000 * (short["rounds"] - 1)) <= 1).all()


# ---------------------------------------------------------------- laws of the modelled times


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[float]]:
    """Quantities drawn in 600 games of three seats."""
    found: dict[str, list[float]] = {name: [] for name in ("grab", "noise", "error_draw", "reaction", "reach", "one_box", "check_draw")}
    table = seat_table(kitty_paw, Rules(reaction_factor=(1.0, 2.0, 1.0)), ["plain", "greedy", "quick"])
    for index in range(600):
        for step in watch(table, 17, index).steps:
            state, phase = step.after, step.before["phase"]
            seats = [seat for seat in range(3) if state["playing"][seat]]
            if phase == kitty_paw.DEALING:
                found["grab"] += [state["grab"][seat] / (2.0 if seat == 1 else 1.0) for seat in seats]
            elif phase == kitty_paw.BUILDING:
                for name in ("noise", "error_draw"):
                    found[name] += [state[name][seat] for seat in seats]
                boxes = Rules()._cards
                found["one_box"] += [state["flips"][seat] for seat in seats if boxes[state["row"][state["slot"][seat]]].boxes == 1]
            elif phase == kitty_paw.CHECKING:
                found["check_draw"].append(state["check_draw"])
            elif phase == kitty_paw.CALLED:
                for name in ("reaction", "reach"):
                    found[name] += [state[name][seat] for seat in seats]
    return found


def lognormal(mean: float, sd: float) -> Any:
    """The lognormal of that mean and standard deviation."""
    sigma = math.sqrt(math.log(1 + (sd / mean) ** 2))
    return stats.lognorm(sigma, scale=mean * math.exp(-(sigma**2) / 2))


def test_laws_hold_the_figures_given() -> None:
    law = lognormal(0.23, 0.05)
    assert law.mean() == pytest.approx(0.23)
    assert law.std() == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("grab", lognormal(0.23, 0.05)),
        ("reaction", lognormal(0.23, 0.05)),
        ("reach", lognormal(0.46, 0.08)),
        ("noise", lognormal(1.0, 0.30)),
        ("error_draw", stats.uniform()),
        ("check_draw", stats.uniform()),
    ],
)
def test_times_follow_their_law(drawn: dict[str, list[float]], name: str, law: Any) -> None:
    assert len(drawn[name]) > 400
    assert stats.kstest(drawn[name], law.cdf).pvalue > FIVE_SIGMA


def test_a_box_is_found_after_one_to_eight_flips_all_alike(drawn: dict[str, list[float]]) -> None:
    counts = np.bincount(np.array(drawn["one_box"], dtype=int), minlength=9)
    assert counts[0] == 0
    assert len(counts) == 9
    assert stats.chisquare(counts[1:]).pvalue > FIVE_SIGMA


def test_wrong_compositions_are_as_frequent_as_the_figures_say() -> None:
    """1 − (1 − e)^kittens: a right call ends these games after one round, a wrong one does not."""
    five_kittens = str(Path(__file__).parent / "conformance" / "kitty_paw_cards.csv")
    rules = Rules(speed=(20.0, 0.05), card_file=five_kittens, levels=(1,), cards_to_win=1)
    columns = play_columns(seat_table(kitty_paw, rules, ["plain", "plain"]), 5, 20_000)
    assert stats.binomtest(int((columns["rounds"] > 1).sum()), 20_000, 1 - (1 - 0.015) ** 5).pvalue > FIVE_SIGMA


# ---------------------------------------------------------------- the card file


def test_the_shipped_cards_are_spread_evenly_over_the_printed_ranges() -> None:
    cards = read_cards(SHIPPED_CARDS)
    assert len(cards) == 48
    for level, kittens in ((1, (5, 6, 7)), (2, (4, 5, 6, 7)), (3, (6, 7))):
        counts = [sum(card.level == level and card.kittens == n for card in cards) for n in kittens]
        assert len(set(counts)) == 1
    assert {card.boxes for card in cards if card.level == 2} == {1}
    assert [sum(card.level == 3 and card.boxes == n for card in cards) for n in (1, 2)] == [4, 4]


def edited(old: str, new: str) -> str:
    """The shipped card file with one line changed."""
    text = SHIPPED_CARDS.read_text()
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (edited("1,,5,0,8", "1,,8,0,8"), ("line 2", "column kittens", '"8"', "5 to 7")),
        (edited("1,,6,0,8", "1,,6,1,8"), ("line 3", "column boxes", "0 to 0")),
        (edited("2,A,4,1,2", "2,C,4,1,2"), ("line 5", "column set", '"C"', "A or B")),
        (edited("2,A,4,1,2", "2,A,4,0,2"), ("line 5", "column boxes", "1 to 4")),
        (edited("3,,6,1,2", "3,A,6,1,2"), ("line 13", "column set", "sets are for level 2")),
        (edited("1,,7,0,8", "1,,7,0,9"), ("column count", "level 1 has 25 cards", "exactly 24")),
        (edited("2,B,4,1,2", "2,A,4,1,2"), ("column count", "level 2 set A has 10 cards", "exactly 8")),
        (edited("1,,7,0,8", "4,,7,0,8"), ("line 4", "column level", "1 to 3")),
        (edited("1,,7,0,8", "1,,7,0,x"), ("line 4", "column count", '"x"')),
        (edited("1,,7,0,8", "1,,7,0"), ("line 4", "4 columns", "5")),
        (edited("level,set", "level,colour"), ("line 1", "level,set,kittens,boxes,count")),
        ("", ("line 1",)),
    ],
)
def test_a_faulty_card_file_is_refused_naming_row_and_column(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_experiment(experiment_file(tmp_path, 'card_file = "mine.csv"'))
    message = str(caught.value)
    assert "\n" not in message
    for word in ("test.toml", "rules.card_file", "mine.csv", *words):
        assert word in message


def test_a_card_file_is_found_from_the_experiment_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.csv").write_text(edited("1,,5,0,8", "1,,7,0,8"))
    monkeypatch.chdir(Path(__file__).parent)
    rules = read_experiment(experiment_file(tmp_path, 'card_file = "mine.csv"')).cells[0].rules
    assert rules.derived()["card_kittens"].count(5) == 4
    with pytest.raises(InputError, match=r"missing\.csv: cannot be read"):
        read_experiment(experiment_file(tmp_path, 'card_file = "missing.csv"'))


def experiment_file(folder: Path, rules: str = "", top: str = 'policies = ["plain"]', sweep: str = "") -> Path:
    """A small experiment."""
    path = folder / "test.toml"
    path.write_text(f'game = "kitty-paw"\ngames = 10\n{top}\n[rules]\n{rules}\n[sweep]\n{sweep}\n')
    return path


# ---------------------------------------------------------------- seats and lists in the experiment file


def test_seats_are_swept_in_one_experiment(tmp_path: Path) -> None:
    experiment = read_experiment(experiment_file(tmp_path, "speed = [0.7, 1.0]", sweep="seats = [2, 3, 4]"))
    assert [len(cell.policies) for cell in experiment.cells] == [2, 3, 4] * 2  # and their baselines, of equal speeds
    assert [len(policies) for policies, _ in load_line_ups(experiment)] == [2, 3, 4] * 2


def test_cells_of_different_seat_counts_are_compared_by_the_figures_both_have(tmp_path: Path) -> None:
    experiment = read_experiment(experiment_file(tmp_path, top='policies = ["plain"]\nseed = 4', sweep="seats = [2, 4]"), games=500)
    line_ups = load_line_ups(experiment)
    tallies = play_experiment(experiment, line_ups, jobs=1)
    pair = tallies.pairs[0]
    two, four = (play_columns(seat_table(kitty_paw, Rules(), ["plain"] * seats), 4, 500) for seats in (2, 4))
    names = [(f.metric, f.seat) for f in figures_of(kitty_paw, 4) if f.seat in (None, 0, 1)]
    assert len(names) == len(pair.sums)
    for (metric, seat), sums in zip(names, pair.sums, strict=True):
        if metric.name in ("mean_points", "mean_rounds", "mean_minutes"):
            column = metric.column if seat is None else f"{metric.column}[{seat}]"
            x, y = four[column], two[column]
            assert sums == [500, x.sum(), (x * x).sum(), 500, y.sum(), (y * y).sum(), 500, x.sum(), y.sum(), (x * y).sum(), (x != y).sum()]
    run = Run((fill_manifest(build_manifest(experiment, ""), tallies), build_arrays(tallies)))
    values = {figure["metric"]: difference.interval.value for figure, difference in differences_of(run, 0)}
    seconds = [np.quantile(columns["seconds"], 0.5, method="inverted_cdf") / 6000 for columns in (four, two)]
    assert values["minutes_q50"] == pytest.approx(seconds[0] - seconds[1], abs=0.01)


@pytest.mark.parametrize("knob", ["speed", "error_factor", "reaction_factor", "head_start_seconds", "spared_kittens", "penalties"])
def test_rules_are_alike_for_all_seats_or_not(knob: str) -> None:
    assert is_symmetric(Rules(**{knob: [1]} if knob != "penalties" else {knob: [False]}))
    assert not is_symmetric(Rules(**{knob: [2, 1]} if knob != "penalties" else {knob: [True, False]}))


def test_one_policy_under_unequal_rules_is_no_mirror(tmp_path: Path) -> None:
    experiment = read_experiment(experiment_file(tmp_path, "speed = [0.7, 1.0]", top='policies = ["plain"]\nseed = 4'), games=300)
    line_ups = load_line_ups(experiment)
    tallies = play_experiment(experiment, line_ups, jobs=1)
    run = Run((fill_manifest(build_manifest(experiment, ""), tallies), build_arrays(tallies)))
    subjects = [finding.subject for finding in find(Results(run))]
    assert "Seats of unequal rules†:" in subjects and "Seat balance†:" not in subjects


def test_as_many_policies_as_seats_say_how_many_sit_down(tmp_path: Path) -> None:
    experiment = read_experiment(experiment_file(tmp_path, top='policies = ["plain", "quick", "greedy"]'))
    assert len(experiment.cells[0].policies) == 3


@pytest.mark.parametrize(
    ("rules", "top", "words"),
    [
        ("speed = [1.0, 1.0, 0.7]", 'policies = ["plain"]', ("rules.speed", "3 values for 2 seats", "at most one for each seat")),
        ("speed = [1.0, 0.0]", 'policies = ["plain"]', ("rules.speed", "0.05 to 20")),
        ("penalties = [1]", 'policies = ["plain"]', ("rules.penalties", "true or false")),
        ("speed = []", 'policies = ["plain"]', ("rules.speed", "up to 4")),
        ("", 'seats = 5\npolicies = ["plain"]', ("seats = 5", "2, 3, 4")),
        ("", 'seats = 4\npolicies = ["plain", "quick"]', ("policies", "4 seats")),
        ("levels = [1, 1]", 'policies = ["plain"]', ("rules.levels", "distinct")),
        ("noise_cv = 1.0\nspeed = 0.05\nlevel_3_factor = 10.0", 'policies = ["plain"]', ("could last", "noise_cv")),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, rules: str, top: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        read_experiment(experiment_file(tmp_path, rules, top))
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_lists_out_of_range_are_refused() -> None:
    for settings in ({"penalty_points": (1, 2, 21)}, {"tempo_error": (0.4, 1.0, -1.0)}, {"tempo_time": (0.0, 1.0, 1.0)}):
        with pytest.raises(ValidationError, match=next(iter(settings))):
            Rules(**settings)
