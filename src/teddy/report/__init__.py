"""Plots of results, and the HTML page of a sweep.

A chart is plain data (``chart.py``) before it is drawn (``draw.py``) and saved (``save.py``).
"""

from teddy.report.draw import draw
from teddy.report.metric_chart import metric_chart
from teddy.report.page import make_page, write_page, write_report
from teddy.report.save import save_chart, save_picture
from teddy.report.search_chart import search_chart
from teddy.report.style import looks

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
