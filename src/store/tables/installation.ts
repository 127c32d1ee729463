/** What all processes on one database must agree on. */
export interface InstallationTables {
  installation: InstallationRow;
}

export interface InstallationRow {
  name: string;
  value: string;
}
