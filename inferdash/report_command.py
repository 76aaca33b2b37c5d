"""`inferdash report`, `model` and `score`: the numbers of a scenario, of a model, of load tests."""

import difflib
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from inferdash import answers, links, pairs
from inferdash.facts import library
from inferdash.facts.models import hub, huggingface
from inferdash.facts.models.huggingface import Found, UnreadConfigError
from inferdash.printed import NOT_READ_IN_FULL, print_json
from inferdash.studies import side_by_side
from inferdash.studies.check import model as models
from inferdash.studies.check import own_engine
from inferdash.studies.check import score as tests
from inferdash.studies.numbers import literal

_MOST_TOKENS = 1_000_000_000


def report(link: str, *, as_markdown: bool) -> int:
    """Prints every number of a scenario, or of two, and returns the exit status."""
    decoded = pairs.decode(link)
    sentences = [problem.sentence for problem in decoded.problems]
    if as_markdown:
        print(side_by_side.markdown(decoded.pair, f"?{pairs.encode(decoded.pair)}"), end="")
        for sentence in sentences:
            print(f"\n- {literal(sentence)}")
    else:
        print_json(answers.report(link))
    return NOT_READ_IN_FULL if sentences else 0


def model(source: str, *, contexts: Sequence[int], as_json: bool) -> int:
    """Prints the numbers of a model, and returns the exit status."""
    try:
        found = _found(source, contexts)
    except UnreadConfigError as error:
        if as_json:
            print_json({"problems": [str(error)]})
        print(f"inferdash: {source}: {error}", file=sys.stderr)
        return NOT_READ_IN_FULL
    numbers = models.report(
        found.architecture,
        contexts=[*models.CONTEXTS, *contexts],
        problems=found.problems,
        tensors=found.tensors,
    )
    if as_json:
        print_json(numbers)
    else:
        print(models.text(numbers))
    return 0


def _found(source: str, contexts: Sequence[int]) -> Found:
    """A file, a preset, or a repository of the hub, that is asked for at some lengths of text."""
    outside = [tokens for tokens in contexts if not 0 < tokens <= _MOST_TOKENS]
    if outside:
        raise UnreadConfigError(f"--context: {outside[0]} is not from 1 to {_MOST_TOKENS:,} tokens.")
    content = _content(Path(source))
    if content is not None:
        fields, beside = huggingface.parse(content), _content(Path(source).with_name(huggingface.BESIDE))
        if beside is not None and not huggingface.says_formats(fields):
            fields = huggingface.with_formats(fields, beside)
        return huggingface.read(fields, name=Path(source).stem)
    if source in library.models():
        return Found(library.models()[source], (), {})
    if source.count("/") == 1 and not source.endswith(".json"):
        return hub.read(source, token=True)
    near = difflib.get_close_matches(source, library.models(), n=1)
    raise UnreadConfigError("There is no such file or preset." + "".join(f" Is it {name}?" for name in near))


def _content(path: Path) -> bytes | None:
    """The content of a file, no more of it than a config.json has; None where there is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(huggingface.LARGEST_FILE + 1)
    except OSError as error:
        raise UnreadConfigError(f"The file cannot be read: {error.strerror}.") from None


def score(source: str, link: str | None, *, save: str | None, as_json: bool) -> int:
    """Prints load tests beside what is expected of them, and returns the exit status."""
    try:
        on = None
        if link is not None:
            decoded = links.decode(link)
            if decoded.problems:
                problem = f"--on: {decoded.problems[0].sentence}"
                print(f"inferdash: {problem}", file=sys.stderr)
                return NOT_READ_IN_FULL
            on = decoded.scenario.deployment, decoded.scenario.program
        rows = tests.read_any(Path(source).read_text(encoding="utf-8-sig"), on)
        found = tests.score(rows, on)
        if save is not None:
            name, origin = Path(save).stem, Path(source).name
            own = own_engine.of(rows, on, name=name, origin=origin, today=datetime.now(tz=UTC).date())
            Path(save).write_text(own_engine.written(own), encoding="utf-8")
    except (ValueError, OSError) as error:
        sentence = "The file is not UTF-8 text." if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, OSError):
            did = "written" if error.filename == save else "read"
            sentence = f"{error.filename} cannot be {did}: {error.strerror}."
        if as_json:
            print_json({"problems": [sentence]})
        print(f"inferdash: {sentence}", file=sys.stderr)
        return NOT_READ_IN_FULL
    if as_json:
        print_json(tests.as_json(found))
    else:
        print(tests.text(found))
    return NOT_READ_IN_FULL if any(one.problem for one in found) else 0
