"""The recipes of docs/recipes.md, in order; the one for Spark is in test_spark.py."""

from pathlib import Path

from test_docs import run_blocks

RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"


def test_recipes_run_in_order():
    run_blocks(RECIPES)
