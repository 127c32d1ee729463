import type { VNode } from "preact";
import type { Details } from "../api/rules.ts";
import { t } from "../app/i18n.ts";
import { Field } from "./field.tsx";

/** Why an entry is made, and the last day that it counts. */
export function EntryDetails(props: {
  details: Details;
  onDetails: (details: Details) => void;
}): VNode {
  const { details, onDetails } = props;
  return (
    <>
      <Field
        label={t("Note")}
        value={details.note}
        onValue={(note) => onDetails({ ...details, note })}
        hint={t("Why, for you and the other administrators. May stay empty.")}
        input={{ maxLength: 500, autocomplete: "off" }}
      />
      <Field
        label={t("Last day")}
        value={details.lastDay}
        onValue={(lastDay) => onDetails({ ...details, lastDay })}
        hint={t("It counts to the end of this day (UTC). Empty: for good.")}
        input={{ type: "date" }}
      />
    </>
  );
}
