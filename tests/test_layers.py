"""The layers of the library: who may import whom, read from the source of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import ascendlab

PACKAGE = Path(__file__).resolve().parent.parent / "ascendlab"

# From the bottom up; a module may import its own layer and those below.  A name ending in * is a prefix; the
# longest name that fits counts, so that aipp_config* is no part of aipp*.
LAYERS: list[tuple[str, tuple[str, ...], set[str]]] = [
    (
        "base",
        (
            "errors",
            "files",
            "fields",
            "arrays",
            "sources",
            "fidelity",
            "products",
            "dtypes",
            "half",
            "layouts",
            "caches",
        ),
        set(),
    ),
    ("emulations", ("aipp*", "load3d*", "capi*", "conv", "vector*", "bilinear*", "resize"), set()),
    (
        "tools",
        (
            "provenance",
            "compare*",
            "cpp*",
            "pycode",
            "golden*",
            "aipp_config*",
            "exercises*",
            "pictures*",
            "samples",
            "summary",
            "traffic",
        ),
        set(),
    ),
    ("plots", ("plots*",), {"matplotlib", "mpl_toolkits", "PIL"}),
    ("explorers", ("explorers*",), {"ipywidgets", "IPython", "traitlets"}),
    ("command line", ("cli", "lab", "__main__"), set()),
]
EVERYWHERE = {"numpy", "ml_dtypes"}
# What single modules need beyond their layer: the parser of config files, the sample photograph, JupyterLab's sockets.
ALONE = {
    "ascendlab.aipp_config": {"google.protobuf"},
    "ascendlab.pictures": {"matplotlib", "PIL"},
    "ascendlab.lab": {"zmq"},
}
MODULES = sorted(path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*.py"))


class Import(NamedTuple):
    """One imported module, and whether only a type checker sees it."""

    module: str
    typing_only: bool


def name_of(path: Path) -> str:
    """Return a module's dotted name."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, source: str | None = None) -> Iterator[Import]:
    """Yield every import of a module, those inside functions and for type checkers included."""
    tree = ast.parse(source if source is not None else (PACKAGE.parent / path).read_text(encoding="utf-8"))
    known = {name_of(p) for p in MODULES}

    def walk(node: ast.AST, typing_only: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, typing_only) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                package = path.parent.parts
                base = ".".join(package[: len(package) - child.level + 1]) + "." if child.level else ""
                module = (base + (child.module or "")).rstrip(".")
                for alias in child.names:
                    inner = f"{module}.{alias.name}"
                    yield Import(inner if inner in known else module, typing_only)
            elif isinstance(child, ast.If):
                guard = ast.unparse(child.test).endswith("TYPE_CHECKING")
                for statement in child.body:
                    yield from walk(ast.Module([statement], []), typing_only or guard)
                for statement in child.orelse:
                    yield from walk(ast.Module([statement], []), typing_only)
            else:
                yield from walk(child, typing_only)

    yield from walk(tree, False)


def layer_of(module: str) -> int | None:
    """Return the number of a module's layer; None for the package itself, which re-exports all of them."""
    inner = module.removeprefix("ascendlab").lstrip(".")
    if not inner:
        return None
    head = inner.split(".")[0]
    fitting = [
        (len(name), number)
        for number, (_, names, _) in enumerate(LAYERS)
        for name in names
        if head == name or (name.endswith("*") and head.startswith(name[:-1]))
    ]
    if fitting:
        return max(fitting)[1]
    raise AssertionError(f"{module} belongs to no layer: name it in LAYERS")


