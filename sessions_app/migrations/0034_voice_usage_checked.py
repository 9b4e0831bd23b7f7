from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0033_voice_usage'),
    ]

    operations = [
        ValidateConstraint(model_name='modelusage', name='usage_purpose_known'),
    ]
