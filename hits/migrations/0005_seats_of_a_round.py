"""Repeat the round in each seat: add it, fill it, require it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    hits = apps.get_model("hits", "HIT").objects.filter(pk=OuterRef("hit"))
    seats = apps.get_model("hits", "Seat").objects.using(schema_editor.connection.alias)
    seats.update(round=Subquery(hits.values("round")[:1]))


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0004_top_ups'),
    ]

    operations = [
        migrations.AddField(
            model_name='seat',
            name='round',
            # Without its constraint: PostgreSQL changes no table for which a constraint is still to be checked.
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='hits.round'),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='seat',
            name='round',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='hits.round'),
        ),
        migrations.RemoveIndex(
            model_name='seat',
            name='hits_seat_state_7980e6_idx',
        ),
        migrations.AddIndex(
            model_name='seat',
            index=models.Index(fields=['round', 'state', 'hit', 'number'], name='seats_of_a_round'),
        ),
    ]
