# SPDX-License-Identifier: BSD-3-Clause
"""Names of a package that are imported when they are first used, as its ``__init__.pyi`` lists them."""

# Whatever stands here is imported at each start, so nothing from typing, which takes a third of it.
import sys
from collections.abc import Callable

from lazy_loader import attach_stub


def lazy_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return what a package calls ``__getattr__``, ``__dir__`` and ``__all__``.

    It is ``lazy_loader.attach_stub``, but a name that is not there is answered in Python's usual words, to which the
    interpreter adds a name that is much like it.

    Parameters
    ----------
    package, file : str
        ``__name__`` and ``__file__`` of the package.
    """
    find, names, public = attach_stub(package, file)

    def get(name: str) -> object:
        if name not in public:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules.get(package)
            )
        return find(name)

    return get, names, public
