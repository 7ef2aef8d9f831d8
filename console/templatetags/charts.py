"""The tag that shows a chart on a page."""

from django import template

from mitl.charts.drawing import Chart

register = template.Library()


@register.inclusion_tag("console/charts/_plot.html")
def chart(drawn: Chart | None) -> dict[str, object]:
    """Show a chart: its panels side by side as far as there is room, and its key; nothing for None."""
    return {"chart": drawn}
