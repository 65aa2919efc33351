"""Agents under limits of time and memory, kept apart from the match and from each other.

`proxy` asks agents and counts their failures, within the `limits`. `process` is an agent in a process of its own: it
speaks the `protocol` over a `pipe` with one of the `programs`, whose `commands` say what they may see. `worker`,
`forkserver`, `launch` and `cell` run on the other side. `guest` and `sandbox` are for code from strangers.
"""
