"""One-player poker over HTTP: sessions, hints, jumps and traces, beside the suite's tables."""
