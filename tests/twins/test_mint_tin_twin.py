"""Scripted games for the naive twin of Mint Tin, one test per clause of shared/rules/mint_tin.md."""

import math
import random

import pytest

from tests.twins.mint_tin import POLICIES, Twin, play

IDLE = (1, 2)


def step(twin, seat, action, dice=(3, 4)):
    """An action roll and the action."""
    twin.roll(seat, *dice)
    twin.act(action)


def steps(twin, seat, *actions):
    for action in actions:
        step(twin, seat, action)


def legal(twin, seat):
    """The actions an action roll would give the seat; the roll is used up by passing."""
    twin.roll(seat, 3, 4)
    asked, names = twin.decision()
    assert asked == seat
    twin.act("pass")
    return names


def enter(twin, seat, how_many):
    """Brings meeples inside by walking, one standing up for each but the first."""
    for _ in range(how_many):
        if twin.snapshot()["seats"][seat]["standing"] == 0:
            step(twin, seat, "stand_up")
        step(twin, seat, "enter_shelter")


def double(twin, seat, number):
    twin.roll(seat, number, number)


def shown(twin, seat):
    return twin.snapshot()["seats"][seat]


def with_box(seat=0, **knobs):
    """A game in which the seat has two inside and has fetched a box."""
    twin = Twin(**knobs)
    enter(twin, seat, 2)
    steps(twin, seat, "send_recon", "drag_box")
    return twin


def snake(**knobs):
    """A game with the die active on face 1 from the start."""
    return Twin(mode="omg", monster_die=1, **knobs)


def shut(**knobs):
    """Seat 0 has closed; seat 1 holds the cover, with 1 inside and another single standing."""
    knobs = {"manhole": True, "boxes_to_close": 0, "stand_any": True} | knobs
    twin = Twin(**knobs)
    steps(twin, 1, "enter_shelter", "stand_up", "claim_cover", "stand_up")
    enter(twin, 0, 4)
    step(twin, 0, "close_shelter")
    return twin


def double_down(twin, seat=1):
    """Turns the die to 1 and rolls snake eyes."""
    for face in range(twin.snapshot()["die"], 0, -1):
        assert twin.snapshot()["die"] == face
        double(twin, seat, face)


# -- start, rolls -------------------------------------------------------------------------------------


def test_start():
    seat = {"standing": 1, "down": 4, "inside": 0, "recon": None, "sacrificed": 0}
    assert Twin().snapshot() == {
        "seats": [seat, seat],
        "boxes": 0,
        "die": 6,
        "active": False,
        "monster_down": False,
        "cover": "absent",
        "closed_by": None,
        "rolls": 0,
    }
    assert Twin(mode="omg").snapshot()["active"]
    assert Twin(manhole=True).snapshot()["cover"] == "free"
    assert Twin(monster_die=3, meeples=7).snapshot()["die"] == 3
    assert shown(Twin(meeples=7), 1)["down"] == 6


def test_unknown_knob():
    with pytest.raises(TypeError):
        Twin(colour="blue")


@pytest.mark.parametrize(
    ("knobs", "names"),
    [
        ({"shelter_capacity": 3}, ("shelter_capacity", "meeples_to_close")),
        ({"boxes_to_close": 3}, ("boxes_to_close", "supply_boxes")),
        ({"action_sums": [6]}, ("action_sums",)),
        ({"action_sums": [7, 7]}, ("action_sums",)),
        ({"monster_die": 0}, ("monster_die",)),
        ({"meeples_to_close": 6}, ("meeples_to_close",)),
        ({"rolls_per_second": [0, 1]}, ("rolls_per_second",)),
        ({"mode": "ohno"}, ("mode",)),
    ],
)
def test_refused_settings_name_their_knobs(knobs, names):
    with pytest.raises(ValueError) as error:
        Twin(**knobs)
    assert all(name in str(error.value) for name in names)


def test_idle_rolls_only_count():
    twin = Twin()
    before = twin.snapshot()
    twin.roll(0, *IDLE)
    twin.roll(1, 6, 6)  # a double, but the die is not active
    assert twin.snapshot() == before | {"rolls": 2}
    assert twin.decision() is None


def test_action_sums():
    twin = Twin(action_sums=[3, 11])
    twin.roll(0, 3, 4)
    assert twin.decision() is None
    step(twin, 0, "enter_shelter", dice=(5, 6))
    step(twin, 1, "enter_shelter", dice=(1, 2))


def test_illegal_calls():
    twin = Twin()
    with pytest.raises(ValueError):
        twin.act("pass")
    with pytest.raises(ValueError):
        twin.roll(0, 0, 7)
    with pytest.raises(ValueError):
        twin.outcome()
    twin.roll(0, 3, 4)
    assert twin.may_roll() == set()
    with pytest.raises(ValueError):
        twin.roll(1, 1, 2)
    with pytest.raises(ValueError):
        twin.act("stand_up")


def test_simultaneous_either_may_roll():
    twin = Twin()
    for _ in range(3):
        assert twin.may_roll() == {0, 1}
        twin.roll(0, *IDLE)


