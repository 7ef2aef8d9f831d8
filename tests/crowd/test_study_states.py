"""The table of study states: every cell, and what makes a platform pause by itself."""

import pytest

from crowd.study_states import TABLE, By, Remedy, There, Wanted, is_paused_itself

CELLS = [(there, wanted, by) for there in There for wanted in Wanted for by in By]


@pytest.mark.parametrize(("there", "wanted", "by"), CELLS)
def test_every_cell_says_what_it_asks_a_person_to_do(there, wanted, by):
    cell = TABLE[there][wanted][by]
    assert bool(cell.says) == (cell.act is not Remedy.NOTHING)
    assert cell.goes_on == (cell.act not in (Remedy.RESUME, Remedy.LOOK))


def test_the_table_has_no_other_cells():
    assert sum(len(cells) for row in TABLE.values() for cells in row.values()) == len(CELLS)


@pytest.mark.parametrize("by", By)
def test_only_a_pause_is_resumed_and_only_while_the_round_is_open(by):
    resumed = {(there, wanted) for there, wanted, one in CELLS if TABLE[there][wanted][one].act is Remedy.RESUME}
    assert {wanted for _, wanted in resumed} == {Wanted.PEOPLE, Wanted.NO_VISITOR, Wanted.PAUSE}
    assert {there for there, wanted in resumed if wanted is not Wanted.PAUSE} == {There.PAUSED}
    assert TABLE[There.PAUSED][Wanted.PEOPLE][by].goes_on == (by in (By.US, By.HERE))


@pytest.mark.parametrize(
    ("there", "pending", "free", "freed", "itself"),
    [
        (There.PAUSED, 0, 1, 1, True),
        (There.PAUSED, 0, 1, 2, True),  # one of the two places is taken again: it was started in between
        (There.PAUSED, 0, 2, 1, False),  # a place was free before
        (There.PAUSED, 0, 1, 0, False),  # nothing was rejected or returned since the list before
        (There.PAUSED, 1, 1, 1, False),  # a worker is at work
        (There.PAUSED, 0, 0, 1, False),
        (There.STOPPED, 0, 1, 1, False),
    ],
)
def test_a_platform_paused_by_itself_where_its_lists_show_its_rule(there, pending, free, freed, itself):
    assert is_paused_itself(there, pending=pending, free=free, freed=freed) is itself
