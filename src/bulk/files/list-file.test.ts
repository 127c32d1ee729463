import { strict as assert } from "node:assert";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { type ListOptions, type ListPage, readListFile } from "./list-file.ts";

async function* slices(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) {
    yield octets.subarray(at, at + size);
    await Promise.resolve();
  }
}

interface Read {
  readonly column: string;
  readonly header: readonly string[];
  /** Entries of each row, or why it has none. */
  readonly rows: readonly (readonly string[] | string)[];
}

async function read(octets: Uint8Array, options: ListOptions, size = 65_536): Promise<Read> {
  const pages: ListPage[] = [];
  for await (const page of readListFile(slices(octets, size), options)) pages.push(page);
  const shape = pages[0]?.shape;
  return {
    column: shape?.column ?? "",
    header: shape?.header ?? [],
    rows: pages.flatMap(({ rows }) => rows.map(({ entries, reason }) => reason ?? entries)),
  };
}

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");

type Case = readonly [
  name: string,
  content: string | Uint8Array,
  column: string,
  rows: readonly (readonly string[] | string)[],
  options?: ListOptions,
];

const JO = "jo@good.test";
const AN = "an@good.test";
const PEOPLE = `name,email\nJo,${JO}\nAn,${AN}\n`;

const cases: readonly Case[] = [
  ["UTF-16, little end first, with its mark", utf16(`\ufeff${PEOPLE}`), "email", [[JO], [AN]]],
  [
    "UTF-16, big end first, with its mark",
    utf16(`\ufeff${PEOPLE}`).swap16(),
    "email",
    [[JO], [AN]],
  ],
  ["UTF-16 without a mark", utf16(PEOPLE), "email", [[JO], [AN]]],
  ["lines that end with CR alone", PEOPLE.replaceAll("\n", "\r"), "email", [[JO], [AN]]],
  ["mixed ends of lines", `email\r\n${JO}\r${AN}\nx.test`, "email", [[JO], [AN], ["x.test"]]],
  ["a byte order mark and sep=", `\ufeffsep=;\nname;email\nJo;${JO}`, "email", [[JO]]],
  [
    "a list with an odd line at its end",
    `${JO}\n${AN}\n=cmd|x`,
    "entry",
    [[JO], [AN], ["=cmd|x"]],
    { name: "a.txt" },
  ],
  ["blank lines", `\n\nemail\n\n${JO}\n\n\n${AN}\n\n`, "email", [[JO], [AN]]],
  ["a header in German", `Vorname;E-Mail-Adresse\nJo;${JO}`, "E-Mail-Adresse", [[JO]]],
  ["a header in French", `Nom,Adresse électronique\nJo,${JO}`, "Adresse électronique", [[JO]]],
  ["a header in Spanish", `Nombre,Correo electrónico\nJo,${JO}`, "Correo electrónico", [[JO]]],
  ["a header in Polish", `Imię;Adres e-mail\nJo;${JO}`, "Adres e-mail", [[JO]]],
  ["a header in Japanese", `名前,メールアドレス\nJo,${JO}`, "メールアドレス", [[JO]]],
  [
    "decimals with commas between semicolons",
    `email;price\n${JO};1,50\n${AN};2,00`,
    "email",
    [[JO], [AN]],
  ],
  ["domains alone", "good.test\nx.test\n", "entry", [["good.test"], ["x.test"]]],
  [
    "a column of domains",
    "company,website\nGood,good.test\n",
    "website",
    [["good.test"]],
    { name: "a.csv" },
  ],
  [
    "delimiters at the end of each line",
    `email,name,\n${JO},Jo,\n${AN},An,\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "a lost end of a quote",
    `email,note\n"${JO},x\n${AN},y\n`,
    "email",
    ["The quote opened on line 2 is not closed.", [AN]],
  ],
  ["a row that is too long", `email,name\n${JO},Jo,x\n${AN},An`, "email", [[JO], [AN]]],
  [
    "a huge cell",
    `email,note\n${JO},${"x".repeat(40_000)}\n${AN},y\n`,
    "email",
    ["Line 2 has a cell of more than 32768 characters.", [AN]],
  ],
  [
    "JSON lines with members in members",
    `{"email":"${JO}","a":{"b":[1]}}\n{"a":1,"email":"${AN}"}\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "JSON lines of which one is broken",
    `{"email":"${JO}"}\n{"email":\n{"email":"${AN}"}\n`,
    "email",
    [[JO], "Line 2 is not a JSON object or text.", [AN]],
  ],
  ["two columns of addresses, one asked for", `a,b\n${JO},${AN}\n`, "b", [[AN]], { column: "b" }],
  ["a column by its number", `a,b\n${JO},${AN}\n`, "b", [[AN]], { column: "2" }],
  ["several entries in a cell", `email\n"${JO}; ${AN}"\n`, "email", [[JO, AN]]],
  ["names in front of addresses", `"Ash, Jo" <${JO}>, An <${AN}>`, "entry", [[JO], [AN]]],
  ["lines above the header", `Export\n2026-11-20\n\nname,email\nJo,${JO}\n`, "email", [[JO]]],
  ["an Entra template", `version:v1.0\nName,User email\nJo,${JO}\n`, "User email", [[JO]]],
  [
    "a table of psql",
    ` name |    email\n------+--------------\n Jo   | ${JO}\n An   | ${AN}\n(2 rows)\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "a table of mysql",
    `+------+--------------+\n| name | email        |\n+------+--------------+\n| Jo   | ${JO} |\n| An   | ${AN} |\n+------+--------------+\n2 rows in set (0.00 sec)\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "a table of Markdown",
    `| Name | Email |\n|------|:-----|\n| Jo | [${JO}](mailto:${JO}) |\n| An | ${AN} |\n`,
    "Email",
    [[JO], [AN]],
  ],
  ["links of Markdown", `[${JO}](mailto:${JO})\n[An](mailto:${AN})\n`, "entry", [[JO], [AN]]],
  [
    "nested JSON lines",
    `{"user":{"email":"${JO}"}}\n{"user":{"email":"${AN}"}}\n`,
    "user.email",
    [[JO], [AN]],
  ],
  [
    "a table of R with blanks between cells",
    `"name" "email" "n"\n"1" "Jo Ash" "${JO}" 1.5\n"2" "An" "${AN}" NA\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "links of mail between blanks",
    `mailto:${JO}?subject=a mailto:${AN}?subject=b c\n`,
    "entry",
    [[JO], [AN]],
  ],
  [
    "addresses of Exchange between blanks",
    `SIP:x@a.test SMTP:${JO} smtp:${AN}\n`,
    "entry",
    [[JO], [AN]],
  ],
  ["a remark that is an address", `(${JO}) ${AN}\n`, "entry", [[JO], [AN]]],
  [
    "addresses before one with a name",
    `${JO} x@a.test <${AN}>\n`,
    "entry",
    [[JO], ["x@a.test"], [AN]],
  ],
  ["an address for its name", `${JO} <${JO}>\n${AN} <${AN}>\n`, "entry", [[JO], [AN]]],
  [
    "words that mark, and words that are none",
    `1. x.test y.test\nX500:/o=Org A/cn=jo\nSIP: jo@x.test\n`,
    "entry",
    [["x.test"], ["y.test"], [], []],
  ],
  ["a group without blanks", `Team:${JO},${AN};\n`, "entry", [[JO], [AN]]],
  [
    "people of Exchange in Outlook",
    `Name,E-mail Address\nJo,${JO}\nAn,/o=ExchangeLabs/ou=x/cn=Recipients/cn=an\n`,
    "E-mail Address",
    [[JO], []],
  ],
  [
    "further addresses of Outlook",
    `Name,E-mail Address,E-mail 2 Address,E-mail 3 Address\nJo,${JO},,${AN}\nAn,,${AN},\n`,
    "E-mail Address",
    [[JO, AN], [AN]],
  ],
  [
    "a second address that is asked for",
    `Name,E-mail Address,E-mail 2 Address\nJo,${JO},${AN}\n`,
    "E-mail 2 Address",
    [[AN]],
    { column: "3" },
  ],
  [
    "users of Google Workspace",
    `First Name [Required],Email Address [Required],Recovery Email\nJo,${JO},${AN}\n`,
    "Email Address [Required]",
    [[JO]],
  ],
  [
    "users of Microsoft Entra",
    `userPrincipalName,mail,proxyAddresses\n${JO},${JO},SMTP:${JO};smtp:${AN}\n`,
    "mail",
    [[JO]],
  ],
  ["rows quoted as one cell", `"name,email"\n"Jo,${JO}"\n"An,${AN}"\n`, "email", [[JO], [AN]]],
  ["an Arabic comma", `${JO}\u060c ${AN}`, "entry", [[JO], [AN]]],
  ["an address in a title", `List of ops@good.test\nname,email\nJo,${JO}\n`, "email", [[JO]]],
  [
    "blanks before and behind quotes",
    `name, "tags" ,email\n"Ash, Jo", "a, b" ,${JO}\nAn, "c,""d""",${AN}\nZo, "c" d,zo@good.test\n`,
    "email",
    [[JO], [AN], ["zo@good.test"]],
    { name: "a.csv" },
  ],
  [
    "blanks before quotes that nothing closes",
    `name,email\n "Jo,${JO}\n "An" E,${AN}\n`,
    "email",
    [[JO], [AN]],
    { name: "a.csv" },
  ],
  ["a list of a programming language", `['${JO}', '${AN}']\n`, "entry", [[JO], [AN]]],
  [
    "lists of a programming language in cells",
    `id,email\n1,"['${JO}', '${AN}']"\n2,"['${JO}']"\n3,[]\n`,
    "email",
    [[JO, AN], [JO], []],
  ],
  [
    "a line of more addresses than are looked at",
    `${JO},`.repeat(6_000),
    "entry",
    Array<string[]>(6_000).fill([JO]),
  ],
  [
    "half a character in UTF-16",
    Buffer.concat([utf16(`\ufeffemail,name\n${JO},`), Buffer.from([0, 0xd8]), utf16(`\n${AN},\n`)]),
    "email",
    [[JO], [AN]],
  ],
  [
    "UTF-16 that is cut within a character",
    utf16(`\ufeffemail,name\n${JO},Jo\n${AN},An`).subarray(0, -1),
    "email",
    [[JO], [AN]],
  ],
  [
    "a text of JSON that nothing closes",
    `[\n{"email":"${JO}"},\n{"email":"x@good.test,"n":1},\n{"email":"${AN}"}\n]\n`,
    "email",
    [[JO], "Line 3 is not a JSON object or text.", [AN]],
  ],
  [
    "a text that nothing closes in an object of many lines",
    `[\r\n {\r\n  "email":"${JO}\r\n  "n":[1],\r\n  "m":{}\r\n },\r\n {\r\n  "email":"${AN}"\r\n }\r\n]\r\n`,
    "email",
    ["Line 2 is not a JSON object or text.", [AN]],
  ],
  [
    "a line break in a text of JSON",
    `[\n{"n":"a\nb","email":"${JO}"},\n{"n":"a","email":"${AN}"}\n]\n`,
    "email",
    ["Line 2 is not a JSON object or text.", [AN]],
  ],
  [
    "a text of JSON that nothing closes among texts",
    `[\n"${JO}",\n"x@good.test,\n"${AN}"\n]\n`,
    "entry",
    [[JO], "Line 3 is not a JSON object or text.", [AN]],
  ],
  [
    "a colon in a parameter of a card",
    `BEGIN:VCARD\nFN:Jo\nEMAIL;X="a:b;c":${JO}\nEND:VCARD\nBEGIN:VCARD\nEMAIL;X="a:${AN}\nEND:VCARD\n`,
    "email",
    [[JO], [AN]],
  ],
  [
    "addresses of Exchange",
    `name\tproxyAddresses\nJo\tSIP:x@good.test;SMTP:${JO};X500:/o=x/cn=jo;smtp:${AN}\n`,
    "proxyAddresses",
    [[JO, AN]],
  ],
];

for (const [name, content, column, rows, options = {}] of cases) {
  test(`a list is read: ${name}`, async () => {
    const octets = typeof content === "string" ? Buffer.from(content) : content;
    const whole = await read(octets, options);
    assert.deepEqual([whole.column, whole.rows], [column, rows]);
    for (const size of [1, 7]) assert.deepEqual(await read(octets, options, size), whole);
  });
}

const refused: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 106, 0, 0, 0, 111, 0, 0, 0]), /iconv -f UTF-32/],
  [
    "UTF-32 without a mark",
    Buffer.from([106, 0, 0, 0, 111, 0, 0, 0, 64, 0, 0, 0]),
    /iconv -f UTF-32/,
  ],
  ["Shift_JIS", Buffer.from([0x83, 0x81, 0x81, 0x5b, 0x83, 0x8b, 0x0a]), /iconv -f SHIFT_JIS/],
  ["gzip", gzipSync(PEOPLE), /zcat/],
  ["an image", Buffer.from("89504e470d0a1a0a0000000d", "hex"), /not a list that can be read/],
  ["a PDF", Buffer.from("%PDF-1.7\n"), /not a list/],
  ["NUL octets", Buffer.from(`${JO}\n\0\0\0\n${AN}\n${"x".repeat(20)}`), /NUL/],
  ["a guess at UTF-16 that is none", Buffer.from("610000d861006200", "hex"), /not text/],
  ["no column of addresses", Buffer.from("a,b\nc,d\n"), /No column holds addresses/],
  [
    "telephone numbers",
    Buffer.from("phone\n+49 171 123\n0171 2345\n"),
    /No column holds addresses/,
  ],
  [
    "telephone numbers in a text",
    Buffer.from("+49 171 1234567\n0171/23456\n"),
    /No column holds addresses/,
  ],
  ["a workbook that is none", Buffer.from("PK\u0003\u0004 and nothing more"), /workbook/i],
];

for (const [name, octets, reason] of refused) {
  test(`a list is refused with what to do: ${name}`, async () => {
    await assert.rejects(
      read(octets, {}),
      (why) => why instanceof TableFault && reason.test(why.message),
    );
  });
}
