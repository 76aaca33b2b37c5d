"""Times of passes that can be added up by hand."""

import numpy as np

from inferdash.serving.simulated.pass_times import Line, PassTimes, Reading


def flat(*, pass_s: float = 1.0, context_token_s: float = 0.0, prompt_token_s: float = 0.0) -> PassTimes:
    """Each pass takes `pass_s`, more for each token before one that is written, and for each token that is read."""
    tokens = np.arange(1001.0)
    line = Line(
        pass_s=np.append(0.0, np.full(1000, pass_s)),
        context_s=context_token_s * tokens,
        readings=(Reading(end_s=prompt_token_s * tokens, start_s=-prompt_token_s * tokens),),
    )
    return PassTimes(lines=(line,))


def random_times(rng: np.random.Generator, *, tokens: int, positions: int, proposed: int = 0) -> PassTimes:
    """Rising curves in one line or two, with up to two bends and one or two forms of reading, and proposed tokens."""
    checked, places = proposed + 1, positions // (proposed + 1)
    forms = int(rng.integers(1, 3))
    bends = tuple(sorted({*rng.integers(2, tokens, size=rng.integers(0, 3)).tolist()}))
    nodes = np.array([1, *bends, tokens])

    def line() -> Line:
        rises = np.append(0.0, rng.uniform(0, 0.02, size=len(nodes) - 1) * np.diff(nodes)).cumsum()
        prompts_s = [np.append(0.0, rng.uniform(0, 0.05, size=tokens).cumsum()) for _ in range(forms)]
        return Line(
            pass_s=np.append(0.0, rng.uniform(0.5, 2) + rng.uniform(0, 0.1, size=positions).cumsum()),
            context_s=np.interp(np.arange(tokens + 1), nodes, 0.01 + rises),
            readings=tuple(Reading(end_s=prompt_s, start_s=-0.9 * prompt_s) for prompt_s in prompts_s),
            round_s=np.append(0.0, 2 + rng.uniform(0, 0.2, size=places).cumsum()) if proposed else None,
            reading_s=rng.uniform(0, 0.5),
        )

    return PassTimes(
        lines=tuple(line() for _ in range(rng.integers(1, 3))),
        bends=bends,
        checked=checked,
        tokens_per_pass=float(rng.uniform(1, checked)) if proposed else 1.0,
    )