def test_alternate():
    twin = Twin(rolling="alternate")
    assert twin.may_roll() == {0, 1}
    twin.roll(1, *IDLE)
    assert twin.may_roll() == {0}
    step(twin, 0, "pass")
    assert twin.may_roll() == {1}
    with pytest.raises(ValueError):
        twin.roll(0, *IDLE)


def test_first_roller():
    assert Twin(rolling="alternate", first_roller=0).may_roll() == {0}
    assert Twin(rolling="alternate", first_roller=1).may_roll() == {1}
    assert Twin(first_roller=1).may_roll() == {0, 1}


def test_max_rolls():
    twin = Twin(max_rolls=2)
    twin.roll(0, *IDLE)
    step(twin, 1, "pass")
    assert not twin.over
    twin.roll(0, 3, 4)
    assert twin.over and twin.decision() is None and twin.may_roll() == set()
    assert twin.outcome() == {"ending": "unfinished", "points": None, "rolls": 2, "sacrifices": [0, 0], "pried": 0}


# -- actions ------------------------------------------------------------------------------------------


def test_pass():
    twin = Twin()
    before = twin.snapshot()
    step(twin, 0, "pass")
    assert twin.snapshot() == before | {"rolls": 1}


def test_only_pass_is_still_a_decision():
    twin = Twin(meeples=2, meeples_to_close=2, shelter_capacity=2)
    enter(twin, 1, 2)
    twin.roll(0, 3, 4)  # one stands, but the shelter is full and nobody is there to be knocked down
    assert twin.decision() == (0, frozenset({"pass"}))
    assert twin.may_roll() == set()
    twin.act("pass")
    assert twin.may_roll() == {0, 1}


def test_stand_up():
    twin = Twin()
    assert "stand_up" not in legal(twin, 0)
    step(twin, 0, "enter_shelter")
    step(twin, 0, "stand_up")
    assert shown(twin, 0) == {"standing": 1, "down": 3, "inside": 1, "recon": None, "sacrificed": 0}


def test_stand_any():
    twin = Twin(stand_any=True)
    steps(twin, 0, "stand_up", "stand_up", "stand_up", "stand_up")
    assert shown(twin, 0)["standing"] == 5
    assert "stand_up" not in legal(twin, 0)


def test_stand_up_holder_is_a_standing_single():
    twin = Twin(manhole=True)
    step(twin, 0, "claim_cover")
    assert legal(twin, 0) == {"pass", "enter_shelter", "knock_down", "throw_cover"}


def test_enter_shelter():
    twin = Twin()
    assert legal(twin, 0) == {"pass", "enter_shelter", "knock_down"}
    step(twin, 0, "enter_shelter")
    assert (shown(twin, 0)["standing"], shown(twin, 0)["inside"]) == (0, 1)
    assert legal(twin, 0) == {"pass", "stand_up"}


def test_enter_shelter_needs_room():
    twin = Twin(shelter_capacity=4)
    enter(twin, 0, 3)
    enter(twin, 1, 1)
    step(twin, 1, "stand_up")
    assert "enter_shelter" not in legal(twin, 1)
    # An absent recon pair takes no room.
    step(twin, 0, "send_recon")
    assert "enter_shelter" in legal(twin, 1)


def test_enter_shelter_holder_goes_last():
    twin = Twin(manhole=True, stand_any=True)
    steps(twin, 0, "claim_cover", "stand_up", "enter_shelter")
    assert twin.snapshot()["cover"] == 0
    step(twin, 0, "enter_shelter")
    assert twin.snapshot()["cover"] == "free"
    assert shown(twin, 0)["inside"] == 2


def test_enter_lift():
    twin = Twin(enter="lift", meeples=3, meeples_to_close=3)
    assert legal(twin, 0) == {"pass", "lift_into_shelter", "knock_down"}
    steps(twin, 0, "lift_into_shelter", "lift_into_shelter")
    # No own meeple is down: now the last one may walk in.
    assert legal(twin, 0) == {"pass", "enter_shelter", "knock_down", "send_recon"}
    assert shown(twin, 0) == {"standing": 1, "down": 0, "inside": 2, "recon": None, "sacrificed": 0}


def test_enter_lift_a_lying_recon_is_not_down():
    twin = Twin(enter="lift", meeples=3, meeples_to_close=3)
    steps(twin, 0, "lift_into_shelter", "lift_into_shelter", "send_recon")
    step(twin, 1, "knock_recon")
    names = legal(twin, 0)
    assert "enter_shelter" in names and "lift_into_shelter" not in names


def test_enter_either():
    assert legal(Twin(enter="either"), 0) == {"pass", "enter_shelter", "lift_into_shelter", "knock_down"}


def test_lift_needs_a_standing_single_and_room():
    twin = Twin(enter="either", shelter_capacity=4)
    step(twin, 0, "enter_shelter")
    assert "lift_into_shelter" not in legal(twin, 0)
    step(twin, 0, "stand_up")
    steps(twin, 1, "lift_into_shelter", "lift_into_shelter", "lift_into_shelter")
    assert not {"lift_into_shelter", "enter_shelter"} & legal(twin, 0)


