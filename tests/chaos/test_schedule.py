from tests.chaos.schedule import SERVICES, WEIGHTS, schedule


def test_one_seed_draws_one_schedule():
    assert schedule(kills=50, seed=3) == schedule(kills=50, seed=3)
    assert schedule(kills=50, seed=3) != schedule(kills=50, seed=4)


def test_two_hundred_kills_are_of_every_kind():
    drawn = {cut.kind for cut in schedule(kills=200, seed=1)}
    assert drawn == set(WEIGHTS)


def test_files_have_no_connections_to_cut():
    drawn = {cut.kind for cut in schedule(kills=200, seed=1, without=SERVICES)}
    assert drawn == set(WEIGHTS) - set(SERVICES)
