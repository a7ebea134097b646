"""Helps to test code that streams MMSP: the assertion, the pytest plugin, Hypothesis strategies.

Imports: api, checker, fastpath, grammar, live, machine, model, output, recordings.
"""
