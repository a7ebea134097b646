"""Conformance checking of MMSP streams: what broke, where, and what should have stood there."""
