"""Say a number with its noun."""


def counted(n: int, one: str, many: str = "") -> str:
    """``1 control``, ``2,902 HITs``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
