/**
 * Mail hosts, or the registrable domains of mail hosts, that serve disposable domains and almost nothing
 * else. In brackets: listed names of all names that point there, by MX look-ups of 2026-08.
 */
export const DEDICATED_MAIL_HOSTS: ReadonlySet<string> = new Set([
  "wabblywabble.com", // 1,828 of 1,830 together with the next
  "wallywatts.com",
  "generator.email", // 1,461 of 1,475
  "aero4.unstablemail.com", // 1,253 of 1,255 together with the next
  "srv4.unstablemail.com",
  "mx4.beavis99.com", // 1,160 of 1,161 together with the next
  "mx4.beavis99.net",
  "emailfake.com", // 699 of 711
  "email.chatgpt.org.uk", // 564 of 564
  "smtp.yopmail.com", // 442 of 444
  "mx.emlhub.com", // 440
  "mail.cleantempmail.com", // 379
  "email.gravityengine.cc", // 371
  "tinyhost.shop", // 351
  "m1bp.com", // 236 names
  "mb5p.com",
  "mail.casadorock.com",
  "mail.mailerhost.net",
]);

/** Addresses of mail hosts that serve disposable domains only: 2,753 of 2,753 names listed (public statistics, 2026-11). */
export const DEDICATED_MAIL_ADDRESSES: ReadonlySet<string> = new Set(["78.47.124.133"]);

/**
 * Suffixes of hosts that carry mail for everyone: forwarders, registrars, hosting and parking. A curator who lists
 * one of them accuses all its customers, the commonest false alarm of this field. The hosts of
 * `INBOX_PROVIDERS`, of relays and of large providers count as shared too and are not repeated here.
 * The first lines were met among MX hosts of listed names in 2026-08, the others are general knowledge.
 */
export const SHARED_MAIL_SUFFIXES: ReadonlySet<string> = new Set([
  "cloudflare.net",
  "mail2world.com",
  "netcup.de",
  "netcup.net",
  "timeweb.com",
  "timeweb.ru",
  // Registrars and parking.
  "above.com",
  "afternic.com",
  "bodis.com",
  "dan.com",
  "domaincontrol.com",
  "dynadot.com",
  "epik.com",
  "gname.com",
  "h-email.net",
  "hover.com",
  "inwx.de",
  "namebrightmail.com",
  "namesilo.com",
  "nic.ru",
  "parkingcrew.net",
  "reg.ru",
  "sedoparking.com",
  "zoneedit.com",
  // Hosting and hosted mail.
  "123-reg.co.uk",
  "a2hosting.com",
  "active24.com",
  "agenturserver.de",
  "az.pl",
  "beget.com",
  "beget.ru",
  "bluehost.com",
  "crazydomains.com",
  "cyon.ch",
  "easyname.com",
  "easyname.eu",
  "everyone.net",
  "ferozo.com",
  "forpsi.com",
  "fusemail.net",
  "gmoserver.jp",
  "heteml.jp",
  "home.pl",
  "hosteurope.de",
  "hostgator.com",
  "hostnet.nl",
  "hostpoint.ch",
  "inmotionhosting.com",
  "ispgate.de",
  "jino.ru",
  "kagoya.net",
  "kinghost.net",
  "livemail.co.uk",
  "lolipop.jp",
  "mailanyone.net",
  "mailchannels.net",
  "mailprotect.be",
  "masterhost.ru",
  "mchost.ru",
  "muumuu-mail.com",
  "nazwa.pl",
  "sakura.ne.jp",
  "serviciodecorreo.es",
  "sgvps.net",
  "spacemail.com",
  "sprinthost.ru",
  "stackmail.com",
  "sweb.ru",
  "transip.email",
  "udag.de",
  "ukraine.com.ua",
  "webhostbox.net",
  "websupport.sk",
  "wedos.net",
  "world4you.com",
  "xserver.jp",
]);

/** Shared as well, and so common that a look at these first saves most of the others. */
export const COMMON_CARRIERS: readonly string[] = ["google.com", "outlook.com", "googlemail.com"];

/**
 * Providers of `INBOX_PROVIDERS` large enough that a customer's domain on a single uncurated list is more
 * likely a list's mistake: mailboxes there cost money or are known by name.
 */
export const LARGE_MAILBOX_PROVIDERS: ReadonlySet<string> = new Set([
  "AOL Mail",
  "Alibaba Mail",
  "Fastmail",
  "GMX",
  "Gmail",
  "GoDaddy",
  "Google Workspace",
  "IONOS",
  "Mail.ru",
  "Microsoft 365",
  "Naver Mail",
  "NetEase Enterprise Mail",
  "NetEase Mail",
  "OVHcloud",
  "Outlook.com",
  "Proton Mail",
  "QQ Mail",
  "Rackspace Email",
  "T-Online",
  "Tencent Exmail",
  "VK WorkSpace (Mail.ru)",
  "WEB.DE",
  "Yahoo Mail",
  "Yahoo Small Business",
  "Yahoo! JAPAN Mail",
  "Yandex 360",
  "Yandex Mail",
  "Zoho Mail",
  "iCloud Mail",
  "mail.com",
]);
