"""Checks one stream: one record in, one step out, and a report at the end.

Imports: fastpath, grammar, machine, model.
"""
