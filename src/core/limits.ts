/**
 * Longest address we accept, in octets of UTF-8, without angle brackets.
 * 256 octets for a path (RFC 5321 section 4.5.3.1.3) less "<" and ">"; see RFC 3696 erratum 1690.
 */
export const ADDRESS_MAX_OCTETS = 254;

/** Longest local part in octets of UTF-8 (RFC 5321 section 4.5.3.1.1). */
export const LOCAL_PART_MAX_OCTETS = 64;

/** Longest domain name in textual form, without the last dot (RFC 1035 section 2.3.4). */
export const DOMAIN_MAX_OCTETS = 253;

/** Longest label (RFC 1035 section 2.3.4). */
export const LABEL_MAX_OCTETS = 63;

/**
 * Longest entry that is parsed at all, in UTF-16 code units; a longer one is always malformed.
 * No accepted address has more units than octets, so this cap refuses nothing that a rule above accepts,
 * except for U-labels that shrink when they become A-labels, which no name of this length does.
 */
export const ENTRY_MAX_UNITS = 1_024;

/** Octets of a bulk text in UTF-8, decoded. */
export const BULK_MAX_OCTETS = 2_000_000;

/** How many mail hosts a result names, and how many signals. */
export const MX_INFO_MAX = 20;
export const SIGNALS_MAX = 20;
