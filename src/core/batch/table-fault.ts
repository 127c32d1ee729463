/** A file of entries that cannot be read. The message is one sentence for the sender. */
export class TableFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TableFault";
  }
}
