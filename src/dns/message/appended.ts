/**
 * `items` with `item` at its end; a new list if it is absent. Most lists here have one item, and an
 * empty array that is pushed to takes room for seventeen.
 */
export function appended<T>(items: T[] | undefined, item: T): T[] {
  if (items === undefined) return [item];
  items.push(item);
  return items;
}
