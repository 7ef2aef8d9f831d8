"""The tables of hits at 0.3.1."""

import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('hits', '0001_initial'),
        ('hits', '0002_round_wording'),
        ('hits', '0003_items_of_a_control'),
        ('hits', '0004_top_ups'),
        ('hits', '0005_seats_of_a_round'),
        ('hits', '0006_task_types'),
        ('hits', '0007_captions_alone'),
        ('hits', '0008_contents_of_items'),
        ('hits', '0009_images_alone'),
    ]

    dependencies = [
        ('corpus', '0001_squashed_0004_exclusions'),
        ('mitl', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('task', models.CharField(default='levels', help_text='Type of task, of hits.task_types.', max_length=20)),
                ('design', models.JSONField(help_text='Composition of a HIT: name, candidates, positives, negatives.')),
                ('reward', models.DecimalField(decimal_places=2, help_text='US dollars for one assignment.', max_digits=8)),
                ('ceiling', models.DecimalField(decimal_places=2, help_text='Maximum cost of the round in US dollars, fees included.', max_digits=12)),
                ('reasons', models.BooleanField(default=False, help_text='Ask for reasons at levels 2 and 3.')),
                ('wording', models.PositiveSmallIntegerField(default=1, help_text='Version of the explanations and reasons that workers read.')),
                ('replication', models.PositiveSmallIntegerField(default=1, help_text='Answer sets wanted for each HIT.')),
                ('top_up', models.PositiveSmallIntegerField(default=0, help_text='Maximum number of further votes on a pair on which workers disagree.')),
                ('seed', models.BigIntegerField(help_text='Seed of the shuffles and of the drawing of controls.')),
                ('plan_hash', models.CharField(help_text='SHA-256 over all items, with the keys of their pairs.', max_length=64)),
                ('summary', models.JSONField(default=dict, help_text='Counts and costs, as shown before publishing.')),
                ('channel', models.CharField(blank=True, max_length=20)),
                ('environment', models.CharField(blank=True, max_length=20)),
                ('join_key', models.CharField(help_text='Secret part of the join link.', max_length=40, unique=True)),
                ('offer', models.JSONField(default=dict, help_text='Title, description and requirements of the HITs on a platform.')),
                ('wage_floor', models.DecimalField(decimal_places=2, default=Decimal('15.00'), help_text='Minimum wage in US dollars an hour.', max_digits=6)),
                ('expected_seconds', models.PositiveIntegerField(help_text='Expected active time of a HIT: measured in a pilot or stated when publishing.', null=True)),
                ('fees', models.JSONField(default=dict, help_text="The channel's fees when the round was published.")),
                ('settles', models.BooleanField(default=False, help_text='The channel itself holds and pays the money; otherwise we pay and mark it paid.')),
                ('rehearsal', models.BooleanField(default=False, help_text='Published where nobody is paid and workers may be simulated.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='mitl.pool')),
            ],
            options={
                'ordering': ['-created_at'],
                'permissions': [('launch_round', 'May pack, publish and close rounds')],
            },
        ),
        migrations.CreateModel(
            name='HIT',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='From 1, in packing order.')),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='hits.round')),
            ],
            options={
                'verbose_name': 'HIT',
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='Control',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('polarity', models.CharField(choices=[('positive', 'Positive'), ('negative', 'Negative')], max_length=8)),
                ('state', models.CharField(choices=[('active', 'Active'), ('suspected', 'Suspected'), ('retired', 'Retired')], default='active', max_length=9)),
                ('caption', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.caption')),
                ('image', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.image')),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='controls', to='hits.round')),
            ],
        ),
        migrations.CreateModel(
            name='Seat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('state', models.CharField(choices=[('open', 'Open'), ('taken', 'Taken'), ('filled', 'filled (its answers count)')], default='open', max_length=6)),
                ('hit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='hits.hit')),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='hits.round')),
            ],
            options={
                'ordering': ['hit_id', 'number'],
            },
        ),
        migrations.CreateModel(
            name='TopUp',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('plan_hash', models.CharField(help_text="SHA-256 over its items, as of the round's plan.", max_length=64)),
                ('avoided', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='top_ups', to='hits.round')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.AddField(
            model_name='hit',
            name='top_up',
            field=models.ForeignKey(db_index=False, help_text="Null: of the round's plan.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='hits.topup'),
        ),
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveSmallIntegerField()),
                ('content', models.JSONField(help_text='Rankings of images that are shown beside its caption.', null=True)),
                ('caption', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.caption')),
                ('control', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='hits.control')),
                ('hit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='hits.hit')),
                ('image', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.image')),
            ],
            options={
                'ordering': ['hit_id', 'place'],
                'indexes': [models.Index(condition=models.Q(('control__isnull', False)), fields=['control'], name='items_of_a_control')],
                'constraints': [models.UniqueConstraint(fields=('hit', 'place'), name='item_place_in_hit'), models.UniqueConstraint(fields=('hit', 'image', 'caption'), name='item_pair_in_hit'), models.UniqueConstraint(condition=models.Q(('image', None)), fields=('hit', 'caption'), name='item_caption_in_hit'), models.UniqueConstraint(condition=models.Q(('caption', None)), fields=('hit', 'image'), name='item_image_in_hit')],
            },
        ),
        migrations.AddConstraint(
            model_name='control',
            constraint=models.UniqueConstraint(fields=('round', 'image', 'caption'), name='control_once_per_round'),
        ),
        migrations.AddIndex(
            model_name='seat',
            index=models.Index(fields=['round', 'state', 'hit', 'number'], name='seats_of_a_round'),
        ),
        migrations.AddConstraint(
            model_name='seat',
            constraint=models.UniqueConstraint(fields=('hit', 'number'), name='seat_number_in_hit'),
        ),
        migrations.AddConstraint(
            model_name='topup',
            constraint=models.UniqueConstraint(fields=('round', 'number'), name='top_up_number_in_round'),
        ),
        migrations.AddConstraint(
            model_name='hit',
            constraint=models.UniqueConstraint(fields=('round', 'number'), name='hit_number_in_round'),
        ),
    ]
