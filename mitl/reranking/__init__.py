"""Re-rank a search so that hubs do not crowd its lists: CSLS, the inverted softmax, relaxed greedy matching."""

from mitl.reranking.choosing import Choice, Trial, choose, variations
from mitl.reranking.ranking import rerank
from mitl.reranking.steps import Step, Steps, parse_steps, written

__all__ = ["Choice", "Step", "Steps", "Trial", "choose", "parse_steps", "rerank", "variations", "written"]
