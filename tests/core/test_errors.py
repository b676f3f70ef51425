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


def test_what_comes_from_a_file_neither_steers_a_terminal_nor_fills_the_screen():
    error = ModelFileError("broken", path="/a/b.gguf", place="a\x1b[2J\n\u202e", reason="x" * 9999)
    assert str(error).isprintable() and r"a\x1b[2J\n\u202e" in str(error)
    assert len(str(error)) < 700 and error.params["place"] == r"a\x1b[2J\n\u202e"
    path = "/folder" * 200 + "/模型.gguf"  # a path stands there whole
    assert path in str(ModelFileError("no_such_file", path=path))
    assert ModelFileError("bad_ids", largest=5, value=7).params["value"] == 7


def test_a_path_also_gives_the_files_name():
    error = ModelFileError("no_such_file", path="/secret/place/m.gguf")
    assert "/secret/place/m.gguf" in str(error) and error.params["file"] == "m.gguf"
    assert ModelFileError("no_such_file", path="/").params["file"] == "/"


def test_other_params_are_what_was_given():
    assert TokenwalkError("prompt_too_long", n_tokens=2, limit=1).params.keys() == {
        "n_tokens",
        "limit",
    }
