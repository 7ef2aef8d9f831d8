"""Note in which round a worker agreed to a consent sheet."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0025_best_levels"),
        ("hits", "0014_told_milestones"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="consent",
            name="a_sheet_agreed_to_once",
        ),
        migrations.AddField(
            model_name="consent",
            name="round",
            field=models.ForeignKey(
                help_text="Null: not noted, or gone.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="hits.round",
            ),
        ),
        migrations.AlterField(
            model_name="consent",
            name="worker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="consents",
                to="annotation.worker",
            ),
        ),
    ]
