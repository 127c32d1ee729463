import type { NamedStatement } from "../../store/postgres-pool.ts";
import { RATE_WINDOW_MS } from "./counters.ts";

/** Within this time after PostgreSQL came back each server writes to the ledger what it granted before. */
export const WRITTEN_WITHIN_MS = 1_500;

/** $1 to $6 are of each owner, $7 the day, $8 the first day of its month, $9 the time or null. */
export const COUNT: NamedStatement = {
  name: "counters count",
  sql: `
insert into counters as c
  (owner, seen_ms, opened_ms, used, day, in_day, in_month, passed, taken, times, rate, units, daily, monthly)
select owner, now_ms, ${String(-RATE_WINDOW_MS)}, 0, -1, 0, 0, 0, 0, times, rate, units, daily, monthly
from (select coalesce($9::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint) as now_ms offset 0) n,
  unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::bigint[], $6::bigint[])
    as asked(owner, times, rate, units, daily, monthly)
on conflict (owner) do update set
  (seen_ms, opened_ms, used, passed, taken, day, in_day, in_month) = (
    select excluded.seen_ms, opened_ms,
      case when excluded.rate is null then c.used else used + passed end,
      passed, taken, greatest(c.day, $7::int),
      in_day + coalesce(taken * excluded.units, 0), in_month + coalesce(taken * excluded.units, 0)
    from (
      select *, case
        when excluded.units is null or c.day > $7 then 0
        else least(passed, greatest(0, coalesce(
          least(excluded.daily - in_day, excluded.monthly - in_month) / nullif(excluded.units, 0), passed)))
        end as taken
      from (
        select *, greatest(0, least(excluded.times, coalesce(excluded.rate - used, excluded.times))) as passed
        from (
          select
            case when excluded.rate is null or isOpen then c.opened_ms else excluded.seen_ms end as opened_ms,
            case when isOpen then c.used else 0 end as used,
            case when c.day >= $7 then c.in_day else 0 end as in_day,
            case when c.day >= $8::int then c.in_month else 0 end as in_month
          from (select excluded.seen_ms - c.opened_ms between 0 and ${String(RATE_WINDOW_MS - 1)} as isOpen) w
        ) counted
      ) rated
    ) granted)
where c.day >= 0
returning owner, seen_ms, opened_ms, used, passed, taken, day, in_day, in_month`,
};

const NOW_MS = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/**
 * Since when rows have been made. The table is unlogged, so a crash takes this row with all others. A ledger that is empty
 * is new, and all that was granted is in it.
 */
export const SINCE: NamedStatement = {
  name: "counters since",
  sql: `
insert into counters as c (owner, seen_ms, opened_ms, used, day, in_day, in_month, passed, taken, times)
select '', case when exists (select from usage_days) then ${NOW_MS} else 0 end, 0, 0, 0, 0, 0, 0, 0, 0
on conflict (owner) do update set seen_ms = c.seen_ms
returning ${NOW_MS} - seen_ms as age_ms`,
};

/** Reads the ledger for the rows that are missing or new, once all that was granted is in it. $1 owners, $5 what their rows are called, $2 day, $3 and $4 the ends of its month. */
export const FILL: NamedStatement = {
  name: "counters fill",
  sql: `
insert into counters as c
  (owner, seen_ms, opened_ms, used, day, in_day, in_month, passed, taken, times)
select called, ${NOW_MS}, ${String(-RATE_WINDOW_MS)}, 0, $2::int, in_day, in_month, 0, 0, 0
from unnest($1::text[], $5::text[]) as asked(owner, called), lateral (
  select coalesce(sum(units) filter (where u.day = $2), 0) as in_day, coalesce(sum(units), 0) as in_month
  from usage_days u where u.owner = asked.owner and u.day >= $3::int and u.day < $4::int
) used
where exists (
  select from counters where owner = '' and ${NOW_MS} - seen_ms not between 0 and ${String(WRITTEN_WITHIN_MS - 1)}
)
on conflict (owner) do update set day = excluded.day, in_day = excluded.in_day, in_month = excluded.in_month
where c.day < 0`,
};

export const READ: NamedStatement = {
  name: "counters read",
  sql: "select owner, day, in_day, in_month from counters where owner = $1 and day = $2",
};

/** Takes units off. $1 owner, $2 units, $3 the day of the units, $4 the first day of the month after theirs. */
export const LESS: NamedStatement = {
  name: "counters less",
  sql: `
update counters set
  in_day = case when day = $3::int then in_day - $2::bigint else in_day end,
  in_month = case when day >= 0 and day < $4::int then in_month - $2 else in_month end
where owner = $1`,
};

/** Adds to the requests of a window. $1 owner, $2 the window, $3 requests. */
export const USE: NamedStatement = {
  name: "counters use",
  sql: `update counters set used = greatest(0, used + $3::int) where owner = $1 and opened_ms = $2::bigint`,
};
