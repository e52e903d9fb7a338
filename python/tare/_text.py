"""Text of files where people see it."""


def shown(text):
    """A text that a file chose, for a `__repr__`, without quotes: what a terminal would obey is escaped."""
    return repr(str(text))[1:-1]
