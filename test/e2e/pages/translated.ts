import { parse } from "yaml";
import type { Row } from "../../../src/dashboard/words/catalogue/catalogue.ts";
import { tableText } from "../../dashboard/sentences.ts";

const ROWS = ["first", "check", "rest", "server"].flatMap(
  (name) => parse(tableText(name)) as readonly Row[],
);

const literal = (text: string): string => text.replaceAll(/\{\w+\}|\W/g, "");

const texts = ({ en, de, es, fr }: Row): readonly string[] => [en, de, es, fr];

/** Where a slot holds a link, the texts beside it are nodes of their own. */
function piecesOf(row: Row): readonly (readonly string[])[] {
  const [en = [], ...others] = texts(row).map((text) => text.split(/\{\w+\}/));
  if (others.some(({ length }) => length !== en.length)) return [];
  return en.map((text, at) => [text, ...others.map((pieces) => pieces[at] ?? "")]);
}

const long = (row: readonly string[]): boolean => literal(row[0] ?? "").length > 8;

const FILLED = ROWS.filter(({ en }) => en.includes("{"));

const WORDS = {
  whole: Object.fromEntries([
    // A piece of a word or two stands in texts that are not its own.
    ...FILLED.flatMap(piecesOf)
      .filter(long)
      .map((row) => row.map((text) => text.trim()))
      .map((row) => [row[0], row]),
    ...ROWS.filter(({ en }) => !en.includes("{")).map((row) => [row.en, texts(row)]),
  ]),
  filled: FILLED.map(texts)
    .filter((row) => long(row) || /^(?:\w{3,} |\{n\} )/.test(row[0] ?? ""))
    .toSorted(([a = ""], [b = ""]) => literal(b).length - literal(a).length),
};

/**
 * Defines `inLanguages(task)` in a page: puts its texts into German, Spanish and French where they stand, runs `task` in
 * each, and gives the page its own texts back. So a state is reached once for all languages.
 */
export const IN_LANGUAGES = `
  window.inLanguages = (task) => {
    const { whole, filled } = window.words ??= ${JSON.stringify(WORDS)};
    const escaped = (text) => text.replaceAll(/[.*+?^$()|[\\]\\\\]/g, "\\\\$&");
    const slot = (_, name) => "(?<" + name + ">" + (name === "n" ? "[\\d.,]+" : ".+") + ")";
    window.patterns ??= filled.map((row) =>
      [new RegExp("^" + escaped(row[0]).replaceAll(/\\{(\\w+)\\}/g, slot) + "$", "s"), row]);
    const translations = (text) => {
      if (Object.hasOwn(whole, text)) return whole[text];
      for (const [pattern, row] of window.patterns) {
        const found = pattern.exec(text);
        if (found !== null)
          return row.map((other) => other.replaceAll(/\\{(\\w+)\\}/g, (_, name) => found.groups[name]));
      }
    };
    const said = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data } = walker.currentNode;
      const row = /[a-z]{2}/i.test(data) ? translations(data.trim()) : undefined;
      if (row !== undefined) said.push([walker.currentNode, row.map((text) => data.replace(data.trim(), () => text))]);
    }
    const found = ["de", "es", "fr"].flatMap((language, at) => {
      for (const [node, row] of said) node.data = row[at + 1];
      return task(language);
    });
    for (const [node, row] of said) node.data = row[0];
    return found;
  };`;
