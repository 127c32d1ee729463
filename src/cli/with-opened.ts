/** Whether a command may create a database where there is none; most only read or change what is there. */
export type DatabaseUse = "must_exist" | "may_create";

/** Opens something for `work` and closes it, also when `work` fails. */
export async function withOpened<Opened extends { readonly close: () => Promise<void> }, T>(
  open: () => Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = await open();
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
