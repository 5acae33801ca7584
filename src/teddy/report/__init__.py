"""Plots, and the HTML page of a sweep's results.

May import: data, edges, weights, models, training, ticket, methods, sweep, paper.
"""

from teddy.report.draw import draw
from teddy.report.metric import metric_chart
from teddy.report.page import make_page, write_page
from teddy.report.save import save_chart, save_picture
from teddy.report.search import search_chart
from teddy.report.style import looks
from teddy.report.write import write_report

__all__ = [
    "draw",
    "looks",
    "make_page",
    "metric_chart",
    "save_chart",
    "save_picture",
    "search_chart",
    "write_page",
    "write_report",
]
