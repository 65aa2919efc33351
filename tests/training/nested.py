"""Tensors inside checkpoints."""

import torch


def tensors(tree, path=""):
    """All tensors in nested dicts and lists, by path."""
    if isinstance(tree, dict):
        return {k: v for name, value in tree.items() for k, v in tensors(value, f"{path}/{name}").items()}
    if isinstance(tree, list | tuple):
        return {k: v for i, value in enumerate(tree) for k, v in tensors(value, f"{path}/{i}").items()}
    return {path: tree} if isinstance(tree, torch.Tensor) else {}
