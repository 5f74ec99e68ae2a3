"""A fuzzer over everything planish exports: random parameters, small nasty data, a few laws.

Estimators, functions and their parameters are found by asking the package, so a new method is
fuzzed without an edit here. `make fuzz SECONDS=600` runs it; `make fuzz REPLAY=seed` runs one
case again and shows it.

registry    what there is: classes, functions, and what each parameter may be
data        small nasty data: points, distances, graphs, kernels, affinities
cases       a seed becomes an estimator (or function) with parameters and data
laws        what must hold whatever the case
workers     one process per core, so that a crash or a hang costs one case
__main__    the command line and the report
"""
