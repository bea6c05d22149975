"""Sphinx's settings: ``make docs`` builds the site into docs/_build/html, from what lies here and without a network.

The source folder is the repository, so that a link between its pages leads to the same place on the site.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]  # the package beside this folder, and the extension in it

import ascendlab  # noqa: E402

project = "ascendlab"
author = "the ascendlab contributors"
project_copyright = f"2026, {author}"
version = release = ascendlab.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "_extension"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "docs/api/*.rst", "notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "**/.*", "docs/_build", "build", "dist"]
default_role = "py:obj"
# Modules are mentioned by short names, and types are prose; what is wrong with a link is found out by the tests.
nitpicky = False

# Notebooks are shown with the outputs that are stored in them: the tests hold that those are true.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # no widget state is stored, and nothing is fetched
myst_heading_anchors = 3
myst_heading_slug_func = "_extension.anchor"
suppress_warnings = [
    "myst.header",
    "toc.empty_glob",
]  # an exercise's output begins with the level of heading that suits the notebook

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types with shapes and units
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"ascendlab {release}"
html_extra_path = ["_extra"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