def test_knock_down():
    twin = Twin()
    step(twin, 0, "knock_down")
    assert (shown(twin, 1)["standing"], shown(twin, 1)["down"]) == (0, 5)
    assert "knock_down" not in legal(twin, 0)
    assert legal(twin, 1) == {"pass", "stand_up"}  # nobody of its own on its feet to knock


def test_knock_down_not_the_one_on_the_cover():
    twin = Twin(manhole=True, stand_any=True)
    step(twin, 1, "claim_cover")
    assert "knock_down" not in legal(twin, 0)
    step(twin, 1, "stand_up")
    step(twin, 0, "knock_down")
    assert twin.snapshot()["cover"] == 1
    assert shown(twin, 1)["standing"] == 1


def test_knock_off_cover():
    twin = Twin(manhole=True)
    assert "knock_off_cover" not in legal(twin, 0)
    step(twin, 1, "claim_cover")
    step(twin, 0, "knock_off_cover")
    assert twin.snapshot()["cover"] == "free"
    assert (shown(twin, 1)["standing"], shown(twin, 1)["down"]) == (0, 5)
    assert "claim_cover" not in legal(twin, 1)


def test_holder_knockable_off():
    twin = Twin(manhole=True, holder_knockable=False)
    step(twin, 1, "claim_cover")
    assert legal(twin, 0) == {"pass", "enter_shelter", "push_off_cover"}


def test_toss_out():
    twin = Twin()
    enter(twin, 1, 1)
    assert "toss_out" not in legal(twin, 0)
    enter(twin, 0, 1)
    step(twin, 0, "toss_out")  # its own meeple inside is enough, none of its own stands
    assert (shown(twin, 1)["standing"], shown(twin, 1)["inside"]) == (1, 0)
    assert "toss_out" not in legal(twin, 0) | legal(twin, 1)


def test_toss_out_can_give_two_standing():
    twin = Twin()
    enter(twin, 0, 1)
    enter(twin, 1, 1)
    step(twin, 1, "stand_up")
    step(twin, 0, "toss_out")
    assert shown(twin, 1)["standing"] == 2


def test_send_recon():
    twin = Twin()
    enter(twin, 0, 1)
    assert "send_recon" not in legal(twin, 0)
    enter(twin, 0, 1)
    step(twin, 0, "send_recon")
    assert shown(twin, 0) == {"standing": 0, "down": 3, "inside": 0, "recon": 2, "sacrificed": 0}
    assert twin.snapshot()["boxes"] == 0


def test_send_recon_one_pair_at_a_time():
    twin = Twin(supply_boxes=4)
    enter(twin, 0, 4)
    step(twin, 0, "send_recon")
    assert "send_recon" not in legal(twin, 0)


def test_send_recon_not_for_a_box_the_opponent_fetches():
    twin = Twin(supply_boxes=1)
    enter(twin, 0, 2)
    enter(twin, 1, 2)
    step(twin, 0, "send_recon")
    assert "send_recon" not in legal(twin, 1)
    step(twin, 0, "drag_box")
    assert "send_recon" not in legal(twin, 0) | legal(twin, 1)


def test_boxes_are_shared_and_run_out():
    twin = with_box()
    enter(twin, 1, 2)
    steps(twin, 1, "send_recon", "drag_box")
    assert twin.snapshot()["boxes"] == 2
    assert "send_recon" not in legal(twin, 0) | legal(twin, 1)


def test_knock_and_stand_recon():
    twin = Twin()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    assert "stand_recon" not in legal(twin, 0)
    step(twin, 1, "knock_recon")
    assert shown(twin, 0)["recon"] == 1
    assert "drag_box" not in legal(twin, 0)
    step(twin, 1, "knock_recon")
    assert shown(twin, 0)["recon"] == 0
    assert "knock_recon" not in legal(twin, 1)
    # Nobody of seat 0 stands, and the book's pair needs no helper.
    steps(twin, 0, "stand_recon", "stand_recon")
    assert shown(twin, 0)["recon"] == 2
    assert "stand_recon" not in legal(twin, 0)


def test_knock_recon_needs_a_standing_single():
    twin = Twin()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    enter(twin, 1, 1)
    assert "knock_recon" not in legal(twin, 1)


def test_recon_needs_helper():
    twin = Twin(recon_needs_helper=True)
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    step(twin, 1, "knock_recon")
    assert "stand_recon" not in legal(twin, 0)
    steps(twin, 0, "stand_up", "stand_recon")
    assert shown(twin, 0)["recon"] == 2


def test_recon_members_are_not_singles():
    twin = Twin()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    assert legal(twin, 0) == {"pass", "stand_up", "drag_box"}
    assert "knock_down" not in legal(twin, 1)


def test_drag_box():
    twin = Twin()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    step(twin, 0, "drag_box")
    assert twin.snapshot()["boxes"] == 1
    assert shown(twin, 0)["inside"] == 2 and shown(twin, 0)["recon"] is None


