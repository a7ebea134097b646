"""Former home of `mmsp_fsm.testing.strategies`, kept so that old imports work.

Imports: testing.
"""
