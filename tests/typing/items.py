"""`match` tells every item apart, and mypy knows that nothing is left."""

from typing import assert_never, assert_type

import mmsp_fsm
from mmsp_fsm.model import (
    DoneItem,
    EmbeddingDoneItem,
    InlineDataDoneItem,
    InlineThinkingDoneItem,
    TextDoneItem,
    ThinkingDoneItem,
    ToolCallDoneItem,
)


def size(item: DoneItem) -> int:
    match item:
        case TextDoneItem(text=text):
            return len(assert_type(text, str))
        case ThinkingDoneItem(thinking=thinking):
            return len(assert_type(thinking, str))
        case ToolCallDoneItem(arguments=arguments):
            return len(arguments)
        case InlineDataDoneItem(data=data) | InlineThinkingDoneItem(data=data):
            return len(assert_type(data, bytes))
        case EmbeddingDoneItem(embedding=embedding):
            return len(assert_type(embedding, list[float]))
        case _:
            assert_never(item)


sizes = [size(item) for item in mmsp_fsm.parse("trace.jsonl").content_items]
