"""The blocks of one replica in ordered dictionaries: the same rules as those of the simulator, said another way."""

from collections import OrderedDict
from math import ceil

from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Requests
from inferdash.serving.simulated.scheduling import Scheduling


class SlowBlocks:
    """Which blocks are in use, only kept, or below the GPUs."""

    def __init__(self, requests: Requests, times: PassTimes, how: Scheduling) -> None:
        texts = requests.texts
        assert texts is not None
        self.names = [texts.names[texts.first[i] : texts.first[i + 1]].tolist() for i in range(len(requests))]
        self.block, self.pages = texts.block, texts.block // how.page
        self.how, self.times = how, times
        self.users: dict[int, int] = {}
        self.kept: OrderedDict[object, int] = OrderedDict()  # name -> pages, the next to go first
        self.mine: set[tuple[int, int]] = set()
        self.below: OrderedDict[int, None] = OrderedDict()  # the next to go first
        self.host, self.ssd = how.tiers.host_pages // self.pages, how.tiers.ssd_pages // self.pages
        self.link_s = 0.0
        self.evicted = 0

    def shared(self) -> int:
        """Pages that are counted for more than one request."""
        return self.pages * sum(count - 1 for count in self.users.values())

    def found(self, one: int, goal: int) -> tuple[int, int]:
        """Blocks that are there, and pages of those that others use."""
        known = used = 0
        for name in self.names[one][: (goal - 1) // self.block]:
            if name in self.users:
                used += self.pages
            elif name not in self.kept:
                break
            known += 1
        return known, used

    def alone_s(self, before: int, after: int) -> float:
        whole, rest = divmod(after - before, self.how.pass_tokens)
        return max(
            float(
                whole * line.pass_s[self.how.pass_tokens]
                + line.pass_s[rest]
                + line.chunk_s(size=after - before, past=before)
            )
            for line in self.times.lines
        )

    def reload(self, one: int, known: int, goal: int, now_s: float, queued: int) -> tuple[int, float]:
        """Blocks that are moved in, and when they are there; so many tokens wait to be read."""
        tiers = self.how.tiers
        ranks = {name: place for place, name in enumerate(reversed(self.below))}
        whole, rest = divmod(queued, self.how.pass_tokens)
        waits_s = max(float(whole * line.pass_s[self.how.pass_tokens] + line.pass_s[rest]) for line in self.times.lines)
        ready_s, choice = max(now_s, self.link_s), (waits_s + self.alone_s(known * self.block, goal), 0, 0.0)
        wanted = self.names[one][known : (goal - 1) // self.block]
        for moved, name in enumerate(wanted, start=1):
            if name not in ranks:
                break
            in_host = ranks[name] < self.host
            ready_s += self.block * (tiers.host_token_s if in_host else tiers.ssd_token_s)
            following = wanted[moved : moved + 1]
            if not following or following[0] not in ranks or (ranks[following[0]] < self.host) != in_host:
                there_s = max(ready_s + tiers.latency_s - now_s, waits_s)
                takes_s = there_s + self.alone_s((known + moved) * self.block, goal)
                if takes_s < choice[0]:
                    choice = takes_s, moved, ready_s
        if choice[1]:
            self.link_s = choice[2]
        return choice[1], choice[2] + tiers.latency_s

    def take(self, one: int, known: int) -> None:
        for place in range(known):
            name = self.names[one][place]
            self.kept.pop(name, None)
            self.users[name] = self.users.get(name, 0) + 1
            self.mine.add((one, place))

    def share(self, one: int, before: int, after: int) -> None:
        for place in range(before // self.block, min(len(self.names[one]), after // self.block)):
            name = self.names[one][place]
            if name not in self.users and name not in self.kept:
                self.users[name] = 1
                self.mine.add((one, place))

    def give(self, one: int, read: int, context: int) -> None:
        names = self.names[one]
        for place in reversed(range(min(len(names), read // self.block))):
            if names[place] in self.below or self.how.tiers.write == "through":
                self._write_out(names[place])
        if context and (rest := ceil(context / self.how.page) - len(names) * self.pages):
            self.kept["answer", one] = rest
        for place in reversed(range(len(names))):
            name = names[place]
            if (one, place) in self.mine:
                self.mine.remove((one, place))
                self.users[name] -= 1
                if not self.users[name]:
                    del self.users[name]
                    self.kept[name] = self.pages
            elif (place + 1) * self.block <= read and name not in self.users:
                self.kept.pop(name, None)
                self.kept[name] = self.pages

    def _write_out(self, name: int) -> None:
        if self.host + self.ssd:
            self.below[name] = None
            self.below.move_to_end(name)
            if len(self.below) > self.host + self.ssd:
                self.below.popitem(last=False)

    def evict(self, used: int) -> None:
        """What is only kept gives way where all pages are used."""
        while self.kept and self.how.pages is not None and used + sum(self.kept.values()) > self.how.pages:
            name = next(iter(self.kept))
            if isinstance(name, tuple):
                self.kept[name] -= 1
                self.evicted += 1
                if not self.kept[name]:
                    del self.kept[name]
                continue
            self.evicted += self.kept.pop(name)
            if self.how.tiers.write == "back" and isinstance(name, int):
                self._write_out(name)
