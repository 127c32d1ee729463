import type { VNode } from "preact";
import type { SystemState } from "../../api/shapes.ts";
import { t, tx } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { session } from "../../app/session.ts";
import { Mark } from "../../parts/mark.tsx";
import { Shown } from "../../parts/states.tsx";

const PROBES: Readonly<Record<string, string>> = { database: "Database" };

/** Whether the resolvers answer, and answer truthfully. */
export function DnsTest(): VNode {
  const loading = useLoad<SystemState>("admin/system");
  return (
    <section class="sheet stack close">
      <Shown loading={loading} lines={2}>
        {({ probes, warnings }) => (
          <>
            <ul class="lines">
              {probes.map(({ name, ok }) => (
                <li key={name}>
                  <span class="grow">
                    {name === "dns"
                      ? t("The resolver answers truthfully")
                      : t(PROBES[name] ?? name)}
                  </span>
                  <Mark mark={ok ? "yes" : "no"} words={ok ? t("Yes") : t("No")} />
                </li>
              ))}
            </ul>
            {warnings.map((words) => (
              <p key={words} class="notice no">
                {words}
              </p>
            ))}
          </>
        )}
      </Shown>
      <div>
        <button type="button" onClick={loading.reload}>
          {t("Test again")}
        </button>
      </div>
    </section>
  );
}

/** Who may make accounts, and where to change it. */
export function SignUps(): VNode {
  const isOpen = session.value?.signup === "open";
  return (
    <section class="sheet stack close">
      <Mark
        mark="quiet"
        words={
          isOpen ? t("Anyone who reaches this server can sign up.") : t("You create every account.")
        }
      />
      <p class="note">
        {tx("Set {name} to {value} and start the server again to change it.", {
          name: <code>GATEPOST_SIGNUP</code>,
          value: <code>{isOpen ? "closed" : "open"}</code>,
        })}
      </p>
    </section>
  );
}
