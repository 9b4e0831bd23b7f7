"""Files for the library's pages: dropped as a person drops them, and read by a worker."""

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from django.test import override_settings
from playwright.async_api import Page

from coaching.jobs.worker import JobWorker
from coaching.practice.server import PracticeServer
from tests.library.extractors.files import pdf
from tests.library.pipeline.conftest import PAYSLIP

LEASE = pdf(
    [
        [
            "COMMERCIAL LEASE",
            "This lease of premises ends on 30 April 2036.",
            "It is made between Harbour Estates Ltd (landlord) and Ada Example (tenant).",
            "The demised premises are the ground floor of 12 Quay Street.",
            "The tenant covenants to keep the premises in repair. The landlord covenants quiet enjoyment.",
        ],
        ["Permitted use: bakery and shop."],
    ]
)
TWELVE: Mapping[str, bytes] = {
    "lease.pdf": LEASE,
    "payslip.txt": PAYSLIP.encode(),
    "copy of payslip.txt": PAYSLIP.encode(),
    "broken.pdf": LEASE[: len(LEASE) // 3],
    "unclear.txt": b"Opening balance 900. Closing balance 950. Credit limit 2,000. Available credit 1,050.",
    "account.txt": b"Bank statement. Sort code 12-34-56. Opening balance 900. Overdraft 0. Standing order 5.",
    "bakery.txt": b"Invoice number 7. Invoice date 3 May. Bill to Ada. Unit price 4. VAT number 12. Net 30.",
    "light.txt": b"Electricity bill. Meter reading 4,100. Unit rate 0.31. Standing charge 12. Tariff: day.",
    "tablets.txt": b"NHS prescription. Take one tablet twice daily. Dispense 28. Refills: 2. Pharmacy: Bell.",
    "after me.txt": b"Last will and testament. I revoke all former wills. I give and bequeath all to Ed.",
    "degree.txt": b"Degree certificate. Bachelor of Arts, conferred by the Senate. The Vice-Chancellor.",
    "me.txt": b"Curriculum vitae. Work experience: bakery. Key skills: bread. Languages: Welsh.",
}


async def drop(page: Page, onto: str, files: Mapping[str, bytes]) -> None:
    """Drop files onto an element."""
    given = [[name, b64encode(data).decode()] for name, data in files.items()]
    transfer = await page.evaluate_handle(
        """(given) => {
            const transfer = new DataTransfer();
            for (const [name, data] of given) {
                const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
                transfer.items.add(new File([bytes], name));
            }
            return transfer;
        }""",
        given,
    )
    await page.locator(onto).dispatch_event("drop", {"dataTransfer": transfer})


@asynccontextmanager
async def worker_of(practice: PracticeServer) -> AsyncIterator[None]:
    """Run a worker that asks this model."""
    values = {"ANTHROPIC_BASE_URL": practice.url, "ANTHROPIC_API_KEY": "practice"}
    with override_settings(IS_PRACTICE_MODEL=False, **values):
        async with JobWorker():
            yield
