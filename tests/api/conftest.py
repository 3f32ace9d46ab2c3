"""A whole server in this process: the real store, evaluator, bundle and journal behind the real application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings
from engine.access.keys import make_key
from engine.access.roles import Role

Caller = Callable[..., TestClient]

BUNDLE = {
    ".manifest": '{"revision": "test-1", "roots": ["lictor", "test", "system"]}',
    "test/test.rego": """package test
echo := input
always := true
never := false
missing if input.nowhere
clash := 1 if input.clash
clash := 2 if input.clash
slow := count([1 | some i in numbers.range(1, 3000); some j in numbers.range(1, 3000); i == j]) if input.slow
""",
    "test/numbers/data.json": '{"one": 1, "big": [1, 2, 3]}',
    "lictor/admission/admission.rego": """package lictor.admission
default outcome := "deny"
outcome := input.want if input.want
reasons contains {"code": "not_asked_for", "kind": "authority", "message": "ask for it"} if not input.want
reasons contains {"code": "full_house", "kind": "capacity", "message": "wait"} if input.want == "queue"
obligations := []
""",
    "system/log/mask.rego": """package system.log
mask contains "/input/secret" if input.input.secret
mask contains {"op": "upsert", "path": "/input/card", "value": "****"} if input.input.card
mask contains 7 if input.input.break_the_mask
""",
}


def write_bundle(folder: Path, files: dict[str, str] | None = None) -> Path:
    for name, content in (BUNDLE if files is None else files).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return folder


class Served:
    """A running application, and clients of it with a key of any role."""

    def __init__(self, runtime: Runtime, client: TestClient) -> None:
        self.runtime = runtime
        self.client = client
        self._keys: dict[tuple[Role, str], str] = {}

    def key(self, role: Role = Role.OPERATOR, tenant: str = "") -> str:
        if (role, tenant) not in self._keys:
            key, record = make_key(f"test {role}", role, tenant, 1)
            self.runtime.store.keys.add(record)
            self._keys[role, tenant] = key
        return self._keys[role, tenant]

    def headers(self, role: Role = Role.OPERATOR, tenant: str = "") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key(role, tenant)}"}

    def ask(self, path: str, body: Any = None, role: Role = Role.OPERATOR, tenant: str = "", **options: Any) -> Any:
        return self.client.post(path, json=body, headers=self.headers(role, tenant), **options)

    def get(self, path: str, role: Role = Role.OPERATOR, tenant: str = "", **options: Any) -> Any:
        return self.client.get(path, headers=self.headers(role, tenant), **options)


@contextmanager
def serving(folder: Path, **changes: Any) -> Iterator[Served]:
    settings = Settings(**{"data_dir": folder / "state", "evaluator_workers": 1, **changes})
    runtime = Runtime(settings)
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        yield Served(runtime, client)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, bundle=write_bundle(folder / "bundle"), max_body_bytes=20_000, max_batch=5) as server:
        yield server
