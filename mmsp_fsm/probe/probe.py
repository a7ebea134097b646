"""The probe of one server: each request is sent once, when the first case asks for it, and kept for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.model.wire import to_json
from mmsp_fsm.probe.catalog import catalogue
from mmsp_fsm.probe.client import Request
from mmsp_fsm.probe.exchanges import Bounds, Exchange, exchange
from mmsp_fsm.probe.requests import Keeper, hiding, key_header, post, secret, stream_body, stream_url, user_message

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heron", "inlet", "jetty", "kelp", "larch",
         "moss", "north", "otter", "pine")  # fmt: skip
"""Of each stream that runs at the same time as others, one word that no other has."""

_NO_KEY = "wrong-key-mmsp-fsm"
_NO_MODEL = "no-such-model-mmsp-fsm"


class UnreachableError(OSError):
    """The server could not be asked at all; the text says why."""


@frozen
class Target:
    """Which server is probed, and how. `key` is never shown, nor kept with what the server sends.

    `parallel` streams are asked for at the same time; `keep_alive` is after how many seconds of silence a comment is
    due; what arrives is kept in the folder `save`.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    bounds: Bounds = field(factory=Bounds)
    parallel: int = 4
    keep_alive: float = 15.0
    save: Path | None = None


@define
class Probe:
    """What the judges look at: the exchanges with one server, by name."""

    target: Target
    _exchanges: dict[str, Exchange] = field(factory=dict)
    reached: bool = False

    def exchange(self, name: str) -> Exchange:
        """The exchange of that name. Raises UnreachableError where the server cannot be connected to."""
        if name not in self._exchanges:
            if name == "after-leave":
                self.exchange("leave")
            self._exchanges[name] = self._send(name, _BUILDERS[name](self), leave=name == "leave")
        return self._connected(self._exchanges[name])

    def parallel(self) -> list[Exchange]:
        """The exchanges that ran at the same time."""
        names = [f"parallel-{number}" for number in range(1, self.target.parallel + 1)]
        if names[0] not in self._exchanges:
            with ThreadPoolExecutor(len(names)) as pool:
                requests = [self._prompt(self.repeat(self.word(number))) for number in range(len(names))]
                found = list(pool.map(self._send, names, requests))
            self._exchanges |= dict(zip(names, found, strict=True))
        return [self._connected(self._exchanges[name]) for name in names]

    def sent(self) -> Iterable[Exchange]:
        """All exchanges so far."""
        return self._exchanges.values()

    def word(self, number: int) -> str:
        """What the stream with that 0-based number is to say, and no other."""
        return f"{WORDS[number % len(WORDS)]}-{number + 1:02}"

    def repeat(self, line: str) -> str:
        """The prompt to repeat a line."""
        return catalogue().prompts["repeat"].format(line=line)

    def calls(self) -> list[dict[str, Any]]:
        """The done items of the calls that the tool prompt brought, as JSON."""
        report = self.exchange("call").report
        types = {kind.done for kind in default().kinds.values() if kind.closes is not None}
        items = [to_json(item) for item in report.done_items] if report is not None else []
        return [item for item in items if item["type"] in types]

    def hide(self, text: str) -> str:
        """`text` without the key."""
        return hiding(self.target.key)(text)

    # ── Requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def _connected(self, one: Exchange) -> Exchange:
        if one.fault is not None and one.fault.stage == "connect":
            raise UnreachableError(self.hide(str(one.fault)))
        self.reached = True
        return one

    def _send(self, name: str, request: Request, *, leave: bool = False) -> Exchange:
        keeper = Keeper(self._path(name), self.target.key)
        try:
            one = exchange(name, request, self.target.bounds, leave=leave, keep=keeper.take)
        finally:
            keeper.close()
        key = self.target.key if secret(self.target.key) is not None else None
        in_head = key is not None and any(key in value for _, value in one.headers)
        one.echoes_key = keeper.found or in_head
        return one

    def _path(self, name: str) -> Path | None:
        return self.target.save / f"{name}.sse" if self.target.save is not None else None

    def post(self, body: bytes, *, key: str | None = None) -> Request:
        """A request for a stream. `key` replaces the server's; "" sends none."""
        key = self.target.key if key is None else key
        headers = (key_header(key),) if key else ()
        own = self.target.headers
        if not key:
            own = tuple(one for one in own if one[0].lower() != "authorization")
        return post(stream_url(self.target.url), body, headers + own)

    def body(self, messages: list[Any], config: dict[str, Any] | None = None, *, model: str | None = None) -> bytes:
        """A body that is right."""
        return stream_body(self.target.model if model is None else model, messages, config)

    def _prompt(self, text: str) -> Request:
        return self.post(self.body([user_message(default(), text)]))


def _prompted(name: str) -> Callable[[Probe], Request]:
    return lambda probe: probe.post(probe.body([user_message(default(), catalogue().prompts[name])]))


def _changed(**changes: Any) -> Callable[[Probe], Request]:
    """A request whose body has fields changed; None takes one away."""
    from json import dumps

    def build(probe: Probe) -> Request:
        right = {"model": probe.target.model, "messages": [user_message(default(), "Hello")], "config": {}, **changes}
        return probe.post(dumps({name: one for name, one in right.items() if one is not None}).encode())

    return build


def _hello(probe: Probe, key: str) -> Request:
    return probe.post(probe.body([user_message(default(), "Hello")]), key=key)


def _call(probe: Probe) -> Request:
    config = {"tools": [{name: catalogue().tool[name] for name in ("name", "description", "parameters")}]}
    return probe.post(probe.body([user_message(default(), catalogue().prompts["call"])], config))


def _result(probe: Probe) -> Request:
    report = probe.exchange("call").report
    assert report is not None
    assert report.message is not None
    told_by = {kind.done: kind.told_by for kind in default().kinds.values() if kind.told_by is not None}
    results = [
        {
            "type": catalogue().tool["result_type"],
            catalogue().tool["result_grows"]: catalogue().prompts["result"],
            told_by[call["type"]]: call[told_by[call["type"]]],
        }
        for call in probe.calls()
    ]
    messages = [
        user_message(default(), catalogue().prompts["call"]),
        to_json(report.message),
        {"role": "user", "content_items": results},
    ]
    config = {"tools": [{name: catalogue().tool[name] for name in ("name", "description", "parameters")}]}
    return probe.post(probe.body(messages, config))


_BUILDERS: dict[str, Callable[[Probe], Request]] = {
    "plain": _prompted("plain"),
    "leave": _prompted("long"),
    "after-leave": _prompted("plain"),
    "characters": lambda probe: probe.post(
        probe.body([user_message(default(), probe.repeat(catalogue().prompts["characters"]))])
    ),
    "call": _call,
    "result": _result,
    "unknown-model": _changed(model=_NO_MODEL),
    "body-not-json": lambda probe: probe.post(probe.body([user_message(default(), "Hello")])[:-10]),
    "body-not-an-object": lambda probe: probe.post(b"[" + probe.body([user_message(default(), "Hello")]) + b"]"),
    "model-absent": _changed(model=None),
    "messages-of-wrong-type": _changed(messages="Hello"),
    "config-of-wrong-type": _changed(config=["Hello"]),
    "key-missing": lambda probe: _hello(probe, ""),
    "key-wrong": lambda probe: _hello(probe, _NO_KEY),
    "wrong-method": lambda probe: Request(stream_url(probe.target.url), "GET", probe.post(b"").headers),
}
