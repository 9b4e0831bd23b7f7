"""The day of the month of a step is valid in the rows that were there before."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("coaching", "0070_step_month_day")]

    operations = [ValidateConstraint(model_name="actionitem", name="action_month_day_known")]