def violations(path: Path, source: str | None = None) -> list[str]:
    """Return what is wrong with a module's imports, in words."""
    module, found = name_of(path), []
    own = layer_of(module)
    for imported, typing_only in imports_of(path, source):
        top = imported.split(".")[0]
        if top == "ascendlab":
            other = layer_of(imported)
            if own is not None and other is None:
                found.append(f"{module} imports the package ascendlab, which imports everything: name the module")
            elif own is not None and other is not None and other > own:
                found.append(f"{module} ({LAYERS[own][0]}) imports {imported} ({LAYERS[other][0]}), a layer above")
        elif top not in sys.stdlib_module_names and top not in EVERYWHERE and not typing_only:
            allowed = (LAYERS[own][2] if own is not None else set()) | ALONE.get(module, set())
            if not any(imported == a or imported.startswith(f"{a}.") for a in allowed):
                found.append(f"{module} imports {imported}, which its layer does not use")
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down_only(path: Path) -> None:
    """A module uses its own layer and lower ones only, lazily and in annotations too, and its layer's libraries."""
    assert violations(path) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("ascendlab/aipp.py", "from ascendlab.provenance import trace"),
        ("ascendlab/aipp.py", "from ascendlab import plots"),
        ("ascendlab/errors.py", "def late():\n    import ascendlab.aipp"),
        ("ascendlab/errors.py", "if TYPE_CHECKING:\n    from ascendlab.aipp import AippSetup"),
        ("ascendlab/aipp.py", "import matplotlib.pyplot as plt"),
        ("ascendlab/plots/_base.py", "import ipywidgets"),
        ("ascendlab/plots/_base.py", "from ..explorers import _base"),
        ("ascendlab/cpp.py", "import ascendlab"),
    ],
)
def test_a_wrong_import_is_seen(path: str, source: str) -> None:
    """The check above sees an import of a higher layer or of a foreign library, however it is written."""
    assert len(violations(Path(path), source)) == 1


def test_no_import_cycles() -> None:
    """Modules can be read one after the other: no two import each other, even indirectly."""
    graph = {}
    for path in MODULES:
        module = name_of(path)
        used = {i.module for i in imports_of(path) if i.module.startswith("ascendlab") and not i.typing_only}
        # A package's own modules reach it through its name; that is the package, not a cycle.
        graph[module] = {u for u in used if u != module and not module.startswith(f"{u}.")}
    TopologicalSorter(graph).prepare()


def brought_by(statements: str) -> set[str]:
    """Return the packages, beyond Python's own and this one, that a fresh interpreter has loaded after statements."""
    code = f"""
import sys
before = set(sys.modules)
{statements}
brought = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(brought - sys.stdlib_module_names - {{"ascendlab"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_library_is_light() -> None:
    """`import ascendlab` brings nothing, an emulation NumPy and ml_dtypes, and neither ever brings what draws."""
    assert brought_by("import ascendlab") == set()
    brought = brought_by("from ascendlab import *")
    # Some releases of NumPy leave names of the compiler that they were made with.
    assert {name for name in brought if "cython" not in name} == {"ml_dtypes", "numpy"}


def test_type_checkers_see_the_names_that_are_there() -> None:
    """The package's names for type checkers are those that it has when it runs, from the same modules."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.asname: statement.module
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("ascendlab")
        for alias in statement.names
    }
    assert seen == {name: f"ascendlab.{module}" for name, module in ascendlab._HOME_OF.items()}
    assert set(ascendlab.__all__) <= set(dir(ascendlab))


@pytest.mark.parametrize("first", ["ascendlab.vector_padding", "ascendlab.explorers", "ascendlab.capi.launch"])
def test_a_module_never_hides_a_function(first: str) -> None:
    """In whatever order things are imported, `vector_padding` and `launch` are the functions."""
    code = f"import {first}, ascendlab; print(type(ascendlab.vector_padding), type(ascendlab.launch))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "<class 'function'> <class 'function'>"


def test_modules_are_attributes_and_nothing_else_is() -> None:
    """`ascendlab.layouts` works after `import ascendlab` alone; a name that is not there is an AttributeError."""
    code = "import ascendlab as al; print(al.layouts.__name__, hasattr(al, 'no_such'), hasattr(al, '_no'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "ascendlab.layouts False False"
