import { createHash } from "node:crypto";
import { RATE_WINDOW_MS } from "../../ports/admission/rate-counter.ts";

/** A script by its text and by what EVALSHA knows it by. */
export interface Script {
  readonly lua: string;
  readonly sha1: string;
}

const script = (lua: string): Script => ({
  lua,
  sha1: createHash("sha1").update(lua).digest("hex"),
});

/**
 * How long a lost counter is not rebuilt: by then every process has written to the ledger what it had granted
 * on the old one, which takes 250 ms, and has had an answer that was still on its way.
 */
const SETTLE_MS = 600;

/** No transaction is open for longer: after that a hold's process is dead, and the ledger knows what came of it. */
const HOLD_MS = 120_000;

/** After this much silence an owner's counter is deleted; the next request reads the ledger. */
const COUNTER_KEPT_MS = 3_600_000;

/** The quota part of `COUNT`'s answer. */
export const State = { none: 0, taken: 1, day: 2, month: 3, settling: 4, missing: 5 } as const;

/*
 * Keys: `since`, when this namespace was first seen; an owner's rate: hash o (opened), u (used); an owner's
 * quota: hash d<day> and m<first day of month> (units), h<id> (a hold: units day month deadline fill),
 * x (the next deadline), f (how often it was filled), s (when it was made void).
 */

const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** No process may count on this owner's counter until it is read again; holds stay. */
const VOID = `
local function void(key)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local kind = string.sub(field, 1, 1)
    if kind == 'd' or kind == 'm' then redis.call('HDEL', key, field) end
  end
  redis.call('HSET', key, 's', now)
  redis.call('PEXPIRE', key, ${String(COUNTER_KEPT_MS)})
end
`;

const HOLDS = `
local function holds(key)
  local found = {}
  local all = redis.call('HGETALL', key)
  for at = 1, #all, 2 do
    if string.sub(all[at], 1, 1) == 'h' then
      local units, day, month, deadline, fill = string.match(all[at + 1], '(%S+) (%S+) (%S+) (%S+) (%S+)')
      found[#found + 1] = { field = all[at], units = tonumber(units), day = day, month = month,
        deadline = tonumber(deadline), fill = fill }
    end
  end
  return found
end
`;

/** Since when the counters of this namespace can be trusted to be missing for a reason. */
const MARK = `
local function mark_of(since)
  local mark = tonumber(redis.call('GET', since) or '')
  if not mark or mark > now then
    mark = now
    redis.call('SET', since, now)
  end
  return mark
end
`;

/** The same, and of the owner. */
const STAMPS = `${MARK}
local function stamps(since, key)
  local mark = mark_of(since)
  local voided = tonumber(redis.call('HGET', key, 's') or '0')
  if voided > now then
    voided = now
    redis.call('HSET', key, 's', now)
  end
  return mark, voided
end
`;

/**
 * Counts a request, units, or both; units only when the request is granted. Limits and units may be "".
 * Returns granted, remaining, closes in, window, state; then wait and token when the counter is not there.
 */
const COUNT_ONE = `
local since = KEYS[1]
local function count(rate, key, limit, wanted, daily, monthly, today, thisMonth, hold)
  local granted, remaining, closes, opened = 1, 0, 0, 0
  if limit ~= '' then
    local most = tonumber(limit)
    local window = redis.call('HMGET', rate, 'o', 'u')
    local used = tonumber(window[2])
    opened = tonumber(window[1])
    if not opened or now < opened or now >= opened + ${String(RATE_WINDOW_MS)} then
      opened, used = now, 0
    end
    if used < most then
      used = used + 1
      if used == 1 then
        redis.call('HSET', rate, 'o', opened, 'u', 1)
        redis.call('PEXPIRE', rate, ${String(RATE_WINDOW_MS)})
      else
        redis.call('HINCRBY', rate, 'u', 1)
      end
    else
      granted = 0
    end
    remaining = math.max(0, most - used)
    closes = opened + ${String(RATE_WINDOW_MS)} - now
  end
  if wanted == '' or granted == 0 then return { granted, remaining, closes, opened, ${String(State.none)} } end

  local day, month = 'd' .. today, 'm' .. thisMonth
  local counts = redis.call('HMGET', key, day, month, 'x', 'f')
  if counts[3] and now > tonumber(counts[3]) then
    local next, died = nil, false
    for _, open in ipairs(holds(key)) do
      if now > open.deadline then
        redis.call('HDEL', key, open.field)
        died = true
      elseif not next or open.deadline < next then
        next = open.deadline
      end
    end
    if next then redis.call('HSET', key, 'x', next) else redis.call('HDEL', key, 'x') end
    if died then void(key) end
    counts = redis.call('HMGET', key, day, month, 'x', 'f')
  end
  if not counts[1] or not counts[2] then
    local mark, voided = stamps(since, key)
    local wait = math.max(mark, voided) + ${String(SETTLE_MS)} - now
    local token = string.format('%.0f %.0f', mark, voided)
    if wait > 0 then return { granted, remaining, closes, opened, ${String(State.settling)}, wait, token } end
    return { granted, remaining, closes, opened, ${String(State.missing)}, 0, token }
  end
  local units = tonumber(wanted)
  if monthly ~= '' and counts[2] + units > tonumber(monthly) then
    return { granted, remaining, closes, opened, ${String(State.month)} }
  end
  if daily ~= '' and counts[1] + units > tonumber(daily) then
    return { granted, remaining, closes, opened, ${String(State.day)} }
  end
  redis.call('HINCRBY', key, day, units)
  redis.call('HINCRBY', key, month, units)
  if hold ~= '' then
    local deadline = string.format('%.0f', now + ${String(HOLD_MS)})
    redis.call('HSET', key, 'h' .. hold, table.concat({ units, today, thisMonth, deadline, counts[4] or '0' }, ' '))
    if not counts[3] then redis.call('HSET', key, 'x', deadline) end
  end
  redis.call('PEXPIRE', key, ${String(COUNTER_KEPT_MS)})
  return { granted, remaining, closes, opened, ${String(State.taken)} }
end
`;

