"""Bytes, FLOPs and seconds as a reader sees them: in units that every language shares."""

KIB = 1024
BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def size(n: float) -> str:
    """Bytes in the largest unit that leaves a number of 1 or more: 46,080 is 45.0 KiB."""
    power = 0
    while abs(n) >= KIB and power < len(BYTES) - 1:
        n, power = n / KIB, power + 1
    return f"{n:,.0f} {BYTES[0]}" if not power else f"{n:,.1f} {BYTES[power]}"


def amount(n: float, unit: str) -> str:
    """A number of something with three digits and M or G before the unit: 269 MFLOP."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(n) >= factor:
            return f"{n / factor:.3g} {letter}{unit}"
    return f"{n:.3g} {unit}"


def ms(seconds: float) -> str:
    """A time in milliseconds, with three digits or all whole ones."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{1000 * seconds:,.0f} ms"