def test_drag_box_needs_room_for_two():
    twin = Twin(shelter_capacity=4, meeples_to_close=3)
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    enter(twin, 1, 3)
    assert "drag_box" not in legal(twin, 0)
    enter(twin, 0, 1)
    step(twin, 0, "toss_out")
    assert "drag_box" not in legal(twin, 0)
    step(twin, 0, "toss_out")
    step(twin, 0, "drag_box")
    assert shown(twin, 0)["inside"] == 3 and shown(twin, 1)["inside"] == 1


def test_close_shelter():
    twin = with_box()
    enter(twin, 0, 1)
    assert "close_shelter" not in legal(twin, 0)
    enter(twin, 0, 1)
    step(twin, 0, "close_shelter")
    assert twin.over and twin.may_roll() == set() and twin.snapshot()["closed_by"] == 0
    outcome = twin.outcome()
    assert (outcome["ending"], outcome["points"]) == (0, [3, 1])


def test_close_needs_a_box_whoever_dragged_it():
    twin = Twin(shelter_capacity=8)
    enter(twin, 1, 4)
    assert "close_shelter" not in legal(twin, 1)
    enter(twin, 0, 2)
    steps(twin, 0, "send_recon", "drag_box")
    step(twin, 1, "close_shelter")
    assert (twin.outcome()["ending"], twin.outcome()["points"]) == (1, [1, 3])


def test_close_does_not_count_the_absent_pair():
    twin = Twin(boxes_to_close=0)
    enter(twin, 0, 4)
    step(twin, 0, "send_recon")
    assert "close_shelter" not in legal(twin, 0)


def test_close_knobs():
    twin = Twin(meeples_to_close=1, boxes_to_close=0)
    steps(twin, 1, "enter_shelter", "close_shelter")
    assert twin.outcome()["ending"] == 1


def test_turn_monster():
    twin = Twin(mode="cra-cra", monster_die=3)
    step(twin, 0, "turn_monster")
    assert (twin.snapshot()["active"], twin.snapshot()["die"]) == (True, 3)
    steps(twin, 1, "turn_monster", "turn_monster")
    assert twin.snapshot()["die"] == 1
    assert "turn_monster" not in legal(twin, 0)


def test_turn_monster_only_in_cra_cra():
    assert "turn_monster" not in legal(Twin(), 0) | legal(Twin(mode="omg"), 0)


def test_turn_monster_not_when_knocked_down():
    twin = Twin(mode="cra-cra", manhole=True)
    steps(twin, 0, "claim_cover", "throw_cover")
    assert "turn_monster" not in legal(twin, 0)


def test_turn_on_activation():
    twin = Twin(mode="cra-cra", turn_on_activation=True)
    step(twin, 0, "turn_monster")
    assert (twin.snapshot()["active"], twin.snapshot()["die"]) == (True, 5)
    twin = Twin(mode="cra-cra", turn_on_activation=True, monster_die=1)
    step(twin, 0, "turn_monster")
    assert (twin.snapshot()["active"], twin.snapshot()["die"]) == (True, 1)
    # A box activates without turning.
    assert with_box(mode="cra-cra", turn_on_activation=True).snapshot()["die"] == 6


def test_claim_cover():
    twin = Twin(manhole=True)
    step(twin, 0, "claim_cover")
    assert (twin.snapshot()["cover"], twin.snapshot()["active"], twin.snapshot()["die"]) == (0, True, 6)
    assert shown(twin, 0)["standing"] == 1
    assert "claim_cover" not in legal(twin, 0) | legal(twin, 1)
    assert "claim_cover" not in legal(Twin(), 0)


def test_claim_cover_needs_a_standing_single():
    twin = Twin(manhole=True)
    enter(twin, 0, 1)
    assert "claim_cover" not in legal(twin, 0)


def test_push_off_cover():
    twin = Twin(manhole=True)
    assert "push_off_cover" not in legal(twin, 1)
    step(twin, 0, "claim_cover")
    assert "push_off_cover" not in legal(twin, 0)
    step(twin, 1, "push_off_cover")
    assert twin.snapshot()["cover"] == 1
    assert shown(twin, 0)["standing"] == shown(twin, 1)["standing"] == 1


def test_throw_cover():
    twin = Twin(manhole=True)
    steps(twin, 0, "claim_cover", "throw_cover")
    assert (twin.snapshot()["cover"], twin.snapshot()["monster_down"]) == ("out", True)
    assert shown(twin, 0)["standing"] == 1
    assert "claim_cover" not in legal(twin, 0)


def test_throw_cover_unlimited_needs_the_monster_on_its_feet():
    twin = Twin(manhole=True, cover_throws="unlimited")
    steps(twin, 0, "claim_cover", "throw_cover")
    assert twin.snapshot()["cover"] == "free"
    step(twin, 0, "claim_cover")
    assert "throw_cover" not in legal(twin, 0)
    double(twin, 1, 6)
    assert "throw_cover" in legal(twin, 0)


# -- the monster --------------------------------------------------------------------------------------


def test_matching_double_turns_down():
    twin = Twin(mode="omg")
    double(twin, 0, 5)
    assert twin.snapshot()["die"] == 6
    double(twin, 0, 6)
    double(twin, 1, 5)
    assert twin.snapshot()["die"] == 4 and twin.decision() is None


