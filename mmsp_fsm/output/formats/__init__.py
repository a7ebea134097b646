"""The output formats of `validate`, one module each."""
