"""The files of a bundle: from a directory or a `.tar.gz`, and packed into one for the store.

A bundle comes from outside: its size and number of files are bounded, links and paths that leave it are refused.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NoReturn
from zlib import error as zlib_error

from engine.errors import BundleInvalid, Problem

MAX_FILES = 10_000
MAX_BYTES = 256 * 1024 * 1024

_HEADER_BYTES = 8 * 1024
"""What an archive adds to each file, at the most: the longest path and padding."""

DATA_NAMES = frozenset({"data.json", "data.yaml", "data.yml"})


def belongs_to_bundle(path: str) -> bool:
    """OPA's rule: Rego modules, files named data.*, and the two dot files of the root; the rest is documentation."""
    *folders, name = PurePosixPath(path).parts
    if any(folder.startswith(".") for folder in folders):  # .git, or what Kubernetes keeps beside a mounted volume
        return False
    return name.endswith(".rego") or name in DATA_NAMES or path in {".manifest", ".signatures.json"}


def read_files(source: Path) -> dict[str, bytes]:
    """Every file of the bundle at `source`, by its path inside the bundle."""
    try:
        if source.is_dir():
            return _bounded(source, _walk(source))
        if source.is_file():
            return unpack(source.read_bytes(), source.name)
    except OSError as error:
        raise BundleInvalid(f"bundle {source} cannot be read: {error.strerror}") from error
    raise BundleInvalid(f"bundle {source} does not exist; name a directory or a .tar.gz")


def pack(files: Mapping[str, bytes]) -> bytes:
    """A `.tar.gz` that is the same for the same files, whenever and wherever it is made."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for path in sorted(files):
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path])
            archive.addfile(entry, io.BytesIO(files[path]))
    return buffer.getvalue()


def unpack(archive: bytes, name: str = "archive") -> dict[str, bytes]:
    try:
        plain = _decompressed(archive, name)
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            files = _bounded(Path(name), _members(tar, name))
    except (tarfile.TarError, EOFError, zlib_error, gzip.BadGzipFile, ValueError) as error:
        raise BundleInvalid(f"bundle {name} is not a .tar.gz archive: {error}") from error
    if plain[tar.offset :].strip(b"\0"):  # tarfile takes a damaged header for the end
        raise BundleInvalid(f"bundle {name} is damaged after {len(files)} files; pack it again")
    return files


def _walk(root: Path) -> Iterator[tuple[str, bytes]]:
    home = root.resolve()
    for folder, subfolders, names in os.walk(root, onerror=_raise):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in subfolders:
            if Path(folder, name).is_symlink():  # it is not walked into: its rules would be left out
                raise BundleInvalid(
                    f"bundle folder {Path(folder, name).relative_to(root)} is a link; use a real folder"
                )
        for name in sorted(names):
            file = Path(folder, name)
            path = file.relative_to(root).as_posix()
            if not belongs_to_bundle(path):
                continue
            if not file.resolve().is_relative_to(home):
                raise BundleInvalid(f"bundle file {path} points outside the bundle")
            if not file.is_file():  # to leave it out would be to leave out rules
                raise BundleInvalid(f"bundle file {path} is not a file that can be read")
            yield path, file.read_bytes()


def _raise(error: OSError) -> NoReturn:
    raise error


def _decompressed(archive: bytes, name: str) -> bytes:
    """Bounded before tarfile sees it, which reads headers of any size into memory."""
    most = MAX_BYTES + MAX_FILES * _HEADER_BYTES
    with gzip.GzipFile(fileobj=io.BytesIO(archive)) as compressed:
        plain = compressed.read(most + 1)
    if len(plain) > most:
        raise _too_large(name)
    return plain


def _members(tar: tarfile.TarFile, name: str) -> Iterator[tuple[str, bytes]]:
    room = MAX_BYTES
    for member in tar:
        path = PurePosixPath(member.name.lstrip("/")).as_posix()
        if ".." in PurePosixPath(path).parts:
            raise BundleInvalid(f"bundle file {member.name} points outside the bundle")
        if member.size < 0:  # tarfile would go back and read it for ever
            raise BundleInvalid(f"bundle file {member.name} has a size of {member.size}")
        room -= member.size
        if room < 0:
            raise _too_large(name)
        if member.isdir() or not belongs_to_bundle(path):
            continue
        if not member.isfile():
            raise BundleInvalid(f"bundle file {member.name} is a link or a device; pack the file itself")
        content = tar.extractfile(member)
        yield path, content.read() if content else b""


def _bounded(source: Path, found: Iterator[tuple[str, bytes]]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    total = 0
    for path, content in found:
        if path in files:
            raise BundleInvalid(
                f"bundle {source}: {path} is there twice",
                [Problem("bundle_conflict", "the file is there twice", path)],
            )
        if not path.isprintable():  # undecodable bytes of a name among them
            raise BundleInvalid(f"bundle {source}: the file name {path!r} is not printable text")
        files[path] = content
        total += len(content)
        if len(files) > MAX_FILES:
            raise BundleInvalid(f"bundle {source} has more than {MAX_FILES} files")
        if total > MAX_BYTES:
            raise _too_large(str(source))
    return files


def _too_large(name: str) -> BundleInvalid:
    return BundleInvalid(f"bundle {name} is larger than {MAX_BYTES // 2**20} MiB unpacked")
