from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bundle import files as limits
from engine.bundle.content import digest_of
from engine.bundle.files import belongs_to_bundle, pack, read_files, unpack
from engine.errors import BundleInvalid
from tests.builders import bundle_files, problems_of, write_bundle

names = st.text(alphabet=st.characters(categories=("L", "N", "Zs"), max_codepoint=0x3FFF), min_size=1, max_size=80)
paths = st.lists(names.filter(str.isprintable), min_size=1, max_size=5).map(lambda parts: "/".join(parts) + ".rego")


@pytest.mark.parametrize(
    ("path", "belongs"),
    [
        ("a.rego", True),
        ("a/b_test.rego", True),
        ("data.json", True),
        ("a/data.yaml", True),
        ("a/data.yml", True),
        ("a/data.rego", True),
        (".manifest", True),
        (".signatures.json", True),
        ("a/.manifest", False),
        ("README.md", False),
        ("a/cases.yaml", False),
        ("data.toml", False),
        (".git/hook.rego", False),
        ("a/..data/x.rego", False),
    ],
)
def test_file_belongs_to_a_bundle_by_its_name(path: str, belongs: bool):
    assert belongs_to_bundle(path) is belongs


def test_directory_and_archive_of_it_hold_the_same_files(tmp_path: Path):
    wanted = bundle_files({"lictor/a_test.rego": "package lictor.a_test"})
    folder = write_bundle(
        tmp_path / "bundle", {**wanted, "README.md": b"no", ".git/x.rego": b"no", "a/.b/data.json": b"no"}
    )
    archive = tmp_path / "bundle.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname=".")
    assert read_files(folder) == wanted
    assert read_files(archive) == wanted
    assert digest_of(read_files(folder)) == digest_of(read_files(archive))


def test_digest_depends_on_every_path_and_byte():
    digests = [
        digest_of(files)
        for files in ({"a": b"bc"}, {"ab": b"c"}, {"a": b"bd"}, {"a": b"", "b": b"c"}, {"a": b"bc", "d": b""}, {})
    ]
    assert len(set(digests)) == len(digests)
    assert digest_of({"a": b"1", "b": b"2"}) == digest_of({"b": b"2", "a": b"1"})


def test_pack_gives_the_same_bytes_whatever_the_order_and_the_time():
    files = bundle_files()
    assert pack(files) == pack(dict(reversed(files.items())))
    assert pack(files)[4:8] == b"\0" * 4  # gzip's own time stamp


@given(st.dictionaries(paths, st.binary(max_size=2000), max_size=5))
def test_packed_files_come_out_as_they_went_in(files: dict[str, bytes]):
    assert unpack(pack(files)) == files


def test_absolute_and_dotted_names_of_an_archive_are_inside_the_bundle():
    made = _archive(_entry("/a.rego", b"1"), _entry("./b/./c.rego", b"2"))
    assert unpack(made) == {"a.rego": b"1", "b/c.rego": b"2"}


@pytest.mark.parametrize("name", ["../a.rego", "a/../../b.rego", "/../a.rego", "./../a.rego"])
def test_archive_path_that_leaves_the_bundle_is_refused(name: str):
    with pytest.raises(BundleInvalid) as refused:
        unpack(_archive(_entry(name, b"1")))
    assert refused.value.message == f"bundle file {name} points outside the bundle"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_archived_link_or_device_is_refused_and_not_left_out(kind: bytes):
    entry = tarfile.TarInfo("a.rego")
    entry.type, entry.linkname = kind, "/etc/passwd"
    with pytest.raises(BundleInvalid) as refused:
        unpack(_archive((entry, b"")))
    assert refused.value.message == "bundle file a.rego is a link or a device; pack the file itself"


def test_link_beside_the_bundle_is_documentation():
    entry = tarfile.TarInfo("README.md")
    entry.type, entry.linkname = tarfile.SYMTYPE, "docs/README.md"
    assert unpack(_archive((entry, b""), _entry("a.rego", b"1"))) == {"a.rego": b"1"}


