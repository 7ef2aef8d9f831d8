import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crowd", "0008_fill_posting_round")]

    operations = [
        migrations.AlterField(
            model_name="posting",
            name="round",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="postings", to="hits.round"
            ),
        ),
        migrations.AlterField(
            model_name="posting",
            name="hit",
            field=models.ForeignKey(
                help_text="Null: of the whole round.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="postings",
                to="hits.hit",
            ),
        ),
    ]
