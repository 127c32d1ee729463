import { withPostgres } from "../services/with-postgres.ts";
import { sqlContracts } from "./sql-contracts.ts";

withPostgres("every store's contract on PostgreSQL", ({ open }) => {
  sqlContracts("PostgreSQL", open);
});
