import { namesOfTable } from "../../adapters/lists/table/name-table.ts";
import { deriveKey } from "../../adapters/system/secrets.ts";
import { FREE_REGISTRIES } from "../../core/tables/free-registries.ts";
import { createCurrentPocket, type CurrentPocket } from "../../service/evidence/current-pocket.ts";
import type { PocketSource } from "../../service/evidence/pocket.ts";
import type { Lists } from "./lists.ts";
import type { Serving } from "../parts/serving.ts";

const KEY_BYTES = 16;

/** The pocket list of this installation: every process makes the same one. */
export function openPocket(
  parts: Pick<Serving, "lists" | "secretKey" | "clock" | "log">,
): CurrentPocket {
  const { lists, secretKey, clock, log } = parts;
  return createCurrentPocket({
    source: () => sourceOf(lists),
    key: deriveKey(secretKey, "pocket list").subarray(0, KEY_BYTES),
    pause: () => new Promise((resolve) => void setImmediate(resolve)),
    clock,
    log,
  });
}

function sourceOf(lists: Pick<Lists, "datasets" | "shared">): PocketSource {
  const datasets = lists.datasets();
  const shared = lists.shared();
  return {
    datasets,
    *names() {
      for (const table of [shared.disposable, shared.families, shared.knownGood]) {
        for (const [name] of namesOfTable(table)) yield name;
      }
      yield* FREE_REGISTRIES;
      yield* datasets.operator.names();
    },
  };
}
