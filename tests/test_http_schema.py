"""Every route keeps what its OpenAPI document says, whatever is sent to it; `make sweep` sends more."""

import json
import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from inferdash import http

schema = schemathesis.openapi.from_asgi("/openapi.json", http.app)


@schema.parametrize()
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_a_route_keeps_its_document(case: schemathesis.Case[Any]) -> None:
    # What a schema calls a file may be none that can be read; that is refused in a sentence.
    case.call_and_validate(excluded_checks=[positive_data_acceptance] if case.method == "POST" else [])


def test_the_document_refers_to_what_it_has() -> None:
    document = http.app.openapi()
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert "Problems" in referred
    assert referred <= set(document["components"]["schemas"])
