"""What Django, its REST framework and FastAPI answer about addresses: run_frameworks.py URL ADDRESSES_AS_JSON."""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django  # noqa: E402
from django.conf import settings  # noqa: E402

url, addresses = sys.argv[1], json.loads(sys.argv[2])
options = {"url": url, "deadline_ms": 10_000}
settings.configure(GATEPOST=options, LANGUAGE_CODE="de", USE_I18N=True, INSTALLED_APPS=["rest_framework"])
django.setup()

from django import forms  # noqa: E402
from django.core.exceptions import ValidationError  # noqa: E402
from django.db.migrations.writer import MigrationWriter  # noqa: E402
from fastapi import Depends, FastAPI  # noqa: E402
from rest_framework import serializers  # noqa: E402

from gatepost import AsyncClient, Decision  # noqa: E402
from gatepost.django import SignUpEmail  # noqa: E402
from gatepost.fastapi import SignUp  # noqa: E402
from gatepost.rest_framework import SignUpEmailField  # noqa: E402


class SignUpForm(forms.Form):
    email = forms.EmailField(validators=[SignUpEmail(blocks=("challenge", "reject"))])


class SignUpSerializer(serializers.Serializer):
    email = SignUpEmailField(form="api")


def by_form(email):
    form = SignUpForm({"email": email})
    return [] if form.is_valid() else [form.errors.get_json_data()["email"][0]["message"]]


def by_serializer(email):
    serializer = SignUpSerializer(data={"email": email})
    return [] if serializer.is_valid() else [str(error) for error in serializer.errors["email"]]


app = FastAPI()
sign_up = SignUp(AsyncClient(**options))


@app.post("/sign-up")
async def create(decision: Decision = Depends(sign_up)):
    return {"decision": decision.decision}


async def by_app(email):
    """Calls the application as a server does."""
    body = json.dumps({"email": email}).encode()
    headers = [(b"content-type", b"application/json"), (b"accept-language", b"de,en;q=0.5")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/sign-up",
        "raw_path": b"/sign-up",
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    answer = json.loads(b"".join(message.get("body", b"") for message in sent))
    return [] if sent[0]["status"] == 200 else [answer["detail"][0]["msg"]]


async def by_app_all():
    return [await by_app(email) for email in addresses]


seen = {
    "django": [by_form(email) for email in addresses],
    "rest_framework": [by_serializer(email) for email in addresses],
    "fastapi": asyncio.run(by_app_all()),
}
malformed = ["Please enter a complete email address."]
for value in [["jo@mailinator.com"], {"a": 1}, 1, True, "x" * 1_001]:
    assert asyncio.run(by_app(value)) == malformed, value
for value in [["jo@mailinator.com"], 1]:
    try:
        SignUpEmail()(value)
        raise AssertionError(value)
    except ValidationError as fault:
        assert fault.messages == malformed
assert MigrationWriter.serialize(SignUpEmail(form="x"))[0] == "gatepost.django.SignUpEmail(form='x')"
print(json.dumps(seen))
