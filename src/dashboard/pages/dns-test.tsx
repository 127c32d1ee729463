import type { VNode } from "preact";
import { duration } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { DnsTest as Tested } from "../lib/shapes.ts";
import { Mark, type MarkKind, Shown, Table } from "../parts/basic.tsx";

type Resolver = Tested["resolvers"][number];

const yesNo = (is: boolean | null, words: readonly [yes: string, no: string]): VNode => {
  const [mark, said]: readonly [MarkKind, string] =
    is === null ? ["quiet", "Not known"] : is ? ["yes", words[0]] : ["no", words[1]];
  return <Mark mark={mark} words={said} />;
};

const cellsOf = ({ server, median_ms: ms, tcp, truthful, says }: Resolver) => [
  <>
    <code>{server}</code>
    {says === "" ? null : <div class="note">{says}</div>}
  </>,
  <Mark
    mark={ms === null ? "no" : ms > 200 ? "unsure" : "yes"}
    words={ms === null ? "No answer" : duration(ms)}
  />,
  yesNo(tcp, ["Yes", "No"]),
  yesNo(truthful, ["Yes", "No"]),
];

/** Asks every resolver now: whether it answers, how fast, over TCP too, and truthfully. */
export function DnsTest(): VNode {
  const loading = useLoad<Tested>("admin/dns-test");
  return (
    <>
      <Shown loading={loading} lines={3}>
        {({ resolvers }) => (
          <Table
            label="DNS resolvers"
            head={["Resolver", "Median", "TCP", "Truthful"]}
            rows={resolvers.map(cellsOf)}
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
