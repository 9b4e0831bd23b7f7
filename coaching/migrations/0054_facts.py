"""Key facts that are taken from a document's whole text: when, by which calls, and that it is a change."""

from django.db import migrations, models

PURPOSES = [
    ("classify", "Classification"),
    ("critic", "Second reading"),
    ("summary", "Summary"),
    ("transcript", "Transcript"),
    ("pages", "Pages read from pictures"),
    ("facts", "Facts"),
]
KINDS = [
    ("filed", "Filed"),
    ("moved", "Moved"),
    ("corrected", "Corrected"),
    ("renamed", "Renamed"),
    ("withheld", "AI model access changed"),
    ("facts_found", "Facts found"),
    ("knowledge_created", "Knowledge added"),
    ("knowledge_changed", "Knowledge changed"),
    ("action_created", "Next step added"),
    ("action_changed", "Next step changed"),
]


def known(field: str, choices: list[tuple[str, str]], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [each for each, _ in choices]}), name=name)


class Migration(migrations.Migration):
    dependencies = [("coaching", "0053_document_pages")]

    operations = [
        migrations.AddField(
            model_name="document",
            name="facts_found_at",
            field=models.DateTimeField(
                blank=True, null=True, help_text="When the key facts were taken from the whole text."
            ),
        ),
        migrations.AlterField(
            model_name="documentcall", name="purpose", field=models.CharField(choices=PURPOSES, max_length=16)
        ),
        migrations.RemoveConstraint(model_name="documentcall", name="document_call_purpose_known"),
        migrations.AddConstraint(
            model_name="documentcall", constraint=known("purpose", PURPOSES, "document_call_purpose_known")
        ),
        migrations.AlterField(
            model_name="libraryeffect", name="kind", field=models.CharField(choices=KINDS, max_length=32)
        ),
        migrations.RemoveConstraint(model_name="libraryeffect", name="effect_kind_known"),
        migrations.AddConstraint(
            model_name="libraryeffect", constraint=known("kind", KINDS, "effect_kind_known")
        ),
    ]
