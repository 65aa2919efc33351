"""Agents under limits of time and memory, kept apart from the match and from each other.

`proxy` calls agents within the `limits` and counts their failures. `process` is an agent in a separate process: it
speaks the `protocol` over a `pipe` with one of the `programs`, which `commands` starts. `worker`, `launch` and `cell`
run on the other side, and `forkserver` talks to the worker. `guest` and `sandbox` are for submitted code.
"""
