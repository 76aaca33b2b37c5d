"""The numbers over HTTP are those of the terminal and of a notebook, and what is wrong is said in a sentence."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import inferdash
from inferdash import http, links
from inferdash.cli import main
from inferdash.studies.numbers import lines
from inferdash.studies.report import STUDIES
from inferdash.ui.hosting.server import ROUTES
from tests.everywhere import Everywhere
from tests.scenarios import valid

LOG = b"timestamp,model,input_tokens,output_tokens\n0,m,1000000,100000\n60,m,1000000,100000\n"


@pytest.fixture(scope="module")
def asked() -> Iterator[TestClient]:
    with TestClient(http.app) as client:
        yield client


def test_the_numbers_on_top_are_the_same_everywhere() -> None:
    """`make sweep` holds more."""
    ways = Everywhere()
    try:
        assert [*ways.unlike(valid(0, usual=True))] == []
    finally:
        ways.close()


@pytest.mark.parametrize("seed", range(2))
def test_all_numbers_are_the_same_everywhere(seed: int, asked: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    link = links.encode(valid(seed, usual=True))
    over_http = asked.get(f"/report?{link}").json()
    main(["report", f"?{link}"])
    assert over_http == json.loads(capsys.readouterr().out)
    notebook = inferdash.report(link)
    for name in STUDIES:
        page = asked.get(f"/page/{name}?{link}").json()
        shown = {one["name"]: one["shown"] for one in page["numbers"] if one["unit"] != "rows"}
        assert shown == {line.path: line.shown for line in lines(getattr(notebook, name)) if line.unit != "rows"}


def test_a_report_is_sent_once(asked: TestClient) -> None:
    first = asked.get("/report?batch=3&v=2")
    again = asked.get("/report?batch=3&v=2", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert asked.get("/report?batch=4&v=2").headers["ETag"] != first.headers["ETag"]
    assert first.json()["version"] == inferdash.__version__


def test_a_page_shows_its_working(asked: TestClient) -> None:
    """A pass reads 15.1 GB at 3.35 TB/s."""
    steps = asked.get("/page/compute-vs-memory?v=1").json()["working"]
    (step,) = [one for one in steps if one["name"] == "load_s" and one["of"] == "Decode"]
    assert step["formula"] == "bytes_read / (gpus * bandwidth)"
    assert step["result"] == "4.52 ms"
    assert eval(step["with_numbers"]) == pytest.approx(4.52e-3, rel=1e-3)  # noqa: S307 - the project's own formula
    assert asked.get("/page/plan?v=2").json()["working"]


def test_the_dashboard_carries_it(asked: TestClient) -> None:
    with TestClient(Starlette(routes=ROUTES)) as dashboard:
        assert dashboard.get("/api/page/kv-cache?v=1").json() == asked.get("/page/kv-cache?v=1").json()
        assert dashboard.get("/mcp").status_code == 405


def test_what_a_page_says(asked: TestClient) -> None:
    page = asked.get("/page/kv-cache?v=1").json()
    assert page["sentence"] == "A request of 1,024 tokens takes 134 MB of KV cache, 131 kB per token."
    assert page["problems"] == []


def test_two_scenarios(asked: TestClient) -> None:
    said = asked.get("/compare", params={"a": "?v=1", "b": "?batch=64&v=1"}).json()
    assert said["fields"] == {"batch": ["1", "64"]}
    rows = {row["name"]: row for row in said["numbers"]["compute_vs_memory"]}
    assert rows["decode.pass_s"]["b"] == pytest.approx(0.00704, rel=1e-2)
    assert asked.get("/compare", params={"a": "?v=1", "b": "?v=1"}).json()["numbers"] == {}


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/page/nothing?v=1", 404, "There is no page 'nothing'"),
        ("/compare?a=%3Fv%3D1", 404, "The link holds one scenario"),
        ("/nothing", 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_a_sentence(asked: TestClient, path: str, status: int, said: str) -> None:
    answer = asked.get(path)
    assert answer.status_code == status
    assert said in answer.json()["problems"][0]


def test_what_can_be_chosen(asked: TestClient) -> None:
    fields = asked.get("/fields").json()["properties"]
    assert (fields["batch"]["minimum"], fields["batch"]["maximum"]) == (1, 1_000_000)
    assert "h100-sxm" in fields["accelerator"]["enum"]
    assert [one["id"] for one in asked.get("/models?search=gpt-oss-120b").json()] == ["gpt-oss-120b"]
    assert asked.get("/accelerators?search=h100 sxm").json()[0]["bandwidth_bytes_per_s"] == 3.35e12


def test_a_file_is_billed(asked: TestClient) -> None:
    said = asked.post("/replay?prices=in=2,out=10", content=LOG).json()
    assert (said["requests"], said["cost_usd"]) == (2, 2 * (2 + 1))


def test_a_file_that_is_none_is_refused(asked: TestClient) -> None:
    answer = asked.post("/replay?prices=nonsense", content=LOG)
    assert answer.status_code == 422
    assert answer.json()["problems"] == [
        "--prices: nonsense is not known; it takes in=, out=, read=, write=, write_long=."
    ]


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("/replay", b"", "There is no file in the body of the request."),
        ("/score", b"\x89PNG", "The file is not UTF-8 text."),
    ],
)
def test_what_is_no_file_is_said(asked: TestClient, path: str, content: bytes, said: str) -> None:
    answer = asked.post(path, content=content)
    assert (answer.status_code, answer.json()) == (422, {"problems": [said]})


def test_a_file_has_a_bound(asked: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_BYTES", 10)
    answer = asked.post("/replay", content=LOG)
    assert answer.status_code == 413
    assert answer.json()["problems"] == ["The file is larger than the 10 bytes that this server takes."]


def test_its_document_names_every_field(asked: TestClient) -> None:
    document: dict[str, Any] = asked.get("/openapi.json").json()
    named = {one["name"] for one in document["paths"]["/report"]["get"]["parameters"]}
    assert {"model", "batch", "accelerator", "v"} <= named


def test_a_field_with_several_values_makes_a_table() -> None:
    table = inferdash.report(batch=[1, 64], accelerator=["h100-sxm", "mi300x"])
    assert isinstance(table, pd.DataFrame)
    assert list(table.index) == [(1, "h100-sxm"), (1, "mi300x"), (64, "h100-sxm"), (64, "mi300x")]
    one = inferdash.report(batch=64)
    assert table.loc[(64, "h100-sxm"), "compute_vs_memory.decode.pass_s"] == one.compute_vs_memory.decode.pass_s


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"bach": 3}, "bach is no field of a scenario; did you mean batch?"),
        ({"batch": -2}, "batch=-2 is not a whole number from 1 to 1,000,000."),
        ({"batch": [*range(1, 1002)]}, "These values make 1,001 scenarios; a table has at most 1,000."),
    ],
)
def test_a_notebook_is_refused_and_goes_on_with_no_other_value(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        inferdash.report(**fields)
