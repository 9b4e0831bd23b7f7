"""What documents are, without a model: no type without evidence, and facts that end where the next begins."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from coaching.library import references
from coaching.practice.coach.analysis import facts_in
from coaching.practice.coach.documents import classify
from coaching.practice.script import Text

FOLDER = Path(references.__file__).parent
HTML = "Welcome to our page\nHome, About us, Contact\nWe build websites for small shops."
LEASE = """Lease agreement
Landlord: Hans Meyer GmbH, Tenant: Ana Ruiz
The flat on the second floor of 12 Quay Street is let from 1 May 2026. Rent: EUR 900."""


def phrases_of(file_type: str) -> str:
    listed = (FOLDER / f"{file_type}.md").read_text(encoding="utf-8").partition("phrases: [")[2]
    return "; ".join(" ".join(listed.partition("]")[0].split()).split(", "))


def classified(text: str, *candidates: str, name: str = "a.txt", reads: str = "en") -> dict[str, Any]:
    """Return the row that answers for a document with these candidates."""
    known = "\n".join(
        f'<reference file_type="{each}">\n## Phrases\n\n{phrases_of(each)}\n</reference>'
        for each in candidates
    )
    listed = ", ".join(candidates)
    sent = (
        f'<owner reads="{reads}">\n</owner>\n{known}\n'
        f'<document number="1" id="1" name="{name}" candidates="{listed}">\n{text}\n</document>'
    )
    properties = {"file_type": {"type": "string"}, "tags": {"items": {"enum": ["rent"]}}}
    schema = {"properties": {"documents": {"items": {"properties": properties}}}}
    reply = classify(
        {
            "messages": [{"role": "user", "content": sent}],
            "output_config": {"format": {"schema": schema}},
        }
    )
    said = "".join(block.text for block in reply.blocks if isinstance(block, Text))
    row: dict[str, Any] = orjson.loads(said)["documents"][0]
    return row


@pytest.mark.parametrize("text", [HTML, LEASE])
@pytest.mark.parametrize(
    ("reads", "why"), [("en", "Nothing in it"), ("de", "Nichts darin"), ("es", "No hay nada en él")]
)
def test_without_evidence_no_type_is_guessed(text: str, reads: str, why: str) -> None:
    row = classified(text, "lease", "passport-copy", reads=reads)
    assert (row["file_type"], row["confidence"]) == ("", 0.0)
    assert row["why"].startswith(why)
    assert row["alternatives"] == []


def test_a_tenancy_is_still_recognised_by_its_phrases() -> None:
    row = classified("Tenancy agreement\nThe monthly rent is 900. No pets.", "tenancy-agreement", "lease")
    assert row["file_type"] == "tenancy-agreement"
    assert row["confidence"] > 0.8


@pytest.mark.parametrize(
    ("text", "file_type"),
    [
        ("Contrato de arrendamiento de vivienda\nFianza: 980 euros.", "tenancy-agreement"),
        ("Contrato de arrendamiento de local de negocio\nArrendador: Inmuebles Sur S.L.", "lease"),
        ("Recibo de salarios\nSalario base 1.400,00. Líquido a percibir 1.210,33", "payslip"),
        ("Factura de la luz\nPotencia contratada 3,45 kW. Consumo facturado 120 kWh", "utility-bill"),
        ("Contrato de trabajo\nEl periodo de prueba es de dos meses.", "employment-contract"),
    ],
)  # fmt: skip
def test_a_document_in_spanish_is_recognised_by_its_phrases(text: str, file_type: str) -> None:
    others = {"tenancy-agreement", "lease", "payslip", "utility-bill", "employment-contract"} - {file_type}
    row = classified(text, file_type, *sorted(others), reads="es")
    assert (row["file_type"], row["confidence"] > 0.8) == (file_type, True)


def test_a_type_that_the_title_names_is_suggested_without_being_sure() -> None:
    row = classified("TENANCY TERMINATION NOTICE\nIt ends in May.", "tenancy-termination")
    assert (row["file_type"], row["confidence"]) == ("tenancy-termination", 0.5)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (LEASE, [("Landlord", "Hans Meyer GmbH"), ("Tenant", "Ana Ruiz")]),
        (
            "Vermieter: Hans Meyer GmbH; Mieterin: Ana Ruiz",
            [("Vermieter", "Hans Meyer GmbH"), ("Mieterin", "Ana Ruiz")],
        ),
        (
            "Arrendador: Hans Meyer, S.L., Inquilina: Ana",
            [("Arrendador", "Hans Meyer, S.L."), ("Inquilina", "Ana")],
        ),
        ("Rent: EUR 900, payable at 10:30", [("Rent", "EUR 900, payable at 10:30")]),
    ],
)
def test_a_value_ends_where_the_next_label_begins(text: str, facts: list[tuple[str, str]]) -> None:
    assert [(fact["name"], fact["value"]) for fact in facts_in(text)] == facts
    assert all(fact["quote"] in text for fact in facts_in(text))
