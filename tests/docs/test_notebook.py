"""The quickstart notebook runs as it is, with a short training budget."""

from pathlib import Path

import pytest

from cardenvs.core.kernel import COMPILED

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("torch")
pytest.importorskip("matplotlib")

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "quickstart.ipynb"
TIMEOUT_S = 300  # for one cell; compiling is the longest


@pytest.fixture
def notebook():
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.mark.skipif(not COMPILED, reason="the notebook plays too many games for uncompiled rules")
def test_the_notebook_runs_and_ends_with_a_plot(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("CARDENVS_QUICKSTART_SECONDS", "3")
    monkeypatch.setenv("CARDENVS_QUICKSTART_DEALS", "10")
    client = nbclient.NotebookClient(
        notebook, timeout=TIMEOUT_S, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    assert "decisions in" in printed
    assert "ppo:" in printed


def test_the_install_cell_comes_first_and_only_acts_where_it_must(notebook):
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert "find_spec" in first.source
    assert "%pip install" in first.source


def test_the_notebook_is_kept_without_outputs(notebook):
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
