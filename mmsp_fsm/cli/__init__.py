"""The command line.

Imports: checker, diagrams, engines, grammar, machine, model, output, probe, recordings, reference.
"""
