/** The reasons why a fetched list is refused, each as a sentence for the operator. */
export const LIST_REFUSALS = {
  not_fetched: "It could not be fetched",
  bad_status: "Its server answered with an error",
  too_large: "The file was larger than 16 MB",
  /** Not the format of this list, or under 98 % of it are names. */
  not_a_list: "The file was not a list of names",
  below_floor: "It held fewer names than it ever had",
  /** Under 0.8 or over 1.3 times the last accepted size; stays so until the operator confirms it. */
  size_swing: "Its size changed too much at once",
  lacks_known: "A name that every such list holds was missing",
  holds_provider: "It named a large mail provider",
  /** More than 5 % of the names went; the next fetch must say so again. */
  many_removed: "Many names were gone at once; the next fetch has to say so again",
  not_kept: "The data directory could not take it",
} as const;

export type ListRefusal = keyof typeof LIST_REFUSALS;

export const isListRefusal = (code: string): code is ListRefusal =>
  Object.hasOwn(LIST_REFUSALS, code);
