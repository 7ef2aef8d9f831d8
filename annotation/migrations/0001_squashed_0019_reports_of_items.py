"""The tables of annotation at 0.3.1."""

import annotation.models.people
import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('annotation', '0001_initial'),
        ('annotation', '0002_appeals_of_lost_work'),
        ('annotation', '0003_words_of_shortcomings'),
        ('annotation', '0004_flagged_without_a_seat'),
        ('annotation', '0005_simulated_workers'),
        ('annotation', '0006_control_rulings'),
        ('annotation', '0007_rulings_of_exclusions'),
        ('annotation', '0008_reports'),
        ('annotation', '0009_link_versions'),
        ('annotation', '0010_invitations'),
        ('annotation', '0011_consent_sheets'),
        ('annotation', '0012_judgments_by_pair'),
        ('annotation', '0013_states_of_sessions'),
        ('annotation', '0014_seconds_of_pairs'),
        ('annotation', '0015_captions_alone'),
        ('annotation', '0016_sessions_without_hit'),
        ('annotation', '0017_settled_on_the_platform'),
        ('annotation', '0018_written_captions'),
        ('annotation', '0019_reports_of_items'),
    ]

    dependencies = [
        ('corpus', '0001_squashed_0004_exclusions'),
        ('hits', '0001_squashed_0009_images_alone'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ConsentSheet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('digest', models.CharField(help_text='SHA-256 of the text.', max_length=64, unique=True)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(blank=True, max_length=20)),
                ('environment', models.CharField(blank=True, max_length=20)),
                ('external_id', models.CharField(blank=True, help_text="The platform's id of this assignment.", max_length=64)),
                ('external_posting', models.CharField(blank=True, help_text="The platform's id of the posting.", max_length=64)),
                ('finish_url', models.CharField(blank=True, help_text='Where the finished page sends its form.', max_length=500)),
                ('finish_fields', models.JSONField(default=dict, help_text='What that form holds; for a claim also answers and receipt.')),
                ('platform_state', models.CharField(blank=True, choices=[('', 'claimed by a visitor, not confirmed'), ('submitted', 'Submitted'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('returned', 'Returned'), ('expired', 'ran out of time there'), ('settled', 'settled there otherwise: screened out, or paid in part')], default='', max_length=9)),
                ('auto_approval_at', models.DateTimeField(help_text='When the platform approves undecided work.', null=True)),
                ('decided_at', models.DateTimeField(help_text='When it was approved or rejected on the platform.', null=True)),
                ('content', models.TextField(blank=True, help_text='The answer as the platform gave it, unparsed.')),
                ('problem', models.TextField(blank=True, help_text='What a person has to look at.')),
                ('has_hit', models.BooleanField(default=True, help_text='False: the session was given no HIT; ``hit`` says only which round it is of.')),
                ('state', models.CharField(choices=[('leased', 'Leased'), ('submitted', 'Submitted'), ('flagged', 'flagged for a human check'), ('accepted', 'Accepted'), ('excluded', 'Excluded'), ('returned', 'Returned'), ('expired', 'Expired')], default='leased', max_length=9)),
                ('leased_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('deadline', models.DateTimeField()),
                ('submitted_at', models.DateTimeField(null=True)),
                ('active_seconds', models.PositiveIntegerField(help_text='Time with the page visible and in use.', null=True)),
                ('receipt', models.CharField(blank=True, help_text='Shown to the worker as proof of submission.', max_length=24)),
                ('control_failures', models.PositiveSmallIntegerField(help_text='Gold controls answered wrong; null before grading.', null=True)),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.hit')),
                ('seat', models.ForeignKey(help_text='Null: not confirmed by the platform, or paid for without being counted.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.seat')),
            ],
            options={
                'ordering': ['id'],
                'permissions': [('decide_assignment', 'May decide whether votes count and work is paid')],
            },
        ),
        migrations.CreateModel(
            name='ControlRuling',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('retired', models.BooleanField()),
                ('reason', models.TextField()),
                ('by', models.CharField(blank=True, help_text='Empty: the rule.', max_length=150)),
                ('exclusion', models.BooleanField(default=False, help_text='As its caption or image was excluded, or is no longer.')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('control', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rulings', to='hits.control')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('votes_count', models.BooleanField()),
                ('paid', models.BooleanField()),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotation.assignment')),
                ('by', models.ForeignKey(help_text='Null: the grading rule.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='QualificationTest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('pass_mark', models.PositiveSmallIntegerField(help_text='Right answers needed.')),
                ('attempts', models.PositiveSmallIntegerField(default=2, help_text='Tries that one worker has.')),
                ('seed', models.BigIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.collection')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Admission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('capacity', models.PositiveIntegerField(help_text='Maximum number of workers; null: no limit.', null=True)),
                ('per_worker', models.PositiveIntegerField(help_text='Maximum number of HITs of a worker; null: no limit.', null=True)),
                ('invited', models.BooleanField(default=False, help_text='Nobody joins by the join link, only by an invitation.')),
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='admission', to='hits.round')),
                ('practice', models.ForeignKey(help_text='Its pairs may be judged for practice, with the right answers shown afterwards.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.qualificationtest')),
                ('test', models.ForeignKey(help_text='Test to pass before the first HIT.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='admissions', to='annotation.qualificationtest')),
            ],
        ),
        migrations.CreateModel(
            name='Rejection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.CharField(blank=True, choices=[('', 'none'), ('wanted', 'wanted (not yet in the outbox)'), ('under way', 'under way (the platform may be acting on it, or have acted)')], default='', max_length=9)),
                ('grounds', models.CharField(choices=[('empty', 'nothing was answered'), ('random', 'the answers are plainly random or all the same'), ('automated', 'a script answered'), ('instructions', 'explicit instructions were ignored'), ('too_fast', 'done faster than the pairs can be read')], max_length=12)),
                ('reason', models.TextField(help_text='The worker reads it.', max_length=1024)),
                ('evidence', models.TextField(help_text='What shows it; for reviewers and appeals.')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('needs_second', models.BooleanField(default=False)),
                ('seconded_at', models.DateTimeField(null=True)),
                ('dropped_at', models.DateTimeField(help_text='Given up before it held, or reversed after.', null=True)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rejections', to='annotation.assignment')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('seconded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Appeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(max_length=4096)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('upheld', models.BooleanField(help_text='Whether the worker was right; null while it waits.', null=True)),
                ('answer', models.TextField(blank=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('answered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='appeals', to='annotation.assignment')),
                ('rejection', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='appeal', to='annotation.rejection')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='TestItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveSmallIntegerField()),
                ('sentence', models.TextField(blank=True, default='')),
                ('polarity', models.CharField(choices=[('positive', 'positive'), ('negative', 'negative')], max_length=8)),
                ('caption', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.caption')),
                ('image', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.image')),
                ('test', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.qualificationtest')),
            ],
            options={
                'ordering': ['test_id', 'place'],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pseudonym', models.CharField(default=annotation.models.people.new_pseudonym, max_length=12, unique=True)),
                ('consented_at', models.DateTimeField(null=True)),
                ('forgotten_at', models.DateTimeField(help_text='When the platform ids were erased for good.', null=True)),
                ('link_version', models.PositiveIntegerField(default=0, help_text='Links of earlier versions are void.')),
                ('simulated', models.BooleanField(default=False, help_text='A program that plays a worker; its votes are marked.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('consent_sheet', models.ForeignKey(help_text='Agreed to most recently.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='workers', to='annotation.consentsheet')),
            ],
        ),
        migrations.CreateModel(
            name='TestAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='From 1.')),
                ('answers', models.JSONField(help_text='Level by place.')),
                ('right', models.PositiveSmallIntegerField()),
                ('passed', models.BooleanField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('test', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tries', to='annotation.qualificationtest')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tests', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('problem', models.CharField(choices=[('picture', 'the picture is missing or broken'), ('text', 'the sentence cannot be read'), ('offensive', 'the picture or the sentence is offensive'), ('other', 'something else')], max_length=9)),
                ('note', models.TextField(blank=True, max_length=300)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.assignment')),
                ('caption', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='corpus.caption')),
                ('image', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='corpus.image')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='hits.item')),
                ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='hits.round')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.PositiveSmallIntegerField(choices=[(1, '100% YES'), (2, 'Partially YES, but'), (3, 'Mostly NO, because'), (4, '100% NO')])),
                ('shortcoming', models.CharField(blank=True, choices=[('not_in_image', 'describes concepts that do not appear in the image'), ('not_in_caption', 'does not describe the main concepts in the image'), ('wrong_way', 'describes the main concepts in a wrong way'), ('grammar', 'is grammatically incorrect')], max_length=14)),
                ('wrong_way', models.CharField(blank=True, choices=[('quantity', 'Quantity'), ('color', 'Color'), ('species', 'Species'), ('gender', 'Gender'), ('age', 'Age'), ('action', 'Action'), ('emotion', 'Emotion'), ('location', 'Location'), ('orientation', 'Orientation'), ('others', 'Others')], max_length=11)),
                ('text', models.TextField(blank=True, db_default='', default='', help_text='What the worker wrote.')),
                ('seconds', models.PositiveIntegerField(help_text='Active time on this pair; null if unknown.', null=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.assignment')),
                ('caption', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.caption')),
                ('image', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.image')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='hits.item')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('by', models.CharField(max_length=150)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='hits.round')),
                ('used_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.CharField(blank=True, choices=[('', 'none'), ('wanted', 'wanted (not yet in the outbox)'), ('under way', 'under way (the platform may be acting on it, or have acted)')], default='', max_length=9)),
                ('reason', models.TextField()),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lifted_at', models.DateTimeField(null=True)),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddField(
            model_name='assignment',
            name='worker',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.worker'),
        ),
        migrations.CreateModel(
            name='WorkerIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(blank=True, max_length=20)),
                ('external_id', models.CharField(max_length=120)),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='identities', to='annotation.worker')),
            ],
            options={
                'verbose_name_plural': 'worker identities',
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.PositiveSmallIntegerField(choices=[(1, '100% YES'), (2, 'Partially YES, but'), (3, 'Mostly NO, because'), (4, '100% NO')])),
                ('shortcoming', models.CharField(blank=True, choices=[('not_in_image', 'describes concepts that do not appear in the image'), ('not_in_caption', 'does not describe the main concepts in the image'), ('wrong_way', 'describes the main concepts in a wrong way'), ('grammar', 'is grammatically incorrect')], max_length=14)),
                ('wrong_way', models.CharField(blank=True, choices=[('quantity', 'Quantity'), ('color', 'Color'), ('species', 'Species'), ('gender', 'Gender'), ('age', 'Age'), ('action', 'Action'), ('emotion', 'Emotion'), ('location', 'Location'), ('orientation', 'Orientation'), ('others', 'Others')], max_length=11)),
                ('text', models.TextField(blank=True, db_default='', default='', help_text='What the worker wrote.')),
                ('seconds', models.PositiveIntegerField(help_text='Active time on this pair so far; null if unknown.', null=True)),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotation.assignment')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='hits.item')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('assignment', 'item'), name='one_draft_per_item')],
            },
        ),
        migrations.CreateModel(
            name='Payment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.CharField(blank=True, choices=[('', 'none'), ('wanted', 'wanted (not yet in the outbox)'), ('under way', 'under way (the platform may be acting on it, or have acted)')], default='', max_length=9)),
                ('kind', models.CharField(choices=[('reward', 'Reward'), ('bonus', 'Bonus')], default='reward', max_length=6)),
                ('reason', models.CharField(blank=True, help_text='Of a bonus; its worker reads it.', max_length=200)),
                ('amount', models.DecimalField(decimal_places=2, max_digits=8)),
                ('fee', models.DecimalField(decimal_places=2, default=Decimal('0.00'), help_text="The platform's.", max_digits=8)),
                ('state', models.CharField(choices=[('owed', 'Owed'), ('paid', 'Paid'), ('withdrawn', 'withdrawn (a person decided not to pay)')], default='owed', max_length=9)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('paid_at', models.DateTimeField(null=True)),
                ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='annotation.assignment')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='hits.round')),
            ],
            options={
                'permissions': [('pay_workers', 'May see whom to pay, with platform ids, and mark it paid')],
                'indexes': [models.Index(fields=['round', 'state'], name='annotation__round_i_8b23c4_idx'), models.Index(condition=models.Q(('call', ''), _negated=True), fields=['call'], name='payment_call')],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'kind', 'reason'), name='one_payment_per_reason'), models.UniqueConstraint(condition=models.Q(('kind', 'reward')), fields=('assignment',), name='one_reward_per_assignment')],
            },
        ),
        migrations.AddConstraint(
            model_name='rejection',
            constraint=models.UniqueConstraint(condition=models.Q(('dropped_at', None)), fields=('assignment',), name='one_standing_rejection'),
        ),
        migrations.AddConstraint(
            model_name='appeal',
            constraint=models.UniqueConstraint(condition=models.Q(('rejection', None)), fields=('assignment',), name='one_appeal_for_the_pay_of_lost_work'),
        ),
        migrations.AddConstraint(
            model_name='testitem',
            constraint=models.UniqueConstraint(fields=('test', 'place'), name='test_item_place'),
        ),
        migrations.AddConstraint(
            model_name='testattempt',
            constraint=models.UniqueConstraint(fields=('test', 'worker', 'number'), name='test_attempt_number'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.UniqueConstraint(fields=('worker', 'item'), name='one_report_per_worker_and_item'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('round', 'worker'), name='a_worker_joins_once'),
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(fields=['image', 'caption'], name='judgments_of_a_pair'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(fields=('worker', 'image', 'caption'), name='one_answer_per_worker_and_pair'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(condition=models.Q(('image', None)), fields=('worker', 'item'), name='one_answer_per_worker_and_caption'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(condition=models.Q(('caption', None)), fields=('worker', 'item'), name='one_answer_per_worker_and_image'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(fields=('assignment', 'item'), name='one_answer_per_assignment_and_item'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.CheckConstraint(condition=models.Q(('level__range', (1, 4))), name='judgment_level'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('worker',), name='one_standing_exclusion'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['state', 'deadline'], name='annotation__state_ca3dab_idx'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['worker', 'hit'], name='annotation__worker__495f0c_idx'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('external_posting', ''), _negated=True), fields=['external_posting', 'platform_state'], name='assignments_of_a_posting'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('platform_state', 'submitted')), fields=['hit'], name='undecided_on_the_platform'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('leased', 'submitted', 'flagged', 'accepted'))), fields=('seat',), name='one_holder_of_a_seat'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(models.Q(('state__in', ('returned', 'expired', 'excluded')), _negated=True), ('seat__isnull', False)), fields=('hit', 'worker'), name='a_worker_answers_a_hit_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('channel', 'environment', 'external_id', 'worker'), name='platform_assignment_once_per_worker'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(models.Q(('external_id', ''), _negated=True), models.Q(('platform_state', ''), _negated=True)), fields=('channel', 'environment', 'external_id'), name='listed_platform_assignment_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('seat__isnull', False), ('state__in', ('flagged', 'excluded')), models.Q(('state', 'leased'), models.Q(('external_id', ''), _negated=True)), _connector='OR'), name='only_platform_work_lacks_a_seat'),
        ),
        migrations.AddConstraint(
            model_name='workeridentity',
            constraint=models.UniqueConstraint(fields=('channel', 'environment', 'external_id'), name='identity_once_per_platform'),
        ),
    ]
