"""Probing: asking a server over HTTP, and judging what it answers. Protocol, "On the wire".

`client` is the only door to HTTP; what an answer means is told by the recordings' framing and the checker.
"""
