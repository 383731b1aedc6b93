"""HTML templating: renders a table with the template engine Chameleon.

Measures the interpreter with many small strings, and memory that grows with the page.
"""

import chameleon

from tasks.result import Result, digest, require

COLUMNS = 10

# Rows of a page, and pages one after the other.
PAGES = {"short": (8_000, 3), "medium": (60_000, 3), "long": (150_000, 3)}

TEMPLATE = """<table><tr tal:repeat="row table"><td tal:repeat="cell row"\
><span tal:define="next cell + 1" class="column-${next % 10}" tal:content="next" /></td></tr></table>"""


def run(mode):
    rows, pages = PAGES[mode]
    template, checksums = chameleon.PageTemplate(TEMPLATE), []
    for first in range(pages):
        table = [[first + row + column for column in range(COLUMNS)] for row in range(rows)]
        checksums.append(digest(template(table=table)))
        require(checksums[-1] == digest(*expected(table)), "the page is not the one that plain formatting gives")
    return Result({"rows": rows, "pages": pages}, digest(*checksums))


def expected(table):
    """Yields the page in pieces; the engine puts a line break between repeated elements."""
    for i, row in enumerate(table):
        cells = (f'<td><span class="column-{(cell + 1) % 10}">{cell + 1}</span></td>' for cell in row)
        yield ("\n<tr>" if i else "<table><tr>") + "\n".join(cells) + "</tr>"
    yield "</table>"
