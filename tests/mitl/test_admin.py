import pytest
from django.contrib.auth.models import User

from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample


@pytest.fixture
def admin_page(client, db):
    client.force_login(User.objects.create_superuser("root", password="a long passphrase"))
    sample = make_sample(make_collection())
    make_pool(
        sample, [make_retrieval(make_annotator(), sample)], pairs=[(sample.images.first(), sample.captions.last())]
    )
    return client


@pytest.mark.parametrize("model", ["annotator", "retrieval", "pool", "proposal"])
def test_rows_can_be_seen_and_not_added(admin_page, model):
    assert admin_page.get(f"/admin/mitl/{model}/").status_code == 200
    assert admin_page.get(f"/admin/mitl/{model}/add/").status_code == 403
