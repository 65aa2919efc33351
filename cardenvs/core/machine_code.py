"""How kernels become machine code: once, with everything that an entry point calls in one piece.

Numba optimises every function by itself and generates machine code for it, then links it into its callers and optimises
it again in each of them. For kernels that only other kernels call, that is wasted work. Here, such an inner kernel is
lowered to LLVM code and no further. An entry point links the code of all that it calls, hides all but itself from other
modules, and is then optimised. That compiles faster, and the code is faster too: the compiler sees every call of a
hidden function, so it can inline, specialise and drop functions more freely.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class KernelCompiler(CompilerBase):
    """Numba's usual pipeline, with the code of kernels in the libraries below."""

    def define_pipelines(self) -> list[Any]:
        """Return the usual passes; a kernel without a wrapper for calls from Python is an inner kernel."""
        state = self.state
        if state.library is None:
            kind = _InnerLibrary if state.flags.no_cpython_wrapper else _EntryLibrary
            state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()  # so that it can be saved
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _EntryLibrary(JITCodeLibrary):
    """The code of an entry point, in which all linked functions are hidden."""

    def _optimize_final_module(self) -> None:
        _refuse_circles(self._final_module)
        _change_linkage(self._final_module, llvm.Linkage.linkonce_odr, llvm.Linkage.internal)
        super()._optimize_final_module()


class _InnerLibrary(JITCodeLibrary):
    """The code of an inner kernel: LLVM code for its callers, and no machine code."""

    def _optimize_final_module(self) -> None:
        """Do nothing: each entry point is optimised with all that it calls."""

    def _finalize_final_module(self) -> None:
        # Numba looks up the variables of environments in the machine code, so only these are generated.
        self._finalize_dynamic_globals()
        code, self._final_module = self._final_module, _environments(self._final_module)
        super()._finalize_final_module()
        _change_linkage(code, llvm.Linkage.external, llvm.Linkage.linkonce_odr)  # several entry points may link it
        self._shared_module = code


def _environments(module: Any) -> Any:
    """Return a module with the variables of environments in `module` and nothing else."""
    variables = [str(v).strip() for v in module.global_variables if v.name.startswith("_ZN08NumbaEnv")]
    alone = llvm.parse_assembly("\n".join(variables))
    alone.name, alone.triple, alone.data_layout = module.name, module.triple, module.data_layout
    return alone


def _change_linkage(module: Any, before: Any, after: Any) -> None:
    for function in module.functions:
        if not function.is_declaration and function.linkage == before:
            function.linkage = after


def _refuse_circles(module: Any) -> None:
    # Numba resolves calls in a circle by the functions' addresses, which hidden functions do not have.
    if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in module.global_variables):
        raise TypeError(f"{module.name}: kernels must not call each other in a circle")
