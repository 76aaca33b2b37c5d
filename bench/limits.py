"""A measurement ends in time, or says that it did not."""

import signal
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Final

LIMIT_S: Final = 120
"""Seconds that one measurement may take, unless it says otherwise."""


def measured(measurement: Callable[[], Iterable[str]], *, limit_s: int = LIMIT_S) -> Iterator[str]:
    """The lines of a measurement; where it fails or takes too long, a last line that says so."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    lines = iter(measurement())
    while True:
        signal.alarm(limit_s)
        try:
            line = next(lines, None)
        except TimeoutError:
            line = f"{name_of(measurement)}: not measured, as it took longer than {limit_s} s"
            lines = iter(())
        except Exception as error:  # noqa: BLE001 - what follows is measured all the same
            line = f"{name_of(measurement)}: not measured: {type(error).__name__}: {error}"
            lines = iter(())
        finally:
            signal.alarm(0)
        if line is None:
            signal.signal(signal.SIGALRM, before)
            return
        yield line


def name_of(measurement: Callable[..., object]) -> str:
    """What a measurement is called in its lines."""
    return getattr(measurement, "__name__", str(measurement)).replace("_", " ")
