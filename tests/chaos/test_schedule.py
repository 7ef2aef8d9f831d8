from tests.chaos.schedule import SERVICES, WEIGHTS, schedule


def test_one_seed_draws_one_schedule():
    assert schedule(kills=50, seed=3, services=True) == schedule(kills=50, seed=3, services=True)
    assert schedule(kills=50, seed=3, services=True) != schedule(kills=50, seed=4, services=True)


def test_two_hundred_kills_are_of_every_kind():
    drawn = {cut.kind for cut in schedule(kills=200, seed=1, services=True)}
    assert drawn == set(WEIGHTS)


def test_files_have_no_connections_to_cut():
    drawn = {cut.kind for cut in schedule(kills=200, seed=1, services=False)}
    assert drawn == set(WEIGHTS) - set(SERVICES)