/** KEYS since, rate, quota. ARGV now or "", rate limit, units, daily, monthly, day, month, hold id or "". */
export const COUNT = script(`${NOW}${VOID}${HOLDS}${STAMPS}${COUNT_ONE}
return count(KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
`);

/** Values of a request. */
const TERMS = 7;

/**
 * Counts requests that came together, one after another.
 * KEYS since; for each rate, quota. ARGV now or ""; for each the number of its terms, from 0; terms by number, what
 * `COUNT` has behind the time. Returns what `COUNT` does for each.
 */
export const COUNT_MANY = script(`${NOW}${VOID}${HOLDS}${STAMPS}${COUNT_ONE}
local counted, requests = {}, (#KEYS - 1) / 2
for at = 1, requests do
  local v = 1 + requests + ARGV[1 + at] * ${String(TERMS)}
  counted[at] = count(KEYS[2 * at], KEYS[2 * at + 1],
    ARGV[v + 1], ARGV[v + 2], ARGV[v + 3], ARGV[v + 4], ARGV[v + 5], ARGV[v + 6], ARGV[v + 7])
end
return counted
`);

/** The first process that finds a new namespace notes when, so that its counters settle before anyone asks. KEYS since. ARGV now or "". */
export const FIND = script(`${NOW}${MARK}
mark_of(KEYS[1])
return {}
`);

/** KEYS rate. ARGV window, count. */
export const SPEND_RATE = script(`
if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then redis.call('HINCRBY', KEYS[1], 'u', ARGV[2]) end
return {}
`);

/** KEYS rate. ARGV window. */
export const GIVE_RATE_BACK = script(`
local window = redis.call('HMGET', KEYS[1], 'o', 'u')
if window[1] == ARGV[1] and tonumber(window[2]) > 0 then redis.call('HINCRBY', KEYS[1], 'u', -1) end
return {}
`);

/**
 * Makes a missing counter from the ledger's units and the open holds, unless it was lost once more meanwhile.
 * KEYS since, quota. ARGV now or "", token, day, month, units in day, units in month.
 */
export const FILL = script(`${NOW}${HOLDS}${STAMPS}
local key = KEYS[2]
local mark, voided = stamps(KEYS[1], key)
if string.format('%.0f %.0f', mark, voided) ~= ARGV[2] then return {} end
local inDay, inMonth = tonumber(ARGV[5]), tonumber(ARGV[6])
for _, hold in ipairs(holds(key)) do
  if hold.day == ARGV[3] then inDay = inDay + hold.units end
  if hold.month == ARGV[4] then inMonth = inMonth + hold.units end
end
for _, field in ipairs(redis.call('HKEYS', key)) do
  local old = tonumber(string.match(field, '^d(%d+)$') or string.match(field, '^m(%d+)$'))
  local kept = string.sub(field, 1, 1) == 'd' and 3 or 40
  if old and math.abs(old - tonumber(ARGV[3])) > kept then redis.call('HDEL', key, field) end
end
redis.call('HSETNX', key, 'd' .. ARGV[3], inDay)
redis.call('HSETNX', key, 'm' .. ARGV[4], inMonth)
redis.call('HINCRBY', key, 'f', 1)
redis.call('PEXPIRE', key, ${String(COUNTER_KEPT_MS)})
return {}
`);

/**
 * Ends a hold. KEYS quota. ARGV now or "", id, "keep" or "drop".
 * If it is kept after the counter was refilled, that reading may or may not include the units.
 */
export const END_HOLD = script(`${NOW}${VOID}
local key, field = KEYS[1], 'h' .. ARGV[2]
local text = redis.call('HGET', key, field)
if not text then
  if ARGV[3] == 'keep' then void(key) end
  return {}
end
redis.call('HDEL', key, field)
local units, day, month, deadline, fill = string.match(text, '(%S+) (%S+) (%S+) (%S+) (%S+)')
if ARGV[3] == 'keep' then
  if fill ~= (redis.call('HGET', key, 'f') or '0') then void(key) end
  return {}
end
for _, count in ipairs({ 'd' .. day, 'm' .. month }) do
  if redis.call('HEXISTS', key, count) == 1 then redis.call('HINCRBY', key, count, -units) end
end
return {}
`);

/** Takes units off again. KEYS quota. ARGV now or "", units, day, month. */
export const GIVE_UNITS_BACK = script(`${NOW}${VOID}
local key, isCounted = KEYS[1], false
for _, count in ipairs({ 'd' .. ARGV[3], 'm' .. ARGV[4] }) do
  if redis.call('HEXISTS', key, count) == 1 then
    redis.call('HINCRBY', key, count, -ARGV[2])
    isCounted = true
  end
end
if not isCounted then void(key) end
return {}
`);

/** Has the owner's counter read anew, without the holds that are named. KEYS quota. ARGV now or "", hold ids. */
export const FORGET = script(`${NOW}${VOID}
for at = 2, #ARGV do redis.call('HDEL', KEYS[1], 'h' .. ARGV[at]) end
void(KEYS[1])
return {}
`);
