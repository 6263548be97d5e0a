# SPDX-License-Identifier: BSD-3-Clause
"""How numba loads and compiles: without what it does for nobody here.

A kernel goes, with all that it calls, into each kernel that calls it, and is optimised to the end as part of that one.
numba would do that for each by itself as well, and make machine code of it that nobody runs: at four levels of calls
four times the work, more than half of the time of compiling. So what only kernels call is compiled to code for LLVM to
go on with, and no further.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from typing import Any

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import codegen, compiler, compiler_machinery, typed_passes

_machinery: Any = compiler_machinery  # numba says nothing of its types
_compilers: Any = compiler
_codegen: Any = codegen


def load_without_linear_algebra() -> None:
    """Load numba's functions of arrays, which look whether scipy has linear algebra, without loading that of scipy.

    It would be a tenth of the start of a command. Where a kernel needs it, numba looks again.
    """
    name = "numba.np.arraymath"
    if name in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    from numba.np import linalg  # noqa: PLC0415 (where it is gone, numba is loaded as it is)

    looked_into: Any = linalg  # numba says nothing of its types
    looks, looked_into.ensure_blas = looked_into.ensure_blas, _is_there
    try:
        loaded: Any = importlib.import_module(name)
        loaded.ensure_blas = looks
    finally:
        looked_into.ensure_blas = looks


def _is_there() -> None:
    """Say that scipy has it."""


class _Library(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel and of what it calls: linked, and left as it is."""

    @property
    def codegen(self) -> Any:
        """Where numba tells a function of its environment, which only one with machine code has."""
        return _NoEnvironment()

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 (as numba calls it)
        """Return that there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk."""
        return self.serialize_using_bitcode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _LibraryApart(_Library):
    """The same of a kernel whose code never becomes part of those that call it."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Say so to LLVM."""
        for function in ir_module.functions:
            if not function.is_declaration and "alwaysinline" not in function.attributes:  # its helpers are
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _NoEnvironment:
    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


@_machinery.register_pass(mutates_CFG=False, analysis_only=True)
class _IntoLibrary(_machinery.FunctionPass):  # type: ignore[misc]
    """Make the library that the code goes into."""

    _name = "swftools_into_library"
    _kind: Any = _Library

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Make it before numba would."""
        state.library = self._kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@_machinery.register_pass(mutates_CFG=False, analysis_only=True)
class _IntoLibraryApart(_IntoLibrary):
    """The same where the code stays apart."""

    _name = "swftools_into_library_apart"
    _kind = _LibraryApart


@_machinery.register_pass(mutates_CFG=False, analysis_only=True)
class _NoteEnvironments(_machinery.LoweringPass):  # type: ignore[misc]
    """Tell the environments of all that a function calls to its machine code, which has them by now."""

    _name = "swftools_note_environments"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Tell them, as numba does of a function that was kept on disk."""
        for environment in state.cr._find_referenced_environments():
            state.targetctx.codegen().set_env(environment.env_name, environment)
        return False


class _Compiler(_compilers.CompilerBase):  # type: ignore[misc]
    """numba's compiler, which loads what it knows when it is first used."""

    def __init__(self, *arguments: Any) -> None:
        with contextlib.suppress(ImportError, AttributeError):
            load_without_linear_algebra()
        super().__init__(*arguments)


class InnerCompiler(_Compiler):
    """The one for what only kernels call."""

    _into: Any = _IntoLibrary

    def define_pipelines(self) -> list[Any]:
        """Return its steps."""
        steps = _compilers.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(self._into, typed_passes.NoPythonSupportedFeatureValidation)
        steps.finalize()
        return [steps]


class ApartCompiler(InnerCompiler):
    """The one for what they call, and what stays apart from them."""

    _into = _IntoLibraryApart


class OuterCompiler(_Compiler):
    """The one for what calls them."""

    def define_pipelines(self) -> list[Any]:
        """Return its steps."""
        steps = _compilers.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(_NoteEnvironments, typed_passes.NoPythonBackend)
        steps.finalize()
        return [steps]


def rebuilt_inner(rebuild: Any, context: Any, payload: Any) -> Any:
    """Return what was kept of a kernel that only kernels call; numba would make machine code of it."""
    makes = context.codegen()

    def unserialize(kept: Any) -> _Library:
        name, _, code = kept
        library = _Library(makes, name)
        library._final_module = binding.parse_bitcode(code)
        library._finalize_final_module()
        return library

    makes.unserialize_library = unserialize
    try:
        return rebuild(context, payload)
    finally:
        del makes.unserialize_library
