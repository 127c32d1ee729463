import assert from "node:assert/strict";
import type { DashboardWorld } from "./dashboard-world.ts";

/** The complete answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined without a body. */
  readonly json: unknown;
}

export interface Call {
  readonly body?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: the server's own; null: none is sent. */
  readonly origin?: string | null;
}

/** Columns of the store that no answer has, however it is made of rows. */
const STORED_SECRETS = /"(?:password_hash|token_hash|key_hash|token_secret|sealed_secret)":/;

/** A browser as the server sees it: it keeps the sign-in cookie and sends its origin. */
export class Browser {
  readonly #world: Pick<DashboardWorld, "url">;
  cookie = "";

  constructor(world: Pick<DashboardWorld, "url">) {
    this.#world = world;
  }

  async call(method: string, path: string, call: Call = {}): Promise<Reply> {
    const { url } = this.#world;
    const { body, form, origin = url } = call;
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(origin === null ? {} : { origin }),
        ...(this.cookie === "" ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...call.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: form }),
    });
    const set = response.headers.get("set-cookie");
    if (set !== null) this.cookie = set.includes("Max-Age=0;") ? "" : (set.split(";")[0] ?? "");
    const text = await response.text();
    assert.doesNotMatch(text, STORED_SECRETS, `${method} ${path}`);
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  }

  get(path: string): Promise<Reply> {
    return this.call("GET", `/account/${path}`);
  }

  post(path: string, body: unknown = {}): Promise<Reply> {
    return this.call("POST", `/account/${path}`, { body });
  }

  /** Sends a file as a form does. */
  upload(path: string, name: string, content: string | Uint8Array<ArrayBuffer>): Promise<Reply> {
    const form = new FormData();
    form.set("file", new Blob([content]), name);
    return this.call("POST", `/account/${path}`, { form });
  }

  delete(path: string): Promise<Reply> {
    return this.call("DELETE", `/account/${path}`);
  }

  async signIn(email: string, password: string): Promise<Reply> {
    return this.post("sign-in", { email, password });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
