"""Python runs this at start when `ebb run` or `ebb record` put its folder into PYTHONPATH.

It waits for the program's `import torch` and turns Ebb on right after it; then it runs the sitecustomize that it hides.
"""

import atexit
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys

_FAILED = 3  # the tool's exit code for what the system cannot do
_HERE = os.path.dirname(os.path.abspath(__file__))


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Finds torch as everybody else would, and has Ebb turned on when its module has run."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_begin(module):
                run(module)
                try:
                    from ebb import autostart

                    autostart.begin()
                except Exception as error:
                    # A program without its limit was not asked for.
                    print(f"ebb: {error}", file=sys.stderr, flush=True)
                    os._exit(_FAILED)

            spec.loader.exec_module = run_and_begin
        return spec


def _is_wanted():
    return ("EBB_LIMIT" in os.environ or "EBB_RECORD" in os.environ) and "--multiprocessing-fork" not in sys.orig_argv


def _warn_if_unused():
    if "torch" not in sys.modules:
        print("ebb: the program did not import torch; there was nothing to do", file=sys.stderr)


def _run_hidden():
    elsewhere = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.origin is not None:
        runpy.run_path(spec.origin, run_name="sitecustomize")


if _is_wanted():
    sys.meta_path.insert(0, _AfterTorch())
    if os.environ.get("EBB_PROCESS") == str(os.getpid()):
        atexit.register(_warn_if_unused)
_run_hidden()
