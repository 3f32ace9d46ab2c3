from __future__ import annotations

from pathlib import Path

import pytest

from engine.bundle.content import Module, digest_of
from engine.bundle.files import pack
from engine.bundle.source import bundle_of, package_of, read_bundle
from engine.errors import BundleInvalid
from tests.builders import Changes, bundle, bundle_files, problems_of, write_bundle


def problems(changes: Changes) -> list[str]:
    with pytest.raises(BundleInvalid) as refused:
        bundle(changes)
    assert refused.value.message == f"bundle bundle has {len(refused.value.problems)} problem(s)"
    return list(problems_of(refused.value))


def test_good_bundle_is_read_whole():
    read = bundle({"lictor/b/data.yaml": "c: [1, 2]", "lictor/a_test.rego": "package lictor.a_test\n"})
    assert read.revision == "r1"
    assert read.roots == ("lictor",)
    assert read.modules == (
        Module("lictor/admission/admission.rego", 'package lictor.admission\n\noutcome := "allow"\n'),
    )
    assert read.tests == (Module("lictor/a_test.rego", "package lictor.a_test\n"),)
    assert read.data == {"lictor": {"tiers": {"gold": {"rank": 1}}, "b": {"c": [1, 2]}}}


def test_directory_and_archive_give_the_same_bundle(tmp_path: Path):
    files = bundle_files()
    folder = write_bundle(tmp_path / "bundle", files)
    archive = tmp_path / "bundle.tar.gz"
    archive.write_bytes(pack(files))
    assert read_bundle(folder) == read_bundle(archive) == bundle_of(files)


def test_revision_comes_from_the_digest_where_the_manifest_has_none():
    files = bundle_files({".manifest": None})
    assert bundle_of(files).revision == digest_of(files)[: len("sha256:") + 12]


def test_bundle_without_a_manifest_owns_every_root():
    assert bundle({".manifest": None, "data.json": '{"anything": 1}'}).roots == ("",)


@pytest.mark.parametrize("root", ["lictor", "/lictor", "lictor/"])
def test_slashes_around_a_root_do_not_matter(root: str):
    assert bundle({".manifest": f'{{"roots": ["{root}"]}}'}).roots == ("lictor",)


def test_fields_of_the_manifest_that_are_not_used_are_left_alone():
    assert bundle({".manifest": '{"revision": "r2", "rego_version": 1, "wasm": []}'}).revision == "r2"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{", "not JSON: "),
        ("[]", "the manifest: Input should be a valid dictionary"),
        ('{"roots": "lictor"}', "roots: Input should be a valid list"),
        ('{"roots": [1]}', "roots.0: Input should be a valid string"),
        ('{"revision": 7}', "revision: Input should be a valid string"),
        ('{"revision": "a\\u0000b"}', "revision: String should match pattern"),
        ('{"revision": "' + "r" * 257 + '"}', "revision: String should have at most 256 characters"),
    ],
)
def test_bad_manifest_is_named_with_its_field(manifest: str, problem: str):
    (found,) = problems({".manifest": manifest})
    assert found.startswith(".manifest: manifest_invalid: ")
    assert problem in found


def test_every_fault_of_a_manifest_is_named():
    found = problems({".manifest": '{"revision": 7, "roots": 8}'})
    assert [text.split(": ")[2] for text in found] == ["revision", "roots"]


@pytest.mark.parametrize("files", [{}, {".manifest": b"{}"}, {"data.json": b"{}"}])
def test_empty_bundle_is_refused(files: dict[str, bytes]):
    with pytest.raises(BundleInvalid) as refused:
        bundle_of(files, "here")
    assert refused.value.message == "bundle here has 1 problem(s)"
    assert problems_of(refused.value) == ["bundle_empty: no .rego module and no data file; is this the right folder?"]


def test_bundle_of_data_alone_is_a_bundle():
    assert bundle_of({"data.json": b'{"a": 1}'}).data == {"a": 1}


def test_module_that_is_not_utf8_is_refused():
    assert problems({"lictor/a.rego": b"package lictor\xff"}) == [
        "lictor/a.rego: module_invalid: not UTF-8 text: invalid start byte"
    ]


def test_module_named_data_is_a_module_and_no_data():
    read = bundle({"lictor/data.rego": "package lictor.data_rules\n"})
    assert [module.path for module in read.modules] == ["lictor/admission/admission.rego", "lictor/data.rego"]
    assert read.data == {"lictor": {"tiers": {"gold": {"rank": 1}}}}


def test_data_lies_where_its_folder_is():
    files = {"data.json": b'{"top": 1}', "a/b/data.json": b'{"c": 2}', "a/data.yml": b"d: 3"}
    assert bundle_of(files).data == {"top": 1, "a": {"b": {"c": 2}, "d": 3}}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"tiers": {"gold": {"rank": 2}}}', "lictor.tiers.gold.rank"),
        ('{"tiers": {"gold": 5}}', "lictor.tiers.gold"),
        ('{"tiers": 5}', "lictor.tiers"),
        ('{"tiers": {"gold": {"rank": 1}}}', "lictor.tiers.gold.rank"),
    ],
)
def test_conflict_of_data_names_its_place_and_both_files(content: str, place: str):
    assert problems({"lictor/data.json": content}) == [
        f"lictor/tiers/data.json: bundle_conflict: data.{place} is also in lictor/data.json"
    ]


