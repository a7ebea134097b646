"""What is made from the definition: the model's source, diagrams, and (in time) pages and schemas.

Each module is a function of a definition; none looks at a running machine.
"""
