"""Writes lists as people make them with openpyxl, XlsxWriter and pandas into a folder."""

import datetime
import sys

import openpyxl
import pandas
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

FOLDER = sys.argv[1]
HEAD = ["Name", "Email", "Joined", "Amount", "Twice", "Share", "Seen", "Active"]


def rows(count=15):
    """Every third repeats the address before it."""
    for at in range(1, count + 1):
        user = at - 1 if at % 3 == 0 else at
        joined = datetime.datetime(2026, 1 + at % 12, at, 9, 30, at)
        row = at + 1
        yield [f"Jo <&> \u00e9{at}", f"u{user}@good.test", joined, 24.69 * at, f"=D{row}*2", at / 7, datetime.time(8, at), at % 2 == 0]


def book(name, change=lambda sheet, workbook: None):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "People"
    sheet.append(HEAD)
    for row in rows():
        sheet.append(row)
    workbook.create_sheet("Other")["A1"] = "plain"
    change(sheet, workbook)
    workbook.save(f"{FOLDER}/openpyxl-{name}.xlsx")


def formats(sheet, _):
    for at, code in enumerate(["dd.mm.yyyy", "0.00", "0", "0.0%", "hh:mm", "General"]):
        for line in range(2, 17):
            sheet.cell(line, at + 3).number_format = code


def styles(sheet, _):
    for cell in sheet[1]:
        cell.font = Font(bold=True, color="FF0000")
    for line in range(2, 17, 2):
        sheet.cell(line, 1).fill = PatternFill("solid", fgColor="DDEEFF")
    sheet.column_dimensions["B"].width = 40
    sheet.row_dimensions[5].height = 33
    sheet.freeze_panes = "B2"


def notes(sheet, _):
    for line in (3, 4, 7):
        sheet.cell(line, 1).comment = Comment(f"note {sheet.cell(line, 2).value} {line}", "me")


def links(sheet, _):
    for line in range(2, 17):
        sheet.cell(line, 1).hyperlink = f"https://x.test/{line}"


def merges(sheet, _):
    sheet.merge_cells("J2:J3")
    sheet.merge_cells("J4:J6")
    sheet.merge_cells("K10:L11")


def rules(sheet, _):
    sheet.conditional_formatting.add("D2:D16", CellIsRule(operator="greaterThan", formula=["100"]))
    sheet.conditional_formatting.add("A2:B16", FormulaRule(formula=["$D2>100"]))
    choice = DataValidation(type="list", formula1='"yes,no"')
    choice.add("H2:H16")
    sheet.add_data_validation(choice)
    sheet.auto_filter.ref = "A1:H16"


def table(sheet, _):
    sheet.add_table(Table(displayName="People", ref="A1:H16"))


def formulas(sheet, workbook):
    sheet["J1"] = "=SUM(D2:D16)"
    sheet["J2"] = "=AVERAGE(People!D2:D16)"
    workbook["Other"]["B1"] = "=People!D2"
    workbook["Other"]["B2"] = "=SUM(People!D2:D16)"


def sheets(_, workbook):
    workbook.create_sheet("Hidden").sheet_state = "hidden"
    workbook["Hidden"].append(["a", 1, 2.5, True])
    workbook.create_sheet("First", 0).append(["title"])


def moved(sheet):
    """What openpyxl leaves where it was."""
    for (cell,) in sheet.iter_rows(min_col=5, max_col=5):
        if str(cell.value).startswith("="):
            cell.value = f"=D{cell.row}*2"


def title(sheet, _):
    sheet.insert_rows(1, 2)
    sheet["A1"] = "Our people"
    moved(sheet)


def gaps(sheet, _):
    sheet.insert_rows(6)
    moved(sheet)
    sheet.cell(20, 2).value = "N/A"
    sheet.cell(21, 2).value = "not an address"


CHANGES = [formats, styles, notes, links, merges, rules, table, formulas, sheets, title, gaps]
book("plain")
for each in CHANGES:
    book(each.__name__, each)


def written(name, options=None, **more):
    workbook = xlsxwriter.Workbook(f"{FOLDER}/xlsxwriter-{name}.xlsx", options or {})
    sheet = workbook.add_worksheet("People")
    bold = workbook.add_format({"bold": True})
    date = workbook.add_format({"num_format": more.get("date", "yyyy-mm-dd")})
    sheet.write_row(0, 0, HEAD, bold)
    for line, row in enumerate(rows(), 1):
        for at, value in enumerate(row):
            if isinstance(value, datetime.datetime):
                sheet.write_datetime(line, at, value, date)
            elif isinstance(value, datetime.time):
                sheet.write_datetime(line, at, value, workbook.add_format({"num_format": "hh:mm"}))
            elif isinstance(value, str) and value.startswith("="):
                sheet.write_formula(line, at, value, None, 49.38 * line)
            else:
                sheet.write(line, at, value)
    workbook.add_worksheet("Other").write("A1", "plain")
    more.get("change", lambda *_: None)(sheet, workbook)
    workbook.close()


def rich(sheet, workbook):
    sheet.write_rich_string("A3", workbook.add_format({"italic": True}), "It", "alic")


def chart(sheet, workbook):
    made = workbook.add_chart({"type": "line"})
    made.add_series({"values": "=People!$D$2:$D$16"})
    sheet.insert_chart("K2", made)


