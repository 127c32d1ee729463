import { trimEntry } from "../../../core/address/address.ts";
import { byMessage, entryOf, type Shape } from "../shape.ts";

/** Many callers do not encode "+", which something between us may have turned into a blank. */
function withPlus(text: string): string {
  const entry = trimEntry(text);
  const at = Math.max(0, entry.lastIndexOf("@"));
  return entry.slice(0, at).replaceAll(" ", "+") + entry.slice(at);
}

/** disposable.debounce.io: the boolean is text. */
export const debounceFree: Shape = {
  service: "debounce-free",
  keys: [],
  parameters: ["email"],
  cors: true,
  endpoints: [
    {
      paths: [""],
      async answer({ params, check }) {
        const text = withPlus(entryOf(params, "email", "either"));
        const { result } = await check(text, { mode: "either" });
        return { body: { disposable: String(result.disposable) } };
      },
    },
  ],
  refused: byMessage(),
};
