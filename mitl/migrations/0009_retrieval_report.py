from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("mitl", "0008_searches_without_leases"),
    ]

    operations = [
        migrations.AddField(
            model_name="retrieval",
            name="report",
            field=models.JSONField(
                default=dict, help_text="What the lists say of the search (``mitl.search.search_report``)."
            ),
        ),
    ]
