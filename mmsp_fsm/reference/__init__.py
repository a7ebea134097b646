"""Generates what is derived from the grammar: pages, schemas, the model's source, coverage.

Imports: checker, diagrams, engines, grammar, machine, model, output, recordings.
"""
