"""Every route keeps what its OpenAPI document says, whatever is sent to it; `make sweep` sends more."""

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
