/** Who of several processes does what one of them at a time does. `duty` names it. */
export interface Elections {
  /**
   * Takes a duty that is free, or still has it; false when another process has it. `lost` is called once if it is lost
   * before it is resigned.
   */
  hold(duty: string, lost: () => void): Promise<boolean>;
  /** The duty is free at once; nothing when another process has it. */
  resign(duty: string): Promise<void>;
}
