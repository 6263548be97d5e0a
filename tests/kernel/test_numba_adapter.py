# SPDX-License-Identifier: BSD-3-Clause
"""A numba that is otherwise: kernels are compiled plainly, with one warning; what cannot be done so is one KernelError.

What the next version may do is done to this one: names that go, functions that take something else, steps that raise.
"""

from __future__ import annotations

import ast
import importlib
import logging
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click
import numba
import numpy as np
import pytest
from click.testing import CliRunner

from pipelines.cli.groups import Commands
from swftools import read_swf, simulate
from swftools.errors import KernelError, KernelWarning
from swftools.kernel import cache, fallback, kernel, layout, numba_adapter
from swftools.kernel.layout import Layout
from swftools.kernel.numba_adapter import probe
from swftools.kernel.pointers import Lent, address_of, call_by_address, call_kernel, place_of
from tests.folders import ROOT

compiles = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")

ADAPTER = Path(numba_adapter.__file__).parent

UNDOCUMENTED = {
    *("_cache", "_cache_file", "_defn", "_finalized", "_final_module", "_find_referenced_environments"),
    *("_impl_class", "_index_key", "_index_path", "_load_index", "_numba_type_", "_save_index"),
    *("add_overload", "call_conv", "codegen", "contains_nrt_meminfo", "data_model_manager", "fndesc"),
    *("get_call_template", "get_pointer_to_function", "library", "llvm_cfunc_wrapper_name", "llvm_func_name"),
    *("overloads", "resolve_value_type", "targetctx", "targetoptions", "typing_context", "unserialize_library"),
}
"""Attributes of numba that its documentation does not name."""

OF_NUMBA = ("numba.core", "numba.np", "numba.cpython", "llvmlite")
"""Modules of numba that are for itself."""


_SUSPECT = re.compile(rf"numba|llvmlite|\.(?:{'|'.join(UNDOCUMENTED)})\b")


def inside_of_numba(path: Path) -> Iterator[str]:
    """Yield what a file uses of numba's inside."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if _SUSPECT.search(text) else ():
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            modules = []
        yield from (module for module in modules if f"{module}.".startswith(tuple(f"{name}." for name in OF_NUMBA)))
        if isinstance(node, ast.Attribute) and node.attr in UNDOCUMENTED:
            yield ast.unparse(node)


def test_no_other_file_knows_numbas_inside() -> None:
    """All of it is in the folder of the adapter."""
    files = [path for package in ("swftools", "pipelines") for path in (ROOT / package).rglob("*.py")]
    others = [(str(path), found) for path in files if path.parent != ADAPTER for found in inside_of_numba(path)]
    assert others == []
    assert {path.name for path in ADAPTER.glob("*.py") if any(inside_of_numba(path))} >= {"pipeline.py", "machine.py"}


CACHED = (probe.fails_in_pipeline, probe.fails_in_machine, fallback.machine, layout._check_numba)
"""What looks at numba once in a process."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Nothing has been looked at, nor afterwards; the warnings that are given meanwhile."""
    monkeypatch.setattr(fallback, "_MODE", fallback._Mode())
    for each in CACHED:
        each.cache_clear()
    texts: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(
            warnings, "showwarning", lambda message, category, *_: texts.append(said(message, category))
        )
        yield texts
    monkeypatch.undo()
    for each in CACHED:
        each.cache_clear()


def said(message: Warning | str, category: type[Warning]) -> str:
    """Return what a warning of ours says."""
    assert category is KernelWarning
    return str(message)


def assert_plain(told: list[str], reason: str) -> None:
    """Assert that there was one warning, of one line: the version, the reason, what it costs, and the remedy."""
    assert fallback.is_plain()
    (text,) = told
    assert text.startswith(f"numba {numba.__version__} is not as swftools knows it ({reason}")
    assert "compiled anew in each process" in text
    assert text.endswith('pip install "numba>=0.62,<0.69"')
    assert "\n" not in text


def third(values: Any, i: Any) -> Any:
    """Raise with what numba makes of an argument; a checked kernel looks at the index."""
    if i < 0:
        raise ValueError("below zero", i)
    return values[i] / 3.0


