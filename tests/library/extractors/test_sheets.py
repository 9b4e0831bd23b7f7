"""What a sheet has besides its cells is read: text boxes, diagrams, comments and threads of them."""

import io
import zipfile

from openpyxl import Workbook

from coaching.library.extractors.left_out import EMBEDDED
from coaching.library.extractors.office_drawings import MAX_BYTES
from coaching.library.extractors.xlsx_beside import Beside
from coaching.library.pipeline.extracted import Extraction
from coaching.library.pipeline.extraction import extract_now

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
NAMES = (
    f'xmlns:xdr="{DRAWING}/spreadsheetDrawing" xmlns:a="{DRAWING}/main" xmlns:dgm="{DRAWING}/diagram" '
    f'xmlns:c="{DRAWING}/chart" xmlns:r="{OFFICE}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
THREADS = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"


def read(data: bytes) -> Extraction:
    return extract_now(io.BytesIO(data), size=len(data), name="upload")


def relations(**parts: str) -> str:
    each = "".join(
        f'<Relationship Id="{kind}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for kind, target in parts.items()
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{namespace}">{each}</Relationships>'


def shape(text: str) -> str:
    return f"<xdr:sp><xdr:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"


def workbook(parts: dict[str, str], *, cell: str = "") -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Rents"
    sheet["A1"] = cell
    book.create_sheet("Empty")
    written = io.BytesIO()
    book.save(written)
    with zipfile.ZipFile(written, "a") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return written.getvalue()


class Counting(zipfile.ZipFile):
    """Keeps the names of the parts that are read."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.names: list[str] = []

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        self.names.append(str(name))
        return super().read(name, pwd)


def test_text_boxes_diagrams_and_comments_stand_below_the_cells() -> None:
    diagram = '<dgm:relIds r:dm="diagramData"/>'
    drawn = (
        f"<mc:AlternateContent><mc:Choice>{shape('In a box')}</mc:Choice>"
        f"<mc:Fallback>{shape('In a box')}</mc:Fallback></mc:AlternateContent>{diagram}"
    )
    remark = (
        '<comment authorId="0"><text><r><t>By </t></r><r><t>whom?</t></r><rPh><t>x</t></rPh></text></comment>'
    )
    stand_in = '<comment authorId="1"><text><t>[Kommentarthread] Ihre Version</t></text></comment>'
    authors = "<authors><author>Ann</author><author>tc={5D0A}</author></authors>"
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            drawing="../drawings/drawing1.xml",
            comments="/xl/comments1.xml",
            threadedComment="../threads.xml",
            image="../gone.xml",
        ),
        "xl/drawings/drawing1.xml": f"<xdr:wsDr {NAMES}>{drawn}</xdr:wsDr>",
        "xl/drawings/_rels/drawing1.xml.rels": relations(diagramData="../diagrams/data1.xml"),
        "xl/diagrams/data1.xml": f"<dgm:dataModel {NAMES}><a:p><a:t>Step one</a:t></a:p></dgm:dataModel>",
        "xl/comments1.xml": f'<comments xmlns="{MAIN}">{authors}{remark}{stand_in}</comments>',
        "xl/threads.xml": (
            f'<ThreadedComments xmlns="{THREADS}"><threadedComment><text>Paid?</text></threadedComment>'
            "</ThreadedComments>"
        ),
    }
    found = read(workbook(parts, cell="1a"))
    assert found.pages == (
        "Sheet: Rents\n1a\nIn a box\nStep one\nComment: By whom?\nComment: Paid?",
        "",
    )
    assert read(workbook(parts)).text.startswith("Sheet: Rents\nIn a box"), "also without a cell"


def test_cells_beyond_the_stated_size_of_a_sheet_are_read() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for number in range(1, 4):
        sheet.cell(number, number, f"cell {number}")
    written, changed = io.BytesIO(), io.BytesIO()
    book.save(written)
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:C3"', b'ref="A1"'))
    assert read(changed.getvalue()).text == "Sheet: Sheet\ncell 1\n | cell 2\n |  | cell 3"


def test_a_damaged_picture_does_not_make_a_workbook_unreadable() -> None:
    blip = '<a:blip r:embed="image"/>'
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(drawing="../drawings/drawing1.xml"),
        "xl/drawings/drawing1.xml": f"<xdr:wsDr {NAMES}>{blip}{shape('In a box')}</xdr:wsDr>",
        "xl/drawings/_rels/drawing1.xml.rels": relations(image="../media/image1.png"),
        "xl/media/image1.png": "picture-of-a-shop",
    }
    data = workbook(parts, cell="1a")
    assert data.count(b"picture-of-a-shop") == 1
    assert read(data.replace(b"picture-of", b"picturE-of")).pages[0] == "Sheet: Rents\n1a\nIn a box"


def test_sheets_with_embedded_files_are_named() -> None:
    parts = {"xl/worksheets/_rels/sheet2.xml.rels": relations(oleObject="../embeddings/oleObject1.bin")}
    found = read(workbook(parts, cell="1a"))
    assert found.pages == ("Sheet: Rents\n1a", "")
    assert found.note == f"{EMBEDDED}\n2."


def test_each_part_is_unpacked_once_and_no_large_one() -> None:
    references = "<dgm:relIds r:dm='one'/><dgm:relIds r:dm='large'/>" * 100
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(drawing="../drawings/drawing1.xml"),
        "xl/drawings/drawing1.xml": f"<xdr:wsDr {NAMES}>{references}</xdr:wsDr>",
        "xl/drawings/_rels/drawing1.xml.rels": relations(one="../one.xml", large="../large.xml"),
        "xl/one.xml": f"<dgm:dataModel {NAMES}><a:p><a:t>Step one</a:t></a:p></dgm:dataModel>",
        "xl/large.xml": " " * (MAX_BYTES + 1),
    }
    with Counting(io.BytesIO(workbook(parts))) as package:
        assert list(Beside(package).lines("Rents")) == ["Step one"]
        assert package.names.count("xl/one.xml") == 1
        assert package.names.count("xl/large.xml") == 0


def test_drawings_that_lie_cost_only_themselves() -> None:
    huge = f"<xdr:wsDr {NAMES}>{shape('x' * 60) * (MAX_BYTES // 100)}</xdr:wsDr>"
    for drawing in (huge, "<xdr:wsDr", f"<xdr:wsDr {NAMES}><dgm:relIds r:dm='none'/></xdr:wsDr>"):
        parts = {
            "xl/worksheets/_rels/sheet1.xml.rels": relations(drawing="../drawings/drawing1.xml"),
            "xl/drawings/drawing1.xml": drawing,
        }
        assert read(workbook(parts, cell="1a")).text == "Sheet: Rents\n1a\f"
    for drawn, kind in (("dgm:relIds r:dm", "diagramData"), ("c:chart r:id", "chart")):
        parts = {
            "xl/worksheets/_rels/sheet1.xml.rels": relations(drawing="../drawings/drawing1.xml"),
            "xl/drawings/drawing1.xml": f"<xdr:wsDr {NAMES}><{drawn}='{kind}'/></xdr:wsDr>",
            "xl/drawings/_rels/drawing1.xml.rels": relations(**{kind: "../broken.xml"}),
            "xl/broken.xml": f"<dgm:dataModel {NAMES}>",
        }
        assert read(workbook(parts, cell="1a")).text == "Sheet: Rents\n1a\f"
    itself = relations(drawing="../worksheets/sheet1.xml", comments="../../../../etc/passwd")
    assert read(workbook({"xl/worksheets/_rels/sheet1.xml.rels": itself}, cell="1a")).outcome == "text"
