"""No link leads to an error: every page of a site with a row of everything is opened, by staff and by a worker."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from annotation.models import Assignment
from core.models import Job
from dataset.verdicts import aggregate_round
from evaluation.scores.scoring import evaluate_version
from hits.models import Round
from simulation.simulated_rounds import simulate_round
from tests.annotation.answering import address, home_of, leased
from tests.console.conftest import Site, answer_wrongly, late_on_platform
from tests.crawling import broken_links
from tests.dataset.releasing import release_version
from tests.factories import make_round, put_on_platform


@pytest.fixture
def shown(site: Site, commit) -> Round:
    """The demo in small, with ``site``: a round that a simulated crowd answered, a release with scores, a job, and a
    round on a platform's emulator. Returns the simulated round."""
    simulated = make_round(site.collection, "simulated", hits=2, replication=2)
    with commit(execute=True):
        simulate_round(simulated, workers=3, profile="careful", truth="original")
    simulated.pool.retrievals.add(site.retrieval)
    aggregate_round(simulated)
    sample = simulated.pool.sample
    evaluate_version(release_version("v2", collection=site.collection, sample=sample, rounds=[simulated]))
    Job.objects.create(title="Plan zebra", task="none")
    there = put_on_platform(make_round(site.collection, "there"))
    answer_wrongly(there)
    late_on_platform(there)
    return simulated


@pytest.mark.slow
def test_no_link_of_the_console_is_broken(shown):
    admin = User.objects.create_superuser("admin")
    admin.groups.add(Group.objects.get(name="admin"))
    client = Client()
    client.force_login(admin)
    assert broken_links(client, "/", at_most=2) == {}


def test_every_page_in_the_list_of_commands_can_be_opened(admin_client, settings):
    listed = (settings.BASE_DIR / "docs/console.md").read_text("utf-8").split("## Other words")[0]
    addresses = set(re.findall(r"`(/[^`]*)`", listed))
    assert len(addresses) > 30
    opened = {one: admin_client.get(one.replace("NUMBER", "1")).status_code for one in addresses}
    assert {one for one, status in opened.items() if status not in (200, 404)} == set()  # 405: only a button calls it


def test_no_link_of_a_workers_pages_is_broken(shown, stranger):
    done = Assignment.objects.filter(hit__round=shown).first()
    begun = leased(make_round(shown.pool.collection, "begun"), worker=done.worker)
    starts = (f"/judge/join/{shown.join_key}/", home_of(done.worker, shown), address("receipt", done))
    for start in (*starts, home_of(begun.worker, begun.hit.round), address("task", begun)):
        assert broken_links(stranger, start) == {}
