export interface ReceivedPost {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The octets as they came. */
  readonly body: Uint8Array;
}

export interface WebhookReceiver {
  /** "http://127.0.0.1:8787/". */
  readonly url: string;
  /** Resolves when the listener is closed. */
  readonly closed: Promise<void>;
  close(): void;
}

/**
 * Takes POSTs of up to 1 MiB and answers each with the status that `handle` gives. Port 0 picks a free one.
 * Rejects when it cannot listen there.
 */
export type Receive = (
  at: { readonly host: string; readonly port: number },
  handle: (post: ReceivedPost) => number,
) => Promise<WebhookReceiver>;
