"""The metrics of ``counterpart_metrics``, under the name that they had before that package; and, in the module
``text_overlap``, what needs packages of the site."""

from counterpart_metrics import *  # noqa: F403
from counterpart_metrics import __all__ as __all__
