"""Events as sentences; the list is narrowed to a person and to a round."""

import ast
import re
from string import Formatter

from django.apps import apps
from django.db import transaction

from annotation.models import Assignment
from console.events.event_subjects import SENTENCES, describe_events
from core import events
from core.models import Event, Job
from crowd.models import Posting, Visit
from tests.annotation.cast import candidates
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.dataset.reviewing import exclude_caption, exclude_image, give_level
from tests.factories import make_collection, make_round

record = transaction.atomic(events.record)

# Expressions that code passes as a verb → their values.
COMPUTED = {
    "state.value": Job.State.values,
    "to.value": Assignment.State.values,
    "to": Posting.State.values,
    "str(ruling)": ["retired", "reinstated"],
    "thing.removed": ["removed", "undone"],
    "verb": [],  # passed as verb="...", which is found by itself
    "verdict": ["appeal upheld", "appeal turned down"],
    "f'{listed.status} on the platform'": [f"{state} on the platform" for state in Visit.State.values if state],
}


def verbs_of(call: ast.Call) -> list[str]:
    """The verbs of a call of record, or of one that passes a verb on."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    passed = [word.value for word in call.keywords if word.arg == "verb"]
    acted = name in ("record", "record_each", "record_event") and any(word.arg == "actor" for word in call.keywords)
    found = []
    for verb in passed + (call.args[:1] if acted else []):
        for one in [verb.body, verb.orelse] if isinstance(verb, ast.IfExp) else [verb]:
            found += [one.value] if isinstance(one, ast.Constant) else COMPUTED[ast.unparse(one)]
    return found


def test_every_verb_that_the_code_writes_has_a_sentence_or_is_one_word_in_the_past(settings):
    written = set()
    for app in apps.get_app_configs():
        if settings.BASE_DIR.as_posix() in app.path and ".venv" not in app.path:
            for path in (settings.BASE_DIR / app.name).rglob("*.py"):
                tree = ast.parse(path.read_text("utf-8"))
                written.update(*(verbs_of(node) for node in ast.walk(tree) if isinstance(node, ast.Call)))
    assert len(written) > 80
    assert [verb for verb in written - set(SENTENCES) if not re.fullmatch(r"[a-z]+ed|made|paid", verb)] == []
    assert set(SENTENCES) - written == set()  # none that nothing writes


def test_every_sentence_names_what_it_is_about():
    words = {verb: {name for _, name, _, _ in Formatter().parse(text) if name} for verb, text in SENTENCES.items()}
    about_the_actor = {"arrived", "consented", "password set", "password link mailed", "password link used"}
    assert {verb for verb, named in words.items() if "what" not in named} == about_the_actor


def sentence_about(subject: object) -> str:
    (one,) = describe_events(Event.objects.filter(subject=events.subject_of(subject)).order_by("-pk")[:1])
    return one.sentence


def test_work_is_described_with_its_worker_and_its_hit(db):
    done = answer_rightly(make_round())
    pseudonym = done.worker.pseudonym
    event = Event.objects.get(verb="submitted")
    (one,) = describe_events([event])
    assert one.sentence == (
        f'Worker <a class="mono" href="/workers/{pseudonym}/">{pseudonym}</a> submitted '
        f'<a href="/review/{done.pk}/">HIT 1 of round-1</a>'
    )


def test_reviews_are_described_with_their_subject(db, person):
    made = make_round()
    zoo, (image, caption) = made.pool.collection, candidates(made.hits.get())[0]
    of_pair = give_level(made, (image, caption), 4, by=person)
    of_caption, of_image = exclude_caption(zoo, caption, by=person), exclude_image(zoo, image, by=person)
    assert f"/pairs/{image}/{caption}/" in sentence_about(of_pair)
    assert f"/captions/{caption}/" in sentence_about(of_caption)
    assert f"/images/{image}/" in sentence_about(of_image)


def test_a_removed_or_unknown_subject_has_no_link(db):
    zoo = make_collection("zoo", images=1)
    record("removed", zoo, actor="command", name="zoo")
    record("juggled", zoo, actor="ada")
    zoo.delete()
    new, old = describe_events(Event.objects.filter(actor__in=["ada", "command"]))
    assert old.sentence == "A command removed collection zoo"
    assert new.sentence.startswith("ada juggled collection ")
    (odd,) = describe_events([Event(actor="ada", verb="added", subject="gone.model:x")])
    assert odd.sentence == "ada added model x"


def test_names_are_escaped(db):
    record("roles changed", make_collection("zoo", images=1), actor="<b>ada</b>")
    assert "&lt;b&gt;ada&lt;/b&gt;" in describe_events(Event.objects.filter(verb="roles changed"))[0].sentence


def rows_of(client, **narrowed: str) -> list[Event]:
    return list(client.get("/activity/", narrowed).context["rows"])


def test_events_are_narrowed_to_a_person(member, db):
    done = answer_rightly(make_round())
    record("closed", done.hit.round, actor="mina")
    assert [one.verb for one in rows_of(member, by="mina")] == ["closed"]
    of_worker = rows_of(member, by=done.worker.pseudonym)
    assert {one.actor for one in of_worker} == {f"worker:{done.worker.pseudonym}"}


def test_events_are_narrowed_to_a_round_and_all_that_belongs_to_it(member, db):
    first = make_round(name="first")
    second = make_round(first.pool.collection, "second")
    answer_rightly(first), answer_wrongly(second)
    record("closed", second, actor="mina")
    narrowed = rows_of(member, round="second")
    kinds = {one.subject.partition(":")[0] for one in narrowed}
    assert {"hits.round", "annotation.assignment"} <= kinds
    assert not {"accepted", "owed"} & {one.verb for one in narrowed}
    assert [one.verb for one in rows_of(member, round="second", by="mina")] == ["closed"]
    assert rows_of(member, round="nowhere") == []
