"""Several processes of the dashboard on one machine behind HAProxy, which each of them is a replica to.

They are started again when they end. At SIGHUP they are replaced one after the other, each after its sessions.
"""

import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Final

from inferdash import shipped

_TEMPLATE: Final = 'server-template replica 1-20 "${REPLICAS}" resolvers names init-addr none'
"""What stands in the configuration for the replicas of a cluster."""
_DRAIN_S: Final = "30"
_START_S: Final = 60.0
_LOOK_S: Final = 0.2
_NOTICED_S: Final = 4.0
"""After which the proxy knows that a process takes sessions."""
_AGAIN_S: Final = 2.0
"""Before a process that ended by itself is started again."""


class NoProxyError(Exception):
    """There is no HAProxy; the sentence says how to get it."""


@dataclass
class Worker:
    """One process of the dashboard."""

    port: int
    command: Sequence[str]
    environment: dict[str, str]
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Starts it."""
        self.process = subprocess.Popen(self.command, env=self.environment)  # noqa: S603 - the dashboard itself

    def ready(self) -> bool:
        """Whether it takes sessions."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/readyz", headers={"Host": "localhost"})
            return connection.getresponse().status == 200  # noqa: PLR2004 - as HTTP has it
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


@dataclass
class Workers:
    """The processes and the proxy before them."""

    workers: list[Worker]
    proxy: subprocess.Popen[bytes]
    ending: bool = False
    renewing: list[Worker] = field(default_factory=list)
    """Those that are to be replaced, the first of them now."""

    def listen(self) -> None:
        """Takes signals from here on: SIGTERM and SIGINT end all of it, SIGHUP replaces one process after the other."""

        def asked_to_end(_: int, __: FrameType | None) -> None:
            self.ending = True

        def asked_to_renew(_: int, __: FrameType | None) -> None:
            self.renewing = self.renewing or [*self.workers]
            self.renewing[0].process.terminate()

        signal.signal(signal.SIGTERM, asked_to_end)
        signal.signal(signal.SIGINT, asked_to_end)
        signal.signal(signal.SIGHUP, asked_to_renew)

    def watch(self) -> int:
        """Keeps all processes running until it is asked to end; the proxy's exit status where that ends first."""
        while not self.ending and self.proxy.poll() is None:
            for worker in self.workers:
                if worker.process.poll() is not None:
                    if worker not in self.renewing[:1]:
                        logging.getLogger("inferdash").warning("A process ended with %s.", worker.process.returncode)
                        time.sleep(_AGAIN_S)
                    worker.start()
                    self._wait_for(worker)
            time.sleep(_LOOK_S)
        return self.proxy.poll() or 0

    def _wait_for(self, worker: Worker) -> None:
        """Until it takes sessions; then the next one that is to be replaced ends."""
        end = time.monotonic() + _START_S
        while not self.ending and not worker.ready() and time.monotonic() < end:
            time.sleep(_LOOK_S)
        if worker in self.renewing[:1]:
            time.sleep(_NOTICED_S)
            self.renewing.pop(0)
            if self.renewing:
                self.renewing[0].process.terminate()

    def end(self) -> None:
        """Ends the processes, those who are connected first, and then the proxy."""
        processes = [worker.process for worker in self.workers]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        self.proxy.terminate()
        self.proxy.wait()


def proxy() -> str | None:
    """The path of HAProxy; None where there is none."""
    return shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def run(count: int, *, address: str, port: int, hosts: Sequence[str]) -> int:
    """Runs so many processes behind a proxy until it is asked to end; returns the exit status.

    Args:
        count: of processes.
        address: on which the proxy listens.
        port: of the proxy; with `INFERDASH_METRICS` the processes have that port and those that follow.
        hosts: names that the dashboard answers to; any where there are none.

    Raises:
        NoProxyError: where there is no HAProxy.
    """
    haproxy = proxy()
    if haproxy is None:
        raise NoProxyError("Several workers need HAProxy 2.6 or newer, on Debian: apt-get install haproxy.")
    shared = {"INFERDASH_DRAIN_S": _DRAIN_S, "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32), **os.environ}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="inferdash-")))
        ports = free_ports(count)
        workers = [Worker(one, _command(one, hosts), shared | _metrics(place)) for place, one in enumerate(ports)]
        for worker in workers:
            worker.start()
        file = folder / "haproxy.cfg"
        file.write_text(configuration(ports), encoding="utf-8")
        before = subprocess.Popen([haproxy, "-db", "-f", str(file)], env=_proxied(f"{address}:{port}", shared))  # noqa: S603 - as found above
        all_ = Workers(workers, before)
        stack.callback(all_.end)
        all_.listen()
        return all_.watch()


def configuration(ports: Sequence[int]) -> str:
    """The proxy's configuration with replicas on this machine in the place of those of a cluster."""
    text = (shipped("deploy") / "haproxy.cfg").read_text(encoding="utf-8")
    lines = [f"server replica{place} 127.0.0.1:{port}" for place, port in enumerate(ports, 1)]
    return text.replace(_TEMPLATE, "\n    ".join(lines)).partition("resolvers names")[0] + _measured(text)


def _measured(text: str) -> str:
    return "frontend measured" + text.partition("frontend measured")[2]


def free_ports(count: int) -> list[int]:
    """Ports of this machine on which nothing listens."""
    taken = [socket() for _ in range(count)]
    try:
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in taken]
    finally:
        for one in taken:
            one.close()


def _command(port: int, hosts: Sequence[str]) -> list[str]:
    named = [part for host in hosts or ["*"] for part in ("--host", host)]
    return [sys.executable, "-m", "inferdash", "--port", str(port), "--address", "127.0.0.1", *named]


def _metrics(place: int) -> dict[str, str]:
    address, colon, port = os.environ.get("INFERDASH_METRICS", "").rpartition(":")
    return {"INFERDASH_METRICS": f"{address}{colon}{int(port) + place}"} if port else {}


def _proxied(bind: str, shared: dict[str, str]) -> dict[str, str]:
    """The variables of the proxy's configuration, where who runs it does not give them."""
    (measured,) = free_ports(1)
    key = shared["STREAMLIT_SERVER_COOKIE_SECRET"]
    return {"BIND": bind, "COOKIE_KEY": key, "API_RATE": "100", "MEASURED": f"127.0.0.1:{measured}"} | shared
