import type { EntryFault } from "../address/entry.ts";

/** Why a text is not an address or domain, as text for a person. */
export const FAULT_WORDS: Readonly<Record<EntryFault, string>> = {
  empty: "it is empty",
  no_at: 'it has no "@"',
  no_local: 'nothing stands before the "@"',
  no_domain: 'nothing stands after the "@"',
  has_at: 'a domain has no "@"; check the address instead',
  surrogate: "it holds half a character, which no encoding can carry",
  length: "it is too long (an address holds at most 254 octets)",
  local_length: 'the part before the "@" is longer than 64 octets',
  local_char: 'the part before the "@" holds a character that needs quotes or is not allowed',
  local_unsafe: 'the part before the "@" holds an invisible or control character',
  dot_start: 'the part before the "@" begins with a dot',
  dot_end: 'the part before the "@" ends with a dot',
  dot_dot: 'the part before the "@" has two dots in a row',
  quoted: 'the quotes before the "@" are not closed or hold what they may not',
  literal: "an IP address in brackets is not accepted as a domain",
  domain_char: "the domain holds a character that no host name has",
  domain_invisible: "the domain holds an invisible character",
  domain_idna: "the domain is too long, has an empty part or letters that no domain may have",
  domain_dot_end: "the domain ends with a dot",
  label_chars: "a part of the domain begins or ends with a hyphen",
  dotless: "the domain has no dot",
  tld_shape: "the last part of the domain is not a top-level domain",
};

/** What people do to an address that a mail server would take without it, or for want of it. */
export type Slip =
  | "invisible"
  | "wide_at"
  | "wide_letter"
  | "curly_quote"
  | "in_brackets"
  | "mailto"
  | "url"
  | "mark_at_end"
  | "domain_dot_end"
  | "two_ats"
  | "domain_dots"
  | "comma_for_dot"
  | "blank"
  | "lost_at";

export const SLIP_WORDS: Readonly<Record<Slip, string>> = {
  invisible: "It contains an invisible character.",
  wide_at: 'Its at sign is a full-width one; "@" is needed.',
  wide_letter: "It contains full-width letters.",
  curly_quote: "It stands in quotation marks.",
  in_brackets: "It stands in brackets.",
  mailto: 'It begins with "mailto:".',
  url: "It is a web address, not a domain.",
  mark_at_end: "It ends with a punctuation mark.",
  domain_dot_end: "The domain ends with a dot.",
  two_ats: 'It has more than one "@".',
  domain_dots: "The domain has two dots in a row.",
  comma_for_dot: "The domain has a comma where a dot belongs.",
  blank: 'It has a blank beside the "@".',
  lost_at: 'The "@" is missing.',
};
