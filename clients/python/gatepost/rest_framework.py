"""Django REST framework: a serializer field for the address of a sign-up."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from rest_framework import serializers

from .django import SignUpEmail


class SignUpEmailField(serializers.EmailField):
    def __init__(self, *, blocks: Sequence[str] = ("reject",), form: Optional[str] = None, **options: Any):
        super().__init__(**options)
        self.validators.append(SignUpEmail(blocks, form))
