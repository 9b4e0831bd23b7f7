"""The shipped types of documents, their categories and their folders, as pages show them.

All are stored, and sent to models, in English. `TYPES` and `CATEGORIES` are by the name that is stored.
What an operator, a person or a model named otherwise is shown as it was written.
"""

from collections.abc import Collection, Mapping

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import override, pgettext, pgettext_lazy

TYPES: Mapping[str, str | Promise] = {
    "application-letter": pgettext_lazy("document type", "Application letter"),
    "appraisal": pgettext_lazy("document type", "Work appraisal"),
    "assessment-report": pgettext_lazy("document type", "Assessment report"),
    "bank-statement": pgettext_lazy("document type", "Bank statement"),
    "birth-certificate": pgettext_lazy("document type", "Birth certificate"),
    "building-contract": pgettext_lazy("document type", "Building contract"),
    "building-survey": pgettext_lazy("document type", "Building survey"),
    "call-transcript": pgettext_lazy("document type", "Call or meeting transcript"),
    "coaching-notes": pgettext_lazy("document type", "Coaching notes"),
    "completion-statement": pgettext_lazy("document type", "Completion statement"),
    "credit-card-statement": pgettext_lazy("document type", "Credit card statement"),
    "cv": pgettext_lazy("document type", "CV or résumé"),
    "diploma": pgettext_lazy("document type", "Diploma or certificate of study"),
    "employment-contract": pgettext_lazy("document type", "Employment contract"),
    "energy-certificate": pgettext_lazy("document type", "Energy certificate"),
    "ground-rent-notice": pgettext_lazy("document type", "Ground rent notice"),
    "heads-of-terms": pgettext_lazy("document type", "Heads of terms"),
    "insurance-policy": pgettext_lazy("document type", "Insurance policy"),
    "insurance-schedule": pgettext_lazy("document type", "Building insurance schedule"),
    "inventory-report": pgettext_lazy("document type", "Inventory and check-in report"),
    "invoice": pgettext_lazy("document type", "Invoice"),
    "journal-entry": pgettext_lazy("document type", "Journal entry"),
    "lab-result": pgettext_lazy("document type", "Lab result"),
    "land-search": pgettext_lazy("document type", "Land search result"),
    "lease-amendment": pgettext_lazy("document type", "Lease amendment"),
    "lease": pgettext_lazy("document type", "Commercial lease"),
    "letter": pgettext_lazy("document type", "Letter"),
    "loan-facility": pgettext_lazy("document type", "Loan facility agreement"),
    "management-agreement": pgettext_lazy("document type", "Property management agreement"),
    "marriage-certificate": pgettext_lazy("document type", "Marriage certificate"),
    "medical-letter": pgettext_lazy("document type", "Medical letter"),
    "meeting-minutes": pgettext_lazy("document type", "Meeting minutes"),
    "mortgage-deed": pgettext_lazy("document type", "Mortgage deed"),
    "mortgage-offer": pgettext_lazy("document type", "Mortgage offer"),
    "passport-copy": pgettext_lazy("document type", "Passport or identity card"),
    "payslip": pgettext_lazy("document type", "Payslip"),
    "pension-statement": pgettext_lazy("document type", "Pension statement"),
    "planning-decision": pgettext_lazy("document type", "Planning decision"),
    "power-of-attorney": pgettext_lazy("document type", "Power of attorney"),
    "prescription": pgettext_lazy("document type", "Prescription"),
    "property-particulars": pgettext_lazy("document type", "Property particulars"),
    "property-tax-bill": pgettext_lazy("document type", "Property tax bill"),
    "purchase-contract": pgettext_lazy("document type", "Property purchase contract"),
    "receipt": pgettext_lazy("document type", "Receipt"),
    "reference-letter": pgettext_lazy("document type", "Employer's reference"),
    "rent-review-notice": pgettext_lazy("document type", "Rent increase notice"),
    "rent-schedule": pgettext_lazy("document type", "Rent schedule"),
    "school-report": pgettext_lazy("document type", "School report"),
    "service-charge-budget": pgettext_lazy("document type", "Service charge budget"),
    "service-charge-statement": pgettext_lazy("document type", "Service charge statement"),
    "tax-assessment": pgettext_lazy("document type", "Tax assessment"),
    "tax-return": pgettext_lazy("document type", "Tax return"),
    "tenancy-agreement": pgettext_lazy("document type", "Tenancy agreement"),
    "tenancy-termination": pgettext_lazy("document type", "Notice to end a tenancy"),
    "title-register": pgettext_lazy("document type", "Title register"),
    "travel-booking": pgettext_lazy("document type", "Travel booking"),
    "utility-bill": pgettext_lazy("document type", "Utility bill"),
    "valuation": pgettext_lazy("document type", "Property valuation"),
    "will": pgettext_lazy("document type", "Will"),
}
CATEGORIES: Mapping[str, str | Promise] = {
    "leases": pgettext_lazy("documents", "Leases and tenancies"),
    "purchase-sale": pgettext_lazy("documents", "Buying and selling property"),
    "ownership": pgettext_lazy("documents", "Ownership of land"),
    "valuation-survey": pgettext_lazy("documents", "Valuations and surveys"),
    "planning-building": pgettext_lazy("documents", "Planning and building"),
    "property-finance": pgettext_lazy("documents", "Property finance"),
    "property-management": pgettext_lazy("documents", "Property management"),
    "money": pgettext_lazy("documents", "Money"),
    "tax": pgettext_lazy("documents", "Tax"),
    "insurance": pgettext_lazy("documents", "Insurance"),
    "home": pgettext_lazy("documents", "Household"),
    "work": pgettext_lazy("documents", "Work"),
    "education": pgettext_lazy("documents", "Education"),
    "health": pgettext_lazy("documents", "Health"),
    "identity-family": pgettext_lazy("documents", "Identity and family"),
    "legal": pgettext_lazy("documents", "Legal"),
    "travel": pgettext_lazy("documents", "Travel"),
    "coaching": pgettext_lazy("documents", "Conversations and reflection"),
    "correspondence": pgettext_lazy("documents", "Letters"),
}
FOLDERS: Mapping[str, str | Promise] = {
    "Leases": pgettext_lazy("folder of documents", "Leases"),
    "Purchase and sale": pgettext_lazy("folder of documents", "Purchase and sale"),
    "Title and ownership": pgettext_lazy("folder of documents", "Title and ownership"),
    "Valuations and surveys": pgettext_lazy("folder of documents", "Valuations and surveys"),
    "Planning and building": pgettext_lazy("folder of documents", "Planning and building"),
    "Finance": pgettext_lazy("folder of documents", "Finance"),
    "Property management": pgettext_lazy("folder of documents", "Property management"),
    "Money": pgettext_lazy("folder of documents", "Money"),
    "Tax": pgettext_lazy("folder of documents", "Tax"),
    "Insurance": pgettext_lazy("folder of documents", "Insurance"),
    "Home": pgettext_lazy("folder of documents", "Home"),
    "Work": pgettext_lazy("folder of documents", "Work"),
    "Staff": pgettext_lazy("folder of documents", "Staff"),
    "Education": pgettext_lazy("folder of documents", "Education"),
    "Health": pgettext_lazy("folder of documents", "Health"),
    "Identity and family": pgettext_lazy("folder of documents", "Identity and family"),
    "Legal": pgettext_lazy("folder of documents", "Legal"),
    "Travel": pgettext_lazy("folder of documents", "Travel"),
    "Assessments": pgettext_lazy("folder of documents", "Assessments"),
    "Notes and calls": pgettext_lazy("folder of documents", "Notes and calls"),
    "Letters": pgettext_lazy("folder of documents", "Letters"),
    "Company accounts": pgettext_lazy("folder of documents", "Company accounts"),
    "Company records": pgettext_lazy("folder of documents", "Company records"),
}