def test_uh_oh_activates_with_a_box():
    twin = Twin()
    double(twin, 0, 6)
    assert (twin.snapshot()["die"], twin.snapshot()["active"]) == (6, False)
    twin = with_box()
    assert twin.snapshot()["active"]
    double(twin, 0, 6)
    assert twin.snapshot()["die"] == 5


def test_inactive_face_one_is_harmless():
    twin = Twin(monster_die=1)
    double(twin, 0, 1)
    assert twin.decision() is None and not twin.over


@pytest.mark.parametrize(("wake", "up"), [("matching", False), ("any", True)])
def test_wake(wake, up):
    twin = Twin(manhole=True, wake=wake)
    steps(twin, 0, "claim_cover", "throw_cover")
    double(twin, 0, 4)
    assert twin.snapshot()["monster_down"] is not up
    if not up:
        double(twin, 1, 6)
    assert (twin.snapshot()["monster_down"], twin.snapshot()["die"]) == (False, 6)
    double(twin, 1, 6)
    assert twin.snapshot()["die"] == 5


def test_wake_at_face_one():
    twin = snake(manhole=True)
    steps(twin, 0, "claim_cover", "throw_cover")
    double(twin, 0, 1)
    assert twin.decision() is None and not twin.over and not twin.snapshot()["monster_down"]
    double(twin, 0, 1)
    assert twin.decision() is not None


# -- snake eyes ---------------------------------------------------------------------------------------


def test_snake_eyes_asks_roller_opponent_roller():
    twin = snake()
    double(twin, 1, 1)
    for asked in (1, 0, 1):
        assert twin.decision() == (asked, frozenset({"decline", "sacrifice_outside"}))
        assert twin.may_roll() == set()
        twin.act("decline")
    assert twin.outcome() == {"ending": "both_eaten", "points": [0, 0], "rolls": 1, "sacrifices": [0, 0], "pried": 0}


def test_first_yes_stops_the_asking_and_the_die_stays():
    for declines in range(3):
        twin = snake()
        double(twin, 0, 1)
        for _ in range(declines):
            twin.act("decline")
        giver = declines % 2
        twin.act("sacrifice_outside")
        assert twin.decision() is None and not twin.over and twin.snapshot()["die"] == 1
        assert shown(twin, giver) == {"standing": 0, "down": 4, "inside": 0, "recon": None, "sacrificed": 1}
        assert shown(twin, 1 - giver)["sacrificed"] == 0


def test_who_has_none_is_not_asked():
    twin = snake()
    step(twin, 0, "knock_down")
    double(twin, 1, 1)
    assert twin.decision()[0] == 0
    twin.act("decline")
    assert twin.over
    twin = snake()
    step(twin, 0, "knock_down")
    double(twin, 0, 1)
    twin.act("decline")
    assert twin.decision()[0] == 0  # the last asking
    twin.act("decline")
    assert twin.over


def test_nobody_has_any():
    twin = snake()
    step(twin, 0, "knock_down")
    double(twin, 0, 1)
    twin.act("sacrifice_outside")
    double(twin, 0, 1)
    assert twin.outcome()["ending"] == "both_eaten"
    assert twin.outcome()["sacrifices"] == [1, 0] and twin.outcome()["points"] == [0, 0]


def test_sacrifice_off():
    twin = snake(sacrifice=False)
    double(twin, 0, 1)
    assert twin.outcome()["ending"] == "both_eaten"


def test_sacrifice_inside():
    twin = snake()
    enter(twin, 0, 1)
    double(twin, 0, 1)
    assert twin.decision() == (0, frozenset({"decline", "sacrifice_inside"}))
    twin.act("sacrifice_inside")
    assert shown(twin, 0) == {"standing": 0, "down": 4, "inside": 0, "recon": None, "sacrificed": 1}


def test_sacrifice_outside_holder_last():
    twin = snake(manhole=True, stand_any=True)
    steps(twin, 0, "claim_cover", "stand_up")
    double(twin, 0, 1)
    twin.act("sacrifice_outside")
    assert twin.snapshot()["cover"] == 0
    double(twin, 0, 1)
    twin.act("sacrifice_outside")
    assert twin.snapshot()["cover"] == "free"
    assert shown(twin, 0)["sacrificed"] == 2


@pytest.mark.parametrize(("knocks", "standing", "down"), [(0, 1, 3), (1, 0, 4)])
def test_sacrifice_recon_partner_becomes_a_single_as_it_was(knocks, standing, down):
    twin = snake()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    steps(twin, 1, *["knock_recon"] * knocks)
    double(twin, 0, 1)
    assert twin.decision() == (0, frozenset({"decline", "sacrifice_recon"}))
    twin.act("sacrifice_recon")
    assert shown(twin, 0) == {"standing": standing, "down": down, "inside": 0, "recon": None, "sacrificed": 1}


def test_lying_recon_pair_is_not_eligible():
    twin = snake()
    enter(twin, 0, 2)
    step(twin, 0, "send_recon")
    steps(twin, 1, "knock_recon", "knock_recon")
    double(twin, 0, 1)
    assert twin.decision()[0] == 1


