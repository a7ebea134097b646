"""Turns bytes into records: sources, archives, formats, framing, splitting.

Imports: checker, grammar, machine, model.
"""
