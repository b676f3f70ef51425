"""The sentences of core: commands as they work for the reader, a file's name beside its path."""

from core.errors import PYTHON, ModelFileError, TokenwalkError, python_command


def test_the_python_of_the_projects_own_venv_is_named_by_its_path(tmp_path):
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert python_command(str(tmp_path / ".venv"), tmp_path) == ".venv/bin/python"
    assert python_command("/usr", tmp_path) == "python"
    python.unlink()  # as on Windows, where its place is another one
    assert python_command(str(tmp_path / ".venv"), tmp_path) == "python"


def test_sentences_that_name_a_command_name_this_python():
    assert PYTHON in ("python", ".venv/bin/python")
    error = ModelFileError("not_on_disk", name="m")
    assert str(error).endswith(f"Fetch it with: {PYTHON} -m core fetch m")
    assert error.params == {"name": "m", "python": PYTHON}


def test_a_path_also_gives_the_files_name():
    error = ModelFileError("no_such_file", path="/secret/place/m.gguf")
    assert "/secret/place/m.gguf" in str(error) and error.params["file"] == "m.gguf"
    assert ModelFileError("no_such_file", path="/").params["file"] == "/"


def test_other_params_are_what_was_given():
    assert TokenwalkError("prompt_too_long", n_tokens=2, limit=1).params.keys() == {
        "n_tokens",
        "limit",
    }
