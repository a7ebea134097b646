"""Engines: who checks the sources of a run. Each gives the results of all, in the order of the sources.

An engine is a function of sources, options and `seen`, which is told how many bytes were read. Whatever it does on the
way, what it gives is what checking one source after another gives.
"""