def test_file_twice_in_an_archive_is_refused_with_its_name():
    with pytest.raises(BundleInvalid) as refused:
        unpack(_archive(_entry("a.rego", b"1"), _entry("./a.rego", b"2")), "b.tar.gz")
    assert refused.value.message == "bundle b.tar.gz: a.rego is there twice"
    assert problems_of(refused.value) == ["a.rego: bundle_conflict: the file is there twice"]


@pytest.mark.parametrize("name", ["a\udcff.rego", "a\n.rego", "a\x1b[31m.rego"])
def test_name_that_is_not_printable_text_is_refused(name: str):
    with pytest.raises(BundleInvalid, match="is not printable text"):
        unpack(_archive(_entry(name, b"1")))


def test_file_of_a_directory_with_an_undecodable_name_is_refused(tmp_path: Path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.rego")).write_bytes(b"package a")
    with pytest.raises(BundleInvalid, match=r"the file name 'a\\udcff.rego' is not printable text"):
        read_files(tmp_path)


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"no archive",
        gzip.compress(b""),
        gzip.compress(b"no archive at all"),
        gzip.compress(b"x" * 2000),
        pack({"a.rego": b"1"})[:-10],
        pack({"a.rego": b"1"})[:-8] + b"\0" * 8,
    ],
)
def test_what_is_no_archive_is_refused(archive: bytes):
    with pytest.raises(BundleInvalid, match=r"^bundle b\.tar\.gz is not a \.tar\.gz archive: "):
        unpack(archive, "b.tar.gz")


@given(st.binary(max_size=300), st.integers(0, 3000))
def test_damaged_archive_is_refused_or_read_but_never_an_accident(noise: bytes, at: int):
    whole = bytearray(gzip.decompress(pack({"a.rego": b"1" * 600, "b/data.json": b"{}"})))
    whole[at : at + len(noise)] = noise
    try:
        unpack(gzip.compress(bytes(whole), 1))
    except BundleInvalid:
        return


def test_archive_with_a_damaged_header_inside_is_refused_and_not_cut_short():
    whole = bytearray(gzip.decompress(pack({"a.rego": b"1", "b.rego": b"2"})))
    whole[1024 + 10] ^= 0xFF
    with pytest.raises(BundleInvalid) as refused:
        unpack(gzip.compress(bytes(whole)), "b.tar.gz")
    assert refused.value.message == "bundle b.tar.gz is damaged after 1 files; pack it again"


def test_archive_entry_of_negative_size_is_refused_at_once():
    entry = bytearray(tarfile.TarInfo("a.rego").tobuf())
    entry[124:136] = b"\xff" * 10 + b"\xfe\x00"
    entry[148:156] = b" " * 8
    entry[148:156] = f"{sum(entry):06o}\0 ".encode()
    with pytest.raises(BundleInvalid, match=r"a\.rego has a size of -512"):
        unpack(gzip.compress(bytes(entry) + b"\0" * 1024))


def test_archive_larger_than_the_limit_unpacked_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MAX_BYTES", 2**20)
    assert unpack(pack({"a.rego": b"1" * 2**20})) == {"a.rego": b"1" * 2**20}
    with pytest.raises(BundleInvalid) as refused:
        unpack(pack({"a.rego": b"1" * 2**20, "b.rego": b"1"}), "b.tar.gz")
    assert refused.value.message == "bundle b.tar.gz is larger than 1 MiB unpacked"


def test_archive_that_grows_without_end_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MAX_BYTES", 2**20)
    monkeypatch.setattr(limits, "MAX_FILES", 10)
    headers = tarfile.TarInfo("pax")
    headers.type, headers.size = tarfile.XHDTYPE, 2**22
    with pytest.raises(BundleInvalid, match=r"^bundle b\.tar\.gz is larger than 1 MiB unpacked$"):
        unpack(gzip.compress(headers.tobuf() + b"1" * 2**22), "b.tar.gz")


