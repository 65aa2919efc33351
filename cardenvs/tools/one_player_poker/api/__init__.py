"""The HTTP API of one-player poker: sessions, hints, jumps and traces. It runs as an application of the server."""
