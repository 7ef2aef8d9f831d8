"""Keep each version of the consent sheet that a worker agreed to, and the words of a round's own in it."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def copy_consents(apps, schema_editor):
    alias = schema_editor.connection.alias
    workers = apps.get_model("annotation", "Worker")._base_manager.using(alias).exclude(consent_sheet=None)
    consents = apps.get_model("annotation", "Consent")
    rows = (
        consents(worker_id=worker, sheet_id=sheet, at=at or created_at)
        for worker, sheet, at, created_at in workers.values_list(
            "pk", "consent_sheet", "consented_at", "created_at"
        ).iterator()
    )
    consents._base_manager.using(alias).bulk_create(rows, batch_size=1_000)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0023_repeated_answers"), ("hits", "0011_rejected_pairs")]

    operations = [
        migrations.CreateModel(
            name="ConsentWords",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("researchers", models.TextField(blank=True, help_text="Who asks, and why.")),
                (
                    "payment_terms",
                    models.TextField(blank=True, help_text="How and when workers of the browser pool are paid."),
                ),
                (
                    "contact",
                    models.CharField(blank=True, help_text="A mail address or a web page.", max_length=200),
                ),
                ("by", models.CharField(max_length=150)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="consent_words", to="hits.round"
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.CreateModel(
            name="Consent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "sheet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="consents",
                        to="annotation.consentsheet",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consents",
                        to="annotation.worker",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("worker", "sheet"), name="a_sheet_agreed_to_once")],
            },
        ),
        migrations.RunPython(copy_consents, migrations.RunPython.noop),
        migrations.RemoveField(model_name="worker", name="consent_sheet"),
    ]
