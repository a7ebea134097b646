"""What is made from the definition: the model's source, diagrams, schemas, pages and coverage.

Each module is a function of a definition; none looks at a running machine.
"""
