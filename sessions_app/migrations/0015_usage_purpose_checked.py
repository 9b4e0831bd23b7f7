from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0014_safety_verdicts'),
    ]

    operations = [
        ValidateConstraint(model_name='modelusage', name='usage_purpose_known'),
    ]
