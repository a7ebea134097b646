"""Reports as people and programs read them: text and JSON."""
