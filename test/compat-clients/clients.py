"""Calls every PyPI client as its documentation shows, and prints what it gave: client -> [disposable, good, wrong key]."""

import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "python-packages"))

HOSTS = set(os.environ["COMPAT_HOSTS"].split(","))
PORT = int(os.environ["COMPAT_PORT"])
KEY = os.environ["COMPAT_KEY"]
BASE = os.environ["COMPAT_URL"]
WRONG = "wrong-key"
ADDRESSES = ["jo@bad.example", "jo@good.example"]

resolve = socket.getaddrinfo


def loopback(host, port, *more, **names):
    """Connections to the services' hosts go to the loopback server with their names."""
    return resolve("127.0.0.1", PORT, *more, **names) if host in HOSTS else resolve(host, port, *more, **names)


socket.getaddrinfo = loopback

import kickbox  # noqa: E402
import mailcheck  # noqa: E402
import neverbounce_sdk  # noqa: E402
import zerobouncesdk  # noqa: E402


def told(check, shown):
    """What both addresses gave, then what the wrong key gave."""
    results = [shown(check(KEY, address)) for address in ADDRESSES]
    try:
        results.append(shown(check(WRONG, ADDRESSES[1])))
    except BaseException as fault:  # one client ends the program
        results.append(type(fault).__name__)
    return results


def kickbox_with(options):
    return lambda key, address: kickbox.Client(key, options).kickbox().verify(address)


def zerobounce(key, address):
    return zerobouncesdk.ZeroBounce(key).validate(address)


def kickbox_words(response):
    return response.body["result"]


output = {
    "pypi kickbox, by host": told(kickbox_with({}), kickbox_words),
    "pypi kickbox, by base and version": told(
        kickbox_with({"base": BASE, "api_version": "compat/kickbox/v2"}), kickbox_words
    ),
    "pypi neverbounce-sdk, by host": told(
        lambda key, address: neverbounce_sdk.client(api_key=key).single_check(address), lambda answer: answer["result"]
    ),
    "pypi zerobouncesdk, by host": told(zerobounce, lambda answer: answer.status.value),
    "pypi mailcheck, by host": told(
        lambda key, address: mailcheck.MailCheckClient(key).check_email(address),
        lambda answer: answer.get("error", answer.get("disposable")),
    ),
}

rows = zerobouncesdk.ZeroBounce(KEY).validate_batch(
    [zerobouncesdk.ZBValidateBatchElement(address) for address in ADDRESSES]
)
output["pypi zerobouncesdk, a batch by host"] = [row.status.value for row in rows.email_batch]

print(json.dumps(output))
