"""What tests leave for the next one: an emptied database with what migrating made, as Django would make it again."""

import pytest
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal

from tests.conftest import MADE_BY_MIGRATING


@pytest.mark.django_db(transaction=True)
def test_after_a_test_that_empties_the_tables_types_permissions_and_groups_are_those_of_the_migrations():
    before = [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING]
    assert all(before)
    call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
    assert [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING] == before
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
    assert [list(model.objects.order_by("pk").values()) for model in MADE_BY_MIGRATING] == before
