"""Whose sign of life a heartbeat is: with more than one clock, the one that leads has a name."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0001_squashed_0002_heartbeat'),
    ]

    operations = [
        migrations.AddField(
            model_name='heartbeat',
            name='by',
            field=models.CharField(blank=True, help_text='Host of the worker; host and number of the clock.', max_length=100),
        ),
    ]
