"""Looks: distinct, stable, and to be told apart by everyone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from teddy.methods.method import METHODS
from teddy.report.style import looks, method_order

MAIN = ["teddy", "ugs", "wd-glt", "random", "degree-high", "degree-low", "two-hop"]
VARIANTS = ["teddy:distill=0", "teddy:only=edges", "teddy:only=weights", "teddy:weight_level=40"]

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "all cones": np.eye(3),
    "deuteranopia": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "protanopia": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
}
TO_XYZ = np.array(
    [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
) / np.array([[0.9505], [1.0], [1.0888]])


def linear(colour):
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ np.clip(rgb, 0, 1), 1e-9))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, two):
    light, dark = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
def test_main_methods_have_distinct_colours(sight):
    seen = {name: lab(SIGHT[sight] @ linear(look.colour)) for name, look in looks(MAIN).items()}
    for one, two in combinations(MAIN, 2):
        assert np.linalg.norm(seen[one] - seen[two]) > 20, (one, two)


def on_dark(colour):
    """The page's colour on its dark ground: a fifth of white in it."""
    parts = (round(0.8 * int(colour[i : i + 2], 16) + 0.2 * 255) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


@pytest.mark.parametrize("sight", SIGHT)
def test_dense_and_random_are_clearly_apart_from_each_other_and_from_every_method(sight):
    colours = {name: look.colour for name, look in looks(["dense", *METHODS]).items()}
    dark = {name: on_dark(colour) for name, colour in colours.items()} | {"dense": "#e9e7e2"}
    for shown in (colours, dark):
        seen = {name: lab(SIGHT[sight] @ linear(colour)) for name, colour in shown.items()}
        for one in ("dense", "random"):
            for two in seen.keys() - {one}:
                assert np.linalg.norm(seen[one] - seen[two]) > 20, (one, two)
    if sight == "all cones":
        seen = {name: lab(linear(colour)) for name, colour in colours.items()}
        assert np.linalg.norm(seen["dense"] - seen["random"]) > 60


@pytest.mark.parametrize("ground", ["#ffffff", "#1b1e24"])
def test_colours_are_seen_on_light_and_dark(ground):
    for name, look in looks([*METHODS, "mine", "yours", "theirs"]).items():
        assert contrast(look.colour, ground) > 2.6, name


def test_every_registered_method_has_a_distinct_colour():
    found = looks(METHODS)
    assert len({look.colour for look in found.values()}) == len(found)


def test_variants_share_the_colour_and_nothing_else():
    found = looks(["teddy", *VARIANTS, "ugs:distill=0"])
    assert len(set(found.values())) == len(found)
    assert {found[name].colour for name in VARIANTS} == {found["teddy"].colour}
    assert all(found[name].hollow and found[name].dash != "solid" for name in VARIANTS)
    assert found["ugs:distill=0"].dash == found["teddy:distill=0"].dash


def test_looks_do_not_depend_on_other_labels():
    labels = ["mine", "teddy", "yours", "teddy:distill=0"]
    assert looks(labels) == looks(labels[::-1])
    assert looks(["teddy", "ugs"])["ugs"] == looks(["ugs"])["ugs"]
    assert looks(["mine"])["mine"] == looks(["mine", "teddy"])["mine"]


def test_unknown_labels_beside_each_other_differ():
    many = [f"method-{i}" for i in range(6)]
    assert len({look.colour for look in looks(many).values()}) == 6
    variants = [f"mine:option={i}" for i in range(20)]
    assert len(set(looks(variants).values())) == 20


def test_methods_are_listed_in_one_order():
    listed = ["zzz", "teddy:weight_level=10", "ugs", "teddy", "teddy:weight_level=5", "teddy"]
    ordered = ["teddy", "teddy:weight_level=5", "teddy:weight_level=10", "ugs", "zzz"]
    assert method_order(listed) == ordered