def shown_title(title: str) -> str:
    """Return the title of a type; one that an operator wrote stays as it is."""
    return pgettext("document type", title)


def shown_type(file_type: str) -> str:
    """Return the title of a shipped type, otherwise its name in words."""
    return str(TYPES.get(file_type) or in_words(file_type))


def shown_category(category: str) -> str:
    return str(CATEGORIES.get(category) or in_words(category))


def shown_folder(folder: str) -> str:
    """Return the name of a folder; one that a person wrote stays as it is."""
    return pgettext("folder of documents", folder)


def shown_folders(folders: Collection[str]) -> Mapping[str, str]:
    """Return the shown names of folders by their stored ones, each of them once.

    A shipped folder keeps its English name where a person has named one of theirs like its translation.
    """
    stored = frozenset(folders)
    shown = {folder: shown_folder(folder) for folder in stored}
    return {folder: folder if name in stored else name for folder, name in shown.items()}


def is_shown_as(folder: str, name: str) -> bool:
    """Return whether pages in any language show a folder by that name."""
    for code, _ in settings.LANGUAGES:
        with override(code):
            if shown_folder(folder) == name:
                return True
    return False


def stored_folder(folder: str) -> str:
    """Return a folder's name as it is stored: that of the shipped one that is shown so, or the same."""
    return next((name for name, shown in FOLDERS.items() if str(shown) == folder), folder)


def stored_folder_in_any_language(folder: str) -> str:
    """Return what `stored_folder` does, for a model or a card, which don't know the language of the pages."""
    for code, _ in settings.LANGUAGES:
        with override(code):
            stored = stored_folder(folder)
        if stored != folder:
            return stored
    return folder


def in_words(name: str) -> str:
    """Return a name of letters and hyphens as words: `gym-contract` is “Gym contract”."""
    return name.replace("_", " ").replace("-", " ").capitalize()