def test_conflict_names_the_file_that_set_the_value_and_not_the_one_above_it():
    files = {"a/b/data.json": b'{"x": 1}', "a/data.json": b'{"b": {"y": 1}}', "data.json": b'{"a": {"b": {"y": 2}}}'}
    with pytest.raises(BundleInvalid) as refused:
        bundle_of(files)
    assert problems_of(refused.value) == ["data.json: bundle_conflict: data.a.b.y is also in a/data.json"]


@pytest.mark.parametrize(
    ("roots", "strays"),
    [
        ('["lictor/tiers", "lictor/admission"]', []),
        ('["lictor/admission"]', ["data.lictor.tiers"]),
        ('["lictor/admission", "lictor/tiers/gold/rank"]', []),
        ('["lictor/admission", "lictor/tiers/gold/rank/x"]', ["data.lictor.tiers.gold.rank"]),
        ('["lictor/admission", "lictor/tier"]', ["data.lictor.tiers"]),
        ('["lictor/admission", "lictor/tiers/silver"]', ["data.lictor.tiers.gold"]),
    ],
)
def test_data_outside_the_roots_is_refused(roots: str, strays: list[str]):
    files = bundle_files({".manifest": f'{{"roots": {roots}}}'})
    if not strays:
        assert bundle_of(files).data == {"lictor": {"tiers": {"gold": {"rank": 1}}}}
        return
    with pytest.raises(BundleInvalid) as refused:
        bundle_of(files)
    listed = roots.replace('"', "'")
    assert problems_of(refused.value) == [
        f"bundle_root: {stray} is outside the manifest's roots {listed}" for stray in strays
    ]


def test_package_outside_the_roots_is_refused():
    assert problems({"lictor/x.rego": "package lictors.x"}) == [
        "lictor/x.rego: bundle_root: package lictors.x is outside the manifest's roots ['lictor']"
    ]


def test_package_above_its_root_is_refused():
    found = problems({".manifest": '{"roots": ["lictor/admission", "lictor/tiers"]}', "x.rego": "package lictor"})
    assert found == [
        "x.rego: bundle_root: package lictor is outside the manifest's roots ['lictor/admission', 'lictor/tiers']"
    ]


def test_package_of_a_test_may_be_outside_the_roots():
    assert bundle({"x_test.rego": "package elsewhere"}).tests == (Module("x_test.rego", "package elsewhere"),)


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("package a.b.c\n", ("a", "b", "c")),
        ("# package x\n\n  package a # why\n", ("a",)),
        ("package a;import rego.v1", ("a",)),
        ('package system["log"]', ("system", "log")),
        ("package\ta", ("a",)),
        ("x := 1", None),
        ("", None),
        ("packages.a", None),
    ],
)
def test_package_of_a_module(source: str, package: tuple[str, ...] | None):
    assert package_of(source) == package


def test_all_problems_are_found_at_once():
    found = problems(
        {
            ".manifest": '{"revision": 7, "roots": ["lictor"]}',
            "a/data.json": "[]",
            "b/data.yaml": "x: {",
            "c.rego": b"\xff",
            "lictor/data.json": '{"tiers": 1}',
        }
    )
    assert [text.partition(": ")[0] for text in found] == [
        ".manifest",
        "c.rego",
        "a/data.json",
        "b/data.yaml:1:5",
        "lictor/tiers/data.json",
    ]


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("data.json", "[1]", "data.json: data_invalid: the top level must be an object"),
        ("data.yaml", "", "data.yaml: data_invalid: the top level must be an object"),
        ("data.yaml", "- 1", "data.yaml: data_invalid: the top level must be an object"),
        ("data.yaml", "1: a", "data.yaml:1:1: data_invalid: a key is not a string; quote it"),
        (
            "lictor/data.json",
            '{"a": 1e999}',
            "lictor/data.json: data_invalid: lictor/data.json: not JSON: number is inf",
        ),
        ("data.json", "[" * 200 + "]" * 200, "data.json: data_invalid: data.json: nested deeper than 128 levels"),
    ],
)
def test_data_that_is_no_object_of_json_is_refused(file: str, content: str, problem: str):
    (found,) = problems({file: content})
    assert found.startswith(problem)


def test_alias_of_yaml_is_a_copy_so_that_merging_changes_one_place_only():
    files = {"data.yaml": b"y: &same {k: 1}\nz: *same", "z/data.json": b'{"m": 2}'}
    assert bundle_of(files).data == {"y": {"k": 1}, "z": {"k": 1, "m": 2}}
