export interface Resource {
  readonly unit: "places" | "octets" | "MiB" | "entries" | "connections";
  readonly total: number;
  readonly perOwner: number;
  readonly queue: number;
  readonly queuePerOwner: number;
}

const MIB = 1_048_576;

/** A body up to this size is small: it has room of its own and never waits behind a large one. Octets. */
export const SMALL_BODY_OCTETS = 65_536;

type ResourceLimits = Pick<Resource, "total" | "perOwner"> & Partial<Resource>;

const queued = (queue: number, queuePerOwner: number) => ({ queue, queuePerOwner });

const row = (given: ResourceLimits): Resource => ({ unit: "places", ...queued(0, 0), ...given });

const octets = (total: number, perOwner: number, more: Partial<Resource> = {}): Resource =>
  row({ unit: "octets", total, perOwner, ...more });

/** An owner is an account, an IPv4 address or an IPv6 /64. `docs/measurements.md` says what happens without room. */
export const RESOURCES = {
  connections: row({ unit: "connections", total: 10_000, perOwner: 256 }),
  small_bodies: octets(32 * MIB, 4 * MIB),
  large_bodies: octets(32 * MIB, 12 * MIB),
  uploads: octets(64 * MIB, 24 * MIB),
  texts: row({ total: 1, perOwner: 1, ...queued(256, 16) }),
  files: row({ total: 1, perOwner: 1, ...queued(256, 16) }),
  lists: row({ total: 1, perOwner: 1, ...queued(256, 16) }),
  // What three threads may have on their heaps together; they ask for all they may need, and wait.
  reading: row({ unit: "MiB", total: 480, perOwner: 480, ...queued(64, 64) }),
  batches: row({ total: 64, perOwner: 8, ...queued(512, 64) }),
  writes: row({ total: 2, perOwner: 1, ...queued(2_000, 100) }),
  again: row({ unit: "entries", total: 1_000, perOwner: 250, ...queued(20_000, 5_500) }),
  storing: row({ total: 4, perOwner: 2, ...queued(400, 400) }),
  webhooks: row({ total: 64, perOwner: 8, ...queued(0, 100) }), // the database bounds them
  registry: row({ total: 2, perOwner: 1, ...queued(50, 10) }),
  sign_ins: row({ total: 2, perOwner: 1, ...queued(512, 4) }),
  view_streams: row({ total: 256, perOwner: 8 }),
};

export type ResourceName = keyof typeof RESOURCES;

export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly ResourceName[];
