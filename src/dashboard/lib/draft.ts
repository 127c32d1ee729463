import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PolicyPage } from "../../http/account/shapes.ts";
import { type PolicyDocument, same } from "../words/policy.ts";
import { ownerId, store, stored } from "./session.ts";

export type ShownPolicy = Omit<PolicyPage, "document"> & { readonly document: PolicyDocument };

interface PolicyDraft {
  readonly base: number;
  readonly document: PolicyDocument;
}

export interface DraftState {
  readonly draft: PolicyDocument;
  readonly base: number;
  readonly isChanged: boolean;
  readonly set: (next: PolicyDocument) => void;
  readonly conflict: { readonly keep: () => void; readonly take: () => void } | undefined;
}

/** The draft of one policy, which survives leaving the page and the browser. What another tab wrote is not written over. */
export function useDraft({ name, live, document }: ShownPolicy): DraftState {
  const place = `gatepost-draft ${ownerId()} ${name}`;
  const kept = useRef(stored(place));
  const fresh = (): PolicyDraft => draftIn(kept.current) ?? { base: live, document };
  const [draft, setDraft] = useState(fresh);
  const [isOther, setOther] = useState(false);
  const isChanged = useMemo(() => !same(draft.document, document), [draft]);
  const look = (): boolean => stored(place) !== kept.current;
  const keep = (): void => {
    store(place, isChanged ? JSON.stringify(draft) : null);
    kept.current = stored(place);
    setOther(false);
  };
  const take = (): void => {
    kept.current = stored(place);
    setDraft(fresh());
  };
  useEffect(() => (look() ? setOther(true) : keep()), [draft]);
  useEffect(() => {
    const told = ({ key }: StorageEvent): void => void (key === place && setOther(look()));
    addEventListener("storage", told);
    return () => removeEventListener("storage", told);
  }, []);
  const set = (next: PolicyDocument): void => setDraft({ base: draft.base, document: next });
  const conflict = isOther ? { keep, take } : undefined;
  return { draft: draft.document, base: draft.base, isChanged, set, conflict };
}

function draftIn(text: string | null): PolicyDraft | undefined {
  try {
    return JSON.parse(text ?? "") as PolicyDraft;
  } catch {
    return undefined;
  }
}
