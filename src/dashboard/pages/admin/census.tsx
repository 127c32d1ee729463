import type { VNode } from "preact";
import { useLoad } from "../../app/load.ts";
import { t } from "../../app/i18n.ts";
import { count, counted } from "../../app/numbers.ts";
import { Empty, Shown } from "../../parts/states.tsx";
import type { CensusState } from "../../api/shapes.ts";

/** How far the count of honest domains by mail server is, and what it covers. */
export function Census(): VNode {
  const loading = useLoad<CensusState>("admin/lists/census");
  return (
    <section class="sheet stack">
      <h2>{t("Mail-server census")}</h2>
      <Shown loading={loading} lines={3}>
        {(census) =>
          census.own === null && census.imported === null ? (
            <Nothing isConfigured={census.names_configured} />
          ) : (
            <Taken census={census} />
          )
        }
      </Shown>
    </section>
  );
}

function Nothing({ isConfigured }: { isConfigured: boolean }): VNode {
  return (
    <Empty title={t("No census yet")}>
      <p>
        {isConfigured
          ? t("It starts in the background within an hour.")
          : t(
              "It counts which mail servers honest domains use, so that a server of disposable ones is found earlier. Run “gatepost census” with a file of popular names, or set GATEPOST_CENSUS_NAMES.",
            )}
      </p>
    </Empty>
  );
}

function Taken({ census }: { census: CensusState }): VNode {
  const { own, imported, domains, servers, domains_needed: needed } = census;
  const isRunning = own !== null && own.asked < own.names;
  return (
    <>
      {isRunning ? (
        <label class="stack">
          {t("{asked} of {names} names asked", {
            asked: count(own.asked),
            names: count(own.names),
          })}
          <progress max={own.names} value={own.asked} />
        </label>
      ) : null}
      <p>
        {domains >= needed
          ? t(
              "{servers} counted, with {domains}. A server of 5 listed names that no honest one uses counts as disposable.",
              {
                servers: counted(servers, "{n} mail server", "{n} mail servers"),
                domains: counted(domains, "{n} honest domain", "{n} honest domains"),
              },
            )
          : t("{domains} of at least {needed} honest domains counted: it changes no verdict yet.", {
              domains: count(domains),
              needed: count(needed),
            })}
      </p>
      <dl class="pairs">
        {own === null ? null : (
          <>
            <dt>{t("Last run here")}</dt>
            <dd>
              <time dateTime={own.day}>{own.day}</time>
            </dd>
          </>
        )}
        {imported === null ? null : (
          <>
            <dt>{t("From other installations")}</dt>
            <dd>
              <time dateTime={imported.day}>{imported.day}</time>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}
