# SPDX-License-Identifier: BSD-3-Clause
"""Make a wheel that has its kernels compiled: ``make wheel``, or ``python recipe/compiled_wheel.py FOLDER [WORD ...]``.

The words are a command of swftools that compiles what the wheel is to have, ``warm-up`` unless others are given. The
wheel is for this Python and this system, and for processors of the family ``FAMILY``; what it has is used with the
version of numba with which it was made. With other processors or versions it works as any other wheel, which compiles.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from swftools.kernel.numba_adapter.pipeline import FAMILY, SHIPPED

ROOT = Path(__file__).parent.parent

_COMMAND = "import sys; from pipelines.cli.main import main; sys.exit(main())"


def make_wheel(folder: Path, words: list[str]) -> Path:
    """Make a wheel in a folder; return its path."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        sys.exit(f"kernels are compiled ahead for {FAMILY} alone, and this machine is {platform.machine()}")
    with tempfile.TemporaryDirectory() as place:
        _run("build", "--no-isolation", "--outdir", place, str(ROOT))  # from the source distribution: no old build/lib
        (plain,) = Path(place).glob("*.whl")
        _run("wheel", "unpack", "--dest", place, str(plain))
        (content,) = (path for path in Path(place).iterdir() if path.is_dir())
        _compile(content, words)
        _run("wheel", "pack", "--dest-dir", place, str(content))
        tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        tags = ("--python-tag", python, "--abi-tag", "none", "--platform-tag", tag)
        _run("wheel", "tags", "--remove", *tags, str(plain))
        (made,) = Path(place).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(made, folder))


def _compile(content: Path, words: list[str]) -> None:
    """Have a command compile kernels of a package that lies in a folder, and leave them where it has them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"NUMBA_CPU_NAME": FAMILY, "NUMBA_CPU_FEATURES": "", "PYTHONPATH": str(content)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", _COMMAND, *words], cwd=content, env=environment, check=True)
    for path in [*content.rglob("*.nbi"), *content.rglob("*.nbc")]:
        place = path.parent.parent / SHIPPED
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)
    for path in list(content.rglob("__pycache__")):
        path.rmdir()


def _run(*words: str) -> None:
    subprocess.run([sys.executable, "-m", *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python recipe/compiled_wheel.py FOLDER [WORD ...]")
    print(make_wheel(Path(sys.argv[1]), sys.argv[2:] or ["warm-up"]))
