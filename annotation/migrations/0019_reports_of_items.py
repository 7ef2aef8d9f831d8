"""A report is of an item: a question about rankings has no image of its own. Add the item, fill it, require it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Q, Subquery


def fill(apps, schema_editor):
    same_pair = Q(image=OuterRef("image")) & (Q(caption=OuterRef("caption")) | Q(caption=None))
    items = apps.get_model("hits", "Item").objects.filter(same_pair, hit__assignments=OuterRef("assignment"))
    reports = apps.get_model("annotation", "Report").objects.using(schema_editor.connection.alias)
    reports.update(item=Subquery(items.order_by("pk").values("pk")[:1]))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0018_written_captions"), ("hits", "0009_images_alone")]

    operations = [
        migrations.RemoveConstraint(model_name="report", name="one_report_per_worker_and_pair"),
        migrations.RemoveConstraint(model_name="report", name="one_report_per_worker_and_image"),
        migrations.AlterField(
            model_name="report",
            name="image",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="reports", to="corpus.image"
            ),
        ),
        migrations.AddField(
            model_name="report",
            name="item",
            # Without its constraint: PostgreSQL changes no table for which a constraint is still to be checked.
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="reports",
                to="hits.item",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="report",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="reports", to="hits.item"
            ),
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(fields=["worker", "item"], name="one_report_per_worker_and_item"),
        ),
    ]
