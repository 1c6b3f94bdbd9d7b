"""What tools/lint and tools/rules share: reading C++ without being fooled by comments and strings."""
import re

_TOKEN = re.compile(
    r"""(?P<line>//[^\n]*(?:\\\n[^\n]*)*)
      | (?P<block>/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      | (?P<number>\b\d[\w.']*)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments_and_strings(text):
    """The same text, same length and lines, with comments and the inside of literals blanked."""

    def replace(match):
        if match.lastgroup == "number":
            return match.group()
        if match.group("line") or match.group("block"):
            return _blank(match.group())
        token = match.group()
        return token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replace, text)


def comments(text):
    """(offset, comment) of each comment."""
    for match in _TOKEN.finditer(text):
        comment = match.group("line") or match.group("block")
        if comment:
            yield match.start(), comment


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def closing(text, offset):
    """The offset of the bracket that closes the one at `offset` of masked text; the text's end if there is none."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for at in range(offset, len(text)):
        if text[at] in pairs:
            stack.append(pairs[text[at]])
        elif stack and text[at] == stack[-1]:
            stack.pop()
            if not stack:
                return at
    return len(text)
