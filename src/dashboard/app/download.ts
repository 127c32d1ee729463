const KEPT_MS = 60_000;

/** Hands a text that is made here over as a file. */
export function downloadCsv(csv: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...csv], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
