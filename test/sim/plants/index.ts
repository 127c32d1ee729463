import { BULK_PLANTS } from "./bulk.ts";
import { GATE_PLANTS } from "./gate.ts";
import { PEOPLE_PLANTS } from "./people.ts";
import type { Plant } from "./plant.ts";
import { PROCESS_PLANTS } from "./process.ts";

export const PLANTS: readonly Plant[] = [
  ...BULK_PLANTS,
  ...PEOPLE_PLANTS,
  ...GATE_PLANTS,
  ...PROCESS_PLANTS,
];
