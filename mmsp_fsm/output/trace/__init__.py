"""A trace, as text, JSON, a picture, or a page: what each record of one stream did to the machine."""
