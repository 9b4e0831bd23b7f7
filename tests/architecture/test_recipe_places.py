"""Each change of a recipe has its place: what the recipe names is there. `test_recipes` runs the results."""

from tests.architecture.recipes import RECIPES, applied, read_recipes


def test_each_change_of_a_recipe_fits_the_files_that_are_there() -> None:
    files = applied(read_recipes())
    assert {"coaching/tools/count_words.py", "coaching/urls.py", "sage/settings.py"} <= files.keys()


def test_the_index_of_recipes_names_each() -> None:
    index = (RECIPES / "README.md").read_text()
    assert [page.name for page in RECIPES.glob("*.md") if f"({page.name})" not in index] == ["README.md"]
