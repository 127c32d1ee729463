/** What registries said of domains. */
export interface RegistrationTables {
  registrations: RegistrationRow;
}

export interface RegistrationRow {
  /** Lower-case A-labels. */
  domain: string;
  /** Null: the registry has no such domain, or no date for it. */
  registered_at_ms: number | null;
  expires_at_ms: number;
}
