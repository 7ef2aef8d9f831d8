"""Jobs that spend, publish, pay and release: who asked and on what terms is asked again under the lock."""

import re
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from annotation.models import Payment
from annotation.money.budget import set_ceiling
from annotation.money.wages import pay_shortfall
from config.celery import app
from core.errors import CounterpartError
from core.models import Event, Job
from core.work.authority import KINDS, on_behalf_of_author
from crowd import jobs
from crowd.differences import repair
from crowd.posting.publication import close_round, publish_round
from dataset.exports import export_version
from dataset.exports.downloads import make_download
from dataset.models import Version
from dataset.outside_judgments.judgment_import import import_judgments
from hits.models import Round
from hits.rounds.packed_rounds import pack_round
from hits.rounds.round_parameters import PackParameters
from tests.console.api.calls import Caller, caller_for
from tests.console.conftest import Site, answer_rightly
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def author(person) -> User:
    person.groups.add(Group.objects.get(name="admin"))
    return person


@pytest.fixture
def caller(author) -> Caller:
    return caller_for(author)


def asked(caller: Caller, path: str, **body) -> Job:
    """Make a call whose job does not run yet."""
    answer = caller.post(path, body)
    assert answer.status_code == 202, answer.content
    return Job.objects.get(pk=answer.json()["id"])


def run(job: Job) -> str:
    """Let a worker process go on with the job; its message."""
    app.tasks[job.task](str(job.pk))
    job.refresh_from_db()
    return f"{job.state}: {job.message}"


def demote(author: User, to: str = "") -> None:
    author.groups.set(Group.objects.filter(name=to))


def test_a_round_whose_ceiling_was_changed_after_the_call_is_not_published(site, caller):
    job = asked(caller, "/rounds/draft/publish", channel="browser", ceiling="500.00", expected_minutes=2)
    set_ceiling(site.draft, "4000", actor="another person")
    assert run(job) == (
        "failed: The ceiling of round draft is $4000.00, not $500.00 as agreed. Nothing was published: check it, then "
        "publish again."
    )
    assert site.again().draft.state == "draft"


def test_a_round_below_the_wage_floor_is_published_only_by_who_is_an_admin_then(site, author, caller):
    site.draft.reward = Decimal("0.10")
    site.draft.save()
    job = asked(caller, "/rounds/draft/publish", channel="browser", ceiling="500.00", below_floor=True)
    demote(author, "researcher")
    assert "failed: The role of" in run(job)
    assert site.again().draft.state == "draft"


def test_more_than_the_top_up_that_was_confirmed_is_not_paid(author):
    page = Client()
    page.force_login(author)
    made = make_round(make_collection("long", images=26), "long", hits=6)
    for _ in range(5):
        answer_rightly(made)
    assert "cost has changed" in page.post("/rounds/long/top-up/", {"shown": "0.01"}, follow=True).text
    page.post("/rounds/long/top-up/", {"shown": "3.00"})
    answer_rightly(made)
    assert "more than the $3.00" in run(Job.objects.get())
    assert not Payment.objects.filter(kind="bonus").exists()


TERMS = PackParameters(design={"name": "small", "candidates": 1, "positives": 1, "negatives": 1}, seed=1)


def of_version(version: Version) -> dict:
    return {"collection": version.collection, "sample": version.sample, "rounds": version.rounds.all()}


def exported(version: Version) -> Path:
    return export_version(version, format="judgments-long", out=Path(mkdtemp()))[0]


ACTS = {
    "publish": lambda site: publish_round(site.draft, expected_minutes=Decimal(2), actor="ana"),
    "close": lambda site: close_round(site.round, actor="ana"),
    "top up": lambda site: pay_shortfall(site.round, actor="ana"),
    "repair": lambda site: repair(site.round, [Mock(as_figures=dict)], actor="ana"),
    "pack": lambda site: pack_round("another", site.pool, TERMS, actor="ana"),
    "release": lambda site: release_version("v2", **of_version(site.version)),
    "import": lambda site: import_judgments(site.draft, exported(site.version), actor="ana"),
    "export": lambda site: make_download(site.version, "qrels_strict"),
}


@pytest.mark.parametrize("act", ACTS)
def test_what_acts_asks_under_the_lock_and_changes_nothing_for_who_lost_their_role(site, author, act):
    """As it happens where the role is taken away while the job works."""
    job = Job.objects.create(title="Act", task=jobs.publish.name, created_by=author)
    demote(author)
    before = [kind.objects.count() for kind in (Event, Version, Round, Payment)]
    with on_behalf_of_author(job), pytest.raises(CounterpartError, match="The role of"):
        ACTS[act](site)
    assert [kind.objects.count() for kind in (Event, Version, Round, Payment)] == before
    assert (site.again().draft.state, site.again().round.state) == ("draft", "open")


def test_every_kind_of_job_is_classified_in_security_md():
    section = (ROOT / "SECURITY.md").read_text().partition("## Jobs\n")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\*(.+?)\*: (.+?)\n\n", section + "\n\n", re.M | re.S))
    named = {heading: set(re.findall(r"`(\w+\.tasks\.\w+)`", text)) for heading, text in listed.items()}
    kinds = {name: kind for name, kind in KINDS.items() if not name.startswith(("farm.", "mitl.tasks.wait"))}
    expected = {
        "Asks under the lock": {name for name, kind in kinds.items() if kind.acts},
        "Asks at each run": {name for name, kind in kinds.items() if kind.needs and not kind.acts},
        "Is not asked again": {name for name, kind in kinds.items() if not kind.needs},
    }
    assert named == expected, (
        "SECURITY.md lists each kind of job once, by the arguments of its decorator: one that spends, publishes, pays, "
        "releases or changes rounds gets acts=True and calls check_authority() in the transaction of what it does."
    )
