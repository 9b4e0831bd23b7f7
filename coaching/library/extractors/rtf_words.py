"""Control words of RTF that matter for its text."""

SKIPPED = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "themedata", "fldinst", "objdata", "objclass",
    "shprslt", "nonshppict", "listtable", "listoverridetable", "rsidtbl", "sp", "ftnsep", "ftnsepc",
    "aftnsep", "aftnsepc", "bkmkstart", "bkmkend", "atnauthor", "atnid", "xe", "tc", "nonesttables",
    "private", "fname",
})  # fmt: skip
"""Destinations whose text isn't the document's."""
REPEATED = frozenset({"shprslt", "nonshppict", "nonesttables"})
"""The same again, for programs that don't know the newer form."""
MARGINS = frozenset({
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
})  # fmt: skip
SAID = {
    "par": "\n", "line": "\n", "sect": "\n", "softline": "\n", "tab": "\t", "cell": " | ", "nestcell": " | ",
    "row": "\n", "nestrow": "\n", "page": "\f", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
ENCODINGS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 255: "cp437",
}  # fmt: skip
"""Encodings of fonts, by the numbers that Windows has for them. Others are written in that of the file."""
