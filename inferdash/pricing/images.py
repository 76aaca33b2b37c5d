"""Tokens of an image by its maker's rule, to the token."""

from fractions import Fraction
from math import ceil, floor, isqrt, sqrt

from inferdash.facts.models.media import Detail, ImageRule


def image_tokens(rule: ImageRule, *, width: int, height: int, detail: Detail = "auto") -> int:
    """Tokens that one image adds to a prompt.

    Args:
        rule: that of the model.
        width: in pixels.
        height: in pixels.
        detail: how closely the API is asked to look; where a rule knows none, all are alike.
    """
    if detail == "low" and rule.low:
        return rule.low
    match rule.kind:
        case "grid":
            columns, rows = (isqrt(rule.budget * a // b) for a, b in ((width, height), (height, width)))
            return min(rule.budget, max(1, columns) * max(1, rows))
        case "tiles":
            return _tiles(rule, width, height)
    return ceil(Fraction(rule.multiplier) * patches(rule, width=width, height=height, detail=detail))


def patches(rule: ImageRule, *, width: int, height: int, detail: Detail = "auto") -> int:
    """Patches that cover an image after it was shrunk as the rule says."""
    side, edge = rule.patch, max(width, height)
    scale = Fraction(rule.edge_px, edge) if rule.edge_px and edge > rule.edge_px else Fraction(1)
    count = _columns(width, scale, side) * _columns(height, scale, side)
    if rule.most_tokens and count > rule.most_tokens:
        return _largest_within(rule.most_tokens, width, height, side)
    most = rule.most.get(detail)
    return _shrunk(most, width, height, side) if most and count > most else count


def _columns(pixels: int, scale: Fraction, side: int) -> int:
    return ceil(pixels * scale / side)


def _largest_within(most: int, width: int, height: int, side: int) -> int:
    """Patches of the largest image of that shape with no more of them: its width or its height is whole patches."""
    wide = (columns * ceil(Fraction(columns * height, width)) for columns in range(1, ceil(width / side) + 1))
    high = (rows * ceil(Fraction(rows * width, height)) for rows in range(1, ceil(height / side) + 1))
    return max((count for count in (*wide, *high) if count <= most), default=1)


def _shrunk(most: int, width: int, height: int, side: int) -> int:
    """Patches after OpenAI's way: to that many patches by area, then until one edge is whole patches."""
    ratio = sqrt(side * side * most / (width * height))
    wide, high = width * ratio / side, height * ratio / side
    if floor(wide) / wide < floor(high) / high:
        return floor(wide) * ceil(high * floor(wide) / wide)
    return floor(high) * ceil(wide * floor(high) / high)


def _tiles(rule: ImageRule, width: int, height: int) -> int:
    if rule.whole_px and max(width, height) <= rule.whole_px:
        return rule.base + rule.tile
    scale = Fraction(1)
    if rule.fit_px:
        scale = min(scale, Fraction(rule.fit_px, max(width, height)))
    if rule.short_px:
        scale = min(scale, Fraction(rule.short_px, min(width, height)))
    tiles = _columns(width, scale, rule.tile_px) * _columns(height, scale, rule.tile_px)
    return rule.base + rule.tile * tiles
