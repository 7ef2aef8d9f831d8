"""Note how a posting stands on its platform, and whether the platform paused it by itself."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0016_sheets_of_visits"),
    ]

    operations = [
        migrations.AddField(
            model_name="posting",
            name="freed",
            field=models.PositiveSmallIntegerField(
                help_text="How many places submitted work had that was rejected or returned, as last read.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="posting",
            name="paused_itself",
            field=models.BooleanField(
                default=False, help_text="The platform paused it by its own rule."
            ),
        ),
        migrations.AddField(
            model_name="posting",
            name="there",
            field=models.CharField(
                choices=[
                    ("unknown", "in a state that we do not know"),
                    ("unread", "not listed any more"),
                    ("draft", "not published"),
                    ("scheduled", "published at a later time"),
                    ("starting", "being published"),
                    ("open", "open to workers"),
                    ("paused", "Paused"),
                    ("full", "full: every place is taken"),
                    ("stopped", "stopped with free places"),
                    ("over", "over before all of its answer sets came"),
                ],
                default="open",
                help_text="What that means (crowd.study_states).",
                max_length=9,
            ),
        ),
    ]
