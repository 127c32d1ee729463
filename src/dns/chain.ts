/** What a chain links. Both ends are undefined outside a chain; an item is in one chain at a time. */
export interface Link<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** In order of insertion; any item can be removed at constant cost, and is then not kept in memory. */
export class Chain<T extends Link<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #length = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  add(item: T): void {
    item.previous = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#length += 1;
  }

  remove(item: T): void {
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    item.previous = item.next = undefined;
    this.#length -= 1;
  }
}
