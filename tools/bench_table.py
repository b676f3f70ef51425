"""What `make bench` prints: figures side by side, ratios against targets, where the time goes.

Knows the results of a run as data (see bench.py); measures nothing.
"""

import statistics

COLUMNS = ("tokenwalk", "transformers", "transformer-lens", "llama.cpp", "limits")
TITLES = {"limits": "machine limit"}
GB, MB = 1e9, 1e6


def judge(results):
    """Add the ratios, and the figures that have targets, to the results."""
    results["ratios"] = ratios(results["rounds"])
    results["targets"] = targets(results)


def report(results):
    """Print everything; the results have been judged."""
    columns = [name for name in COLUMNS if name in results["opened"]]
    print_setting(results, columns)
    print_speed(results, columns)
    print_opening(results["opened"])
    print_memory(results["memory"])
    print_targets(results["targets"])
    print_profiles(results["profiles"])


def ratios(rounds):
    """Measure -> engine -> median, smallest, largest of its seconds over ours, round by round."""
    found = {}
    for measure, seconds in rounds.items():
        others = {name: values for name, values in seconds.items() if name != "tokenwalk"}
        found[measure] = {
            name: spread([b / a for a, b in zip(seconds["tokenwalk"], values, strict=True)])
            for name, values in others.items()
            if values
        }
    return found


def spread(values):
    """Median, smallest and largest."""
    return statistics.median(values), min(values), max(values)


def targets(results):
    """Every figure that has a target: [{name, figure, low, high, target, at_least, met}]."""
    rows = [*_speed_targets(results["ratios"]), *_memory_targets(results["memory"])]
    seconds = [opened["open"] for opened in results["opened"]["tokenwalk"]]
    rows.append(_target("opening, without the import, seconds", spread(seconds), 2, False))
    return rows


def _speed_targets(ratios):
    wanted = [("decode", n, "transformers", 3, "transformers: times as fast") for n in (32, 512)]
    wanted += [("decode", n, "limits", 0.8, "share of the bandwidth limit") for n in (32, 512)]
    for name, target in (("transformers", 2), ("transformer-lens", 2.5)):
        wanted += [("prefill", n, name, target, f"{name}: times as fast") for n in (128, 512)]
    for do, n, name, target, words in wanted:
        if name in ratios[f"{do}_{n}"]:
            yield _target(f"{do} {n}, {words}", ratios[f"{do}_{n}"][name], target, True)


def _memory_targets(memory):
    if lens := memory.get("transformer-lens"):
        for n, theirs in lens.items():
            for key, words in (("named", "sum over its names"), ("held", "views counted once")):
                share = memory["tokenwalk"][n]["trace"] / theirs[key]
                name = f"trace {n} / cache of TransformerLens, {words}"
                yield _target(name, [share] * 3, 1 / 20, False)
    peak = memory["tokenwalk"][512]["peak"] / GB
    yield _target("process, 512 tokens, every op read, GB", [peak] * 3, 1.2, False)


def _target(name, figures, target, at_least):
    figure, low, high = figures
    met = figure >= target if at_least else figure <= target
    keys = ("name", "figure", "low", "high", "target", "at_least", "met")
    return dict(zip(keys, (name, figure, low, high, target, at_least, met), strict=True))


def line(name, cells):
    """One row of a table."""
    print(f"{name:58}" + "".join(f"{cell:>19}" for cell in cells))


NOTES = """ for every engine;
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE removed. float32, except for llama.cpp (4 bits).
prefill N: a prompt of N tokens, up to the scores of the last position; ours (checkpoints) and
TransformerLens (run_with_cache) record it. decode N: one token after N others, greedy.
The limits are NumPy's rates for one large matrix product, times the work of the measure."""


def print_setting(results, columns):
    """What ran where."""
    m = results["machine"]
    print(f"\n{m['system']} {m['machine']}, Python {m['python']}, {m['cores']} cores" + NOTES)
    if m["load_before"] > 0.5:
        print(
            f"NOT QUIET: the load was {m['load_before']:.1f} before the run; trust no figure below."
        )
    for name in columns:
        off = results["agreement"].get(name)
        agrees = f"; scores within {off:.1g} of ours" if off is not None else ""
        print(f"  {TITLES.get(name, name):18}{results['opened'][name][0]['version']}{agrees}")


def print_speed(results, columns):
    """Tokens per second, and how many times as long the others take."""
    print()
    n_rounds = results["rounds_timed"]
    line(f"tokens/s, median of {n_rounds} rounds", [TITLES.get(c, c) for c in columns])
    for measure, seconds in results["rounds"].items():
        do, n = measure.split("_")
        tokens = int(n) if do == "prefill" else 1
        line(f"{do} {n}", [_rate(tokens, seconds[c]) for c in columns])
    print()
    line("time / ours, median [smallest, largest]", [TITLES.get(c, c) for c in columns[1:]])
    for measure, found in results["ratios"].items():
        line(measure.replace("_", " "), [_ratio(found.get(c)) for c in columns[1:]])


def _rate(tokens, seconds):
    return f"{tokens / statistics.median(seconds):,.1f}" if seconds else "-"


def _ratio(figures):
    return "{:.2f} [{:.2f}, {:.2f}]".format(*figures) if figures else "-"


def print_opening(opened):
    """Seconds of import and opening in fresh processes."""
    print()
    line("opening, in fresh processes, seconds", ["import", "open", "times"])
    for name, times in opened.items():
        if name != "limits":
            found = [statistics.median(o[key] for o in times) for key in ("import", "open")]
            line(NAMES.get(name, name), [*(f"{seconds:.2f}" for seconds in found), len(times)])


NAMES = {
    "tokenwalk": "tokenwalk (GGUF)",
    "transformers": "transformers (safetensors, float32)",
    "transformer-lens": "transformer-lens (safetensors, float32)",
    "llama.cpp": "llama.cpp (GGUF)",
    "from-gguf": "transformers (GGUF)",
}
WHAT = {
    "peak": "most that the process held",
    "trace": "the trace (checkpoints)",
    "read": "every op of every layer, read from it",
    "kv": "KV cache",
    "named": "run_with_cache, sum over its names",
    "held": "run_with_cache, views counted once",
}


def print_memory(memory):
    """MB by engine and prompt."""
    print()
    line("memory, MB", ["128 tokens", "512 tokens"])
    for name, held in memory.items():
        for key in [key for key in WHAT if key in held[512]]:
            line(f"{name}: {WHAT[key]}", [f"{held[n][key] / MB:,.0f}" for n in (128, 512)])
    seconds = [f"{memory['tokenwalk'][n]['seconds']:.2f} s" for n in (128, 512)]
    line("tokenwalk: time for reading every op", seconds)


def print_targets(rows):
    """Figure against target, and by how much it falls short."""
    print()
    line("targets", ["figure", "target", ""])
    for row in rows:
        short = abs(row["figure"] / row["target"] - 1)
        verdict = "met" if row["met"] else f"missed by {short:.0%}"
        sign = "at least" if row["at_least"] else "at most"
        line(row["name"], [f"{row['figure']:.3g}", f"{sign} {row['target']:.3g}", verdict])


def print_profiles(profiles):
    """Where the time goes, the largest parts of each measure."""
    print("\nwhere the time of tokenwalk goes (clocks around the ops, in a pass of its own)")
    for measure, profile in profiles.items():
        total, parts = profile["seconds"], profile["parts"]
        shown = [f"{name} {s / total:.0%}" for name, s in parts.items() if s >= total / 100]
        print(f"  {measure.replace('_', ' '):12} {total * 1000:.0f} ms: {', '.join(shown)}")
