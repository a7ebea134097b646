"""How a stream moves: symbols, the state machine, and the builders of streams and items.

Imports: grammar, model.
"""
