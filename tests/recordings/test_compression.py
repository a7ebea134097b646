"""A compressed recording is read like any other, and a torn archive says so after all that could be read."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import tarfile
import threading
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsp_fsm
from mmsp_fsm.engines.checking import CheckOptions, check_source, walk_source
from mmsp_fsm.recordings.archives import CHUNK, Unpacked, inner_suffix
from mmsp_fsm.recordings.codecs import CODECS
from mmsp_fsm.recordings.sources import Unreadable, find_sources
from tests.streams import HI, delta, stop, t, t_done

zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")

PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd.compress}
SUFFIX = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
CHECKED = {**PACK, "zstd": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})}
LINES = [json.dumps(event).encode() for event in [*HI, stop()]]
JSONL = b"".join(line + b"\n" for line in LINES)
SSE = b"".join(b"data: " + line + b"\n\n" for line in LINES) + b"data: [DONE]\n\n"
NOISE = random.Random(4).randbytes(3000)
SKIPPABLE = b"\x53\x2a\x4d\x18\x05\x00\x00\x00hello"

kinds = pytest.mark.parametrize("kind", PACK)


def unpack(data):
    file = Unpacked(io.BytesIO(data))
    return file.read(), file.fault


def torn(kind):
    return f"the {kind} archive is torn: the file ends inside it"


def behind(kind):
    return f"something follows the end of the {kind} archive that is no part of it"


# ── Whole archives ───────────────────────────────────────────────────────────────────────────────────────────


@kinds
@pytest.mark.parametrize("content", [b"", b"x", JSONL, NOISE, b"a" * 1_000_000, NOISE * 300], ids=len)
def test_what_was_packed_is_read(kind, content):
    assert unpack(PACK[kind](content)) == (content, None)


@kinds
def test_several_parts_are_one_content(kind):
    pack = PACK[kind]
    assert unpack(pack(b"a") + pack(b"") + pack(NOISE) + pack(b"") + pack(b"z")) == (b"a" + NOISE + b"z", None)


@settings(deadline=None)
@given(parts=st.lists(st.binary(max_size=2000), min_size=1, max_size=6), kind=st.sampled_from(list(PACK)))
def test_however_the_content_is_cut_into_parts(parts, kind):
    parts[0] = b"{" + parts[0]  # else it may be an archive itself
    assert unpack(b"".join(map(PACK[kind], parts))) == (b"".join(parts), None)


@settings(deadline=None)
@given(data=st.binary(max_size=300).map(lambda one: b"{" + one))
def test_what_is_no_archive_is_read_as_it_stands(data):
    assert unpack(data) == (data, None)


def test_zeros_behind_an_archive_where_its_format_allows_them():
    for kind, zeros in (("gzip", 1), ("gzip", 511), ("gzip", 200_000), ("xz", 4), ("xz", 8), ("xz", 200_000)):
        one = PACK[kind](b"a")
        assert unpack(one + bytes(zeros)) == (b"a", None)
        assert unpack(one + bytes(zeros) + one) == (b"aa", None)
    for zeros in (1, 2, 3, 5):
        assert unpack(lzma.compress(b"a") + bytes(zeros)) == (b"a", torn("xz"))
    for kind in ("bzip2", "zstd"):
        assert unpack(PACK[kind](b"a") + bytes(4)) == (b"a", behind(kind))


def test_zstd_frames_that_hold_nothing_to_read():
    one = zstd.compress(JSONL)
    assert unpack(SKIPPABLE + one + SKIPPABLE + one + SKIPPABLE) == (JSONL * 2, None)
    assert unpack(SKIPPABLE) == (b"", None)
    for length in range(4, len(SKIPPABLE)):
        assert unpack(SKIPPABLE[:length]) == (b"", torn("zstd"))


def test_a_gzip_header_with_a_name_a_comment_and_an_extra_field():
    raw = zlib.compress(JSONL, wbits=-15)
    tail = zlib.crc32(JSONL).to_bytes(4, "little") + len(JSONL).to_bytes(4, "little")
    header = b"\x1f\x8b\x08\x1c" + bytes(6) + b"\x03\x00abc" + b"name\x00" + b"comment\x00"
    assert unpack(header + raw + tail) == (JSONL, None)


@kinds
@pytest.mark.parametrize("sizes", [[1], [3, 1000], [-1], [0, 7]])
def test_it_is_read_like_a_file(kind, sizes):
    file, content, at = Unpacked(io.BytesIO(PACK[kind](NOISE))), b"", 0
    while True:
        size = sizes[at % len(sizes)]
        piece = file.read1(size) if at % 2 else file.read(size)
        assert size < 0 or len(piece) <= size
        content += piece
        at += 1
        if not piece and size:
            break
    assert content == NOISE
    assert (file.read(), file.read1(), file.read(5)) == (b"", b"", b"")


class Trickle:
    """A file that gives one byte a time."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def read(self, size=-1):
        self.at += 1
        return self.data[self.at - 1 : self.at]


