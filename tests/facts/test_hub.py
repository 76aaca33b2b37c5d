"""A local server plays the hub: the import works, fails in a sentence, and never fetches weights."""

import json
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from inferdash.facts.models import hub
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.physics.capacity.parameters import parameters

MODELS = json.loads((Path(__file__).parent / "published_models.json").read_text())
LLAMA: dict[str, Any] = next(model["config"] for model in MODELS if model["preset"] == "llama-3.1-8b")
WEIGHT_BYTES = 40_000_000


def safetensors(dtype: str, shape: Any = (10, 4)) -> bytes:
    """The start of a file of tensors: its header, and as many bytes of weights as would be noticed."""
    return headed({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, 80]}})


def headed(fields: Any) -> bytes:
    header = json.dumps(fields).encode()
    return struct.pack("<Q", len(header)) + header + b"\0" * WEIGHT_BYTES


ODD: dict[str, Any] = {
    "list": headed([]),
    "number": headed(5),
    "null": headed({"w": None}),
    "words": safetensors("BF16", ["x"]),
    "negative": safetensors("BF16", [-5]),
    "none": safetensors("BF16", [0]),
    "many": safetensors("BF16", [10**30, 10**30]),
    "typeless": headed({"w": {"shape": [1]}}),
    "nested": headed([[[[[]]]]]),
}


class Hub(BaseHTTPRequestHandler):
    """Answers like the hub for a handful of repositories."""

    sent = 0
    files: ClassVar[dict[str, bytes]] = {
        "/org/fine/resolve/main/config.json": json.dumps(LLAMA).encode(),
        "/org/fine/resolve/main/model.safetensors": safetensors("BF16"),
        "/org/bare/resolve/main/config.json": json.dumps(LLAMA).encode(),
        "/org/packed/resolve/main/config.json": json.dumps(LLAMA).encode(),
        "/org/packed/resolve/main/hf_quant_config.json": json.dumps(
            {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
        ).encode(),
        "/org/broken/resolve/main/config.json": b'{"hidden_size": ',
        "/org/other/resolve/main/config.json": b'{"model_type": "bert"}',
        "/org/huge/resolve/main/config.json": b"[" * 50_000_000,
        "/moved/resolve/main/config.json": json.dumps(LLAMA).encode(),
        **{f"/odd/{name}/resolve/main/config.json": json.dumps(LLAMA).encode() for name in ODD},
        **{f"/odd/{name}/resolve/main/model.safetensors": content for name, content in ODD.items()},
    }
    tokens: ClassVar[list[str | None]] = []

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        self.tokens.append(self.headers.get("Authorization"))
        if self.path.startswith("/org/old/"):
            self._head(307, b"", Location="/moved/resolve/main/config.json")
            return
        if self.path.startswith("/org/slow/"):
            time.sleep(1.5)
        if self.path.startswith("/org/failing/"):
            self._head(500)
            return
        if self.path.startswith("/org/gated/"):
            self._head(403, b"", **{"X-Error-Code": "GatedRepo"})
            return
        if self.path.startswith("/org/cut/"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"hidden')
            self.close_connection = True
            return
        content = self.files.get(self.path)
        if content is None:
            known = any(path.startswith("/".join(self.path.split("/")[:3]) + "/") for path in self.files)
            self._head(404, b"", **{"X-Error-Code": "EntryNotFound" if known else "RepoNotFound"})
            return
        span = self.headers.get("Range")
        if span:
            first, last = (int(part) for part in span.removeprefix("bytes=").split("-"))
            part = content[first : last + 1]
            self._head(206, part if body else b"", **{"Content-Range": f"bytes {first}-{last}/{len(content)}"})
        else:
            self._head(200, content if body else b"", **{"ETag": '"1"', "X-Repo-Commit": "0" * 40})

    def _head(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
            type(self).sent += len(content)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the reader has had enough


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_repository_is_read_without_its_weights(endpoint: str) -> None:
    Hub.sent = 0
    found = hub.read("org/fine", endpoint=endpoint)
    assert parameters(found.architecture).stored_total == 8_030_261_248
    assert (found.architecture.name, found.architecture.hf_id) == ("fine", "org/fine")
    assert found.tensors == {"BF16": 40}
    assert found.problems == ()
    assert Hub.sent < 200_000 < WEIGHT_BYTES


def test_a_repository_that_moved_is_followed(endpoint: str) -> None:
    assert parameters(hub.read("org/old", endpoint=endpoint).architecture).stored_total == 8_030_261_248


def test_without_tensors_the_file_says_the_format(endpoint: str) -> None:
    found = hub.read("org/bare", endpoint=endpoint)
    assert found.tensors == {}
    assert any("tensor headers" in problem for problem in found.problems)


def test_the_formats_that_stand_beside_are_read(endpoint: str) -> None:
    found = hub.read("org/packed", endpoint=endpoint)
    assert found.architecture.weights == "files"
    assert {share.name for share in found.architecture.formats} == {"fp8", "bf16"}


@pytest.mark.parametrize(
    ("hf_id", "words"),
    [
        ("org/none", "is not on the hub"),
        ("org/gated", "is gated"),
        ("org/failing", "did not return"),
        ("org/broken", "not JSON"),
        ("org/other", "“bert” is an encoder"),
        ("org/huge", "characters|nested"),
        ("org/cut", "cannot be reached|not JSON"),
        ("org/slow", "cannot be reached"),
        ("a b/c", "not a repository name"),
        ("", "not a repository name"),
        ("x" * 300, "not a repository name"),
    ],
)
def test_what_fails_gets_a_sentence(endpoint: str, hf_id: str, words: str) -> None:
    start = time.monotonic()
    with pytest.raises(UnreadConfigError, match=words) as caught:
        hub.read(hf_id, endpoint=endpoint, timeout_s=0.7)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 250
    assert time.monotonic() - start < 3


@pytest.mark.parametrize("name", ODD)
def test_odd_headers_of_tensors_are_a_sentence(endpoint: str, name: str) -> None:
    found = hub.read(f"odd/{name}", endpoint=endpoint)
    assert found.tensors == {}
    assert "tensor headers could not be read" in " ".join(found.problems)
    assert parameters(found.architecture).stored_total == 8_030_261_248


def test_the_token_of_this_machine_is_sent_only_where_it_is_said(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    Hub.tokens.clear()
    hub.read("org/fine", endpoint=endpoint)
    assert set(Hub.tokens) == {None}
    hub.read("org/fine", endpoint=endpoint, token=True)
    assert "Bearer hf_secret" in Hub.tokens


def test_no_network_gets_a_sentence() -> None:
    with pytest.raises(UnreadConfigError, match="cannot be reached from here; paste"):
        hub.read("org/fine", endpoint="http://127.0.0.1:9", timeout_s=0.7)
