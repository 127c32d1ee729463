/** On which terms the names of a feed may be passed on. */
export interface FeedLicence {
  /** SPDX identifier. */
  readonly spdx: string;
  readonly copyright: string;
  readonly url: string;
}
