"""Makes lists, waits until they are cleaned, and compares them cell by cell: FOLDER/NAME, FOLDER/out/NAME and what was taken out."""

import json
import re
import sys

import make

import openpyxl
import pandas

print("made", flush=True)
sys.stdin.readline()
FOLDER = make.FOLDER
OUT = json.load(open(f"{FOLDER}/out.json"))
MISSING = object()


def facts(cell, stored=None):
    """`stored`: the cell with the value of its formula, which stays in its place where rows were taken out."""
    value = cell.value
    text = getattr(value, "text", value)
    if stored is not None and cell.data_type == "f":
        text = stored.value
    style = (cell.number_format, cell.font.b, cell.font.color and cell.font.color.rgb, cell.fill.fgColor.rgb)
    link = cell.hyperlink.target if cell.hyperlink else None
    note = cell.comment.text if cell.comment else None
    return (text, style, link, note)


def followed(formula, sheet_name, out):
    """A formula of another sheet, naming cells of the cleaned one where their rows are now."""

    def at(row, is_end=False):
        return row - sum(line < row for line in out) - (is_end and row in out)

    def moved(found):
        start, row, to, last = found.groups()
        return f"{start}{at(int(row))}" + (f"{to}{at(int(last), True)}" if to else "")

    name = re.escape(sheet_name)
    return re.sub(rf"((?:'{name}'|{name})!\$?[A-Z]+\$?)(\d+)(?:(:\$?[A-Z]+\$?)(\d+))?", moved, formula)


def differences(name, sheet_name, out):
    try:
        before = openpyxl.load_workbook(f"{FOLDER}/{name}")
    except Exception:
        UNREAD.append(name)
        return
    stored = openpyxl.load_workbook(f"{FOLDER}/{name}", data_only=True)
    after = openpyxl.load_workbook(f"{FOLDER}/out/{name}")
    if before.sheetnames != after.sheetnames:
        yield f"sheets {after.sheetnames}"
    for sheet in before.worksheets:
        other = after[sheet.title]
        gone = set(out) if sheet.title == sheet_name else set()
        values = stored[sheet.title] if gone else None
        line = 0
        for row in sheet.iter_rows():
            if row[0].row in gone:
                continue
            line += 1
            for cell in row:
                same = other.cell(line, cell.column)
                was = facts(cell, values and values[cell.coordinate])
                if cell.data_type == "f" and isinstance(was[0], str) and sheet.title != sheet_name:
                    was = (followed(was[0], sheet_name, out), *was[1:])
                if was != facts(same):
                    yield f"{sheet.title}!{cell.coordinate}: {was} is {facts(same)}"
        if (sheet.freeze_panes, sheet.sheet_state) != (other.freeze_panes, other.sheet_state):
            yield f"{sheet.title}: panes or state"
        if {k: v.width for k, v in sheet.column_dimensions.items()} != {k: v.width for k, v in other.column_dimensions.items()}:
            yield f"{sheet.title}: widths"
    values = pandas.read_excel(f"{FOLDER}/{name}", sheet_name=sheet_name, header=None, engine="openpyxl")
    kept = values.drop(index=[line - 1 for line in out if line - 1 in values.index]).reset_index(drop=True)
    made = pandas.read_excel(f"{FOLDER}/out/{name}", sheet_name=sheet_name, header=None, engine="openpyxl")
    made = made.iloc[: len(kept), : kept.shape[1]]
    if not kept.astype(object).equals(made.astype(object)) and str(kept.values.tolist()) != str(made.values.tolist()):
        yield f"pandas: {kept.values.tolist()} is {made.values.tolist()}"


def texts(path, delimiter):
    """Cells as they are written, blank where a row is shorter."""
    encoding = "cp1252" if path.endswith("/outlook.csv") else "utf-8-sig"
    return pandas.read_csv(path, sep=delimiter, header=None, names=range(40), dtype=str, keep_default_na=False, encoding=encoding)


def text_differences(name, delimiter, out):
    before = texts(f"{FOLDER}/{name}", delimiter)
    after = texts(f"{FOLDER}/out/{name}", delimiter)
    width = max(len([cell for cell in row if cell != ""]) for row in before.values.tolist())
    if name.startswith("r-write-table"):
        before.iloc[0] = ["", *before.iloc[0].tolist()[:-1]]  # R names no column of row names
    kept = before.drop(index=[at + 1 for at in out])
    if kept.iloc[:, :width].values.tolist() != after.iloc[:, :width].values.tolist():
        for was, now in zip(kept.values.tolist(), after.values.tolist()):
            if was[:width] != now[:width]:
                yield f"{was[:width]} is {now[:width]}"
        yield f"{len(kept)} rows are {len(after)}"
    octets = [open(f"{FOLDER}/{folder}{name}", "rb").read() for folder in ("", "out/")]
    if len({octet.count(b"\r\n") > 0 for octet in octets}) > 1 or len({octet[:3] == b"\xef\xbb\xbf" for octet in octets}) > 1:
        yield "other line ends, or another mark"


UNREAD = []
found = {}
for name, (sheet, out) in OUT.items():
    compare = differences if name.endswith(("x", "m")) else text_differences
    all_of_it = list(compare(name, sheet, out))
    if all_of_it:
        found[name] = all_of_it[:5]
if len(OUT) - len(UNREAD) < 60:
    found["compared"] = [len(OUT) - len(UNREAD), UNREAD]
print(json.dumps(found, indent=1, default=str))
