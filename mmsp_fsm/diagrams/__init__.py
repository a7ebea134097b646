"""Draws the state machine: its views, and their DOT, Mermaid and SVG.

Imports: grammar, machine.
"""
