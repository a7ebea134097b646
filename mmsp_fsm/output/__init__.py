"""Reports as people and programs read them: a module each for text, JSON, JSON lines, SARIF, JUnit and GitHub."""
