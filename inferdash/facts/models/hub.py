"""A model of the Hugging Face hub: its config.json and the headers of its tensors, never its weights.

Nothing here runs unless the reader asks for it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from inferdash.facts.models import huggingface
from inferdash.facts.models.huggingface import Found, UnreadConfigError

_TIMEOUT_S: Final = 10.0
_PASTE: Final = "paste its config.json instead"
_MOST_PARAMETERS: Final = 10**15
_LONGEST_NAME: Final = 40
_NO_HEADER: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a header that is none leads to: the hub gives out whatever was uploaded."""
_STORED: Final[Mapping[str, str]] = {"F32": "fp32", "BF16": "bf16", "F16": "bf16", "F8_E4M3": "fp8-block"}
"""What a file calls a number format -> the format as it is known here, where one is all that it holds."""


def read(hf_id: str, *, endpoint: str | None = None, timeout_s: float = _TIMEOUT_S, token: bool = False) -> Found:
    """The architecture of a repository, and what its files say about the format of the stored parameters.

    Args:
        hf_id: the name of the repository, such as "Qwen/Qwen3-8B".
        endpoint: the address of the hub; that of Hugging Face, or of HF_ENDPOINT, where None.
        timeout_s: seconds that each answer may take.
        token: whether this machine's token of the hub is sent, which opens what its owner may read.

    Raises:
        UnreadConfigError: one sentence that says what went wrong and what to do.
    """
    fields = huggingface.parse(_file(hf_id, "config.json", endpoint, timeout_s, token=token))
    if not huggingface.says_formats(fields):
        with suppress(UnreadConfigError):
            beside = _file(hf_id, huggingface.BESIDE, endpoint, timeout_s, token=token)
            fields = huggingface.with_formats(fields, beside)
    found = huggingface.read(fields, name=hf_id.rpartition("/")[2], hf_id=hf_id)
    tensors = _tensors(hf_id, endpoint, token=token)
    if not tensors:
        sentence = "The tensor headers could not be read; the number format is that of config.json."
        return replace(found, problems=(*found.problems, sentence))
    stored = next((_STORED[name] for name in tensors if len(tensors) == 1 and name in _STORED), None)
    architecture = found.architecture.model_copy(update={"weights": stored, "formats": ()} if stored else {})
    return replace(found, architecture=architecture, tensors=tensors)


def _file(hf_id: str, name: str, endpoint: str | None, timeout_s: float, *, token: bool) -> bytes:
    """The bytes of a file of fields, no more of them than one ever has."""
    # Half a second to import, for those who ask only.
    import httpx2  # noqa: PLC0415 - as said above
    from huggingface_hub import errors, get_session, hf_hub_url  # noqa: PLC0415 - as said above
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # noqa: PLC0415  # exported when first used
        build_hf_headers,
        hf_raise_for_status,
    )

    content = b""
    try:
        url = hf_hub_url(hf_id, name, endpoint=endpoint)
        headers = build_hf_headers(token=None if token else False)
        asked = get_session().stream("GET", url, headers=headers, timeout=timeout_s, follow_redirects=True)
        with asked as answer:
            hf_raise_for_status(answer)
            for part in answer.iter_bytes():
                content += part
                if len(content) > huggingface.LARGEST_FILE:
                    break
    except (errors.HFValidationError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise UnreadConfigError(_sentence(hf_id, error, token=token)) from None
    return content


def _sentence(hf_id: str, error: Exception, *, token: bool) -> str:
    from huggingface_hub import errors  # noqa: PLC0415 - it is loaded already, by the request that failed

    said = f"“{hf_id[:80]}”"
    match error:
        case errors.HFValidationError():
            return f"{said} is not a repository name such as Qwen/Qwen3-8B."
        case errors.GatedRepoError():
            how = f": log in with a token that has access, or {_PASTE}" if token else f"; {_PASTE}"
            return f"{said} is gated{how}."
        case errors.RepositoryNotFoundError():
            return f"{said} is not on the hub, or is private."
        case errors.EntryNotFoundError():
            return f"{said} has no config.json, so it is not a Transformers model."
        case errors.HfHubHTTPError():
            return f"The hub did not return {said}; {_PASTE}."
    return f"The hub cannot be reached from here; {_PASTE}."


def _tensors(hf_id: str, endpoint: str | None, *, token: bool) -> dict[str, int]:
    """Parameters by the format that the files name, from the headers alone; empty where they cannot be read."""
    import httpx2  # noqa: PLC0415 - as said above
    from huggingface_hub import HfApi, errors  # noqa: PLC0415

    try:
        api = HfApi(endpoint=endpoint, token=None if token else False)
        counted = api.get_safetensors_metadata(hf_id).parameter_count
        found = {str(name)[:_LONGEST_NAME]: int(count) for name, count in counted.items()}
    except (httpx2.HTTPError, errors.SafetensorsParsingError, errors.NotASafetensorsRepoError, *_NO_HEADER):
        return {}
    return found if all(0 < count < _MOST_PARAMETERS for count in found.values()) else {}