def test_broken_pair_frees_its_box():
    twin = snake(supply_boxes=1)
    enter(twin, 0, 2)
    enter(twin, 1, 2)
    step(twin, 0, "send_recon")
    assert "send_recon" not in legal(twin, 1)
    double(twin, 0, 1)
    twin.act("sacrifice_recon")
    assert twin.snapshot()["boxes"] == 0
    assert "send_recon" in legal(twin, 1)


# -- the end ------------------------------------------------------------------------------------------


def test_points_all_inside():
    twin = Twin(boxes_to_close=0)
    enter(twin, 0, 5)
    step(twin, 0, "close_shelter")
    assert twin.outcome()["points"] == [4, 1]


def test_points_sacrifices():
    twin = snake(boxes_to_close=0)
    double(twin, 0, 1)
    twin.act("sacrifice_outside")
    double(twin, 1, 1)
    twin.act("sacrifice_outside")
    step(twin, 0, "stand_up")
    enter(twin, 0, 4)
    step(twin, 0, "close_shelter")
    assert twin.outcome()["points"] == [4, 2]
    assert twin.outcome()["sacrifices"] == [1, 1]


def test_points_knob():
    twin = Twin(boxes_to_close=0, points=[50, 40, 30, 20, 10])
    enter(twin, 1, 4)
    step(twin, 1, "close_shelter")
    assert twin.outcome()["points"] == [20, 40]


def test_closing_ends_at_once_without_a_holder():
    twin = Twin(manhole=True, boxes_to_close=0)
    enter(twin, 0, 4)
    step(twin, 0, "close_shelter")
    assert twin.outcome()["ending"] == 0


def test_closing_ends_at_once_when_the_closer_holds():
    twin = Twin(manhole=True, boxes_to_close=0, stand_any=True)
    steps(twin, 0, "claim_cover", "stand_up", "stand_up", "stand_up", "stand_up")
    enter(twin, 0, 4)
    assert twin.snapshot()["cover"] == 0
    step(twin, 0, "close_shelter")
    assert twin.over


def test_pry_window_none():
    assert shut(pry_window="none").outcome()["ending"] == 0


def test_shut_only_the_seat_shut_out_rolls_and_pries():
    twin = shut()
    assert not twin.over and twin.may_roll() == {1}
    assert twin.snapshot()["closed_by"] == 0
    with pytest.raises(ValueError):
        twin.roll(0, *IDLE)
    twin.roll(1, *IDLE)
    assert legal(twin, 1) == {"pass", "pry_open"}
    assert not twin.over  # passing keeps the window of until_monster open


def test_pry_open():
    twin = shut()
    step(twin, 1, "pry_open")
    snapshot = twin.snapshot()
    assert (snapshot["closed_by"], snapshot["cover"]) == (None, "out")
    assert twin.may_roll() == {0, 1}
    assert shown(twin, 1) == {"standing": 2, "down": 2, "inside": 1, "recon": None, "sacrificed": 0}
    # Nothing can be pried again: closing is the end.
    step(twin, 0, "close_shelter")
    assert twin.outcome()["ending"] == 0 and twin.outcome()["pried"] == 1


def test_pry_open_unlimited():
    twin = shut(cover_throws="unlimited")
    for _times in (1, 2):
        step(twin, 1, "pry_open")
        assert twin.snapshot()["cover"] == "free"
        step(twin, 1, "claim_cover")
        step(twin, 0, "close_shelter")
        assert twin.may_roll() == {1}
    double_down(twin)
    twin.act("decline")
    assert twin.outcome()["pried"] == 2


def test_shut_pry_is_not_legal_in_play():
    twin = Twin(manhole=True)
    step(twin, 1, "claim_cover")
    assert "pry_open" not in legal(twin, 1)


def test_until_monster_only_the_seat_shut_out_is_asked_once_not_for_inside():
    twin = shut()
    double_down(twin)
    assert twin.decision() == (1, frozenset({"decline", "sacrifice_outside"}))
    twin.act("decline")
    assert twin.outcome()["ending"] == 0 and twin.outcome()["points"] == [3, 1]


def test_until_monster_a_sacrifice_keeps_the_window_open():
    twin = shut()
    double_down(twin)
    twin.act("sacrifice_outside")
    assert twin.may_roll() == {1} and twin.snapshot()["cover"] == 1
    step(twin, 1, "pry_open")
    assert not twin.over and shown(twin, 1)["sacrificed"] == 1


def test_until_monster_recon_is_eligible():
    twin = Twin(manhole=True, boxes_to_close=0, stand_any=True)
    enter(twin, 1, 2)
    steps(twin, 1, "send_recon", "stand_up", "claim_cover")
    enter(twin, 0, 4)
    step(twin, 0, "close_shelter")
    double_down(twin)
    assert twin.decision()[1] == {"decline", "sacrifice_outside", "sacrifice_recon"}
    twin.act("sacrifice_recon")
    assert shown(twin, 1)["standing"] == 2


