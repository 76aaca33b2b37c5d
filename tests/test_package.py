import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from typing import Final, NamedTuple
from zipfile import ZipFile

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

pytestmark = pytest.mark.package

ROOT: Final = Path(__file__).parents[1]
WAIT_S: Final = 60
MOVED_INTO_PACKAGE: Final = ("app.py", "pages/", "presets/", ".streamlit/", "deploy/haproxy.cfg")


class Bare(NamedTuple):
    """An environment in which only the wheel is installed, and a folder that is no checkout."""

    scripts: Path
    packages: Path
    elsewhere: Path

    @property
    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STREAMLIT"))}
        return kept | {"HOME": str(self.elsewhere)}

    def printed(self, command: str, *arguments: str) -> str:
        full = [str(self.scripts / command), *arguments]
        return subprocess.check_output(full, cwd=self.elsewhere, env=self.variables, text=True, timeout=WAIT_S)


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    git = ["git", "ls-files", "-z"]
    listed = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout, built = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("built")
    for name in tracked:
        copy = checkout / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built)]
    subprocess.run(build, cwd=checkout, check=True)
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Bare:
    environment, elsewhere = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    base = {"base": str(environment), "platbase": str(environment)}
    scripts, packages = (Path(sysconfig.get_path(kind, "venv", base)) for kind in ("scripts", "purelib"))
    pip = [sys.executable, "-m", "pip", "--isolated", "--python", str(environment)]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", str(wheel)], check=True)
    # Dependencies come from the running interpreter, after the wheel: installing them again would take the network.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Bare(scripts, packages, elsewhere)


@pytest.fixture(scope="module")
def port(bare: Bare) -> Iterator[int]:
    with create_server(("localhost", 0)) as free:
        number = int(free.getsockname()[1])
    command = [str(bare.scripts / "inferdash"), "--port", str(number)]
    with subprocess.Popen(command, cwd=bare.elsewhere, env=bare.variables) as server:
        try:
            wait_until_healthy(server, number)
            yield number
        finally:
            server.kill()


def wait_until_healthy(server: "subprocess.Popen[bytes]", port: int) -> None:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and server.poll() is None:
        try:
            get(port, "/healthz")
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"no dashboard on port {port}")


def get(port: int, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("localhost", port, timeout=WAIT_S)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()


@pytest.fixture(scope="module")
def sent(port: int) -> list[ForwardMsg]:
    """What the server sends a browser that opens the page, until it is drawn."""
    wish = BackMsg(rerun_script=ClientState(page_name="compute-vs-memory", query_string="v=1"))
    messages: list[ForwardMsg] = []
    with connect(f"ws://localhost:{port}/_stcore/stream") as stream:
        stream.send(wish.SerializeToString())
        while not messages or not messages[-1].HasField("script_finished"):
            messages.append(ForwardMsg.FromString(stream.recv(timeout=WAIT_S, decode=False)))
    return messages


def test_wheel_carries_the_package_and_what_it_ships(wheel: Path, tracked: list[str]) -> None:
    with ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
    inside = {name for name in tracked if name.startswith("inferdash/")}
    moved = {f"inferdash/{name}" for name in tracked if name.startswith(MOVED_INTO_PACKAGE)}
    assert carried == inside | moved
    assert carried >= {
        "inferdash/app.py",
        "inferdash/pages/compute_vs_memory.py",
        "inferdash/presets/accelerators/h100-sxm.toml",
        "inferdash/presets/models/llama-3.1-8b.toml",
        "inferdash/.streamlit/config.toml",
        "inferdash/py.typed",
        "inferdash/ui/assets/assist.js",
        "inferdash/ui/assets/frame.css",
        "inferdash/ui/assets/icon.svg",
    }


def test_what_is_shipped_is_found_inside_the_package(bare: Bare) -> None:
    program = "import inferdash; print(*map(inferdash.shipped, ('app.py', 'pages', 'presets')), sep='\\n')"
    package = bare.packages / "inferdash"
    assert bare.printed("python", "-c", program).splitlines() == [
        str(package / "app.py"),
        str(package / "pages"),
        str(package / "presets"),
    ]


def test_command_reports(bare: Bare) -> None:
    numbers = json.loads(bare.printed("inferdash", "report", "?v=1", "--json"))
    assert numbers["compute_vs_memory"]["decode"]["load_s"] == pytest.approx(0.0045206170364179106, rel=1e-9)


def test_command_serves(port: int) -> None:
    assert get(port, "/healthz") == (200, "ok")
    assert get(port, "/compute-vs-memory?v=1")[0] == 200


def test_page_is_drawn(sent: list[ForwardMsg]) -> None:
    elements = {message.delta.new_element.WhichOneof("type") for message in sent}
    assert sent[-1].script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
    assert "vega_lite_chart" in elements
    assert "exception" not in elements


def test_packaged_config_is_in_force(sent: list[ForwardMsg]) -> None:
    (session,) = (message.new_session for message in sent if message.HasField("new_session"))
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
    assert session.custom_theme.light.primary_color == theme["light"]["primaryColor"]
    assert not session.config.gather_usage_stats
