import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { call, faultText } from "../api/client.ts";
import { t } from "../app/i18n.ts";
import { type Loadable, loadedPart, loadPart } from "../app/loaded-parts.ts";
import { Bones, Failed } from "./states.tsx";

const NOT_LOADED = "This page could not be loaded. The service may have been updated: reload.";

/** A file that does not come is gone after an update, or the server is out of reach. */
async function whyNotLoaded(): Promise<string> {
  return call("GET", "session").then(() => t(NOT_LOADED), faultText);
}

/** A part of the dashboard whose code comes when it is shown; `wait` stands in its place until then. */
export function Lazy({ part, wait }: { part: Loadable; wait?: VNode }): VNode {
  const [Content, setContent] = useState(() => loadedPart(part));
  const [fault, setFault] = useState("");
  const load = (): void => {
    setFault("");
    void loadPart(part).then(async (component) => {
      if (component === undefined) setFault(await whyNotLoaded());
      else setContent(() => component);
    });
  };
  useLayoutEffect(() => {
    if (Content === undefined) load();
  }, []);
  if (Content !== undefined) return <Content />;
  return fault === "" ? (
    (wait ?? <Bones lines={6} />)
  ) : (
    <Failed message={fault} retry={() => (fault === t(NOT_LOADED) ? location.reload() : load())} />
  );
}
