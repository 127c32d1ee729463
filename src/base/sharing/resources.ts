/** One bounded resource. All amounts are in `unit`; the two queues count whoever waits. */
export interface Resource {
  readonly unit: "places" | "octets" | "entries" | "connections";
  /** What one process has; of webhooks, all processes together. */
  readonly total: number;
  /** The most that one owner holds at once. */
  readonly perOwner: number;
  /** Pieces of work that one owner has begun at once; absent: as many as `perOwner` allows. */
  readonly atOncePerOwner?: number;
  /**
   * Of the last `reservePart` an owner gets more only while it holds at most `perFree` times what is then free, so that
   * something is left for the next owner, and the one after it.
   */
  readonly perFree?: number;
  /** 0 to 1; absent: `perFree` holds for all. */
  readonly reservePart?: number;
  /** How many may wait in all; 0: nothing waits. */
  readonly queue: number;
  readonly queuePerOwner: number;
  /** What happens to work that finds no room. */
  readonly refusal: string;
  /** Where it is bounded, when not by a `Share`. */
  readonly boundedBy?: "database";
}

const MIB = 1_048_576;

/** A body up to this size is small: it has room of its own and never waits behind a large one. Octets. */
export const SMALL_BODY_OCTETS = 65_536;

const ANSWER = "429 over the share, 503 when full";

/**
 * Every bounded resource that callers share. `docs/operations/sizing.md` has the same table, held against this
 * one by a test. An owner is an account, an IPv4 address or an IPv6 /64.
 */
export const RESOURCES = {
  connections: {
    unit: "connections",
    total: 10_000,
    perOwner: 256,
    queue: 0,
    queuePerOwner: 0,
    refusal: "429 or 503 and closed, after the longest idle and the largest owner's",
  },
  reading: {
    unit: "octets",
    total: 2_048,
    perOwner: 1_024,
    queue: 10_000,
    queuePerOwner: 256,
    refusal: "closed",
  },
  small_bodies: {
    unit: "octets",
    total: 32 * MIB,
    perOwner: 4 * MIB,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
  large_bodies: {
    unit: "octets",
    total: 32 * MIB,
    perOwner: 12 * MIB,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
  uploads: {
    unit: "octets",
    total: 64 * MIB,
    perOwner: 24 * MIB,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
  decoding: {
    unit: "octets",
    total: 12 * MIB,
    perOwner: 12 * MIB,
    atOncePerOwner: 1,
    queue: 256,
    queuePerOwner: 16,
    refusal: ANSWER,
  },
  splitting: {
    unit: "places",
    total: 2,
    perOwner: 1,
    queue: 128,
    queuePerOwner: 8,
    refusal: ANSWER,
  },
  batches: {
    unit: "places",
    total: 64,
    perOwner: 8,
    queue: 512,
    queuePerOwner: 64,
    refusal: ANSWER,
  },
  writes: {
    unit: "places",
    total: 2,
    perOwner: 1,
    queue: 2_000,
    queuePerOwner: 100,
    refusal: ANSWER,
  },
  chunks: {
    unit: "entries",
    total: 100_000,
    perOwner: 5_500,
    perFree: 1,
    queue: 0,
    queuePerOwner: 0,
    refusal: "stays in the database until its owner's next turn",
  },
  again: {
    unit: "entries",
    total: 1_000,
    perOwner: 250,
    queue: 20_000,
    queuePerOwner: 5_500,
    refusal: "stays without an answer",
  },
  storing: {
    unit: "places",
    total: 4,
    perOwner: 2,
    queue: 400,
    queuePerOwner: 400,
    refusal: "the chunk is checked again",
  },
  questions: {
    unit: "places",
    total: 1_250,
    perOwner: 1_000,
    perFree: 0.04,
    reservePart: 0.2,
    queue: 50_000,
    queuePerOwner: 1_000,
    refusal: "could not tell",
  },
  webhooks: {
    unit: "places",
    total: 64,
    perOwner: 8,
    queue: 0,
    queuePerOwner: 100,
    refusal: "the delivery is logged as failed",
    boundedBy: "database",
  },
  registry: {
    unit: "places",
    total: 2,
    perOwner: 1,
    queue: 50,
    queuePerOwner: 10,
    refusal: "the feature is temporarily unavailable",
  },
  sign_ins: {
    unit: "places",
    total: 2,
    perOwner: 1,
    queue: 512,
    queuePerOwner: 4,
    refusal: ANSWER,
  },
  back_tests: {
    unit: "places",
    total: 2,
    perOwner: 1,
    queue: 8,
    queuePerOwner: 1,
    refusal: ANSWER,
  },
  event_streams: {
    unit: "places",
    total: 1_000,
    perOwner: 4,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
  view_streams: {
    unit: "places",
    total: 256,
    perOwner: 8,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
  pages: {
    unit: "places",
    total: 512,
    perOwner: 128,
    queue: 0,
    queuePerOwner: 0,
    refusal: ANSWER,
  },
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof RESOURCES;

export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly ResourceName[];
