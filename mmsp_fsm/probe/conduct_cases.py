"""The judges of how a server behaves beyond one stream: tool calls (P2), refusals (P3), and how it carries on (P4)."""

from __future__ import annotations

from itertools import pairwise

from mmsp_fsm.grammar.loading import default
from mmsp_fsm.probe.catalog import Judgement, catalogue, failed, not_shown, passed
from mmsp_fsm.probe.exchanges import Exchange, error_of
from mmsp_fsm.probe.judging import JUDGES, grammar, judges, judges_stream, no_stream, sound, text_of
from mmsp_fsm.probe.probe import Probe
from mmsp_fsm.probe.requests import secret

# ── P2: tool calls ───────────────────────────────────────────────────────────────────────────────────────────────


@judges("P201")
def _call(probe: Probe) -> Judgement:
    one = probe.exchange("call")
    if (unsound := sound(one)) is not None:
        return unsound
    calls = probe.calls()
    if not calls:
        return not_shown("the model answered without a call")
    return passed(f"{len(calls)} calls conform" if len(calls) > 1 else "the call conforms")


@judges("P202")
def _result(probe: Probe) -> Judgement:
    call = probe.exchange("call")
    if sound(call) is not None or call.report is None or call.report.message is None or not probe.calls():
        return not_shown("there is no call to answer (P201)")
    one = probe.exchange("result")
    if one.status is not None and one.status != 200:
        return failed(f"the call's own done item and its result are refused: {one.answered}")
    return sound(one) or passed("the result is taken, and answered")


# ── P3: refusals ─────────────────────────────────────────────────────────────────────────────────────────────────


def refused(
    one: Exchange, *, statuses: tuple[int, ...] = (), by_record: bool = False, with_body: bool = True
) -> Judgement:
    """Whether a request was refused as it should be; `statuses` are those that may be, where not any 4xx.

    `by_record` tells that a stream of an error record alone refuses it as well.
    """
    if one.status is None:
        return failed(f"no answer came: {one.fault}")
    if one.status == 200 and one.report is not None and one.report.error is not None and one.report.events == 1:
        if by_record:
            return passed("an error record refuses it")
        return failed("an error record refuses it, with status 200: whose fault it is, no status says")
    if one.status < 300:
        return failed(f"it is served: status {one.status}", one.report if one.report and one.report.errors else None)
    if not 400 <= one.status < 500:
        return failed(one.answered)
    if statuses and one.status not in statuses:
        return failed(f"{one.answered}, where {' or '.join(map(str, statuses))} is due")
    if with_body:
        error = error_of(one.body)
        lacking = [name for name in default().error.fields if not isinstance((error or {}).get(name), str)]
        if error is None:
            return failed(f"{one.answered}; the body is no error object")
        if lacking:
            return failed(f"{one.answered}; the error object has no {' and no '.join(lacking)}")
    return passed(one.answered)


@judges("P301")
def _unknown_model(probe: Probe) -> Judgement:
    return refused(probe.exchange("unknown-model"), by_record=True)


def _refusal(code: str, name: str) -> None:
    JUDGES[code] = lambda probe: refused(probe.exchange(name))


for _code, _name in {
    "P302": "body-not-json",
    "P303": "body-not-an-object",
    "P304": "model-absent",
    "P305": "messages-of-wrong-type",
    "P306": "config-of-wrong-type",
}.items():
    _refusal(_code, _name)


@judges("P307")
def _key_missing(probe: Probe) -> Judgement:
    if not probe.target.key:
        return not_shown("no key was given")
    return refused(probe.exchange("key-missing"), statuses=(401, 403))


@judges("P308")
def _key_wrong(probe: Probe) -> Judgement:
    if not probe.target.key:
        return not_shown("no key was given")
    return refused(probe.exchange("key-wrong"), statuses=(401, 403))


@judges("P309")
def _method(probe: Probe) -> Judgement:
    return refused(probe.exchange("wrong-method"), with_body=False)


@judges("P310")
def _key_echoed(probe: Probe) -> Judgement:
    if secret(probe.target.key) is None:
        return not_shown("no key was given" if not probe.target.key else "the key is too short to be told from text")
    sent = [one for one in probe.sent() if one.status is not None]
    echoing = [one.name for one in sent if one.echoes_key]
    if echoing:
        return failed(f"the key stands in the answer to {', '.join(echoing)}")
    if not sent:
        return not_shown("no answer came")
    return passed(f"the key is in none of {len(sent)} answers")


# ── P4: how the server carries on ────────────────────────────────────────────────────────────────────────────────


@judges("P401")
def _leave(probe: Probe) -> Judgement:
    one = probe.exchange("leave")
    if not one.left:
        return no_stream(one) or not_shown("the stream was over, or brought nothing, before the client could leave")
    after = probe.exchange("after-leave")
    if after.status != 200:
        return failed(f"the next request is not served: {after.answered}")
    if (broken := grammar(after)) is not None:
        return broken
    return sound(after) or passed("the next request was answered as before")


@judges("P402")
def _parallel(probe: Probe) -> Judgement:
    found = probe.parallel()
    words = [probe.word(number) for number in range(len(found))]
    silent: Judgement | None = None
    for number, one in enumerate(found):
        if one.status is None:
            return failed(f"{one.name}: no answer came: {one.fault}")
        if one.status >= 500:
            return failed(f"{one.name}: {one.answered}")
        if one.status == 200 and one.report is not None and (broken := grammar(one)) is not None:
            return broken
        strange = [word for word in words if word != words[number] and word in text_of(one)]
        if strange:
            return failed(f"{one.name} was to say {words[number]}, and says {strange[0]}, another stream's word")
        if (unsound := sound(one)) is not None:
            silent = silent or not_shown(f"{one.name}: {unsound.says}")
        elif words[number] not in text_of(one):
            says = f"{one.name} does not say {words[number]} as it was to: whose content it holds cannot be told"
            silent = silent or not_shown(says)
    if silent is not None:
        return silent
    spans = sorted((one.signs.first or 0.0, one.signs.last) for one in found)
    overlapping = any(later[0] < earlier[1] for earlier, later in pairwise(spans))
    if not overlapping:
        return not_shown("no two streams were open at the same time")
    return passed(f"{len(found)} streams at the same time conform, each with its own content")


@judges_stream("P403", "characters")
def _characters(_: Probe, one: Exchange) -> Judgement:
    unreadable = [fault for fault in one.scan.faults if "UTF-8" in fault]
    if unreadable:
        return failed(unreadable[0])
    if (broken := grammar(one)) is not None:
        return broken
    text, asked = text_of(one), catalogue().prompts["characters"]
    if "\ufffd" in text:
        return failed("the text holds U+FFFD, which stands where a character was lost")
    recoded = asked.encode().decode("cp1252", "replace")[4:12], asked.encode().decode("latin-1")[:4]
    if any(part in text for part in recoded):
        return failed("the text holds UTF-8 that was taken for Latin-1")
    if asked in text:
        return passed("characters of two, three and four bytes arrived whole")
    return not_shown("the answer does not hold the characters that it was to repeat")
