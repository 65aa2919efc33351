"""The codes that commands exit with."""

EXIT_FAILED = 1  # the command ran, and found a fault in what it checked or played
EXIT_BROKEN_PIPE = 1
EXIT_REFUSED = 2  # bad input, or a system error such as a full disk
EXIT_INTERRUPTED = 130  # Ctrl-C