written("plain")
written("german", date="dd.mm.yyyy")
written("month", date="d-mmm-yy")
written("1904", {"date_1904": True})
written("constant", {"constant_memory": True})
written("rich", change=rich)
written("notes", change=lambda sheet, _: [sheet.write_comment(f"A{line}", f"n{line}") for line in (3, 4, 8)])
written("table", change=lambda sheet, _: sheet.add_table("A1:H16", {"columns": [{"header": name} for name in HEAD]}))
written("chart", change=chart)
written("freeze", change=lambda sheet, _: (sheet.freeze_panes(1, 0), sheet.set_column("B:B", 40), sheet.autofilter("A1:H16")))
written("print", change=lambda sheet, _: (sheet.print_area("A1:H16"), sheet.repeat_rows(0)))
written("memory", {"in_memory": True})
written("urls", change=lambda sheet, _: [sheet.write_url(f"A{line}", f"https://x.test/{line}") for line in range(2, 17)])
written("hidden", change=lambda sheet, _: (sheet.set_row(4, 30, None, {"hidden": True}), sheet.set_column("D:D", 9, None, {"hidden": True})))
written("moments", date="dd/mm/yyyy hh:mm")
written("elapsed", date="[h]:mm")
written("protected", change=lambda sheet, _: sheet.protect())
written("array", change=lambda sheet, _: sheet.write_array_formula("J2:J2", "{=SUM(D2:D16)}", None, 1))

frame = pandas.DataFrame([row[:4] + row[5:6] for row in rows()], columns=["Name", "Email", "Joined", "Amount", "Share"])
for engine in ("openpyxl", "xlsxwriter"):
    frame.to_excel(f"{FOLDER}/pandas-{engine}.xlsx", engine=engine, index=False)
    frame.to_excel(f"{FOLDER}/pandas-{engine}-index.xlsx", engine=engine)
    frame.astype(str).to_excel(f"{FOLDER}/pandas-{engine}-text.xlsx", engine=engine, index=False, sheet_name="A & B")


def quoted(value):
    return '"' + str(value).replace('"', '""') + '"'


def export(name, lines, encoding="utf-8", end="\r\n"):
    with open(f"{FOLDER}/{name}", "wb") as file:
        file.write("".join(line + end for line in lines).encode(encoding))


def r_rows(sep, point=".", names=quoted):
    """R quotes texts and names of rows; numbers, dates and NA stand bare."""
    for at, (name, email, joined, amount, *_) in enumerate(rows(), 1):
        bare = [joined.date().isoformat(), "NA" if at == 4 else str(round(amount, 2)).replace(".", point)]
        yield sep.join([names(at), names(name), names(email), *bare])


R_HEAD = ["Name", "Email", "Joined", "Amount"]
export("r-write-csv.csv", [",".join(map(quoted, ["", *R_HEAD])), *r_rows(",")], end="\n")
export("r-write-csv2.csv", [";".join(map(quoted, ["", *R_HEAD])), *r_rows(";", ",")], end="\n")
export("r-write-table-blanks.txt", [" ".join(map(quoted, R_HEAD)), *r_rows(" ")], end="\n")
export("r-write-table.txt", ["\t".join(map(quoted, R_HEAD)), *r_rows("\t")], end="\n")
export("r-write-table-bare.tsv", ["\t".join(R_HEAD), *r_rows("\t", names=str)], end="\n")

GOOGLE = "First Name,Last Name,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value"


def google():
    for at, (name, email, *_) in enumerate(rows(), 1):
        note = quoted("first line\nsecond, line") if at == 5 else ""
        several = f"{email} ::: v{at}@good.test" if at % 4 == 1 else email
        second = f"w{at}@good.test" if at == 2 else ""
        yield f"{name},Ash,{note},,* myContacts ::: Friends,* Work,{several},Home,{second},Mobile ::: Work,+49 30 {at} ::: +49 30 9{at}"


export("google-contacts.csv", [GOOGLE, *google()], end="\n")
export("google-contacts-bom.csv", ["\ufeff" + GOOGLE, *google()])

OUTLOOK = ["Title", "First Name", "Last Name", "Company", "Home Street", "Mobile Phone", "Birthday", "E-mail Address", "E-mail Type", "E-mail Display Name", "E-mail 2 Address", "E-mail 2 Type", "E-mail 3 Address", "Notes"]


def outlook():
    for at, (name, email, *_) in enumerate(rows(), 1):
        second = f"w{at}@good.test" if at % 5 == 0 else ""
        note = "a \"note\"\r\nof two lines" if at == 3 else ""
        cells = ["", name, "M\u00fcller", "Good, Inc.", "1 Main St", f"(030) {at}", f"{at}/1/2026", email, "SMTP", f"{name} ({email})", second, "SMTP" if second else "", "", note]
        yield ",".join(map(quoted, cells))


export("outlook.csv", [",".join(map(quoted, OUTLOOK)), *outlook()], "cp1252")
export("outlook-new.csv", ["\ufeff" + ",".join(OUTLOOK), *outlook()])

MAILCHIMP = '"Email Address","First Name","Last Name",Address,"Phone Number",Birthday,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS'


def mailchimp():
    for at, (name, email, joined, *_) in enumerate(rows(), 1):
        place = '"1 Main St  Berlin  10115  DE"' if at % 2 else ""
        tags = '"""customer"",""2026"""' if at % 3 else ""
        yield f'{email},"{name}",Ash,{place},+4930{at},0{at % 9 + 1}/11,2,"{joined}",,"{joined}",192.0.2.{at},52.5200000,-13.4050000,1,2,Europe/Berlin,DE,BE,"{joined}",{at}1234567,abc{at}def,,{tags}'


export("mailchimp-subscribed.csv", [MAILCHIMP, *mailchimp()], end="\n")
export("mailchimp-cleaned.csv", [MAILCHIMP.replace("CONFIRM_IP", "CONFIRM_IP,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE"), *[line.replace(",52.52", ',"2026-11-01 10:00:00","Autumn, 1",52.52') for line in mailchimp()]])
