"""The exceptions of the grammar, and the base class of those that a stream raises."""


class DefinitionError(ValueError):
    """The grammar's definition is incomplete or contradicts itself; the text names the file and the key."""


class UnknownRuleError(ValueError):
    """A rule was asked for that the catalogue does not have; the text names the nearest one."""


class MMSPError(ValueError):
    """Base class of what parsing and enforcing a stream raise."""