def test_other_files_of_an_archive_count_towards_its_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MAX_BYTES", 100)
    with pytest.raises(BundleInvalid, match="larger than"):
        unpack(_archive(_entry("README.md", b"1" * 101)))


def test_directory_over_its_limits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = write_bundle(tmp_path, {"a.rego": b"12", "b.rego": b"34"})
    monkeypatch.setattr(limits, "MAX_FILES", 2)
    monkeypatch.setattr(limits, "MAX_BYTES", 4)
    assert read_files(folder) == {"a.rego": b"12", "b.rego": b"34"}
    monkeypatch.setattr(limits, "MAX_BYTES", 3)
    with pytest.raises(BundleInvalid, match="is larger than 0 MiB"):
        read_files(folder)
    monkeypatch.setattr(limits, "MAX_FILES", 1)
    with pytest.raises(BundleInvalid, match="has more than 1 files"):
        read_files(folder)


def test_archive_with_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MAX_FILES", 1)
    with pytest.raises(BundleInvalid, match="has more than 1 files"):
        unpack(pack({"a.rego": b"1", "b.rego": b"2"}))


def test_missing_bundle_is_refused_with_its_name(tmp_path: Path):
    with pytest.raises(BundleInvalid) as refused:
        read_files(tmp_path / "nothing")
    assert refused.value.message == f"bundle {tmp_path / 'nothing'} does not exist; name a directory or a .tar.gz"


def test_bundle_that_the_system_cannot_open_is_refused_with_the_reason(tmp_path: Path):
    with pytest.raises(BundleInvalid, match="cannot be read: File name too long"):
        read_files(tmp_path / ("x" * 300))


def test_folder_that_cannot_be_listed_is_refused_and_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(20):  # beyond the longest path that the system takes
        Path("x" * 250).mkdir()
        monkeypatch.chdir("x" * 250)
    with pytest.raises(BundleInvalid, match="cannot be read: File name too long"):
        read_files(tmp_path)


def test_link_inside_a_directory_is_followed_as_in_a_mounted_volume(tmp_path: Path):
    write_bundle(tmp_path, {"..data/a.rego": b"package a"})
    (tmp_path / "a.rego").symlink_to("..data/a.rego")
    assert read_files(tmp_path) == {"a.rego": b"package a"}


def test_link_that_leaves_the_directory_is_refused(tmp_path: Path):
    (tmp_path / "secret").write_bytes(b"package secret")
    folder = write_bundle(tmp_path / "bundle", {"a.rego": b"package a"})
    (folder / "b.rego").symlink_to("../secret")
    with pytest.raises(BundleInvalid) as refused:
        read_files(folder)
    assert refused.value.message == "bundle file b.rego points outside the bundle"


def test_bundle_directory_that_is_a_link_is_read(tmp_path: Path):
    write_bundle(tmp_path / "real", {"a.rego": b"package a"})
    (tmp_path / "link").symlink_to("real")
    assert read_files(tmp_path / "link") == {"a.rego": b"package a"}


def test_dangling_link_or_pipe_is_refused_and_not_left_out(tmp_path: Path):
    (tmp_path / "a.rego").symlink_to("gone")
    with pytest.raises(BundleInvalid) as refused:
        read_files(tmp_path)
    assert refused.value.message == "bundle file a.rego is not a file that can be read"
    (tmp_path / "a.rego").unlink()
    os.mkfifo(tmp_path / "a.rego")
    with pytest.raises(BundleInvalid, match=r"a\.rego is not a file that can be read"):
        read_files(tmp_path)


def _entry(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    return entry, content


def _archive(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        for entry, content in entries:
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def test_linked_folder_is_refused_because_its_rules_would_be_left_out(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "deny.rego").write_text("package deny\n")
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "a.rego").write_text("package a\n")
    (tmp_path / "bundle" / "team").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleInvalid, match="bundle folder team is a link"):
        read_files(tmp_path / "bundle")
