from annotation.models import WorkerIdentity
from annotation.people.workers import mask_workers
from tests.factories import make_worker


def known(external_id: str) -> str:
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=external_id)
    return worker.pseudonym


def test_a_platforms_words_name_workers_by_pseudonym(db):
    one, two = known("ASECRET1"), known("ASECRET2")
    assert mask_workers(["Worker ASECRET1 is unknown (ASECRET2)."]) == [f"Worker {one} is unknown ({two})."]


def test_other_words_stay_as_they_are(db):
    known("ASECRET1")
    texts = ["HIT ASECRET12 is gone.", "", "A reason, said plainly."]
    assert mask_workers(texts) == texts


def test_many_texts_are_masked_with_one_query(db, django_assert_max_num_queries):
    known("ASECRET1")
    with django_assert_max_num_queries(1):
        mask_workers(["ASECRET1 once", "ASECRET1 twice", "nobody"])
