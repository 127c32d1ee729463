"""Sign-ups while the service is killed, slow and lying: reach.py sync|async WORLD_FILE COUNT. Prints "half", then JSON."""

import asyncio
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gatepost import AsyncClient, Client  # noqa: E402

DEADLINE_MS = 500
AT_ONCE = 16
#: Of 20 sign-ups, 16 go to the service, two to a silent one and two to one that lies.
TURNS = 20
SILENT = ("hang", "slow")


class Tally:
    def __init__(self, world, count):
        self.world, self.count = world, count
        self.lies = sorted(set(world["faults"]) - set(SILENT) - {"drip", "endless_body", "endless_head", "endless_interim", "endless_trailers", "silent_connection"})
        self.started = self.answered = self.blocked_wrongly = self.let_in_wrongly = self.late = 0
        self.worst_ms = 0.0
        self.sources = {}

    def url(self, at):
        turn = at % TURNS
        if turn < TURNS - 4:
            return self.world["service"]
        name = SILENT[turn % 2] if turn < TURNS - 2 else self.lies[at // TURNS * 2 % len(self.lies) + turn % 2 - 1]
        return self.world["faults"][name]

    def begin(self):
        self.started += 1
        if self.started == self.count // 2:
            print("half", flush=True)

    def end(self, is_listed, decision, began):
        ms = (time.perf_counter() - began) * 1000
        self.answered += 1
        self.sources[decision.source] = self.sources.get(decision.source, 0) + 1
        is_blocked = decision.decision not in ("accept", "review")
        self.blocked_wrongly += is_blocked and not is_listed
        self.let_in_wrongly += is_listed and not is_blocked and decision.source == "service"
        self.late += ms > DEADLINE_MS + 50
        self.worst_ms = max(self.worst_ms, ms)

    def report(self):
        names = ("count", "answered", "blocked_wrongly", "let_in_wrongly", "late", "worst_ms", "sources")
        print(json.dumps({name: getattr(self, name) for name in names}))


def sign_up(at):
    is_listed = at % 3 == 0
    return is_listed, f"jo{at}@{'mailinator.com' if is_listed else 'good.example'}"


def clients(kind, tally):
    made = {}

    def of(at):
        url = tally.url(at)
        if url not in made:
            made[url] = kind(url, tally.world["key"], deadline_ms=DEADLINE_MS)
        return made[url]

    return of


def run_sync(tally):
    client_of = clients(Client, tally)

    def one(at):
        tally.begin()
        is_listed, email = sign_up(at)
        client = client_of(at)
        began = time.perf_counter()
        tally.end(is_listed, client.decide(email), began)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(one, range(tally.count)):
            pass


async def run_async(tally):
    client_of = clients(AsyncClient, tally)
    numbers = iter(range(tally.count))

    async def work():
        for at in numbers:
            tally.begin()
            is_listed, email = sign_up(at)
            client = client_of(at)
            began = time.perf_counter()
            tally.end(is_listed, await client.decide(email), began)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def main(mode, world_file, count):
    tally = Tally(json.loads(Path(world_file).read_text("utf8")), int(count))
    asyncio.run(run_async(tally)) if mode == "async" else run_sync(tally)
    tally.report()


main(*sys.argv[1:])
