"""Recordings: where they are, in which format, and the records that their bytes make.

Bytes become records here; what a record means is the checker's to say.
"""

from mmsp_fsm.recordings.checking import CheckOptions, check_source, walk_source
from mmsp_fsm.recordings.formats import Format, detect
from mmsp_fsm.recordings.framing import Record
from mmsp_fsm.recordings.sources import Source, find_sources

__all__ = ["CheckOptions", "Format", "Record", "Source", "check_source", "detect", "find_sources", "walk_source"]
