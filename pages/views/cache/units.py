"""Bytes, FLOPs and seconds as a reader sees them: in units that every language shares."""

KIB = 1024
ROUNDS_UP = 0.9995  # with three digits, 999.5 reads 1,000
BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def size(n: float) -> str:
    """Bytes in the largest unit that leaves a number of 1 or more: 46,080 is 45.0 KiB. What would
    round to 1,024 is 1 of the next.
    """
    power = 0
    while round(abs(n), 1 if power else 0) >= KIB and power < len(BYTES) - 1:
        n, power = n / KIB, power + 1
    return f"{n:,.0f} {BYTES[0]}" if not power else f"{n:,.1f} {BYTES[power]}"


def amount(n: float, unit: str) -> str:
    """A number of something with three digits and M or G before the unit: 269 MFLOP. What would
    round to 1,000 is 1 of the next.
    """
    for factor, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(n) >= ROUNDS_UP * factor:
            return f"{n / factor:.3g} {letter}{unit}"
    return f"{n:.3g} {unit}"


def ms(seconds: float) -> str:
    """A time in milliseconds, with three digits or all whole ones."""
    return f"{1000 * seconds:.3g} ms" if seconds < ROUNDS_UP else f"{1000 * seconds:,.0f} ms"
