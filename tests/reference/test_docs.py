"""The reference pages: they show what the tool prints, every link leads somewhere, and no network is asked."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from mmsp_fsm.grammar.loading import default, load
from mmsp_fsm.reference.site import build, pages, samples
from mmsp_fsm.reference.site.build import MANIFEST, NotOursError, build_site
from mmsp_fsm.reference.site.markdown import Writer, code, fence, plain, table

ROOT = Path(__file__).parents[2]
D = default()
KINDS = pytest.mark.parametrize("kind", D.kinds.values(), ids=lambda kind: kind.name)
RULES = pytest.mark.parametrize("rule", D.rules.values(), ids=lambda rule: rule.code)


def run(*arguments, cwd=ROOT):
    return subprocess.run(
        [sys.executable, "-m", "mmsp_fsm", *map(str, arguments)],
        cwd=cwd, env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}, capture_output=True, check=False,
    )  # fmt: skip


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    done = run("docs", out)
    assert done.returncode == 0, done.stderr
    assert b"WARNING" not in done.stderr  # of Sphinx
    return out


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "pages"
    build_site(D, out, "markdown")
    return out


class Reader(HTMLParser):
    """What a page is made of: links, identifiers, headings, what it loads, and its text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.headings, self.words, self.lang = [], [], [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.ids += [held["id"]] if held.get("id") else []
        self.lang = held.get("lang") if tag == "html" else self.lang
        if tag == "a" and "href" in held:
            self.links.append(held["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in held:
            self.loads.append(held["src"])
        elif tag == "link" and held.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loads.append(held["href"])
        elif re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        self.words.append(data)


def test_two_runs_give_the_same_bytes(site, tmp_path):
    build_site(D, tmp_path / "again", "html")
    assert files(tmp_path / "again") == files(site)


def test_there_is_a_page_of_everything(site):
    made = set(files(site))
    assert {f"rules/{one}.html" for one in D.rules} <= made
    assert {f"kinds/{kind}.html" for kind in D.kinds} <= made
    assert {f"{one}.html" for one in ("index", "grammar", "events", "machine", "output", "glossary", "search")} <= made
    assert (site / MANIFEST).read_text(encoding="utf-8").splitlines() == sorted(made - {MANIFEST})


def test_no_page_asks_anything_of_a_network(site):
    for name, content in files(site).items():
        if name.endswith(".html"):
            for load_ in Reader(content.decode()).loads:
                assert not re.match(r"(\w+:)?//", load_), (name, load_)
        elif name.endswith(".css"):
            assert not re.search(rb"(url\(|@import\s*)['\"]?(https?:)?//", content), name
    assert b"SHOW_SEARCH_SUMMARY: false" in files(site)["_static/documentation_options.js"]


def test_every_link_leads_somewhere(site):
    read = {name: Reader(content.decode()) for name, content in files(site).items() if name.endswith(".html")}
    for name, page in read.items():
        for link in page.links:
            if re.match(r"\w+:", link) or link in ("", "#"):
                continue
            path, _, place = unquote(link).partition("#")
            to = (site / name).parent.joinpath(path).resolve() if path else (site / name).resolve()
            assert to.is_file(), (name, link)
            if place and to.suffix == ".html":
                assert place in read[to.relative_to(site.resolve()).as_posix()].ids, (name, link)


def test_every_page_has_its_language_headings_in_order_and_no_identifier_twice(site):
    for name, content in files(site).items():
        page = Reader(content.decode()) if name.endswith(".html") else None
        if page is None or name == "search.html":
            continue
        assert page.lang == "en"
        assert page.headings[0] == 1, name
        assert all(after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False)), name
        assert len(page.ids) == len(set(page.ids)), name


@RULES
def test_a_rule_s_page_shows_what_the_tool_prints(rule, site, tmp_path):
    (tmp_path / f"bad.{rule.bad.format}").write_bytes(rule.bad.text.encode())
    (tmp_path / f"good.{rule.good.format}").write_bytes(rule.good.text.encode())
    text = "".join(Reader((site / "rules" / f"{rule.code}.html").read_text(encoding="utf-8")).words)
    command = re.search(r"mmsp-fsm (validate (?:--\S+ \S+ )*bad\.\w+)", text).group(1).split()
    for arguments in (command, [*command[:-1], f"good.{rule.good.format}"]):
        printed = run(*arguments, cwd=tmp_path).stdout.decode()
        assert printed.rpartition("\n1 stream: ")[0].strip("\n") in text
    for said in (rule.summary, rule.why, rule.mend, rule.cause):
        assert " ".join(said.split()) in " ".join(text.split())


def test_the_json_page_shows_what_the_tool_prints(site, tmp_path):
    bad = D.rules["E302"].bad
    (tmp_path / f"bad.{bad.format}").write_bytes(bad.text.encode())
    text = "".join(Reader((site / "output.html").read_text(encoding="utf-8")).words)
    for command in ("validate", "trace"):
        printed = run(command, "--format", "json", f"bad.{bad.format}", cwd=tmp_path).stdout.decode()
        assert printed.strip() in text, command


@KINDS
def test_a_kind_s_stream_conforms_and_stands_on_its_page(kind, site, tmp_path):
    events = samples.sample(D, kind)
    path = tmp_path / "a.jsonl"
    path.write_text(samples.lines(events), encoding="utf-8")
    done = run("validate", path, "--extend-select", "ALL", "--fail-on", "warning")
    assert done.returncode == 0, done.stdout
    assert {kind.delta, kind.done} <= {item["type"] for event in events for item in event["content_items"]}
    text = "".join(Reader((site / "kinds" / f"{kind.name}.html").read_text(encoding="utf-8")).words)
    assert samples.lines(events) in text


def test_every_cell_of_the_table_is_linked(site):
    page = Reader((site / "machine.html").read_text(encoding="utf-8"))
    for cell in D.cells.values():
        place = f"{cell.state}-{cell.symbol}"
        assert place in page.ids
        if cell.legal:
            assert f"#{place}" in page.links
        assert {f"rules/{one}.html" for one in cell.rules} <= set(page.links)


def test_search_knows_the_rules(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"E302 group-left-open"' in index
    assert index.startswith("Search.setIndex(")


def test_the_markdown_s_links_lead_somewhere(written):
    for name, content in files(written).items():
        if name.endswith(".md"):
            text = re.sub(r"^(`{3,}).*?^\1$", "", content.decode(), flags=re.DOTALL | re.MULTILINE)
            assert text.startswith("# ")
            for link in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", text):
                assert not link or (written / name).parent.joinpath(link).is_file(), (name, link)


# ── Hostile text ─────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = "<script>alert(1)</script> | `x` ``` [a](javascript:1) *b* \u202e \x1b[31m & ]]> {eval}`y`"


def test_text_is_escaped():
    assert "<script" not in plain(HOSTILE).replace(r"\<", "")
    assert "\u202e" not in plain(HOSTILE) + code(HOSTILE) + fence(HOSTILE)
    assert "\x1b" not in plain(HOSTILE) + code(HOSTILE) + fence(HOSTILE)
    assert fence("```\nx").startswith("````\n")
    assert table(("a",), [[plain("x|y")]]).splitlines()[2] == r"| x\|y |"


def test_a_hostile_rule_is_shown_and_does_nothing(tmp_path):
    grammar = tmp_path / "grammar"
    grammar.mkdir()
    for path in (ROOT / "grammar").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        if path.name == "rules.toml":
            summary = "A record cannot be read as one JSON value."
            assert summary in text
            text = text.replace(summary, "<script>alert(1)</script> ](javascript:1) *b* {eval}`y`")
            text = text.replace("Good morning!", "</pre><script>alert(2)</script> ```")
        (grammar / path.name).write_text(text, encoding="utf-8")
    build_site(load(grammar), tmp_path / "site", "html")
    text = (tmp_path / "site" / "rules" / "E101.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert html.escape("</pre><script>alert(2)</script> ```", quote=False) in text
    assert "<script>alert(1)</script> ](javascript:1) *b* {eval}`y`" in "".join(Reader(text).words)
    assert not [link for link in Reader(text).links if link.startswith("javascript")]


# ── The folder ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    done = run("docs", tmp_path)
    assert done.returncode == 2
    assert "is not empty, and nothing in it was made by this" in done.stderr.decode()
    assert files(tmp_path) == {"mine.txt": b"x"}
    assert run("docs", tmp_path / "mine.txt").returncode == 2
    assert run("docs", tmp_path / "mine.txt" / "below", "--format", "markdown").returncode == 2


def test_our_own_folder_is_brought_up_to_date(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "pictures", lambda _: {})
    build_site(D, tmp_path, "markdown")
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    (tmp_path / "rules" / "E302.md").write_text("x", encoding="utf-8")
    manifest = tmp_path / MANIFEST
    manifest.write_text(manifest.read_text(encoding="utf-8") + "old.md\n../outside.md\n", encoding="utf-8")
    (tmp_path / "old.md").touch()
    outside = tmp_path.parent / "outside.md"
    outside.touch()
    build_site(D, tmp_path, "markdown")
    assert not (tmp_path / "old.md").exists()
    assert (tmp_path / "mine.txt").read_bytes() == b"x"
    assert (tmp_path / "rules" / "E302.md").read_text(encoding="utf-8").startswith("# E302 group-left-open\n")
    assert outside.exists()
    with pytest.raises(NotOursError):
        build_site(D, outside, "markdown")


def test_without_sphinx_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "find_spec", lambda name: None if name == "furo" else name)
    monkeypatch.setattr(build, "pictures", lambda _: {})
    with pytest.raises(build.MissingExtraError, match=r"mmsp-fsm\[docs\]"):
        build_site(D, tmp_path / "site", "html")
    assert not (tmp_path / "site").exists()


def test_a_sphinx_that_fails_is_said_and_leaves_nothing(tmp_path, monkeypatch, capsys):
    from mmsp_fsm.cli.main import main

    monkeypatch.setattr(build.subprocess, "run", lambda line, **_: subprocess.CompletedProcess(line, 2))
    monkeypatch.setattr(build, "pictures", lambda _: {})
    with pytest.raises(SystemExit) as ended:
        main(["docs", str(tmp_path / "site")])
    assert ended.value.code == 2
    assert "Sphinx could not make the pages" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_addresses_fit_where_a_page_lies():
    assert Writer("rules/E302", "html").address("machine", "a") == "../machine.html#a"
    assert Writer("rules/E302", "markdown").address("rules/E301") == "E301.md"
    assert Writer("machine", "html").address("machine", "a") == "#a"
    assert Writer("kinds/text", "html").address("diagrams/x.svg") == "../diagrams/x.svg"


def test_every_page_is_led_to():
    made = {page.path for page in pages.pages(D, "markdown")}
    assert len(made) == len(pages.pages(D, "html"))
