"""Values of the parameters of a function, at random."""

from fractions import Fraction


def random_values(function, rng):
    """Values of any size that a double has, and such as people choose."""
    found = {}
    for parameter in function.parameters:
        kind = rng.randrange(5)
        size = (
            Fraction(rng.choice(("0.1", "1", "1/3", "1.702", "20", "0.5"))),
            Fraction(1 + rng.random()) * Fraction(2) ** rng.randint(-1073, 1022),
            Fraction(1 + rng.random()) * Fraction(2) ** rng.randint(-20, 20),
            rng.choice((Fraction(2) ** -1074, Fraction(2) ** 1023, Fraction(10) ** 300, Fraction(1, 10**300))),
            parameter.default,
        )[kind]
        value = rng.choice((-1, 1)) * size if parameter.low < 0 else size
        if parameter.low <= value <= parameter.high:
            found[parameter.name] = value
    return found
