"""Works on a running stream: `enforce`, `StreamWriter`, `unparse`.

Imports: checker, grammar, machine, model.
"""
