"""How a round becomes a study on Prolific, and what is refused before anything is made."""

from decimal import Decimal

import httpx
import pytest
from django.core.management import CommandError, call_command

from counterpart_emulators.prolific.schemas import shortest_limit
from crowd.calls.funds import ask_funds
from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import Client, client_for, environment_of
from crowd.channels.prolific.money import funds, longest_minutes, major, minor
from crowd.models import Outbox, Posting
from tests.crowd.channels.prolific.replies import client_with
from tests.crowd.prolific_rehearsal import check_books, published, rehearsing, rest
from tests.factories import make_collection, make_round


def test_a_round_becomes_one_published_study(rehearsal, commit):
    made = published(hits=3, replication=2, commit=commit)
    study, posting = rehearsal.study(), Posting.objects.get()
    assert (posting.external_id, posting.max_assignments, posting.state) == (study.id, 6, "live")
    assert (study.status, study.terms["reward"], study.terms["estimated_completion_time"]) == ("ACTIVE", 200, 8)
    assert study.terms["maximum_allowed_time"] == 60
    assert study.terms["submissions_config"]["max_submissions_per_participant"] == 3
    codes = study.terms["completion_codes"]
    assert [code["code_type"] for code in codes] == ["COMPLETED", "OTHER", "NO_CONSENT"]
    assert {action["action"] for code in codes for action in code["actions"]} == {"MANUALLY_REVIEW", "REQUEST_RETURN"}
    assert len({code["code"] for code in codes}) == 3
    assert not any(code["code"].lower() in study.id for code in codes)
    check_books(made, rehearsal)


def test_studies_are_in_one_project_of_the_workspace_that_pays(rehearsal, commit):
    rehearsal.fault(kind="drop", operation="create_project", nth=1)
    first = published(commit=commit)
    rest(first, rehearsal, commit)
    published(commit=commit, name="round-2", collection=make_collection("second", images=10, pictures=True))
    projects = rehearsal.world.look(lambda state: {each["id"]: each["title"] for each in state.projects.values()})
    assert sorted(projects.values()) == ["Counterpart", "Project"]
    assert len(rehearsal.studies()) == 2
    assert {projects[study.project_id] for study in rehearsal.studies()} == {"Counterpart"}


def test_the_fees_are_those_of_prolifics_calculator(rehearsal, commit):
    made = published(hits=3, commit=commit)
    assert made.seat_cost == Decimal("2.80")  # 2.00, 33.3% of it, and 20% tax on that, rounded
    assert ask_funds("prolific", "emulator").amount == Decimal("10000") - 3 * made.seat_cost


@pytest.mark.parametrize(
    ("time", "message"), [({}, "--expected-minutes"), ({"expected_minutes": Decimal(10)}, r"\$8.00 .*\$1.34")]
)
def test_a_round_without_a_stated_time_or_below_prolifics_floor_is_not_published(rehearsal, time, message):
    made = make_round(hits=2, published=False, reward="1.00")
    type(made).objects.update(wage_floor=0)
    with pytest.raises(CommandError, match=message):
        call_command("publish", made.name, channel="prolific", environment="emulator", **time)
    assert rehearsal.studies() == []


def test_a_round_is_held_to_the_cost_that_prolific_names_and_not_to_an_estimate(rehearsal, commit):
    made = make_round(hits=2, published=False, reward="2.00")
    type(made).objects.update(ceiling="5.60")  # the estimate says $6.06, the calculator $5.60
    with commit(execute=True):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8))
    assert rehearsal.study().status == "ACTIVE"


def test_parts_of_a_cent_of_a_place_never_pass_the_ceiling(rehearsal, monkeypatch):
    ask = Client.post

    def named(self, path, body=None):
        """42.8% on top, and 20% tax on that."""
        if path != "study-cost-calculator/":
            return ask(self, path, body)
        return {"total_cost": int(body["reward"] * body["total_available_places"] * Decimal("1.5136"))}

    monkeypatch.setattr(Client, "post", named)
    made = make_round(hits=3, published=False, reward="1.35")
    type(made).objects.update(ceiling="6.12", wage_floor="9.00")  # Prolific names $6.13
    with pytest.raises(CommandError, match="above its ceiling"):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8))
    assert rehearsal.studies() == []


def test_a_study_that_costs_more_than_the_calculator_named_is_never_published(rehearsal, commit, monkeypatch):
    ask = Client.post

    def of_the_account(self, path, body=None):
        """Fees of 20%; the workspace pays 40%."""
        return {"total_cost": 3 * 240} if path == "study-cost-calculator/" else ask(self, path, body)

    monkeypatch.setattr(Client, "post", of_the_account)
    published(hits=3, commit=commit)
    assert (rehearsal.study().status, rehearsal.spent()) == ("UNPUBLISHED", 0)
    call = Outbox.objects.get()
    assert (call.state, "$8.40" in call.error, "$7.20" in call.error) == ("failed", True, True)


