"""FastAPI: a dependency that gives the decision, or answers 422 with the message beside the field.

FastAPI reads annotations when an instance is used, so they are not postponed here.
"""

from typing import Sequence

from fastapi import HTTPException, Request

from .client import AsyncClient
from .results import Decision


class SignUp:
    """``decision: Decision = Depends(SignUp(client))``; the address is the member ``field`` of the JSON or form."""

    def __init__(self, client: AsyncClient, blocks: Sequence[str] = ("reject",), field: str = "email"):
        self.client, self.blocks, self.field = client, blocks, field

    async def __call__(self, request: Request) -> Decision:
        is_json = "json" in request.headers.get("content-type", "")
        fields = await (request.json() if is_json else request.form())
        email = fields.get(self.field) if hasattr(fields, "get") else None
        answer = await self.client.decide(email, language=request.headers.get("accept-language"))
        if answer.decision in self.blocks:
            raise self._refusal(answer.message or "Please use another email address.", answer.reason)
        return answer

    def _refusal(self, message: str, reason: str) -> HTTPException:
        return HTTPException(422, [{"loc": ["body", self.field], "msg": message, "type": f"gatepost.{reason}"}])
