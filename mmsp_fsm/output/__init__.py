"""Prints results for people and for programs.

Imports: checker, diagrams, engines, grammar, machine, model, probe, recordings.
"""
