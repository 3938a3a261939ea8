"""Makes one site of the pages of this repository, wherever they are, and follows each of its links.

`docs/build-site` calls it. mdBook gets a copy of the pages in which links to other files lead to GitHub.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/ndjson-check/ndjson-check"
RULES = "crates/core/src/rules"
PROFILES = "crates/core/src/profile/builtin"
INDEX = "docs/README.md"  # for readers on GitHub; the site has a sidebar
PLAYGROUND = "playground/dist/index.html"


def listed():
    """The table of contents, as lines and paths from the root; rules and profiles are below their pages."""
    lines = []
    index = (ROOT / INDEX).read_text()
    for line in (ROOT / "docs/SUMMARY.md").read_text().splitlines():
        entry = re.fullmatch(r"(\s*(?:- )?)\[(.+)\]\((.+)\)", line)
        if not entry:
            lines.append((line, None))
            continue
        page = os.path.normpath(f"docs/{entry[3]}")
        if (ROOT / page).read_text().split("\n", 1)[0] != f"# {entry[2]}":
            raise SystemExit(f"the title of {page} is not {entry[2]}, as in docs/SUMMARY.md")
        if (link := f"]({entry[3]})") not in index:
            raise SystemExit(f"docs/README.md has no {link}")
        lines.append((f"{entry[1]}[{entry[2]}]", page))
        if page == "docs/rules.md":
            lines += [(f"  - [{it.stem}]", f"{RULES}/{it.name}") for it in sorted((ROOT / RULES).glob("*.md"))]
        if page == "docs/agents.md":
            found = sorted((ROOT / PROFILES).glob("*/README.md"))
            lines += [(f"  - [{it.parent.name}]", f"{PROFILES}/{it.parent.name}/README.md") for it in found]
    return lines


def staged(page):
    """mdBook's name of a page: a README is the index of its folder."""
    return re.sub(r"README\.md$", "index.md", page)


def rewritten(page, text, pages, folder):
    """The text of a page with links that lead somewhere on the site, or to GitHub. Copies its pictures."""

    def target(link):
        if re.match(r"[a-z]+:|#", link):
            return link
        file, _, place = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), file))
        place = place and f"#{place}"
        if path in pages:
            return os.path.relpath(staged(path), os.path.dirname(page) or ".") + place
        if not (ROOT / path).exists():
            raise SystemExit(f"{page}: {link} does not exist")
        if path.endswith((".png", ".svg")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, folder / path)
            return link
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{path}{place}"

    def links(part):
        part = re.sub(r"\]\(([^)\s]+)\)", lambda it: f"]({target(it[1])})", part)
        part = re.sub(r"^(\[[^\]]+\]: )(\S+)$", lambda it: it[1] + target(it[2]), part, flags=re.M)
        return re.sub(r'(src|srcset)="([^"]+)"', lambda it: f'{it[1]}="{target(it[2])}"', part)

    # Blocks and spans of code stay as they are.
    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("`") else links(part) for part in parts)


class Page(HTMLParser):
    """The ids of a page, and what it links to."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src", "srcset") and value:
                self.links.append(value)


def dead_links(site):
    pages = {it: Page(it) for it in site.rglob("*.html") if it.name != "404.html" and it != site / PLAYGROUND}
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, place = unquote(link).partition("#")
            target = Path(os.path.normpath(path.parent / file)) if file else path
            if not target.is_file():
                yield f"{path.relative_to(site)}: {link}"
            elif place and target in pages and place not in pages[target].ids:
                yield f"{path.relative_to(site)}: {link} has no such place"


def main():
    site = Path(sys.argv[1]).resolve()
    lines = listed()
    pages = {page for _, page in lines if page}
    for page in (ROOT / "docs").glob("*.md"):
        if f"docs/{page.name}" not in pages | {"docs/SUMMARY.md", INDEX}:
            raise SystemExit(f"docs/{page.name} is not in docs/SUMMARY.md")
    has_playground = (ROOT / PLAYGROUND).exists()
    if not has_playground:
        print(f"NOT CHECKED: the playground is not in the site; {PLAYGROUND} is not built", file=sys.stderr)
        if os.environ.get("REQUIRE_TOOLS"):
            sys.exit(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "src"
        folder.mkdir()
        shutil.copy(ROOT / "docs/book.toml", name)
        contents = (f"{line}({staged(page)})" if page else line for line, page in lines)
        (folder / "SUMMARY.md").write_text("\n".join(contents) + "\n")
        for page in pages:
            text = (ROOT / page).read_text()
            copy = folder / staged(page)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(rewritten(page, text, pages, folder))
        if has_playground:
            page = folder / "playground/index.md"
            head, text = page.read_text().split("\n", 1)
            page.write_text(f'{head}\n\n<p><a href="dist/index.html">Open the playground</a></p>\n{text}')
        shutil.rmtree(site, ignore_errors=True)
        if subprocess.run(["mdbook", "build", name, "--dest-dir", site]).returncode:
            sys.exit(1)
    if has_playground:
        (site / PLAYGROUND).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / PLAYGROUND, site / PLAYGROUND)
    dead = sorted(dead_links(site))
    for link in dead:
        print(f"dead link: {link}", file=sys.stderr)
    if dead:
        sys.exit(1)
    print(f"{len(pages)} pages in {site}")


main()