def test_until_monster_giving_the_holder():
    twin = shut()
    double_down(twin)
    twin.act("sacrifice_outside")
    double(twin, 1, 1)
    twin.act("sacrifice_outside")
    assert twin.snapshot()["cover"] == "free" and twin.may_roll() == {1}
    assert legal(twin, 1) == {"pass"}
    double(twin, 1, 1)  # only a meeple inside is left standing: nobody to ask
    assert twin.outcome() == {"ending": 0, "points": [3, 2], "rolls": twin.rolls, "sacrifices": [0, 2], "pried": 0}


def test_until_monster_sacrifice_off():
    twin = shut(sacrifice=False)
    double_down(twin)
    assert twin.outcome()["ending"] == 0


def test_until_monster_knocked_down_monster_wakes():
    twin = Twin(manhole=True, boxes_to_close=0, cover_throws="unlimited", mode="omg", monster_die=1)
    steps(twin, 1, "claim_cover", "throw_cover", "claim_cover")
    enter(twin, 0, 4)
    step(twin, 0, "close_shelter")
    double(twin, 1, 1)
    assert not twin.over and twin.decision() is None and not twin.snapshot()["monster_down"]


@pytest.mark.parametrize("dice", [IDLE, (6, 6)])
def test_one_roll_anything_else_ends(dice):
    twin = shut(pry_window="one_roll")
    assert twin.may_roll() == {1}
    twin.roll(1, *dice)
    assert twin.outcome()["ending"] == 0 and twin.outcome()["points"] == [3, 1]


def test_one_roll_nobody_is_asked():
    twin = shut(pry_window="one_roll", mode="omg", monster_die=1)
    double(twin, 1, 1)
    assert twin.decision() is None and twin.outcome()["ending"] == 0


def test_one_roll_passing_ends():
    twin = shut(pry_window="one_roll")
    step(twin, 1, "pass")
    assert twin.outcome()["ending"] == 0


def test_one_roll_prying():
    twin = shut(pry_window="one_roll")
    step(twin, 1, "pry_open")
    assert not twin.over and twin.may_roll() == {0, 1}


def test_alternate_window():
    twin = Twin(manhole=True, boxes_to_close=0, meeples_to_close=1, rolling="alternate", first_roller=1)
    step(twin, 1, "claim_cover")
    step(twin, 0, "enter_shelter")
    step(twin, 1, "pass")
    step(twin, 0, "close_shelter")
    twin.roll(1, *IDLE)
    assert twin.may_roll() == {1}
    step(twin, 1, "pry_open")
    assert twin.may_roll() == {0}


def test_max_rolls_while_shut():
    rolls = shut().rolls
    twin = shut(max_rolls=rolls)
    twin.roll(1, 3, 4)
    assert twin.outcome()["ending"] == "unfinished" and twin.outcome()["rolls"] == rolls


# -- policies -----------------------------------------------------------------------------------------


def choose(name, twin, seat, names):
    return POLICIES[name](twin, seat, frozenset(names), random.Random(1))


def test_racer_and_hero_lists():
    order = ["close_shelter", "drag_box", "stand_recon", "enter_shelter", "lift_into_shelter", "stand_up", "pass"]
    others = {"toss_out", "knock_down", "claim_cover", "turn_monster"}
    for name in ("racer", "hero"):
        for start in range(len(order)):
            assert choose(name, Twin(), 0, {*order[start:], *others}) == order[start]
    places = {"decline", "sacrifice_outside", "sacrifice_inside", "sacrifice_recon"}
    assert choose("racer", Twin(), 0, places) == choose("brawler", Twin(), 0, places) == "decline"
    assert choose("hero", Twin(), 0, places) == "sacrifice_outside"
    assert choose("hero", Twin(), 0, places - {"sacrifice_outside"}) == "sacrifice_inside"
    assert choose("hero", Twin(), 0, {"decline", "sacrifice_recon"}) == "sacrifice_recon"
    for name in ("racer", "hero", "brawler"):
        assert choose(name, Twin(), 0, {"pass", "pry_open"}) == "pry_open"


def test_brawler_list():
    order = ["close_shelter", "drag_box", "stand_recon", "toss_out", "knock_recon", "knock_down", "enter_shelter", "lift_into_shelter", "stand_up", "pass"]
    for start in range(len(order)):
        assert choose("brawler", Twin(), 0, {*order[start:], "claim_cover"}) == order[start]


def test_send_recon_condition():
    twin = Twin()
    enter(twin, 0, 3)
    names = {"send_recon", "enter_shelter", "pass"}
    assert choose("racer", twin, 0, names) == "enter_shelter"
    enter(twin, 0, 1)
    assert choose("racer", twin, 0, names) == choose("brawler", twin, 0, names) == "send_recon"
    steps(twin, 0, "send_recon", "drag_box")
    assert choose("racer", twin, 0, names) == "enter_shelter"


def test_random_policy():
    rng = random.Random(3)
    names = frozenset({"pass", "stand_up", "toss_out"})
    chosen = [POLICIES["random"](Twin(), 0, names, rng) for _ in range(1000)]
    assert set(chosen) == {"stand_up", "toss_out"}
    assert abs(chosen.count("toss_out") - 500) < 5 * math.sqrt(250)
    assert POLICIES["random"](Twin(), 0, frozenset({"pass"}), rng) == "pass"


