"""What holds for the project as a whole: ledger and tests, README, versions, addresses, no traces of a machine."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import ascendlab
from ascendlab import fidelity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


def project_files() -> list[Path]:
    """Return the tracked files; in an unpacked archive, where git knows nothing, all that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = [Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name]
    else:
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
        names = [p for p in names if not any(part.startswith(".") or part == "__pycache__" for part in p.parts)]
    return [name for name in names if (ROOT / name).exists()]


def text_of(path: Path) -> str:
    """Return a file's text; empty for pictures and arrays."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


FILES = project_files()


@functools.cache
def rules_named_by_tests() -> dict[str, set[str]]:
    """Return for each rule id in a `pytest.mark.rule("...")` the files that name it."""
    named: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.rule"):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: a rule id must stand there as it is"
                    named.setdefault(str(argument.value), set()).add(path.name)
    return named


def test_tests_name_only_rules_of_the_ledger() -> None:
    """A rule id in a test is one that a reader finds in the ledger."""
    known = {rule.id for rule in fidelity.RULES}
    assert {rule: files for rule, files in rules_named_by_tests().items() if rule not in known} == {}


@pytest.mark.parametrize("rule", [rule.id for rule in fidelity.RULES])
def test_every_rule_has_a_test(rule: str) -> None:
    """Nothing stands in the ledger that no test holds."""
    assert rule in rules_named_by_tests()


def readme_examples() -> list[tuple[str, str]]:
    """Return the README's Python blocks, each with the output block that follows it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", text, flags=re.DOTALL)


def test_readme_example_prints_what_it_says() -> None:
    """The README's example runs as it stands there and prints the numbers that stand below it."""
    examples = readme_examples()
    assert examples
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
        assert printed.getvalue() == expected


def test_readme_links_lead_somewhere() -> None:
    """Every relative link and picture of the front pages is a file of the project."""
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(r"^\[[^]]+\]: (\S+)$", text, re.M)
        for target in targets:
            assert "://" in target or (ROOT / target).exists(), f"{page}: {target}"


def test_readme_lists_the_notebooks_that_are_there() -> None:
    """The README's table links every notebook, and advertises none that does not exist."""
    linked = set(re.findall(r"\(notebooks/(\w+\.ipynb)\)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert linked == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}


def test_version_is_the_changelog_s_newest() -> None:
    """The package's version is the newest one that the changelog describes."""
    headings = re.findall(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == "Unreleased"
    assert headings[1] == ascendlab.__version__


def test_citation_names_this_version_and_this_licence() -> None:
    """The citation file is valid YAML with what it must have, and agrees with the package."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", ascendlab.__version__)
    assert cited["license"] == project["license"]
    assert cited["authors"] == project["authors"]
    assert all(isinstance(cited[key], str) for key in ("message", "title", "abstract", "version"))


def test_home_address_is_kept_in_one_place() -> None:
    """When the project moves, pyproject.toml and the README's link definitions are all that names its home."""
    home = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Homepage"]
    repository = home.removeprefix("https://github.com/")
    found = {str(path): text_of(path).count(repository) for path in FILES}
    definitions = re.findall(rf"^\[[^]]+\]: https://\S*{repository}\S*$", text_of(Path("README.md")), re.M)
    assert {name: count for name, count in found.items() if count} == {
        "pyproject.toml": 1,
        "README.md": len(definitions),
    }


# Top folders below which a person's or a machine's own files lie; nothing here may depend on one.
MACHINE_PATH = re.compile(
    r"(?<![\w.)}/:])/(?:home|root|Users|work|workspace|mnt|srv|tmp|private|var/folders)/[\w.-]|\b[A-Z]:\\+Users\\"
)


def test_no_path_of_a_machine() -> None:
    """No file names a path that exists on somebody's machine only."""
    lines = [(str(path), line) for path in FILES for line in text_of(path).splitlines()]
    assert [(path, line[:200]) for path, line in lines if MACHINE_PATH.search(line)] == []


def test_a_path_of_a_machine_is_seen() -> None:
    """The pattern of the test above sees such paths, and takes neither addresses nor relative paths for one."""
    for folder in ("home/ada/x", "Users/ada/x", "tmp/ipykernel_1", "root/x"):
        assert MACHINE_PATH.search(f'"/{folder}.py"')
    for harmless in ("https://x.org/home/index", "docs/home/x", "./tmp/x", "$(TOP)/tmp/x"):
        assert not MACHINE_PATH.search(harmless)


def test_repository_files_are_of_sensible_size() -> None:
    """A clone stays small: no file over 1 MB, no notebook with its pictures over 2 MB."""
    limits = {path: 2_000_000 if str(path).endswith(".ipynb") else 1_000_000 for path in FILES}
    assert [str(path) for path, limit in limits.items() if (ROOT / path).stat().st_size > limit] == []


def test_modules_hold_one_idea() -> None:
    """No module of the library is longer than 500 lines."""
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.glob("ascendlab/**/*.py")}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


def test_binder_installs_this_package() -> None:
    """Binder, which ignores pyproject.toml when there is a binder folder, is told to install the package itself."""
    assert (ROOT / "binder/requirements.txt").read_text(encoding="utf-8").splitlines()[-1] == "-e .[notebooks]"
    assert not (ROOT / ".binder").exists()


def test_a_test_run_leaves_no_directory_behind(tmp_path: Path) -> None:
    """The settings that keep the user's out are thrown away at the end, those of parallel workers too."""
    elsewhere = {**os.environ, "TMPDIR": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", "-n", "1"]
    ran = subprocess.run(
        [*command, "tests/test_products.py"], cwd=ROOT, env=elsewhere, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ascendlab")] == []
