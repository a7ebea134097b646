"""`unparse`: a stream for a whole message, of which `parse` makes the same message again."""

from __future__ import annotations

from mmsp_fsm.grammar.definition import Definition
from mmsp_fsm.grammar.loading import default
from mmsp_fsm.live.events import Event
from mmsp_fsm.live.writer import StreamWriter
from mmsp_fsm.model.json_values import type_name
from mmsp_fsm.model.objects import UniMessage
from mmsp_fsm.model.wire import to_dict


def unparse(
    message: UniMessage, *, size: int | None = None, cut_pairs: bool = False, definition: Definition | None = None
) -> list[Event]:
    """The events of a stream whose message is `message`, as JSON values; all of them at the message's time.

    Each item is cut into fragments of `size` characters or bytes (one fragment by default); `cut_pairs` makes `size`
    count UTF-16 code units, so that a pair may be cut. Images and vectors are never cut. `parse(unparse(message))` is
    `message`, for every message that the protocol allows.

    Raises `RefusedEventError` for one that it does not (an empty call id, NaN in a vector), ValueError for another
    size, TypeError for what is no message of done items. Protocol, "Grammar": the done items are the message.
    """
    if not isinstance(message, UniMessage):
        raise TypeError(f"a UniMessage is due, not {type_name(message)}")
    known = definition if definition is not None else default()
    kinds = {kind.done: kind for kind in known.kinds.values()}
    writer = StreamWriter(clock=lambda: message.created_at, definition=known)
    events: list[Event] = []
    for item in message.content_items:
        if getattr(type(item), "type", None) not in kinds:
            raise TypeError(f"a message holds done items, and here is {type_name(item)}")
        value = to_dict(item)
        kind, fidelity = kinds[value.pop("type")], value.pop(known.fidelity.key, None)
        events += writer.group(kind.name, size=size, cut_pairs=cut_pairs, fidelity=fidelity, **value)
    return [*events, writer.stop(message.finish_reason, message.usage_metadata)]
