"""What the page that plans a round sends."""

ORDER = {
    "round": "zebra",
    "images": "3",
    "captions": "0",
    "top_k": "2",
    "control_depth": "2",
    "task": "levels",
    "design": "eccv-18",
    "replication": "1",
    "top_up": "0",
    "reward": "0.65",
    "ceiling": "50",
    "seed": "7",
    "direction": "both",
    "engine": "blocked",
    "cascade_depth": "100",
    "sharing": "avoid",
    "judge": "all",
}