@kinds
def test_it_does_not_matter_how_the_bytes_arrive(kind):
    data = PACK[kind](JSONL) + PACK[kind](NOISE)
    for cut in (0, 1, 5, len(data) // 2):
        one, other = Unpacked(Trickle(data[: len(data) - cut])), Unpacked(io.BytesIO(data[: len(data) - cut]))
        assert (one.read(), one.fault) == (other.read(), other.fault)


# ── Torn and corrupt ones ────────────────────────────────────────────────────────────────────────────────────


@kinds
def test_torn_anywhere_it_gives_a_beginning_and_says_so(kind):
    content = JSONL + NOISE
    data = CHECKED[kind](content)
    longest = 0
    for length in range(1, len(data)):
        if kind in ("bzip2", "zstd") and length < (3 if kind == "bzip2" else 2):
            assert unpack(data[:length]) == (data[:length], None)  # a letter or a bracket: no JSON, and told as that
            continue
        read, fault = unpack(data[:length])
        assert content.startswith(read)
        assert fault == torn(kind), length
        assert len(read) >= longest
        longest = len(read)
    assert longest == len(content) or kind == "bzip2"  # of which a block is read once it is all there


@kinds
def test_torn_in_a_second_part_the_first_is_read_whole(kind):
    first, second = CHECKED[kind](JSONL), CHECKED[kind](NOISE)
    for length in range(1, len(second)):
        read, fault = unpack(first + second[:length])
        assert (JSONL + NOISE).startswith(read)
        assert len(read) >= len(JSONL)
        assert fault == torn(kind)


@kinds
@pytest.mark.parametrize("behind_it", [b"x", b"\n", b'{"a": 1}\n', NOISE])
def test_what_follows_an_archive_is_a_fault(kind, behind_it):
    assert unpack(PACK[kind](JSONL) + behind_it) == (JSONL, behind(kind))


@kinds
def test_one_kind_behind_another_is_a_fault(kind):
    other = next(name for name in PACK if name != kind)
    assert unpack(PACK[kind](JSONL) + PACK[other](JSONL)) == (JSONL, behind(kind))


@kinds
def test_a_wrong_checksum_is_said_after_all_that_was_read(kind):
    data = bytearray(CHECKED[kind](JSONL))
    at = {"gzip": -8, "bzip2": 10, "xz": -36, "zstd": -1}[kind]
    data[at] ^= 1
    read, fault = unpack(bytes(data))
    assert JSONL.startswith(read)
    assert len(read) > len(JSONL) - 256
    assert fault.startswith(f"the {kind} archive cannot be unpacked from here on: ")


def test_a_wrong_length_is_said():
    data = bytearray(gzip.compress(JSONL))
    data[-1] ^= 1
    assert unpack(bytes(data)) == (JSONL, "the gzip archive cannot be unpacked from here on: incorrect length check")


@settings(deadline=None)
@given(st.data())
def test_whatever_bit_is_wrong_nothing_raises(data):
    kind = data.draw(st.sampled_from(list(PACK)))
    content = JSONL + NOISE
    broken = bytearray(CHECKED[kind](content))
    bit = data.draw(st.integers(8 * 6, 8 * len(broken) - 1))
    broken[bit // 8] ^= 1 << bit % 8
    read, fault = unpack(bytes(broken))
    # gzip's time and name, and the reserved bits of a header, are nobody's content
    assert fault is not None or read == content


@settings(deadline=None)
@given(data=st.binary(max_size=400), codec=st.sampled_from(CODECS))
def test_garbage_behind_a_magic_number_never_raises(data, codec):
    for magic in codec.magics[:1]:
        read, fault = unpack(magic + data)
        assert fault is not None
        assert len(read) < 10_000_000


def test_a_large_archive_that_breaks_late_gives_nearly_all_before():
    content = random.Random(1).randbytes(1 << 21)
    for kind in PACK:
        data = bytearray(CHECKED[kind](content))
        data[len(data) * 3 // 4] ^= 0x55
        read, fault = unpack(bytes(data))
        assert fault is not None
        assert len(read) > len(content) // 2 - 1_000_000


# ── Bombs ────────────────────────────────────────────────────────────────────────────────────────────────────


def drain(data):
    file, size = Unpacked(io.BytesIO(data)), 0
    while chunk := file.read1():
        assert len(chunk) <= CHUNK
        size += len(chunk)
    return size, file.fault


@kinds
def test_a_bomb_takes_constant_memory(kind):
    size = 1 << 26
    data = PACK[kind](bytes(size))
    assert len(data) < size // 900
    tracemalloc.start()
    assert drain(data) == (size, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_many_empty_members_are_linear():
    assert drain(gzip.compress(b"") * 100_000) == (0, None)


def test_a_window_that_is_too_large_is_refused():
    parameter = zstd.CompressionParameter
    compressor = zstd.ZstdCompressor(options={parameter.window_log: 30})
    data = compressor.compress(JSONL) + compressor.flush()
    assert unpack(data) == (
        b"",
        "the zstd archive cannot be unpacked from here on: that would take more than 128 MiB of memory for its window",
    )
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    # Compressing with such a dictionary takes gigabytes, so the size is put into the header of a small one.
    small = lzma.compress(JSONL, filters=[{**filters[0], "dict_size": 1 << 16}])
    header = bytearray(small[12:24])
    header[4] = 36  # 2 ** 30 bytes
    header[8:12] = zlib.crc32(header[:8]).to_bytes(4, "little")
    read, fault = unpack(small[:12] + bytes(header) + small[24:])
    assert (read, "more than 128 MiB of memory" in fault) == (b"", True)


# ── Archives in archives ─────────────────────────────────────────────────────────────────────────────────────


@kinds
def test_an_archive_in_an_archive_is_not_unpacked(kind):
    for inner in PACK:
        says = f"what the {kind} archive holds is itself a {inner} archive, which is not unpacked"
        assert unpack(PACK[kind](PACK[inner](JSONL))) == (b"", says)


def tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as one:
        info = tarfile.TarInfo("trace.jsonl")
        info.size = len(JSONL)
        one.addfile(info, io.BytesIO(JSONL))
    return out.getvalue()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as one:
        one.writestr("trace.jsonl", JSONL)
    return out.getvalue()


def test_a_folder_packed_into_one_file_is_said():
    for name, data in (("tar", tar()), ("zip", zipped()), ("7z", b"7z\xbc\xaf\x27\x1c" + NOISE)):
        assert unpack(data) == (b"", f"this is itself a {name} archive, which is not unpacked")
        for kind, pack in PACK.items():
            says = f"what the {kind} archive holds is itself a {name} archive, which is not unpacked"
            assert unpack(pack(data)) == (b"", says)
            if name != "tar":  # which begins with a file's name: that is not held back
                file = Unpacked(Trickle(pack(data)))
                assert (file.read(), file.fault) == (b"", says)


def test_a_module_that_is_missing_is_named(monkeypatch):
    for kind, module in {"gzip": "zlib", "bzip2": "bz2", "xz": "lzma", "zstd": "backports.zstd"}.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            says = f"this {kind} archive needs the Python module {module}, which is missing here"
            assert unpack(PACK[kind](JSONL)) == (b"", says)


def test_what_is_not_compressed_imports_nothing_to_unpack(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(JSONL)
    code = (
        "import sys, mmsp_fsm.cli.main\n"
        "try: mmsp_fsm.cli.main.main(['validate', 'a.jsonl'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'bz2', 'lzma', 'gzip', 'backports.zstd', 'tarfile'} & set(sys.modules), sys.modules.keys()\n"
    )
    import subprocess

    environment = {**os.environ, "PYTHONPATH": str(Path(mmsp_fsm.__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True)


# ── Live pipes ───────────────────────────────────────────────────────────────────────────────────────────────


def flushing(kind):
    """Compresses pieces so that each can be read at once."""
    if kind == "gzip":
        one = zlib.compressobj(wbits=31)
        return lambda piece: one.compress(piece) + one.flush(zlib.Z_SYNC_FLUSH)
    if kind == "zstd":
        two = zstd.ZstdCompressor()
        return lambda piece: two.compress(piece, mode=two.FLUSH_BLOCK)
    return PACK[kind]  # these can only begin another stream


@kinds
def test_a_live_pipe_is_read_as_soon_as_it_can_be(kind):
    read, write = os.pipe()
    pack = flushing(kind)
    with open(read, "rb") as pipe, open(write, "wb", buffering=0) as out:
        file = Unpacked(pipe)
        for line in LINES:
            out.write(pack(line + b"\n"))
            assert file.read1() == line + b"\n"  # would wait for ever


def test_a_live_pipe_of_a_bracket_and_then_more():
    read, write = os.pipe()
    with open(read, "rb") as pipe:
        file = Unpacked(pipe)
        writer = threading.Thread(target=lambda: (os.write(write, b"["), os.write(write, b'{"a'), os.close(write)))
        writer.start()
        assert file.read() == b'[{"a'
        writer.join()


@pytest.mark.parametrize("text", [b"[", b"(", b"B", b"BZ", b"P", b"7z", b"[*", b"7", b"PK", b" ", b"{"])
def test_a_little_text_is_no_archive(text):
    assert unpack(text) == (text, None)


# ── Recordings ───────────────────────────────────────────────────────────────────────────────────────────────


def check(path, **options):
    return [one for source in find_sources([str(path)]) for one in check_source(source, CheckOptions(**options))]


def said(report):
    return [(one.code, one.event, one.line) for one in report.diagnostics]


@kinds
@pytest.mark.parametrize("content", [JSONL, SSE, json.dumps([*HI, stop()]).encode()], ids=["jsonl", "sse", "json"])
def test_a_compressed_recording_conforms(tmp_path, kind, content):
    path = tmp_path / "any name"
    path.write_bytes(PACK[kind](content))
    (report,) = check(path)
    assert (report.verdict, report.events, report.diagnostics) == ("conforming", 3, ())
    assert mmsp_fsm.validate(path).conforming
    assert mmsp_fsm.validate(PACK[kind](content)).conforming
    assert mmsp_fsm.parse(path).finish_reason == "stop"


@kinds
@pytest.mark.parametrize("separator", ["jsonl", "sse", "json"])
def test_a_torn_archive_is_one_error_and_unreadable(tmp_path, kind, separator):
    events = [*[delta({"type": "text.delta", "text": NOISE[at : at + 40].hex()}) for at in range(0, 2000, 40)], stop()]
    lines = [json.dumps(event).encode() for event in events]
    content = {
        "jsonl": b"\n".join(lines),
        "sse": b"".join(b"data: " + line + b"\n\n" for line in lines) + b"data: [DONE]\n\n",
        "json": b"[" + b",\n".join(lines) + b"]",
    }[separator]
    data, path = PACK[kind](content), tmp_path / f"a.{separator}"
    for length in range(8, len(data), 13):
        path.write_bytes(data[:length])
        report, unreadable = check(path)
        assert unreadable == Unreadable(str(path), torn(kind))
        errors = [one for one in report.diagnostics if one.severity == "error"]
        # Where the stop was read whole there stands a stop inside a group, too: the fault of these very events.
        assert [one.code for one in errors] in (["E101"], ["E304", "E101"]), length
        assert errors[-1].message == torn(kind)
        assert "W510" not in {one.code for one in report.diagnostics}
        steps = list(walk_source(next(find_sources([str(path)])), CheckOptions()))
        assert steps[-2:] == [report, unreadable]


def test_the_line_that_was_torn_is_shown_and_is_the_fault_s(tmp_path):
    packed = zlib.compressobj(wbits=31)
    data = packed.compress(LINES[0] + b"\n" + LINES[1][:50]) + packed.flush(zlib.Z_SYNC_FLUSH)
    (tmp_path / "a").write_bytes(data)
    report, _ = check(tmp_path / "a")
    assert said(report) == [("E101", 1, 2)]
    assert report.diagnostics[0].record == LINES[1][:50]
    assert (report.events, report.outcome) == (2, "truncated")


def test_a_last_line_that_is_whole_is_an_event_before_the_fault(tmp_path):
    data = bytearray(gzip.compress(JSONL.rstrip()))
    data[-1] ^= 1
    (tmp_path / "a").write_bytes(data)
    report, unreadable = check(tmp_path / "a")
    assert said(report) == [("E101", 3, 4)]
    assert report.outcome == "stopped"
    assert "incorrect length check" in unreadable.message


def test_in_a_program_a_torn_archive_is_a_stream_that_violates():
    data = gzip.compress(JSONL)[:-4]
    report = mmsp_fsm.validate(data)
    assert [(one.code, one.message) for one in report.diagnostics] == [("E101", torn("gzip"))]
    with pytest.raises(mmsp_fsm.StreamProtocolError):
        mmsp_fsm.parse(data)


def test_an_archive_of_nothing_is_an_empty_recording():
    for kind in PACK:
        assert [one.code for one in mmsp_fsm.validate(PACK[kind](b"")).diagnostics] == ["E307"]


# ── Names ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.jsonl", ".jsonl"),
        ("a.jsonl.gz", ".jsonl"),
        ("a.JSONL.GZ", ".jsonl"),
        ("d.x/a.sse.zst", ".sse"),
        ("a.gz", ""),
        (".gz", ""),
        ("a.json.bz2", ".json"),
        ("a.tar.xz", ".tar"),
        ("a.gz.gz", ".gz"),
        ("", ""),
    ],
)
def test_the_suffix_of_what_is_inside(name, suffix):
    assert inner_suffix(name) == suffix


def test_the_inner_suffix_settles_a_tie(tmp_path):
    for name, events in (("a.jsonl.gz", 1), ("a.json.gz", 3)):
        (tmp_path / name).write_bytes(gzip.compress(json.dumps([t("a"), t_done("a"), stop()]).encode()))
        assert check(tmp_path / name)[0].events == events
        assert mmsp_fsm.validate(tmp_path / name).events == events


def test_a_folder_is_searched_for_compressed_recordings_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, pack in PACK.items():
        Path(f"a.jsonl{SUFFIX[kind]}").write_bytes(pack(JSONL))
        Path(f"b.json{SUFFIX[kind]}").write_bytes(pack(json.dumps([*HI, stop()], indent=1).encode()))
        Path(f"c.json{SUFFIX[kind]}").write_bytes(pack(b'{"name": "settings"}'))
        Path(f"d.txt{SUFFIX[kind]}").write_bytes(pack(JSONL))
    Path("e.json.gz").write_bytes(b"\x1f\x8b")
    Path("f.tar.gz").write_bytes(gzip.compress(tar()))
    found = [one.name for one in find_sources(["."])]
    assert found == [
        *(f"./a.jsonl{suffix}" for suffix in sorted(SUFFIX.values())),
        *(f"./b.json{suffix}" for suffix in sorted(SUFFIX.values())),
        "./e.json.gz",
    ]


@pytest.mark.parametrize("at", [10, 40, 60, 100])
def test_what_is_saved_of_a_corrupt_archive_does_not_depend_on_how_it_came(at):
    class Slowly:
        def __init__(self, data, size):
            self.file, self.size = io.BytesIO(data), size

        def read(self, _=-1):
            return self.file.read(self.size)

    data = bytearray(bz2.compress(b"".join(b'{"a":%d}\n' % number for number in range(60))))
    data[at] ^= 1
    reports = [mmsp_fsm.validate(Slowly(bytes(data), size)) for size in (1, 2, 3, 7, 1 << 20)]
    assert all(one == reports[0] for one in reports)
