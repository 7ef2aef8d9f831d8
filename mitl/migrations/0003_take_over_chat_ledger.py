import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

from django.conf import settings
from django.db import migrations
from django.db.models import Count, Sum

COLUMNS = "question, purse, chances, input_tokens, output_tokens, seconds, cost, asked_at"
MANY = 1000


def take_over(apps, schema_editor):
    """Store the requests of the files that held them before, chat.sqlite3 and chat-*.sqlite3 in VAR_DIR.

    The files stay. Those of other hosts are read if they were copied there first, under names like chat-2.sqlite3.
    """
    database = schema_editor.connection.alias
    for path in sorted({*settings.VAR_DIR.glob("chat.sqlite3"), *settings.VAR_DIR.glob("chat-*.sqlite3")}):
        with closing(sqlite3.connect(path)) as file:
            rows = file.execute(f"SELECT {COLUMNS} FROM request ORDER BY id")  # noqa: S608
            while some := rows.fetchmany(MANY):
                store(apps, database, some)
    count(apps, database)


def store(apps, database, rows):
    purses = apps.get_model("mitl", "ChatPurse").objects.using(database)
    request = apps.get_model("mitl", "ChatRequest")
    by_name = {name: purses.get_or_create(name=name)[0] for name in {row[1] for row in rows}}
    request.objects.using(database).bulk_create(
        request(
            question=question,
            purse=by_name[purse],
            chances=json.loads(chances) if chances else None,
            input_tokens=read,
            output_tokens=written,
            seconds=seconds,
            cost=cost,
            asked_at=datetime.fromisoformat(asked_at).replace(tzinfo=UTC),
        )
        for question, purse, chances, read, written, seconds, cost, asked_at in rows
    )


def count(apps, database):
    purses = apps.get_model("mitl", "ChatPurse").objects.using(database)
    sums = apps.get_model("mitl", "ChatRequest").objects.using(database).values("purse")
    for sum_ in sums.annotate(requests=Count("pk"), total=Sum("cost")):
        purses.filter(pk=sum_["purse"]).update(requests=sum_["requests"], cost=sum_["total"])


class Migration(migrations.Migration):
    dependencies = [("mitl", "0002_chat_ledger")]

    operations = [migrations.RunPython(take_over, migrations.RunPython.noop)]
