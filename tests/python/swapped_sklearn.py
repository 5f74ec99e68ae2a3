"""A pytest plugin: scikit-learn's own tests see planish's classes in place of theirs.

Every public name of ``sklearn.manifold`` that planish exports too is swapped before the tests are
imported. What became of each test is written to the file that SWAPPED_OUTCOMES names.
"""

import json
import os
import sys

import sklearn.decomposition
import sklearn.manifold

import planish

HOMES = {"sklearn.manifold": sklearn.manifold, "sklearn.decomposition": sklearn.decomposition}


def swapped():
    """The names that both export: name -> (scikit-learn's module, scikit-learn's object)."""
    return {
        name: (home, getattr(home, name))
        for home in HOMES.values()
        for name in home.__all__
        if name in planish.__all__
    }


def pytest_configure(config):
    for name, (home, theirs) in swapped().items():
        setattr(home, name, getattr(planish, name))
        # Some tests reach a class through the private module it is defined in.
        setattr(sys.modules[theirs.__module__], name, getattr(planish, name))


OUTCOMES = {}


def pytest_runtest_logreport(report):
    name = report.nodeid.split("/")[-1]
    if report.failed:
        OUTCOMES[name] = "failed"
    elif report.when == "call" or report.skipped:
        OUTCOMES.setdefault(name, report.outcome)


def pytest_sessionfinish(session):
    with open(os.environ["SWAPPED_OUTCOMES"], "w") as file:
        json.dump(OUTCOMES, file)
