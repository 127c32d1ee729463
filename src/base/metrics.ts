/** What the HTTP floor counts. */
export interface HttpMetrics {
  /**
   * One answered request. `route` comes from our own short list of names, never from a client; `method` is a
   * method we serve, or "other". `durationMs` runs from the first look at the request to the answer.
   */
  observe(route: string, method: string, status: number, durationMs: number): void;
  /** One refused request under `/api`, by the code of its `Refusal`. */
  refused(code: string): void;
}

/** The page that a Prometheus server scrapes. */
export interface MetricsPage {
  readonly contentType: string;
  /** Made once for all that ask in one turn of the event loop or while it is made. */
  text(): Promise<string>;
}
