/** The request and answer of the HTTP benches. */
export const CHECKED = "ada.lovelace@good.example";

export const RESULT = {
  format: true,
  domain: "good.example",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: [],
  domain_info: { tld: "example", is_subdomain: false, parent_domain: null },
  mx_info: ["mx1.mail.good.example", "mx2.mail.good.example", "mx3.mail.good.example"],
  role: false,
  free: false,
  alias: false,
};
