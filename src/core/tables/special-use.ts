/**
 * IANA special-use domain names (RFC 6761 and the registry it began), less `.test` and `.example`,
 * which are asked in DNS like any name, and `example.com` and its kin, which exist there.
 */
export const SPECIAL_USE_NAMES: ReadonlySet<string> = new Set([
  "alt", // RFC 9476
  "internal", // ICANN board resolution 2024.07.29.06
  "invalid", // RFC 6761 section 6.4
  "local", // RFC 6762
  "localhost", // RFC 6761 section 6.3
  "onion", // RFC 7686
  "6tisch.arpa", // RFC 9031
  "eap.arpa", // RFC 9965
  "eap-noob.arpa", // RFC 9140
  "home.arpa", // RFC 8375
  "ipv4only.arpa", // RFC 8880
  "resolver.arpa", // RFC 9462
  "service.arpa", // RFC 9665
  "10.in-addr.arpa", // RFC 6761 section 6.1, here and below
  "127.in-addr.arpa", // RFC 6303
  "254.169.in-addr.arpa",
  "168.192.in-addr.arpa",
  ...Array.from({ length: 16 }, (_, index) => `${String(16 + index)}.172.in-addr.arpa`),
  "170.0.0.192.in-addr.arpa", // RFC 8880
  "171.0.0.192.in-addr.arpa",
  "8.e.f.ip6.arpa", // link-local, RFC 6303
  "9.e.f.ip6.arpa",
  "a.e.f.ip6.arpa",
  "b.e.f.ip6.arpa",
  "d.f.ip6.arpa",
]);
