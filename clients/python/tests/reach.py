"""Sign-ups while the service is killed, slow and lying: reach.py sync|async WORLD_FILE COUNT. Prints "half", then JSON.

reach.py overhead WORLD_FILE COUNT compares the client with a bare round trip; reach.py control - COUNT only sleeps.
"""

import asyncio
import json
import socket
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gatepost import AsyncClient, Client  # noqa: E402

DEADLINE_MS = 250
AT_ONCE = 16
#: Of 20 sign-ups, 16 go to the service, two to a silent one and two to one that lies.
TURNS = 20
SILENT = ("hang", "slow")


class Tally:
    def __init__(self, world, count):
        self.world, self.count = world, count
        self.lies = sorted(set(world["faults"]) - set(SILENT) - {"drip", "endless_body", "endless_head", "silent_connection"})
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


def bare(sock, octets):
    sock.sendall(octets)
    answer = sock.recv(65536)
    end = answer.index(b"\r\n\r\n") + 4
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(answer) < end + length:
        answer += sock.recv(65536)


def overhead(world, count):
    """The median of one and the other, by turns, in milliseconds."""
    client = Client(world["service"], world["key"])
    host, port = client._core.site.host, client._core.site.port
    sock = socket.create_connection((host, port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    body = json.dumps({"email": "jo@good.example", "deadline_ms": 1460}).encode()
    head = f"POST /api/decide HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {world['key']}\r\nContent-Type: application/json\r\n"
    octets = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    times = {"client": [], "bare": []}
    for _ in range(count):
        for name, call in (("client", lambda: client.decide("jo@good.example")), ("bare", lambda: bare(sock, octets))):
            began = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - began) * 1000)
    print(json.dumps({name: statistics.median(each) for name, each in times.items()}))


def control(count):
    """What the machine alone adds to a wait of the same length: sleeps that end more than 50 ms late."""

    def sleep(_):
        began = time.perf_counter()
        time.sleep(DEADLINE_MS / 1000)
        return (time.perf_counter() - began) * 1000

    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = list(pool.map(sleep, range(count)))
    late = sum(ms > DEADLINE_MS + 50 for ms in times)
    print(json.dumps({"count": count, "late": late, "worst_ms": max(times)}))


def main(mode, world_file, count):
    if mode == "control":
        control(int(count))
        return
    world = json.loads(Path(world_file).read_text("utf8"))
    if mode == "overhead":
        overhead(world, int(count))
        return
    tally = Tally(world, int(count))
    asyncio.run(run_async(tally)) if mode == "async" else run_sync(tally)
    tally.report()


main(*sys.argv[1:])
