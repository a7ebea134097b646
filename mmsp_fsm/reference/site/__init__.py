"""The reference as pages: Markdown written from the definition, and HTML built of it.

A page is a function of the definition. Whatever it shows of a stream, the checker has just said.
"""
