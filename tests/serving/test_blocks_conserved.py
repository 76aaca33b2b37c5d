"""A sample of the sweep of blocks: none is lost or there twice, and host memory has the newest."""

from bench.sweeps.blocks import stepped, wrong
from tests.serving.test_block_tiers import random_sessions


def test_blocks_are_conserved() -> None:
    steps, found = 0, []
    for seed in range(1000, 1300):
        who, times, how = random_sessions(seed)
        state, log = stepped(who, times, how)
        found += [f"case {seed}: {what}" for what in wrong(state, log, how)]
        steps += len(log)
    assert found == []
    assert steps > 5000
