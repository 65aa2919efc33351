"""The codes that commands exit with."""

EXIT_FAILED = 1  # the command ran, and what it checked or played is wrong
EXIT_BROKEN_PIPE = 1
EXIT_REFUSED = 2  # bad input, or a system error such as a full disk
EXIT_INTERRUPTED = 130  # Ctrl-C
