import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from corpus.models import Collection
from tests.factories import make_collection


@pytest.fixture
def superuser(client, db):
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    return client


def test_a_row_cannot_be_deleted(superuser):
    page = reverse("admin:corpus_collection_delete", args=[make_collection().pk])
    assert superuser.post(page, {"post": "yes"}).status_code == 403
    assert Collection.objects.exists()


def test_a_description_may_be_edited_and_a_name_not(superuser):
    collection = make_collection()
    page = reverse("admin:corpus_collection_change", args=[collection.pk])
    superuser.post(page, {"name": "other", "description": "Animals."})
    assert list(Collection.objects.values_list("name", "description")) == [("zoo", "Animals.")]