class Pair(NamedTuple):
    """Two kernels, of which one calls the other."""

    inner: Any
    outer: Any


def pair() -> Pair:
    """Return such, compiled by nobody yet."""
    inner = kernel(third)

    def total(values: Any, i: Any) -> Any:
        return inner(values, i) + inner(values, 0) + len(values.copy())

    return Pair(inner, kernel(total))


VALUES = np.array([3.0, 6.0, 9.0])


def assert_right(made: Pair) -> None:
    """Assert that kernels do what they say."""
    assert made.outer(VALUES, 2) == made.outer.py_func(VALUES, 2) == 7.0


def assert_all_right(made: Pair) -> None:
    """Assert that they do so for numbers of two types, and with what they raise, and checked."""
    assert_right(made)
    assert made.outer(VALUES.astype(np.int64), 1) == 6.0
    assert made.inner(VALUES, 1) == 2.0
    # What else it tells, numba before 0.66 itself has wrong behind a kernel that calls.
    with pytest.raises(ValueError, match="below zero"):
        made.outer(VALUES, -3)
    with pytest.raises(IndexError):
        made.outer.checked(VALUES, 7)


def owners(module: str, path: str) -> tuple[list[Any], str]:
    """Return what has an attribute, the classes below a class with it, and the attribute's name."""
    value: Any = importlib.import_module(module)
    *parts, name = path.split(".")
    for part in parts:
        value = getattr(value, part)
    if not isinstance(value, ModuleType | type):
        value = type(value)
    return [one for one in value.__mro__ if name in vars(one)] if isinstance(value, type) else [value], name


def go(patch: pytest.MonkeyPatch, module: str, path: str) -> None:
    """Let a name go."""
    holders, name = owners(module, path)
    for holder in holders:
        patch.delattr(holder, name)


NAMES = [
    (module, path) for table in (probe.PIPELINE, probe.MACHINE) for module, paths in table.items() for path in paths
]


@compiles
def test_each_name_that_goes_is_missed(told: list[str]) -> None:
    """Before anything is compiled; and all are there now."""
    assert len(NAMES) > 60
    for module, path in NAMES:
        looks = [
            look
            for table, look in [
                (probe.PIPELINE, probe.lacks_for_pipeline),
                (probe.MACHINE, probe.lacks_for_machine),
            ]
            if path in table.get(module, ())
        ]
        assert [look() for look in looks] == [None] * len(looks)
        with pytest.MonkeyPatch.context() as patch:
            go(patch, module, path)
            assert [look() for look in looks] == [f"{module} has no {path}"] * len(looks)


