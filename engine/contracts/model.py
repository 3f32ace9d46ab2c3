"""The base of every contract: frozen, and strict about what it does not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
