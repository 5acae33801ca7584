"""Plots, and the page that says what a sweep found.

May import: data, edges, weights, models, training, ticket, methods, sweep, paper.
"""

from teddy.report.accuracy import accuracy_chart
from teddy.report.draw import draw
from teddy.report.page import make_page, write_page
from teddy.report.save import save_chart, save_picture
from teddy.report.search import search_chart
from teddy.report.style import looks
from teddy.report.write import write_report

__all__ = [
    "accuracy_chart",
    "draw",
    "looks",
    "make_page",
    "save_chart",
    "save_picture",
    "search_chart",
    "write_page",
    "write_report",
]
