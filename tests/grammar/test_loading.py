"""The packed definition saves time and decides nothing: it is what the files as written make, or is not taken."""

import json
import shutil

import pytest

from mmsp_fsm.grammar import loading
from mmsp_fsm.grammar.errors import DefinitionError
from mmsp_fsm.grammar.loading import CATALOGUE, GRAMMAR, PACKED, default, grammar_folder, load, unpacked
from mmsp_fsm.reference.packing import packed


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(grammar_folder(), tmp_path / "grammar")


def test_it_is_what_the_files_make():
    written, ready = load(grammar_folder()), unpacked(grammar_folder())
    assert ready == written == default()
    for part in ("kinds", "finish_reasons", "states", "symbols", "cells", "rules"):
        assert list(getattr(ready, part)) == list(getattr(written, part))
    assert all(type(one) is type(written.cells[key]) for key, one in ready.cells.items())
    assert packed(ready, grammar_folder()) == (grammar_folder() / PACKED).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (GRAMMAR, b"text", b"texu"),
        (GRAMMAR, b"\n", b"\n\n"),
        (CATALOGUE, b"a", b"b"),
        (CATALOGUE, b"\n", b""),
        (CATALOGUE, b"\n", b"\r\n"),
    ],
)
def test_an_edit_counts_at_once(folder, monkeypatch, file, old, new):
    path = folder / file
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    assert unpacked(folder) is None
    path.write_bytes(b"[edited]\n" + path.read_bytes())
    monkeypatch.setattr(loading, "grammar_folder", lambda: folder)
    with pytest.raises(DefinitionError, match="edited"):
        default.__wrapped__()


def test_what_is_no_packed_definition_is_not_taken(folder):
    data = (folder / PACKED).read_bytes()
    whole = json.loads(data)
    wrong = [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        data[: len(data) // 2],
        data.replace(b'"role":"open"', b'"role":"ajar"', 1),
        json.dumps({key: one for key, one in whole.items() if key != "cells"}).encode(),
        json.dumps(whole | {"made_of": {}}).encode(),
        json.dumps(
            whole | {"made_of": {name: [size, check + 1] for name, (size, check) in whole["made_of"].items()}}
        ).encode(),
    ]
    for one in wrong:
        (folder / PACKED).write_bytes(one)
        assert unpacked(folder) is None
    (folder / PACKED).unlink()
    assert unpacked(folder) is None
    assert load(folder) == default()


def test_a_verdict_imports_no_more_than_it_needs(tmp_path):
    """Neither the reading of TOML nor what explaining alone needs, nor what other options need."""
    import subprocess
    import sys

    (tmp_path / "a.jsonl").write_text('{"error": {"type": "UpstreamError", "message": "gone"}}\n')
    code = (
        "import sys; sys.argv = ['mmsp-fsm', 'validate', 'a.jsonl']\n"
        "from mmsp_fsm.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "mmsp_fsm.fastpath.recognizer" in loaded
    idle = {"cattrs", "tomllib", "transitions", "rich", "distributed", "fsspec", "pygraphviz", "pytest", "hypothesis",
            "httpx", "multiprocessing", "asyncio",
            "mmsp_fsm.grammar.source", "mmsp_fsm.grammar.validation"}  # fmt: skip
    assert loaded & idle == set()
