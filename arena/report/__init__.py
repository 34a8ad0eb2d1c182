"""Pages and plots that anything in the arena may show its results on.

A ``Page`` (``page``) is one HTML file that needs nothing else: no network, no script. It is made of sections with
texts, tables, facts, commands and figures. A ``Figure`` (``plots``) is a value that says what is to be seen; the page
draws it as SVG (``drawing``), which follows the reader's light or dark screen and its width, and ``pictures`` makes SVG
and PNG files of it with matplotlib, which a page does not need.
"""
