import { byMessage, type Shape, single } from "../shape.ts";

/** open.kickbox.com: is the domain disposable? The path may hold a whole address. */
export const kickboxOpen: Shape = {
  service: "kickbox-open",
  keys: [],
  parameters: [],
  cors: true,
  endpoints: [
    single({ paths: ["v1/disposable/*"] }, ({ result }) => ({ disposable: result.disposable }), {
      mode: "either",
    }),
  ],
  refused: byMessage(),
};
