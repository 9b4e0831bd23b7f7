"""Numbers as lists write them: 4, iv, D, 4th."""

MAX_ROMAN = 3_999
MAX_LETTERS = 780
"""Thirty times the alphabet."""
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def numeral(number: int, form: str) -> str:
    """Return a number in a form by Word's name for it; in digits if there is no such form."""
    if form == "none":
        return ""
    if form in ("lowerRoman", "upperRoman") and 0 < number <= MAX_ROMAN:
        return _roman(number) if form == "lowerRoman" else _roman(number).upper()
    if form in ("lowerLetter", "upperLetter") and 0 < number <= MAX_LETTERS:
        return letters(number) if form == "lowerLetter" else letters(number).upper()
    if form == "decimalZero":
        return f"{number:02}"
    if form == "ordinal":
        is_teen = number // 10 % 10 == 1
        return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"
    return str(number)


def letters(number: int) -> str:
    """Return a, b … z, aa, bb and so on."""
    times, place = divmod(number - 1, 26)
    return chr(ord("a") + place) * (times + 1)


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        written += sign * (number // value)
        number %= value
    return written
