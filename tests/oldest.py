"""Print the oldest versions that pyproject.toml allows, as requirements for pip.

Those of the package and its extras, and those of its tests; where both name one, the package's.
"""

import re
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def oldest(requirements):
    """Name -> the lower bound of each requirement."""
    named = re.compile(r"([\w-]+(?:\[[\w,]+\])?)>=([\d.]+)")
    bounds = (named.match(requirement) for requirement in requirements)
    return dict(bound.groups() for bound in bounds)


def main():
    project = tomllib.loads(PROJECT.read_text())
    wanted = oldest(project["dependency-groups"]["test"])
    for extra in project["project"]["optional-dependencies"].values():
        wanted |= oldest(extra)
    wanted |= oldest(project["project"]["dependencies"])
    for name, version in sorted(wanted.items()):
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
