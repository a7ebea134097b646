"""A trace as text, JSON, a diagram or a page: what each record of a stream did to the machine."""
