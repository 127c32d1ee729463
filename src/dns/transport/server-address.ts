/** A name server: a textual IPv4 or IPv6 address and a port. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}