def test_every_name_is_looked_at() -> None:
    """Whatever the adapter imports of numba's inside, or has as the base of a class, is in the tables."""
    for file, table in [("passes.py", probe.PIPELINE), ("pipeline.py", probe.PIPELINE), ("machine.py", probe.MACHINE)]:
        tree = ast.parse((ADAPTER / file).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(
                ("numba.core", "llvmlite", "numba.ext")
            ):
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    known = {path.partition(".")[0] for path in table.get(str(node.module), ())}
                    assert module in table or alias.name in known, module


@compiles
def test_a_name_that_went(told: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Kernels are compiled plainly from the start, also one that lends nothing and makes no array; the log knows."""
    caplog.set_level(logging.INFO, "swftools")
    go(monkeypatch, "numba.core.codegen", "JITCodeLibrary.serialize_using_bitcode")
    assert_all_right(pair())
    assert kernel(allocates=False, merges=True)(third)(VALUES, 1) == 2.0
    assert kernel("float64(float64)")(lambda x: x / 2)(3.0) == 1.5
    assert_plain(told, "numba.core.codegen has no JITCodeLibrary.serialize_using_bitcode")
    assert [record.levelname for record in caplog.records if record.getMessage() == told[0]] == ["INFO"]


@compiles
def test_a_module_that_went(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of numba has gone, or is elsewhere."""
    monkeypatch.setitem(sys.modules, "numba.core.caching", None)
    assert_right(pair())
    assert_plain(told, "there is no numba.core.caching")


@compiles
def test_the_adapter_cannot_be_imported(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its classes do not agree with numba's."""

    def imported(name: str) -> Any:
        raise TypeError("metaclass conflict")

    monkeypatch.setattr(fallback, "_module", imported)
    assert_right(pair())
    assert_plain(told, "TypeError metaclass conflict")
    with pytest.raises(KernelError, match="metaclass conflict"):
        fallback.machine()


def with_more(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes one argument more than it did, from us."""

    def wants(*given: Any, **named: Any) -> Any:
        if is_ours(sys._getframe(1)):
            raise TypeError("missing 1 required positional argument: 'why'")
        return function(*given, **named)

    return wants


def raising(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises what a name within that went would."""

    def raises(*given: Any, **named: Any) -> Any:
        if is_ours(sys._getframe(1)):
            raise AttributeError("no such thing")
        return function(*given, **named)

    return raises


def is_ours(frame: Any) -> bool:
    """Whether what is called is called by swftools: numba itself knows how its functions are called."""
    return ADAPTER.parent in Path(frame.f_code.co_filename).parents


def nothing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does what it does; called by us it returns nothing."""
    return lambda *given, **named: None if is_ours(sys._getframe(1)) else function(*given, **named)


CHANGES = {
    "a step takes another argument": ("numba.core.compiler_machinery", "PassManager.add_pass_after", with_more),
    "environments raise": ("numba.core.compiler", "CompileResult._find_referenced_environments", raising),
    "there are no environments": ("numba.core.compiler", "CompileResult._find_referenced_environments", nothing),
    "a library takes another argument": ("numba.core.codegen", "CodeLibrary.enable_object_caching", with_more),
    "symbols are looked at otherwise": ("numba.core.codegen", "CPUCodeLibrary._verify_declare_only_symbols", raising),
    "the cache is keyed otherwise": ("numba.core.caching", "Cache._index_key", with_more),
    "the cache has another key": ("numba.core.caching", "Cache._index_key", nothing),
    "what the cache keeps is loaded otherwise": ("numba.core.caching", "CompileResultCacheImpl.rebuild", raising),
    "the cache has another file": ("numba.core.caching", "IndexDataCacheFile._load_index", raising),
    "what is looked up is otherwise": ("numba.core.dispatcher", "_DispatcherBase.get_call_template", nothing),
}


BY_DAY = (
    "a step takes another argument",
    "the cache has another key",
    "what the cache keeps is loaded otherwise",
    "what is looked up is otherwise",
)


@compiles
@pytest.mark.parametrize(
    "change", [pytest.param(name, marks=() if name in BY_DAY else pytest.mark.slow) for name in CHANGES]
)
def test_what_numba_does_otherwise(
    told: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: str
) -> None:
    """It shows when a kernel is compiled, and after a trial that fails as well all are compiled plainly."""
    module, path, changed = CHANGES[change]
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    (holder, *_), name = owners(module, path)
    monkeypatch.setattr(holder, name, changed(getattr(holder, name)))
    if "cache" in change:  # functions of functions are not kept
        assert kernel(third)(VALUES, 2) == kernel(third)(VALUES, 2) == 3.0
    assert_right(pair())
    assert_plain(told, "")


@compiles
def test_kernels_that_are_compiled_for_one_another_are_of_one_kind(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails concerns only kernels that others call; those that call them are compiled plainly, too."""
    plainly: list[str] = []
    compile_plainly = cache._compile_plainly

    def note_it(function: Any, *given: Any) -> Any:
        plainly.append(function.__name__)
        return compile_plainly(function, *given)

    monkeypatch.setattr(cache, "_compile_plainly", note_it)
    (holder, *_), name = owners("numba.core.codegen", "CodeLibrary.enable_object_caching")
    monkeypatch.setattr(holder, name, with_more(getattr(holder, name)))
    inner = kernel(lambda values, i: values[i] / 3.0)
    outer = kernel(lambda values: inner(values, 1) + inner(values, 2))
    outer.py_func.__name__, inner.py_func.__name__ = "outer", "inner"
    assert outer(VALUES) == 5.0
    assert plainly == ["outer", "inner"]
    assert_plain(told, "TypeError missing 1 required positional argument")


@compiles
def test_dispatchers_without_a_cache(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They take one that nobody asks: it would go unnoticed that nothing is kept."""
    pipeline = fallback.pipeline()
    makes = pipeline.new_dispatcher

    def without(*given: Any) -> Any:
        made = makes(*given)
        vars(made).pop("_cache")
        return made

    monkeypatch.setattr(pipeline, "new_dispatcher", without)
    assert kernel(third)(VALUES, 2) == 3.0
    assert_plain(told, "NumbaIsOtherwiseError dispatchers have no _cache")


@compiles
def test_kernels_that_were_compiled_before(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They go on; for other types, and called by other kernels, they are compiled plainly, and so are these."""
    before = pair()
    assert_right(before)
    dispatcher = before.outer.compiled
    assert not fallback.is_plain()
    go(monkeypatch, "numba.core.compiler", "CompileResult._find_referenced_environments")
    inner, outer = before
    after = kernel(lambda values: outer(values, 1) + inner(values, 2) + inner(values, 1))
    assert after(VALUES) == 6.0 + 3.0 + 2.0
    assert_plain(told, "")
    assert dispatcher(VALUES, 2) == 7.0
    assert dispatcher(VALUES.astype(np.int64), 2) == dispatcher(VALUES.astype(np.int64), 2) == 7.0
    assert len(dispatcher.overloads) == 2, "what was compiled plainly is known, and not looked for at each call"
    with pytest.raises(IndexError):
        before.outer.checked(VALUES, 7)
    assert len(told) == 1


@compiles
def test_functions_of_others_that_call_kernels(
    told: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A kernel fails while numba compiles something for somebody else: that is not disturbed."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    inner = kernel(third)
    theirs = numba.njit(lambda values: inner(values, 1) + inner(values, 2))
    (holder, *_), name = owners("numba.core.compiler_machinery", "PassManager.add_pass_after")
    monkeypatch.setattr(holder, name, with_more(getattr(holder, name)))
    assert theirs(VALUES) == 5.0
    assert_plain(told, "TypeError missing 1 required positional argument")


@compiles
def test_threads(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Several find out at a time: all go on, and it is said once."""
    go(monkeypatch, "numba.core.compiler", "CompileResult._find_referenced_environments")
    fallback._MODE.is_plain = False  # so it shows only when a kernel is compiled
    found: list[float] = []
    shared = pair()
    threads = [threading.Thread(target=lambda: found.append(shared.outer(VALUES, 2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [7.0] * 4
    assert_plain(told, "")


class Renamed(numba_adapter.SeenByNumba):
    """What asks numba for a name that went."""

    def numba_type(self) -> Any:
        """Ask for it."""
        return numba.types.gone


def test_a_type_that_cannot_be_told_is_no_missing_attribute() -> None:
    """Otherwise numba would say that it knows no such type, as if that were the kernel's fault."""
    with pytest.raises(numba_adapter.NumbaIsOtherwiseError, match="gone"):
        numba.typeof(Renamed())


@compiles
def test_errors_of_a_kernel_are_its_own(told: list[str]) -> None:
    """All is as it should be: the error comes through, by whatever way, and nothing is said."""
    with pytest.raises(numba.NumbaError):
        kernel(lambda x: x.nothing)(1)
    with pytest.raises((TypeError, NotImplementedError, numba.NumbaError, RuntimeError)):
        kernel(allocates=False)(lambda x: np.zeros(x)[0])(3)
    assert told == []
    assert not fallback.is_plain()


@pytest.mark.parametrize(
    ("version", "was_tried"), [((0, 61), False), ((0, 62), True), ((0, 68), True), ((0, 69), False), ((1, 0), False)]
)
def test_versions_that_were_tried(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], was_tried: bool) -> None:
    """Those that setup.cfg admits."""
    monkeypatch.setattr(numba, "version_info", numba.version_info._replace(short=version))
    assert numba_adapter.was_tried() == was_tried


@compiles
def test_a_version_that_was_not_tried(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried first: if it works all is as ever, and else plain, though no name is missing."""
    monkeypatch.setattr(numba_adapter, "BELOW", (0, 62))
    assert not numba_adapter.was_tried()
    assert_right(pair())
    assert told == []
    monkeypatch.setattr(fallback, "_MODE", fallback._Mode())
    monkeypatch.setattr(probe, "_third", lambda values, i: values[i])
    probe.fails_in_pipeline.cache_clear()
    assert_right(pair())
    assert_plain(told, "_WrongError in a sum: ")


@compiles
def test_without_events_nothing_is_checked_by_half(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A checked kernel could not know that those that it calls are to be checked."""
    go(monkeypatch, "numba.core.event", "Listener.on_end")
    monkeypatch.setattr(cache, "_IS_TOLD", False)
    made = pair()
    assert_right(made)
    with pytest.raises(KernelError, match="checked kernels need its events; pip install"):
        made.outer.checked(VALUES, 7)
    assert_plain(told, "numba.core.event has no Listener.on_end")


def test_interpreted_nothing_is_looked_at(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With NUMBA_DISABLE_JIT any numba will do."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setattr(fallback, "_MODE", None)
    assert pair().outer(VALUES, 2) == 7.0
    assert told == []


class Lendable(NamedTuple):
    """What is lent."""

    values: Any


lent_at = Lent(lambda: Lendable(np.zeros(1)))


def note(value: int, place: int) -> None:
    """Write to it."""
    lent_at(place).values[0] = value


def pass_on(target: int, value: int, place: int) -> None:
    """Call what does."""
    call_kernel(target, value, place)


def weigh(address: int) -> float:
    """Call a kernel by its address."""
    return call_by_address(address, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)


def summed(a: float, b: float, c: float, d: float, e: float, f: float, g: float) -> float:
    """Return a sum."""
    return a + b + c + d + e + f + g


@compiles
def test_what_simulations_need_works_plainly(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lent tuples, places, addresses."""
    go(monkeypatch, "numba.core.codegen", "JITCodeLibrary.serialize_using_bitcode")
    void, whole = numba.types.void, numba.types.int64
    noted = kernel(void(whole, whole), allocates=False)(note)
    passed = kernel(void(whole, whole, whole), allocates=False)(pass_on)
    given = Lendable(np.zeros(3))
    laid_out = Layout(given, lent_at.example)
    passed(place_of(noted), 7, laid_out.address)
    assert given.values[0] == 7.0
    total = kernel(numba.types.float64(*[numba.types.float64] * 7))(summed)
    assert kernel(weigh)(address_of(total)) == 28.0
    assert_plain(told, "")


UNFIT = {
    "a name": ("numba.core.callconv", "CPUCallConv.return_status_propagate", None, "has no CPUCallConv.return_status"),
    "fields": ("numba.core.datamodel.models", "ArrayModel.__init__", "shuffled", "array is in memory as"),
    "what is written": ("numba.core.cgutils", "unpack_tuple", with_more, "TypeError missing 1 required"),
}


@compiles
@pytest.mark.parametrize("change", UNFIT)
def test_what_simulations_need_is_otherwise(told: list[str], monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """One error that names the version, what is otherwise, and the remedy; kernels that need it not go on."""
    module, path, changed, words = UNFIT[change]
    if change == "a name":
        go(monkeypatch, module, path)
    elif change == "fields":
        monkeypatch.setitem(probe.FIELDS, "array", ("data", "shape"))
    else:
        assert callable(changed)
        (holder, *_), name = owners(module, path)
        monkeypatch.setattr(holder, name, changed(getattr(holder, name)))
        monkeypatch.setattr(probe, "fails_in_pipeline", lambda: None)  # which takes half a second
    void, whole = numba.types.void, numba.types.int64
    with pytest.raises(KernelError) as caught:
        _ = kernel(void(whole, whole, whole))(pass_on).compiled
    text = str(caught.value)
    assert text.startswith(f"simulations cannot be compiled with numba {numba.__version__}: ")
    assert words in text
    assert text.endswith('; pip install "numba>=0.62,<0.69"')
    assert "\n" not in text
    if change != "what is written":
        with pytest.raises(KernelError, match="simulations cannot be compiled"):
            Layout(Lendable(np.zeros(3)), lent_at.example)
    assert told == []


@compiles
def test_logs_are_read_where_simulations_are_not(
    told: list[str], monkeypatch: pytest.MonkeyPatch, shipped_log: Path
) -> None:
    """Interpreted they are, too."""
    monkeypatch.setitem(probe.FIELDS, "Generator", ("meminfo",))
    trace = read_swf(shipped_log)
    with pytest.raises(KernelError, match="Generator is in memory as"):
        simulate(trace, "fcfs")
    few = trace.with_jobs(trace.jobs.head(20))
    assert simulate(few, "fcfs", compiled=False).jobs["start_time"].notna().all()
    assert told == []


def test_the_console_says_it_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As errors, and not as Python shows warnings; others are shown as ever."""
    others: list[type[Warning]] = []

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        others.append(category)

    @click.command()
    def warn() -> None:
        warnings.warn("numba is otherwise", KernelWarning, stacklevel=1)
        warnings.warn("all else", UserWarning, stacklevel=1)

    monkeypatch.setattr(warnings, "showwarning", show)
    group = Commands(name="swftools")
    group.add_family("All", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = CliRunner().invoke(group, ["warn"])
        assert warnings.showwarning is show
    assert result.stderr == "warning: numba is otherwise\n"
    assert others == [UserWarning]


NEXT_NUMBA = """
import sys
import numba.core.callconv, numba.core.codegen
del {gone}
from pipelines.cli.main import main
sys.argv[0] = "swftools"
main()
"""
SIMULATING = "numba.core.callconv.CPUCallConv.return_status_propagate"
COMPILING = "numba.core.codegen.CPUCodeLibrary.serialize_using_bitcode"


def console(gone: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command where numba has not a name."""
    command = [sys.executable, "-c", NEXT_NUMBA.format(gone=gone), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.slow
@compiles
def test_the_console_with_such_a_numba(shipped_log: Path) -> None:
    """A simulation is refused in one line."""
    done = console(SIMULATING, "simulate", str(shipped_log), "--policy", "fcfs")
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: simulations cannot be compiled with numba ")
    assert line.endswith('pip install "numba>=0.62,<0.69"')


@pytest.mark.slow
@compiles
@pytest.mark.parametrize("words", [["describe"], ["simulate", "--policy", "easy"]], ids=lambda words: words[0])
def test_the_console_without_what_makes_compiling_faster(shipped_log: Path, words: list[str]) -> None:
    """The same is printed, behind one line."""
    first, *options = words
    usual = subprocess.run(
        [sys.executable, "-m", "pipelines.cli.main", first, str(shipped_log), *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    done = console(COMPILING, first, str(shipped_log), *options)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"warning: numba {numba.__version__} is not as swftools knows it")
    assert (done.returncode, done.stdout) == (0, usual.stdout)


NO_LINEAR_ALGEBRA = """
import sys
import numpy as np
from swftools.kernel import kernel
print(kernel(lambda a: a.sum())(np.ones(3)), "scipy.linalg" in sys.modules)
"""
LINEAR_ALGEBRA = """
print(kernel(lambda a: np.dot(np.linalg.inv(a), a)[0, 0])(np.eye(2)), "scipy.linalg" in sys.modules)
"""


@compiles
def test_numba_looks_again_where_a_kernel_needs_linear_algebra() -> None:
    """What it looks by is its own again, once it is loaded."""
    from numba.np import arraymath, linalg  # noqa: PLC0415 (numba takes half a second)

    kernel(third)(VALUES, 2)
    assert arraymath.ensure_blas is linalg.ensure_blas
    assert linalg.ensure_blas.__module__ == linalg.__name__
    assert arraymath._HAVE_BLAS


@pytest.mark.slow
@compiles
def test_linear_algebra_is_loaded_where_it_is_needed() -> None:
    """Not when numba is loaded, and by the kernel that calls it."""
    command = [sys.executable, "-c", NO_LINEAR_ALGEBRA + LINEAR_ALGEBRA]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "3.0 False\n1.0 True\n"
