import { withPostgres } from "../services/with-postgres.ts";
import { raceContract } from "./process/races.ts";

withPostgres("races between processes on PostgreSQL", ({ open, again }) => {
  raceContract("PostgreSQL", open, again);
});
