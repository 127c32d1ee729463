"""Django: ``SignUpEmail`` is a validator for form and model fields. ``settings.GATEPOST`` has the options of ``Client``."""

from __future__ import annotations

from functools import lru_cache
from typing import Optional, Sequence

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.deconstruct import deconstructible
from django.utils.translation import get_language

from .client import Client

DEFAULT_MESSAGE = "Please use another email address."


@lru_cache(maxsize=None)
def shared_client() -> Client:
    """One for the process."""
    return Client(**settings.GATEPOST)


@deconstructible
class SignUpEmail:
    """Add ``"challenge"`` to ``blocks`` where the form lets people confirm an address that looks mistyped."""

    def __init__(self, blocks: Sequence[str] = ("reject",), form: Optional[str] = None):
        self.blocks = tuple(blocks)
        self.form = form

    def __call__(self, value: object) -> None:
        answer = shared_client().decide(value, language=get_language(), form=self.form)
        if answer.decision in self.blocks:
            raise ValidationError(answer.message or DEFAULT_MESSAGE, code=answer.reason)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SignUpEmail) and (self.blocks, self.form) == (other.blocks, other.form)
