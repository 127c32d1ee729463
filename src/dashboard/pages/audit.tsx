import type { VNode } from "preact";
import type { AuditEntry } from "../../http/account/shapes.ts";
import { useLoad } from "../lib/load.ts";
import { LoadedSheet, Table, Time } from "../parts/basic.tsx";
import { actionWords } from "../words/names.ts";

interface AuditProps {
  title: string;
  path: string;
  none: string;
  whose?: true;
  own?: string;
}

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export function AuditSheet({ title, path, none, whose, own }: AuditProps): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>(path);
  return (
    <LoadedSheet {...{ title, loading }}>
      {({ entries }) => (
        <Table
          tall
          label="What happened"
          head={["When", "What", "Who", ...(whose ? ["Whose account"] : []), "From"]}
          none={none}
          rows={entries.map((entry) => [
            <Time at={entry.at} />,
            actionWords(entry),
            entry.actor === own ? "You" : entry.actor,
            ...(whose ? [entry.subject === entry.actor ? "own" : entry.subject] : []),
            <span class="mono whole">{entry.client_address || "–"}</span>,
          ])}
        />
      )}
    </LoadedSheet>
  );
}
