"""Short ways to write streams in tests."""

import mmsp_fsm

USAGE = {"cached_tokens": 0, "prompt_tokens": 12, "thoughts_tokens": None, "response_tokens": 7}
TIME = 1760000000000


def delta(*items, **more):
    event = {
        "role": "assistant",
        "event_type": "delta",
        "content_items": list(items),
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": TIME,
    }
    return {**event, **more}


def stop(reason="stop", **more):
    return delta(**{"event_type": "stop", "usage_metadata": dict(USAGE), "finish_reason": reason, **more})


def error(name="UpstreamError", **more):
    return {"error": {"type": name, "message": "gone", **more}}


def without(value, *names):
    return {key: one for key, one in value.items() if key not in names}


def t(text, **more):
    return delta({"type": "text.delta", "text": text, **more})


def t_done(text, **more):
    return delta({"type": "text.done", "text": text, **more})


def th(text, **more):
    return delta({"type": "thinking.delta", "thinking": text, **more})


def th_done(text, **more):
    return delta({"type": "thinking.done", "thinking": text, **more})


def c(arguments, name="", tool_call_id="", **more):
    item = {"type": "tool_call.delta", "name": name, "arguments": arguments, "tool_call_id": tool_call_id, **more}
    return delta(item)


def c_done(arguments, name="f", tool_call_id="c1", **more):
    item = {"type": "tool_call.done", "name": name, "arguments": arguments, "tool_call_id": tool_call_id, **more}
    return delta(item)


def d(data, mime_type="audio/pcm", **more):
    return delta({"type": "inline_data.delta", "data": data, "mime_type": mime_type, **more})


def d_done(data, mime_type="audio/pcm", **more):
    return delta({"type": "inline_data.done", "data": data, "mime_type": mime_type, **more})


def e(vector):
    return delta({"type": "embedding.delta", "embedding": vector})


def e_done(vector):
    return delta({"type": "embedding.done", "embedding": vector})


HI = [t("Hi"), t_done("Hi")]
BROKEN = b'{"torn": '


def said(*records, **how):
    """The (code, event) of each diagnostic of a stream; bytes are records that are no JSON."""
    report = report_of(*records, **how)
    return [(one.code, one.event) for one in report.diagnostics]


def report_of(*records, **how):
    checker = mmsp_fsm.StreamChecker(**how)
    for record in records:
        if isinstance(record, bytes):
            checker.feed_record(record)
        else:
            checker.feed(record)
    return checker.close()
