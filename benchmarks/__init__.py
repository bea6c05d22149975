"""Speed as ratios: every job beside its peers, in one process, in interleaved rounds.

``python -m benchmarks`` runs all of them; ``python -m benchmarks aipp`` one.  A benchmark is a module
``bench_<name>.py`` with

- a docstring, whose first line becomes the heading of its table, and
- ``cases(small=False)``, which yields `measure.Case` objects; ``small=True`` makes the same cases in tiny sizes,
  for the test suite, which runs their checks and times nothing.
"""
