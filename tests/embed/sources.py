"""Streams that tell what is done to them: how far they were read, and whether they were closed."""


class Source:
    """A sync stream of `events`, which it raises where they are exceptions."""

    def __init__(self, *events, closing=None):
        self.events, self.read, self.closed, self.closing = list(events), 0, 0, closing

    def __iter__(self):
        return self

    def __next__(self):
        if self.read == len(self.events):
            raise StopIteration
        self.read += 1
        event = self.events[self.read - 1]
        if isinstance(event, BaseException):
            raise event
        return event

    def close(self):
        self.closed += 1
        if self.closing is not None:
            raise self.closing


class AsyncSource(Source):
    """The same, async. `gate` is awaited before each event."""

    __iter__ = None

    def __init__(self, *events, closing=None, gate=None):
        super().__init__(*events, closing=closing)
        self.gate = gate

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.gate is not None:
            await self.gate()
        try:
            return self.__next__()
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self):
        super().close()
