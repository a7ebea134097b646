"""Accepts conforming records quickly; it reports nothing.

Imports: grammar, machine, model.
"""
