"""Note what each import brought. New columns are empty and have no index, so that no table is written again."""

import core.clock
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("corpus", "0007_times_of_the_database"),
    ]

    operations = [
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("name", models.SlugField(max_length=100, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("collection", "images and captions"),
                            ("pictures", "Pictures"),
                            ("matches", "Matches"),
                            ("judgments", "Judgments"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Match source; empty: of other kinds.",
                        max_length=80,
                    ),
                ),
                (
                    "file",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Name of the imported file or folder.",
                        max_length=255,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Language of its captions, if given.",
                        max_length=35,
                    ),
                ),
                (
                    "counts",
                    models.JSONField(
                        help_text="What it added, by kind; null: imported before batches were kept.",
                        null=True,
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="User name, or name of a command.",
                        max_length=100,
                    ),
                ),
                ("created_at", models.DateTimeField(default=core.clock.now)),
                ("undone_at", models.DateTimeField(null=True)),
                ("undone_by", models.CharField(blank=True, default="", max_length=100)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="batches",
                        to="corpus.collection",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "batches",
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="caption",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that brought it.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
        migrations.AddField(
            model_name="image",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that brought it.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
        migrations.AddField(
            model_name="image",
            name="picture_batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that stored its picture.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
        migrations.AddField(
            model_name="match",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                help_text="The import that brought it.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="corpus.batch",
            ),
        ),
    ]
