"""What the pages say of the tree is true: links lead somewhere, and code that is shown is in the file that it names.

A block of code after the line `<!-- from PATH -->` must be in that file, line by line; `...` alone on a line stands for
what is left out. Usage: run.py path/to/tree
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^<!-- from (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def dead_links(page, text):
    for target in LINK.findall(text):
        if "://" not in target and not (page.parent / target).exists():
            yield f"{page}: links to {target}, which is not there"


def squeezed(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def untrue_blocks(root, page, text):
    for name, block in BLOCK.findall(text):
        source = root / name
        if not source.exists():
            yield f"{page}: shows {name}, which is not there"
            continue
        have = "\n".join(squeezed(source.read_text()))
        for part in re.split(r"^\s*(?://\s*)?\.\.\.\s*$", block, flags=re.MULTILINE):
            if "\n".join(squeezed(part)) not in have:
                yield f"{page}: this is not in {name}:\n{part}"


def main(root):
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])
    wrong = []
    for page in pages:
        text = page.read_text()
        wrong += [*dead_links(page, text), *untrue_blocks(root, page, text)]
    print("\n".join([*wrong, f"docs: {len(pages)} pages, {len(wrong)} things wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
