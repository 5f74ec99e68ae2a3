"""The Python code of the guide runs as it stands, and no link is broken."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [ROOT / "docs" / "guide.md"]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", GUIDES, ids=lambda path: path.name)
def test_python_blocks_run_in_order(document):
    text = document.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks, f"{document.name} has no Python block: is the pattern still right?"
    shared = {"__name__": document.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in blocks:
            # line numbers of the document, so that a failure points into it
            line = text.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block.group(1), str(document), "exec"), shared)


def test_links_in_documents_lead_somewhere():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
