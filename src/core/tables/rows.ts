/** The lines of a table without comments, each as its columns, which a tab separates. */
export const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .split("\n")
    .map((line) => line.replace(/(?:^| +)#.*/, ""))
    .filter((line) => line !== "")
    .map((line) => line.split("\t"));
