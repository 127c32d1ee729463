import type { VNode } from "preact";
import type { AuditEntry } from "../api/shapes.ts";
import { actionWords } from "../words/audit.ts";
import { Time } from "./time.tsx";

/** Who changed what, when and from where; with `whose`, in which account. */
export function AuditTable(props: { entries: readonly AuditEntry[]; whose?: true }): VNode {
  const hasWhose = props.whose === true;
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="What happened">
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">Who</th>
            {hasWhose ? <th scope="col">Whose account</th> : null}
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {props.entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <Time at={entry.at} />
              </td>
              <td class="break">{actionWords(entry)}</td>
              <td class="break">{entry.actor}</td>
              {hasWhose ? <td class="break">{entry.subject}</td> : null}
              <td class="mono">{entry.client_address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
