"""Tests a server's conformance over HTTP. Protocol, "On the wire".

Imports: checker, grammar, model, recordings.
"""
