"""What `deploy/` says is so: ports, paths, variables, labels, and a configuration that HAProxy reads."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from inferdash.ui.hosting.server import ROUTES
from inferdash.workers import configuration, proxy

ROOT: Final = Path(__file__).parents[1]
DEPLOY: Final = ROOT / "deploy"
PROXIED: Final = {"BIND": "127.0.0.1:1", "MEASURED": "127.0.0.1:2", "COOKIE_KEY": "k", "API_RATE": "9"}
CLUSTER: Final = {"REPLICAS": "dashboard:8501", "NAMESERVER": "127.0.0.11:53"}
OWN: Final = re.compile(r"\b(?:INFERDASH|STREAMLIT_SERVER)_[A-Z_]+")


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    return {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))}


def test_objects_of_the_cluster_find_each_other(objects: dict[str, Any]) -> None:
    template = objects["Deployment"]["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert objects["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert objects["Service"]["spec"]["selector"] == labels
    assert objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert (
        objects["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"]
        == objects["Deployment"]["metadata"]["name"]
    )
    (rule,) = objects["Ingress"]["spec"]["rules"]
    service = rule["http"]["paths"][0]["backend"]["service"]
    (port,) = objects["Service"]["spec"]["ports"]
    assert (service["name"], service["port"]["name"]) == (objects["Service"]["metadata"]["name"], port["name"])
    (container,) = template["spec"]["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert port["targetPort"] in ports
    paths = {route.path for route in ROUTES if hasattr(route, "path")}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] in paths
        assert asked["port"] in ports
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert f"EXPOSE {' '.join(map(str, ports.values()))}" in image
    drained = int(re.findall(r"INFERDASH_DRAIN_S=(\d+)", image)[0])
    assert template["spec"]["terminationGracePeriodSeconds"] > drained
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert template["spec"]["securityContext"]["runAsNonRoot"]


def test_variables_are_those_that_the_dashboard_reads() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "inferdash").rglob("*.py"))
    told = set(OWN.findall((ROOT / "docs" / "operating.md").read_text(encoding="utf-8")))
    assert told >= set(OWN.findall(code))
    for file in (*DEPLOY.glob("*.yaml"), DEPLOY / "Containerfile"):
        assert set(OWN.findall(file.read_text(encoding="utf-8"))) <= told
    assert {name for name in told if name.startswith("INFERDASH")} <= set(OWN.findall(code))


def test_the_image_installs_what_the_project_asks_for() -> None:
    locked = (DEPLOY / "requirements.lock").read_text(encoding="utf-8")
    pins = set(re.findall(r"^([a-z0-9-]+==[^ ;]+)", locked, re.MULTILINE))
    every = set(
        re.findall(r"^([a-z0-9-]+==[^ ;]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert pins <= every
    asked = re.findall(
        r'^    "([a-z0-9-]+)[~>=]',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional")[0],
        re.MULTILINE,
    )
    assert len(asked) > 10
    assert {*asked, "mcp"} <= {pin.partition("==")[0] for pin in pins}


@pytest.mark.skipif(proxy() is None, reason="`make proxy` provides HAProxy")
@pytest.mark.parametrize("base", [{}, {"BASE": "/inference"}], ids=["at the root", "below a path"])
@pytest.mark.parametrize("kind", ["cluster", "machine"])
def test_the_proxy_reads_its_configuration(kind: str, base: dict[str, str], tmp_path: Path) -> None:
    file, given = DEPLOY / "haproxy.cfg", {**os.environ, **PROXIED, **base}
    if kind == "cluster":
        given |= CLUSTER
    else:
        file = tmp_path / "haproxy.cfg"
        file.write_text(configuration([8601, 8602]), encoding="utf-8")
        assert "server replica2 127.0.0.1:8602" in file.read_text(encoding="utf-8")
    run = subprocess.run([str(proxy()), "-c", "-f", str(file)], env=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "WARNING" not in run.stderr
