"""The grammar as data: its classes, its source files, and how they are loaded and validated.

Imports: no other package.
"""
