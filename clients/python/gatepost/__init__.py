"""Client of Gatepost: decide on sign-ups in time, and never lose one because a service is away."""

from .client import AsyncClient, Client
from .results import BulkResult, Decision, GatepostError, Mailbox, MaySend, Policy, Progress, Result, TokenResult
from .webhooks import verify_webhook

__all__ = [
    "AsyncClient",
    "BulkResult",
    "Client",
    "Decision",
    "GatepostError",
    "Mailbox",
    "MaySend",
    "Policy",
    "Progress",
    "Result",
    "TokenResult",
    "verify_webhook",
]
