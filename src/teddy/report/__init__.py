"""Plots of results, and the HTML report of a sweep.

A chart is plain data (``chart.py``) before it is drawn (``draw.py``) and saved (``save.py``).
"""

from teddy.report.draw import draw
from teddy.report.page import make_page, write_page, write_report
from teddy.report.save import save_chart, save_picture
from teddy.report.style import looks
from teddy.report.sweep_charts import metric_chart, search_chart

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
