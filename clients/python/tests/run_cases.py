"""Runs clients/cases.json and prints what was seen as JSON: run_cases.py sync|async WORLD_FILE."""

import asyncio
import base64
import json
import secrets
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gatepost import AsyncClient, Client, GatepostError  # noqa: E402
from gatepost.tokens import UsedTokens, verify_token  # noqa: E402
from gatepost.webhooks import verify_webhook  # noqa: E402

CASES = json.loads((ROOT.parent / "cases.json").read_text("utf8"))
AT_ONCE = 8


def options(case, world):
    client = case.get("client", {})
    key = {"none": None, "wrong": "gp_live_" + "0" * 40}.get(client.get("key"), world["key"])
    at = case.get("at")
    return {
        "url": world["service"] if at is None else world["faults"][at],
        "key": key,
        "deadline_ms": 400 if "timeout" in case.get("expect", case).get("fault", {}).get("kind", []) else 10_000,
        "away": away if client.get("away") == "function" else client.get("away", "accept"),
    }


def away(email):
    """As ``about`` in the table says."""
    if email.startswith("fails@"):
        raise LookupError("no list")
    if email.startswith("nothing@"):
        return None
    return "reject" if email.endswith("@mailinator.com") else "accept"


def seen(decision):
    fault = decision.fault
    return {
        "source": decision.source,
        "decision": decision.decision,
        "reason": decision.reason,
        "complete": decision.complete,
        "message": decision.message,
        "did_you_mean": decision.did_you_mean,
        "policy": decision.policy.name if decision.policy else None,
        "token": decision.token is not None,
        "verified": decision.verified,
        "retry_after": decision.retry_after,
        "fault": fault and {"kind": fault.kind, "status": fault.status},
    }


def email_of(case):
    return case["email"] + " " * case.get("blanks", 0)


def decide(case, world):
    with Client(**options(case, world)) as client:
        return case["name"], seen(client.decide(email_of(case), **case.get("ask", {})))


def mailbox_of(case):
    return case["email"].replace("{run}", secrets.token_hex(4))


def said(may):
    assert bool(may) is may.send
    return {"send": may.send, "ask": may.ask, "reason": may.reason}


def asker(client, case):
    return client.may_invite if case.get("invite") else client.may_send


def may_send(case, world):
    email = mailbox_of(case)
    with Client(**options(case, world)) as client:
        if "told" in case:
            client.feedback(email, case["told"])
        return case["name"], [said(asker(client, case)(email, **each.get("with", {}))) for each in case["says"]]


async def may_send_async(case, world):
    email = mailbox_of(case)
    async with AsyncClient(**options(case, world)) as client:
        if "told" in case:
            await client.feedback(email, case["told"])
        return case["name"], [said(await asker(client, case)(email, **each.get("with", {}))) for each in case["says"]]


async def may_send_all(world):
    return await asyncio.gather(*(may_send_async(case, world) for case in CASES["may_send"]))


def tell(case, world):
    try:
        with Client(**options(case, world)) as client:
            return case["name"], client.feedback(**case["tell"])
    except GatepostError as fault:
        return case["name"], {"kind": fault.kind, "status": fault.status}


def mailboxes(case, world):
    try:
        with Client(**options(case, world)) as client:
            rows = client.mailboxes(case["emails"] * case.get("times", 1))
            return case["name"], [row["id"] for row in rows]
    except GatepostError as fault:
        return case["name"], {"kind": fault.kind, "status": fault.status}


async def mailboxes_async(case, world):
    try:
        async with AsyncClient(**options(case, world)) as client:
            rows = await client.mailboxes(case["emails"] * case.get("times", 1))
            return case["name"], [row["id"] for row in rows]
    except GatepostError as fault:
        return case["name"], {"kind": fault.kind, "status": fault.status}


async def mailboxes_all(world):
    return await asyncio.gather(*(mailboxes_async(case, world) for case in CASES["mailboxes"]))


async def tell_async(case, world):
    try:
        async with AsyncClient(**options(case, world)) as client:
            return case["name"], await client.feedback(**case["tell"])
    except GatepostError as fault:
        return case["name"], {"kind": fault.kind, "status": fault.status}


async def tell_all(world):
    return await asyncio.gather(*(tell_async(case, world) for case in CASES["feedback"]))


def tls_options(world):
    context = ssl.create_default_context(cafile=world["authority"])
    return {"url": world["tls"], "deadline_ms": 10_000, "ssl_context": context}


def tls(world):
    with Client(**tls_options(world)) as client:
        return [client.decide("jo@good.example").source for _ in range(3)]


async def tls_async(world):
    async with AsyncClient(**tls_options(world)) as client:
        return [(await client.decide("jo@good.example")).source for _ in range(3)]


async def decide_async(case, world, turn):
    async with turn, AsyncClient(**options(case, world)) as client:
        return case["name"], seen(await client.decide(email_of(case), **case.get("ask", {})))


async def decide_all(world):
    turn = asyncio.Semaphore(AT_ONCE)
    return await asyncio.gather(*(decide_async(case, world, turn) for case in CASES["decide"]))


def main(mode, world_file):
    world = json.loads(Path(world_file).read_text("utf8"))
    if mode == "async":
        decided = asyncio.run(decide_all(world))
        may = asyncio.run(may_send_all(world))
        told = asyncio.run(tell_all(world))
        found = asyncio.run(mailboxes_all(world))
    else:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            decided = list(pool.map(lambda case: decide(case, world), CASES["decide"]))
            may = list(pool.map(lambda case: may_send(case, world), CASES["may_send"]))
            told = list(pool.map(lambda case: tell(case, world), CASES["feedback"]))
            found = list(pool.map(lambda case: mailboxes(case, world), CASES["mailboxes"]))
    tokens = CASES["tokens"]
    used = UsedTokens(lambda: 0)
    verified = [
        verify_token(
            each["token"], each["email"], tokens["secrets"], each["now"], used, account=tokens["account"], form=each.get("form")
        )
        for each in tokens["cases"]
    ]
    print(
        json.dumps(
            {
                "tls": tls(world) if mode == "sync" else asyncio.run(tls_async(world)),
                "decide": dict(decided),
                "may_send": dict(may),
                "feedback": dict(told),
                "mailboxes": dict(found),
                "tokens": [result.reason or "ok" for result in verified],
                "webhooks": [
                    verify_webhook(base64.b64decode(each["body"]), each["signature"], each["secret"])
                    for each in CASES["webhooks"]
                ],
            }
        )
    )


main(*sys.argv[1:])
