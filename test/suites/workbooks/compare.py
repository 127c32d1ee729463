"""Compares workbooks cell by cell with what came of them: FOLDER/NAME, FOLDER/out/NAME and the rows that were taken out."""

import json
import sys

import openpyxl
import pandas

FOLDER = sys.argv[1]
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


UNREAD = []
found = {}
for name, (sheet, out) in OUT.items():
    all_of_it = list(differences(name, sheet, out))
    if all_of_it:
        found[name] = all_of_it[:5]
if len(OUT) - len(UNREAD) < 60:
    found["compared"] = [len(OUT) - len(UNREAD), UNREAD]
print(json.dumps(found, indent=1, default=str))
