"""planish.plot.page: what is in the file, and what happens to the file."""

import base64
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

import planish
from planish import plot
from planish.exceptions import InputError, ParameterError


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(200, 2))


class Reader(HTMLParser):
    """The elements of a page, and the text of its scripts, headings and title."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id") or tag

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self.texts[self._open] = self.texts.get(self._open, "") + data


def read(path):
    reader = Reader(path.read_text(encoding="utf-8"))
    return reader, json.loads(reader.texts["data"])


def numbers(text, kind="<f8"):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_coordinates_and_columns_are_stored_exactly(cloud, tmp_path):
    columns = {
        "height": cloud[:, 1],
        "few": np.arange(200) % 3,
        "name": [f"n{i}" for i in range(200)],
    }
    path = plot.page(
        cloud, tmp_path / "map.html", labels=["b", "a"] * 100, values=cloud[:, 0], columns=columns
    )
    _, data = read(path)
    assert path == tmp_path / "map.html"
    np.testing.assert_array_equal(np.transpose([numbers(c) for c in data["coordinates"]]), cloud)
    assert [column["name"] for column in data["columns"]] == [
        "label", "value", "height", "few", "name",
    ]  # fmt: skip
    label, value, height, few, name = data["columns"]
    assert label["classes"] == ["a", "b"]
    assert numbers(label["codes"], "<i4").tolist() == [1, 0] * 100
    np.testing.assert_array_equal(numbers(value["values"]), cloud[:, 0])
    np.testing.assert_array_equal(numbers(height["values"]), cloud[:, 1])
    assert few["classes"] == ["0", "1", "2"]
    assert len(name["classes"]) == 200


def test_rows_without_coordinates_keep_their_numbers_out_of_the_page(cloud, tmp_path):
    Y = cloud.copy()
    Y[[0, 7]] = np.nan
    reader, data = read(plot.page(Y, tmp_path / "map.html", values=np.arange(200)))
    expected = [row for row in range(200) if row not in (0, 7)]
    assert numbers(data["rows"], "<i4").tolist() == expected
    assert numbers(data["columns"][0]["values"]).tolist() == expected
    assert reader.texts["about"] == "198 rows · 2 rows without coordinates left out"


def test_title_of_an_estimator_and_of_ones_own(tmp_path, blob):
    fitted = planish.SammonMapping().fit(blob)
    reader, _ = read(plot.page(fitted, tmp_path / "map.html"))
    title = f"SammonMapping · Sammon stress {fitted.stress_forms_['sammon']:.3g}"
    assert reader.texts["title"] == reader.texts["h1"] == title
    reader, _ = read(plot.page(fitted, tmp_path / "map.html", title="Mine & <yours>"))
    assert reader.texts["title"] == reader.texts["h1"] == "Mine & <yours>"


def test_data_frames(cloud, tmp_path):
    frame = pd.DataFrame(
        {"kind": pd.Categorical(["u", None] * 100),
         "n": pd.array([*range(199), None], dtype="Int64"),
         "when": pd.to_datetime(["2020-01-01"] * 200), "x": cloud[:, 0], "yes": [True, False] * 100}
    )  # fmt: skip
    _, data = read(plot.page(cloud, tmp_path / "map.html", columns=frame))
    kind, n, when, x, yes = data["columns"]
    assert kind["classes"] == ["u"]
    assert numbers(kind["codes"], "<i4").tolist() == [0, -1] * 100
    np.testing.assert_array_equal(numbers(n["values"]), [*range(199), np.nan])
    assert when["classes"][0].startswith("2020-01-01")
    np.testing.assert_array_equal(numbers(x["values"]), cloud[:, 0])
    assert yes["classes"] == ["False", "True"]
    _, again = read(
        plot.page(cloud, tmp_path / "map.html", columns=pl.DataFrame({"x": cloud[:, 0]}))
    )
    np.testing.assert_array_equal(numbers(again["columns"][0]["values"]), cloud[:, 0])


def test_no_name_stands_twice(cloud, tmp_path):
    columns = {"label": cloud[:, 0], "label (2)": cloud[:, 1]}
    _, data = read(plot.page(cloud, tmp_path / "map.html", labels=[1] * 200, columns=columns))
    assert [c["name"] for c in data["columns"]] == ["label", "label (2)", "label (2) (2)"]


def test_no_text_leaves_its_place(cloud, tmp_path):
    nasty = "</script><script>alert(1)</script><!--<b>&amp;\u2028'\""
    path = plot.page(
        cloud,
        tmp_path / "map.html",
        labels=[nasty] * 200,
        columns={nasty: [nasty] * 200},
        title=nasty,
    )
    reader, data = read(path)
    plain, _ = read(plot.page(cloud, tmp_path / "plain.html"))
    assert [tag for tag, _ in reader.elements] == [tag for tag, _ in plain.elements]
    assert data["columns"][0]["classes"] == [nasty]
    assert data["columns"][1]["name"] == nasty
    assert reader.texts["h1"] == nasty


def test_images_are_sheets_of_png(tmp_path):
    from io import BytesIO

    from PIL import Image

    Y = np.random.default_rng(0).normal(size=(1100, 2))
    Y[3] = np.nan
    images = np.random.default_rng(0).integers(256, size=(1100, 3, 5), dtype=np.uint8)
    _, data = read(plot.page(Y, tmp_path / "map.html", images=images))
    stored = data["images"]
    assert (stored["width"], stored["height"], len(stored["pictures"])) == (5, 3, 2)
    rows = numbers(data["rows"], "<i4")
    for position in (0, 31, 32, 1023, 1024, 1098):
        sheet = stored["pictures"][position // stored["sheet"]]
        pixels = np.asarray(Image.open(BytesIO(base64.b64decode(sheet))))
        line, column = divmod(position % stored["sheet"], stored["across"])
        found = pixels[3 * line : 3 * line + 3, 5 * column : 5 * column + 5]
        np.testing.assert_array_equal(found, images[rows[position]])


def test_the_file_asks_for_nothing(cloud, tmp_path):
    reader, _ = read(plot.page(cloud, tmp_path / "map.html"))
    for tag, attributes in reader.elements:
        assert not {"src", "href", "srcset", "data", "action"} & set(attributes), (tag, attributes)
    (policy,) = [a["content"] for _, a in reader.elements if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert re.search(r"@import|url\(", reader.texts["style"]) is None
    assert ("html", {"lang": "en"}) in reader.elements


# -- the file --------------------------------------------------------------------------


def test_the_file_is_replaced(cloud, tmp_path):
    path = tmp_path / "map.html"
    path.write_text("before")
    plot.page(cloud, str(path))
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(cloud, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "map.html")
    plot.page(cloud, tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "map.html").read_text().startswith("<!DOCTYPE html>")


def test_the_file_has_the_rights_of_any_other(cloud, tmp_path):
    other = tmp_path / "other"
    other.write_text("")
    assert plot.page(cloud, tmp_path / "map.html").stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("missing/map.html", FileNotFoundError),
        ("file/map.html", NotADirectoryError),
        ("folder", FileExistsError),
        ("n" * 300, OSError),
    ],
)
def test_a_path_that_cannot_be_written(cloud, tmp_path, place, kind):
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    with pytest.raises(kind, match="parameter `path`: the page cannot be written") as caught:
        plot.page(cloud, tmp_path / place)
    assert str(tmp_path / place) in str(caught.value)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_half_written_is_left(cloud, tmp_path, monkeypatch, error):
    from pathlib import Path

    path = tmp_path / "map.html"
    path.write_text("before")

    def fails(self, target):
        assert self.stat().st_size > 1_000_000  # whole, but not yet there
        raise error

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(type(error)):
        plot.page(cloud, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_input_writes_nothing(cloud, tmp_path):
    path = tmp_path / "map.html"
    for bad, error, message in (
        ({"labels": [1]}, ParameterError, "`labels`: the embedding has 200 rows, got 1"),
        ({"values": ["a"] * 200}, ParameterError, "`values`: expected numbers"),
        (
            {"columns": {"h": [1, 2]}},
            ParameterError,
            r"columns\['h'\]`: the embedding has 200 rows",
        ),
        ({"columns": [1, 2]}, ParameterError, "`columns`: expected a mapping"),
        ({"images": np.ones((3, 2, 2))}, ParameterError, "200 rows, got 3 images"),
    ):
        with pytest.raises(error, match=message):
            plot.page(cloud, path, **bad)
    with pytest.raises(InputError, match="0 rows"):
        plot.page(np.empty((0, 2)), path)
    assert list(tmp_path.iterdir()) == []


def test_without_plotly_one_sentence_names_the_extra(cloud, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError) as caught:
        plot.page(cloud, tmp_path / "map.html")
    assert str(caught.value) == "planish.plot needs plotly: pip install planish[plot]"
