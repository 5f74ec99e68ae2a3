"""planish.plot.page in a real browser: pointer and keys in, what the page shows out.

Chromium without a window, with software rendering. Where there is none, conftest leaves
this file out and says so in the last lines of the run.
"""

import json
import time

import numpy as np
import pytest
from matplotlib.path import Path as Polygon
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from conftest import BROWSER, DRIVER
from planish import plot

pytestmark = pytest.mark.timeout(300)

NASTY = "</script><b>bold</b>"


class Page:
    """A page as a reader meets it."""

    def __init__(self, driver, path):
        self.driver = driver
        driver.pages.append(path.as_uri())
        driver.get(path.as_uri())
        self.until(lambda: self.script("return document.getElementById('map').dataset.ready"))

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "the page did not do it in time"
            time.sleep(0.05)
        return found

    def element(self, name):
        return self.driver.find_element(By.ID, name)

    def ranges(self):
        return np.array(
            self.script("const l = document.getElementById('map')._fullLayout;"
                        "return [l.xaxis.range, l.yaxis.range]"), dtype=float
        )  # fmt: skip

    def pixel(self, point):
        """Where a point of the map is in the window."""
        return self.script(
            "const m = document.getElementById('map'), l = m._fullLayout;"
            "const b = m.getBoundingClientRect();"
            "return [b.left + l.xaxis._offset + l.xaxis.d2p(arguments[0]),"
            "        b.top + l.yaxis._offset + l.yaxis.d2p(arguments[1])]",
            *map(float, point),
        )

    def point_to(self, x, y, actions=None):
        actions = ActionChains(self.driver, duration=20) if actions is None else actions
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        return actions

    def drag(self, pixels, modifier=None):
        actions = self.point_to(*pixels[0])
        if modifier:
            actions.key_down(modifier)
        actions.click_and_hold()
        for pixel in pixels[1:]:
            self.point_to(*pixel, actions)
        actions.release()
        if modifier:
            actions.key_up(modifier)
        actions.perform()

    def choose(self, kind):
        self.driver.find_element(By.CSS_SELECTOR, f"input[name=drag][value={kind}]").click()

    def lasso(self, corners, modifier=None):
        """Draw around corners given in the map; returns them as the pixels they became."""
        self.choose("lasso")
        pixels = [[round(c) for c in self.pixel(corner)] for corner in [*corners, corners[0]]]
        before = self.element("rows").get_attribute("value")
        self.drag(pixels, modifier)
        self.until(lambda: self.element("rows").get_attribute("value") != before)
        return np.array(pixels, dtype=float)

    def selected(self):
        text = self.element("rows").get_attribute("value")
        return [int(row) for row in text.split(", ")] if text else []

    def hover(self, point, row):
        """Point at a point of the map until the row is shown; returns all that is shown of it."""
        x, y = self.pixel(point)
        box = self.element("hover")

        def shown():
            self.point_to(x - 1, y).perform()
            self.point_to(x, y).perform()
            lines = box.text.split("\n") if box.is_displayed() else []
            return lines if lines[:2] == ["row", str(row)] else None

        lines = self.until(shown, seconds=15)
        return dict(zip(lines[::2], lines[1::2], strict=True))

    def legend(self):
        return [item.text for item in self.driver.find_elements(By.CSS_SELECTOR, ".legendtext")]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,860",
        "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    ):  # fmt: skip
        options.add_argument(argument)
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.downloads = folder
    driver.pages = []
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def data():
    """Rows far enough apart to be told apart by a pointer, in a grid that is not regular."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    Y = rng.permutation(grid + rng.uniform(-0.2, 0.2, size=grid.shape))
    Y[5] = np.nan
    images = np.zeros((240, 8, 8), dtype=np.uint8)
    images[17] = 200
    return Y, images


@pytest.fixture
def page(driver, data, tmp_path):
    Y, images = data
    path = plot.page(
        Y, tmp_path / "map.html", title="A grid", images=images,
        labels=np.where(np.arange(240) % 2, NASTY, "even"),
        columns={NASTY: np.arange(240) / 7, "third": np.arange(240) % 3},
    )  # fmt: skip
    for log in ("performance", "browser"):  # what a test with a page of its own left in them
        driver.get_log(log)
    opened = Page(driver, path)
    opened.path = path
    yield opened
    # Whatever a test did: nothing was asked of a network, and nothing went wrong.
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    # What is told of an earlier page may come late.
    outside = [url for url in asked if not url.startswith((*driver.pages, "data:", "blob:"))]
    assert path.as_uri() in asked
    assert outside == []
    assert driver.get_log("browser") == []


def test_title_language_and_first_view(page, data):
    assert page.driver.title == "A grid"
    assert page.script("return document.documentElement.lang") == "en"
    assert page.element("about").text == "239 rows · 1 row without coordinates left out"
    # All rows are in view, at equal scales.
    (left, right), (low, high) = page.ranges()
    Y = data[0][np.isfinite(data[0]).all(axis=1)]
    assert left < Y[:, 0].min() < Y[:, 0].max() < right
    assert low < Y[:, 1].min() < Y[:, 1].max() < high
    origin, across, up = (np.array(page.pixel(point)) for point in [(0, 0), (5, 0), (0, 5)])
    assert across[0] - origin[0] == pytest.approx(origin[1] - up[1], rel=0.01)


def test_the_pointer_shows_the_row_below_it(page, data):
    Y = data[0]
    for row in (17, 100, 239):
        shown = page.hover(Y[row], row)
        assert shown["label"] == (NASTY if row % 2 else "even")
        assert float(shown[NASTY]) == pytest.approx(row / 7, rel=1e-5)
        assert shown["third"] == str(row % 3)
        assert float(shown["coordinate 1"]) == pytest.approx(Y[row, 0], rel=1e-5, abs=1e-5)


def test_the_image_of_a_row_is_shown(page, data):
    for row, grey in ((17, 200), (18, 0)):
        page.hover(data[0][row], row)
        read = (
            "const c = document.querySelector('#hover canvas');"
            "const first = () => c.getContext('2d').getImageData(0, 0, 1, 1).data;"
            "return c.dataset.painted && Array.from(first())"
        )
        assert page.until(lambda: page.script(read)) == [grey, grey, grey, 255]  # noqa: B023


def test_the_wheel_zooms_about_the_pointer(page, data):
    before = page.ranges()
    x, y = (round(c) for c in page.pixel((6.0, 6.0)))
    for _ in range(5):
        origin = ScrollOrigin.from_viewport(x, y)
        ActionChains(page.driver).scroll_from_origin(origin, 0, -100).perform()
    page.until(lambda: np.ptp(page.ranges(), axis=1)[0] < 0.8 * np.ptp(before, axis=1)[0])
    time.sleep(0.5)  # until the last step is drawn
    after = page.ranges()
    scales = np.ptp(after, axis=1) / np.ptp(before, axis=1)
    assert scales[0] == pytest.approx(scales[1], rel=1e-3)
    np.testing.assert_allclose(page.pixel((6.0, 6.0)), (x, y), atol=2)
    page.element("reset").click()
    page.until(lambda: np.allclose(page.ranges(), before, rtol=1e-3))


def test_dragging_pans(page, data):
    before = page.ranges()
    start = page.pixel((8.0, 6.0))
    page.drag([start, [start[0] + 60, start[1] + 15], [start[0] + 120, start[1] + 30]])
    page.until(lambda: not np.allclose(page.ranges(), before))
    np.testing.assert_allclose(np.ptp(page.ranges(), axis=1), np.ptp(before, axis=1), rtol=1e-6)
    np.testing.assert_allclose(page.pixel((8.0, 6.0)), np.add(start, [120, 30]), atol=2)


def inside(page, Y, pixels):
    """The rows whose points are inside a polygon of pixels."""
    rows = np.flatnonzero(np.isfinite(Y).all(axis=1))
    places = np.array([page.pixel(Y[row]) for row in rows])
    return rows[Polygon(pixels).contains_points(places)].tolist()


CORNERS = [(2.5, 2.5), (9.5, 1.5), (12.5, 8.5), (6.5, 5.5), (3.5, 9.5)]


def test_the_lasso_lists_the_rows_inside(page, data):
    Y = data[0]
    pixels = page.lasso(CORNERS)
    expected = inside(page, Y, pixels)
    assert len(expected) > 20
    assert page.selected() == expected
    assert page.element("count").text == f"{len(expected)} of 239 rows."
    # Another colour, the same rows; and rows in it can still be pointed at.
    Select(page.element("color")).select_by_visible_text("third")
    page.until(lambda: page.legend() == ["0 (80)", "1 (80)", "2 (79)"])
    assert page.selected() == expected
    page.hover(Y[expected[0]], expected[0])
    # Shift adds.
    more = page.lasso([(14.5, 2.5), (17.5, 2.5), (17.5, 5.5), (14.5, 5.5)], Keys.SHIFT)
    assert page.selected() == sorted({*expected, *inside(page, Y, more)})
    page.element("clear").click()
    assert page.selected() == []
    assert page.element("count").text.startswith("None.")


def test_nothing_of_the_lasso_stays_over_the_points(driver, tmp_path):
    Y = np.random.default_rng(0).normal(size=(1500, 2))
    page = Page(driver, plot.page(Y, tmp_path / "map.html", values=Y[:, 0]))
    page.lasso([(-1, -1), (0, -1), (1, 0), (-1, 1)])
    time.sleep(1)  # until the rest is drawn pale
    assert driver.find_elements(By.CSS_SELECTOR, ".outline-controllers, .select-outline") == []


def test_selected_rows_are_downloaded_and_copied(page, data):
    page.lasso(CORNERS)
    rows = page.selected()
    page.element("download").click()
    file = page.driver.downloads / "rows.txt"
    page.until(file.exists)
    assert [int(line) for line in file.read_text().splitlines()] == rows
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    page.element("copy").click()
    page.until(lambda: page.element("notice").text == f"{len(rows)} row numbers copied.")
    page.element("row").send_keys("")
    pasted = page.driver.execute_async_script(
        "const done = arguments[0];"
        "navigator.clipboard.readText().then(done, (error) => done(String(error)))"
    )
    assert pasted == ", ".join(map(str, rows))


def test_colours_by_any_column_and_names_are_text(page):
    menu = Select(page.element("color"))
    assert [option.text for option in menu.options] == ["label", NASTY, "third", "nothing"]
    assert page.legend() == [f"{NASTY} (119)", "even (120)"]
    menu.select_by_visible_text(NASTY)
    title = page.until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".cbtitle text"))
    assert title[0].text == NASTY
    menu.select_by_visible_text("nothing")
    page.until(lambda: not page.driver.find_elements(By.CSS_SELECTOR, ".cbtitle text"))
    assert page.legend() == []
    assert page.driver.find_elements(By.TAG_NAME, "b") == []


def test_everything_can_be_done_with_keys(page, data):
    Y = data[0]
    plot_area = page.element("map")
    page.script("document.activeElement.blur()")
    reached = []
    for _ in range(30):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        name = page.script("return document.activeElement.id || document.activeElement.name")
        reached.append(name)
        if name == "map":
            break
    assert reached[0] == "color"
    assert {"drag", "in", "out", "reset", "save", "map"} <= set(reached)
    before = page.ranges()
    width = np.ptp(before, axis=1)[0]
    plot_area.send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: np.isclose(page.ranges()[0, 0], before[0, 0] + width / 10))
    plot_area.send_keys("+")
    page.until(lambda: np.isclose(np.ptp(page.ranges()[0]), 0.8 * width))
    page.element("in-view").send_keys(Keys.ENTER)
    page.until(page.selected)
    (left, right), (low, high) = page.ranges()
    seen = (Y[:, 0] >= left) & (Y[:, 0] <= right) & (Y[:, 1] >= low) & (Y[:, 1] <= high)
    assert page.selected() == np.flatnonzero(seen).tolist()
    assert 0 < seen.sum() < 239
    plot_area.send_keys("0")
    page.until(lambda: np.allclose(page.ranges(), before, rtol=1e-3))
    page.element("row").send_keys("100", Keys.ENTER)
    assert page.element("details").text.split("\n")[:2] == ["row", "100"]
    page.element("row").clear()
    page.element("row").send_keys("5", Keys.ENTER)  # has no coordinates
    assert page.element("details").text == "There is no such row on the map."


def test_text_has_enough_contrast(page):
    page.lasso(CORNERS)
    ratios = page.script("""
        const light = (text) => {
          const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((c) => {
            c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const behind = (element) => {
          for (; element; element = element.parentElement) {
            const color = getComputedStyle(element).backgroundColor;
            if (!color.endsWith(", 0)")) return light(color);
          }
          return 1;
        };
        return [...document.querySelectorAll("header *, form *, aside *")]
          .filter((e) => e.innerText && e.offsetParent && !e.disabled)
          .map((e) => { const [a, b] = [light(getComputedStyle(e).color), behind(e)];
            return [e.id || e.tagName, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; });
    """)
    assert len(ratios) > 15
    assert [pair for pair in ratios if pair[1] < 4.5] == []


def test_more_than_two_coordinates_have_menus(driver, tmp_path):
    Y = np.random.default_rng(0).normal(size=(50, 4))
    page = Page(driver, plot.page(Y, tmp_path / "map.html"))
    Select(page.element("x")).select_by_visible_text("coordinate 3")
    Select(page.element("y")).select_by_visible_text("coordinate 4")
    page.hover(Y[7, 2:], 7)


def test_one_coordinate_is_drawn_against_the_row(driver, tmp_path):
    Y = np.random.default_rng(0).normal(size=50)
    page = Page(driver, plot.page(Y, tmp_path / "map.html"))
    assert float(page.hover((Y[30], 30), 30)["coordinate 1"]) == pytest.approx(Y[30], rel=1e-5)


def test_a_hundred_thousand_rows_can_be_lassoed(driver, tmp_path):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(100_000, 2))
    path = plot.page(Y, tmp_path / "map.html", values=Y[:, 0])
    assert path.stat().st_size < 12_000_000
    page = Page(driver, path)
    pixels = page.lasso([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    # The map is linear: from the pixels of two points to the coordinates of all pixels.
    one, other = np.array(page.pixel((0, 0))), np.array(page.pixel((1, 1)))
    corners = (pixels - one) / (other - one)
    low, high = corners.min(axis=0), corners.max(axis=0)
    within = np.clip(Y, low, high) == Y
    expected = np.flatnonzero(within.all(axis=1))
    assert 40_000 < len(expected) < 60_000
    assert len(np.setxor1d(page.selected(), expected)) <= 20  # rows on the line itself
    assert driver.get_log("browser") == []
