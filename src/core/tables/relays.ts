/** A forwarding service that hides a real mailbox of its user. */
export interface RelayRow {
  readonly service: string;
  readonly domains: readonly string[];
  /** Whether names below its domains are aliases too ("anything@user.anonaddy.com"). */
  readonly subdomains: boolean;
  /** Mail host suffixes of customers' own domains at this service. */
  readonly mailHosts: readonly string[];
}

/**
 * Relays, by the services' own help pages. Disposable lists disagree on them; their makers' trackers
 * (disposable/disposable #81, #97, #136; FGRibreau/mailchecker #600; micke/valid_email2 #234) ask for a
 * class of their own. Hide My Email of iCloud+ uses icloud.com and looks like a mailbox.
 */
export const RELAYS: readonly RelayRow[] = [
  {
    service: "Apple Hide My Email (Sign in with Apple)",
    domains: ["privaterelay.appleid.com"],
    subdomains: false,
    mailHosts: [],
  },
  {
    service: "Firefox Relay",
    domains: ["mozmail.com", "relay.firefox.com"],
    subdomains: true,
    mailHosts: [],
  },
  {
    service: "DuckDuckGo Email Protection",
    domains: ["duck.com"],
    subdomains: false,
    mailHosts: ["duck.com"],
  },
  {
    service: "SimpleLogin / Proton Pass",
    domains: [
      "simplelogin.com",
      "simplelogin.co",
      "simplelogin.io",
      "simplelogin.fr",
      "aleeas.com",
      "slmails.com",
      "slmail.me",
      "silomails.com",
      "8alias.com",
      "8shield.net",
      "dralias.com",
      "passinbox.com",
      "passfwd.com",
      "passmail.com",
      "passmail.net",
    ],
    subdomains: true,
    mailHosts: ["simplelogin.co"],
  },
  {
    service: "addy.io (AnonAddy)",
    domains: ["anonaddy.com", "anonaddy.me", "addymail.com", "4wrd.cc", "mailer.me", "addy.io"],
    subdomains: true,
    mailHosts: ["anonaddy.me", "addy.io"],
  },
  {
    service: "33mail",
    domains: ["33mail.com"],
    subdomains: true,
    mailHosts: [],
  },
  {
    service: "Burner Mail",
    domains: ["burnermail.io"],
    subdomains: false,
    mailHosts: [],
  },
  { service: "erine.email", domains: ["erine.email"], subdomains: true, mailHosts: [] },
  { service: "Blur (opayq)", domains: ["opayq.com"], subdomains: false, mailHosts: [] },
  {
    service: "Spamgourmet",
    domains: ["spamgourmet.com", "spamgourmet.net", "spamgourmet.org"],
    subdomains: false,
    mailHosts: [],
  },
];
