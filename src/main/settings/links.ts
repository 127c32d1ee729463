import { type Config, publicUrlOf } from "./config.ts";

/** The base of links, which is known for good once the service listens: port 0 takes any free one. */
export interface Links {
  readonly base: () => string;
  readonly listensOn: (port: number) => void;
}

export function createLinks(config: Pick<Config, "publicUrl" | "host" | "port">): Links {
  let base = publicUrlOf(config);
  return {
    base: () => base,
    listensOn(port) {
      base = publicUrlOf({ ...config, port });
    },
  };
}
