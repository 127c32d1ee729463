import { byMessage, type Shape, single } from "../shape.ts";

/** disposable.debounce.io: the boolean is text. */
export const debounceFree: Shape = {
  service: "debounce-free",
  keys: [],
  parameters: ["email"],
  cors: true,
  endpoints: [
    single(
      { paths: [""], name: "email" },
      ({ result }) => ({ disposable: String(result.disposable) }),
      { mode: "either" },
    ),
  ],
  refused: byMessage(),
};
