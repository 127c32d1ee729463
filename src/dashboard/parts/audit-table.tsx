import type { VNode } from "preact";
import type { AuditEntry } from "../api/shapes.ts";
import { actionWords } from "../words/audit.ts";
import { Time } from "./time.tsx";

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export function AuditTable(props: {
  entries: readonly AuditEntry[];
  whose?: true;
  own?: string;
}): VNode {
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
              <td class="break what">{actionWords(entry)}</td>
              <td class="break" data-label="By">
                {entry.actor === props.own ? "You" : entry.actor}
              </td>
              {hasWhose ? (
                <td class="break" data-label="In">
                  {entry.subject === entry.actor ? "own" : entry.subject}
                </td>
              ) : null}
              <td class="from" data-label="From">
                {entry.client_address === "" ? "–" : entry.client_address}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
