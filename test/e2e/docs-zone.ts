import type { ServedZone } from "../dns/dns-zone.ts";

const MAIL = { a: ["192.0.2.25"] };

/** The DNS zone of the documents' examples. */
export const DOCS_ZONE: ServedZone = {
  "xn--bcher-kva.example": { mx: ["10 mx1.mail.example", "20 mx2.mail.example"] },
  "good.example": { mx: ["10 mx1.mail.example"] },
  "web.example": { a: ["192.0.2.80"] },
  "null.example": { mx: ["0 ."] },
  "silent.example": { behave: "servfail" },
  "mx1.mail.example": MAIL,
  "mx2.mail.example": MAIL,
  "protected.example": {
    mx: ["10 mx1.mail.example"],
    txt: ["v=spf1 mx -all"],
  },
  "_dmarc.protected.example": { txt: ["v=DMARC1; p=reject; rua=mailto:d@protected.example"] },
};
