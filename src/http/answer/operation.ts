import type { Schema } from "../../core/json-schema.ts";

/** The part of an OpenAPI 3.1 operation that we write. */
export interface Operation {
  /** Unique in its document; generated clients name their functions after it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** Absent: no key, or either key header. `[]`: no key is ever read. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export type PathItem = Readonly<Partial<Record<"get" | "post" | "delete", Operation>>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string;
}

export interface MediaType {
  readonly schema: Schema | Reference;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** An operation that GET and POST do alike, described once. */
export const byGet = (operation: Operation): PathItem => ({
  get: {
    ...operation,
    description: [operation.description, "POST does the same."].filter(Boolean).join(" "),
  },
});

/** To something under `components`. */
export interface Reference {
  readonly $ref: string;
}