@pytest.mark.parametrize(("asked", "given"), [(0, 3), (2, 2), (9, 3)])
def test_a_participant_may_take_the_study_as_often_as_was_asked_but_for_no_more_hits_than_there_are(
    rehearsal, commit, asked, given
):
    made = make_round(hits=3, published=False, reward="2.00")
    with commit(execute=True):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8), max_sessions=asked)
    assert rehearsal.study().terms["submissions_config"]["max_submissions_per_participant"] == given


@pytest.mark.parametrize(
    ("channel", "sessions"), [("mturk", 2), ("browser", 2), ("prolific", -1), ("prolific", 10_001)]
)
def test_a_number_of_sessions_that_a_channel_cannot_ask_for_publishes_nothing(db, channel, sessions):
    made = make_round(hits=3, published=False, reward="2.00")
    with pytest.raises(CommandError, match="max.sessions"):
        call_command("publish", made.name, channel=channel, expected_minutes=Decimal(8), max_sessions=sessions)
    made.refresh_from_db()
    assert made.state == "draft"


# Which environment may be used, and what it may cost: no setting leads to real money by itself


LIVE = {"PROLIFIC_ENVIRONMENTS": "emulator,live", "PROLIFIC_TOKEN": "the-token", "PROLIFIC_WORKSPACE": "w1"}


@pytest.fixture
def live(monkeypatch):
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def no_call(monkeypatch):
    def called(*args, **options):
        raise AssertionError("Prolific was called.")

    monkeypatch.setattr(Client, "_send", called)


def test_live_is_disabled_until_it_is_named(monkeypatch):
    monkeypatch.setenv("PROLIFIC_TOKEN", "the-token")
    monkeypatch.setenv("PROLIFIC_WORKSPACE", "w1")
    with pytest.raises(ChannelError, match="live is disabled"):
        environment_of("live")


@pytest.mark.parametrize("missing", ["PROLIFIC_TOKEN", "PROLIFIC_WORKSPACE"])
def test_live_needs_a_token_and_the_workspace_that_pays(live, monkeypatch, missing):
    monkeypatch.delenv(missing)
    with pytest.raises(ChannelError, match=missing):
        environment_of("live")


def test_no_setting_moves_the_live_api_whose_token_is_not_printed_and_not_sent_to_the_emulator(live, monkeypatch):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", "http://127.0.0.1:1")
    assert environment_of("live").api == "https://api.prolific.com"
    assert environment_of("emulator").token != "the-token"
    assert client_for("live")._http.headers["Authorization"] == "Token the-token"
    assert "the-token" not in repr(environment_of("live"))


@pytest.mark.parametrize("url", ["https://api.prolific.com", "http://10.0.0.7:8950", "http://[2001:db8::1]:8950"])
def test_the_emulator_is_on_this_machine(monkeypatch, url):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", url)
    with pytest.raises(ChannelError, match="not on this machine"):
        environment_of("emulator")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8950", "http://localhost:8950/", "http://[::1]:8950", "http://prolific:8950"]
)
def test_the_emulator_may_be_a_neighbour_in_a_private_network(monkeypatch, url):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", url)
    assert environment_of("emulator").api == url.rstrip("/")


def test_live_publishing_needs_a_second_word(db, live, no_call):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="--yes-spend-money"):
        call_command("publish", made.name, channel="prolific", environment="live", expected_minutes=Decimal(8))
    made.refresh_from_db()
    assert (made.state, Posting.objects.count()) == ("draft", 0)


# Money on Prolific: whole minor units on the wire, and no currency but ours


@pytest.mark.parametrize(
    ("amount", "units"), [("1.15", 115), ("0.29", 29), ("2.00", 200), ("2", 200), ("10000.01", 1000001)]
)
def test_an_amount_is_a_whole_number_of_minor_units_and_back(amount, units):
    assert (minor(Decimal(amount)), major(units)) == (units, Decimal(amount))


def test_a_part_of_a_cent_is_refused():
    with pytest.raises(ChannelError, match="0.005"):
        minor(Decimal("0.005"))


def test_every_time_limit_that_we_ask_for_is_one_that_prolific_takes():
    assert [longest_minutes(minutes) for minutes in (1, 2, 3, 10, 14)] == [6, 9, 12, 29, 38]
    assert all(longest_minutes(minutes) == shortest_limit(minutes) for minutes in range(1, 500))


@pytest.fixture
def pounds(db, settings):
    with rehearsing(settings, currency="GBP") as there:
        yield there


def test_a_round_is_not_published_from_an_account_in_another_currency_whose_balance_is_unknown(pounds):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="GBP"):
        call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    made.refresh_from_db()
    assert (made.state, Posting.objects.count(), pounds.studies()) == ("draft", 0, [])
    known = ask_funds("prolific", "emulator")
    assert known.amount is None
    assert "pays in GBP" in known.trouble


def test_the_wallet_that_pays_is_in_dollars_as_well():
    wallet = httpx.Response(200, json={"currency_code": "GBP", "available_balance": 100})
    with pytest.raises(ChannelError, match="pays in GBP"):
        funds(client_with(wallet), "w1")
