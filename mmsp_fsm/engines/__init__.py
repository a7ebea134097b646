"""Checks many sources: in this process, in several, or on a cluster.

Imports: checker, grammar, machine, recordings.
"""