# -- whole games --------------------------------------------------------------------------------------


def random_knobs(rng):
    supply_boxes = rng.randint(1, 4)
    meeples = rng.randint(2, 10)
    meeples_to_close = rng.randint(1, meeples)
    return {
        "mode": rng.choice(["uh-oh", "omg", "cra-cra"]),
        "monster_die": rng.randint(1, 6),
        "manhole": rng.random() < 0.7,
        "cover_throws": rng.choice(["once", "unlimited"]),
        "pry_window": rng.choice(["until_monster", "one_roll", "none"]),
        "holder_knockable": rng.random() < 0.5,
        "wake": rng.choice(["matching", "any"]),
        "enter": rng.choice(["walk", "lift", "either"]),
        "stand_any": rng.random() < 0.5,
        "recon_needs_helper": rng.random() < 0.5,
        "turn_on_activation": rng.random() < 0.5,
        "action_sums": rng.sample([3, 5, 7, 9, 11], rng.randint(1, 5)),
        "rolling": rng.choice(["simultaneous", "alternate"]),
        "first_roller": rng.choice(["random", 0, 1]),
        "meeples": meeples,
        "meeples_to_close": meeples_to_close,
        "shelter_capacity": rng.randint(meeples_to_close, 20),
        "supply_boxes": supply_boxes,
        "boxes_to_close": rng.randint(0, supply_boxes),
        "sacrifice": rng.random() < 0.7,
        "max_rolls": 1000,
    }


def check_conserved(twin):
    snapshot, knobs = twin.snapshot(), twin.knobs
    pairs = 0
    for seat in snapshot["seats"]:
        pair = 0 if seat["recon"] is None else 2
        pairs += pair // 2
        assert knobs.meeples == pair + sum(seat[p] for p in ("standing", "down", "inside", "sacrificed"))
    assert sum(seat["inside"] for seat in snapshot["seats"]) <= knobs.shelter_capacity
    assert snapshot["boxes"] + pairs <= knobs.supply_boxes
    assert 1 <= snapshot["die"] <= knobs.monster_die
    assert snapshot["active"] or (snapshot["boxes"] == 0 and snapshot["cover"] in ("absent", "free"))
    assert snapshot["active"] or not snapshot["monster_down"]
    assert (snapshot["cover"] == "absent") != knobs.manhole
    if snapshot["cover"] in (0, 1):
        assert snapshot["seats"][snapshot["cover"]]["standing"] >= 1
    # Exactly one of: over, a decision pending, somebody may roll.
    assert [twin.over, twin.decision() is not None, bool(twin.may_roll())].count(True) == 1


def test_conservation_in_random_games():
    rng = random.Random(20240)
    endings = set()
    for _ in range(400):
        twin = Twin(**random_knobs(rng))
        policies = [POLICIES[rng.choice(["random", "random", "hero", "brawler"])] for _ in (0, 1)]
        while not twin.over:
            check_conserved(twin)
            pending = twin.decision()
            if pending is None:
                twin.roll(rng.choice(sorted(twin.may_roll())), rng.randint(1, 6), rng.randint(1, 6))
            else:
                twin.act(policies[pending[0]](twin, *pending, rng))
        check_conserved(twin)
        endings.add(twin.outcome()["ending"])
    assert endings == {0, 1, "both_eaten", "unfinished"}


def test_play_alternate_seconds():
    outcome = play(POLICIES["racer"], POLICIES["racer"], random.Random(5), rolling="alternate", rolls_per_second=[0.5, 0.5])
    assert outcome["seconds"] == 2 * outcome["rolls"]


def within_five_sigma(values, mean):
    average = sum(values) / len(values)
    sigma = math.sqrt(sum((v - average) ** 2 for v in values) / (len(values) - 1) / len(values))
    return abs(average - mean) <= 5 * sigma


@pytest.mark.parametrize(
    ("first", "second", "knobs", "p0", "p1", "points0", "points1", "rolls"),
    [
        ("racer", "racer", {}, 0.499878, 0.499878, 2.017509, 2.017509, 104.1295),
        ("racer", "brawler", {"mode": "omg"}, 0.164540, 0.132046, 0.625667, 0.560677, 186.9523),
    ],
)
def test_play_against_exact_values(first, second, knobs, p0, p1, points0, points1, rolls):
    rng = random.Random(11)
    games = [play(POLICIES[first], POLICIES[second], rng, **knobs) for _ in range(4000)]
    for ending, share in ((0, p0), (1, p1)):
        assert within_five_sigma([game["ending"] == ending for game in games], share)
    for seat, mean in ((0, points0), (1, points1)):
        assert within_five_sigma([game["points"][seat] for game in games], mean)
    assert within_five_sigma([game["rolls"] for game in games], rolls)
    # Two seats at 0.5 rolls per second: one roll per second on average.
    assert within_five_sigma([game["seconds"] for game in games], rolls)
