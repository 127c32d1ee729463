import type { VNode } from "preact";
import { duration } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { DnsTest as Tested } from "../lib/shapes.ts";
import { Mark, Shown, Table } from "../parts/basic.tsx";

const yesNo = (is: boolean | null): VNode =>
  is === null ? (
    <Mark mark="quiet" words="Not known" />
  ) : (
    <Mark mark={is ? "yes" : "no"} words={is ? "Yes" : "No"} />
  );

/** Asks every resolver now: whether it answers, how fast, over TCP too, and truthfully. */
export function DnsTest(): VNode {
  const loading = useLoad<Tested>("admin/dns-test");
  return (
    <>
      <Shown loading={loading}>
        {({ resolvers }) => (
          <Table
            label="DNS resolvers"
            head={["Resolver", "Median", "TCP", "Truthful"]}
            rows={resolvers.map(({ server, median_ms: ms, tcp, truthful, says }) => [
              <>
                <code>{server}</code>
                {says === "" ? null : <div class="note">{says}</div>}
              </>,
              <Mark
                mark={ms === null ? "no" : ms > 200 ? "unsure" : "yes"}
                words={ms === null ? "No answer" : duration(ms)}
              />,
              yesNo(tcp),
              yesNo(truthful),
            ])}
          />
        )}
      </Shown>
      <div>
        <button type="button" class="small" onClick={loading.reload}>
          Test again
        </button>
      </div>
    </>
  );
}
