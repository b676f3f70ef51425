"""The command line: python -m core models | fetch | generate | trace | compare | inspect.

Only continuations and tables go to standard output; progress and warnings go to standard error.
Exit code 0, or 2 with one sentence; of `compare` also 1: something differs.
"""

import argparse
import os
import re
import signal
import sys
from pathlib import Path

from core.errors import TokenwalkError, nonfinite
from core.spec import ORDERS

IDS = "504,3575,282"
SAMPLING = {  # settings of RunSpec, which has the defaults
    "max_new_tokens": (int, "where to stop (40)"),
    "temperature": (float, "0, the default, is greedy"),
    "top_k": (int, "keep the K most probable tokens (0: all)"),
    "top_p": (float, "keep the most probable tokens that hold this probability (1: all)"),
    "min_p": (float, "keep tokens this many times as probable as the best (0: all)"),
    "typical_p": (float, "keep the most typical tokens that hold this probability (1: all)"),
    "repetition_penalty": (float, "divides the scores of tokens that were there (1: off)"),
    "presence_penalty": (float, "taken from the scores of tokens that were there (0: off)"),
    "frequency_penalty": (float, "the same, as often as they were there (0: off)"),
    "seed": (int, "of the draws (0)"),
}


def main(argv=None) -> int:
    """Run one command; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    args = _parser().parse_args(argv)
    try:
        code = args.command(args) or 0
        sys.stdout.flush()  # here, where a reader that went away or a full disk is dealt with
    except TokenwalkError as error:
        return _fail(str(error))
    except KeyError as error:
        return _fail(error.args[0])
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'The file'}: {error.strerror or error}.")
    except MemoryError:
        return _fail("There is not enough memory for this. Try a shorter prompt or fewer ops.")
    except (
        UnicodeError,
        RuntimeError,
    ) as error:  # a name that is no text, a home that is not there
        return _fail(str(error).rstrip(".") + ".")
    except KeyboardInterrupt:
        return _fail("Stopped.")
    return code


def _fail(sentence):
    print(sentence, file=sys.stderr)
    return 2


def _parser():
    parser = argparse.ArgumentParser(
        "python -m core", description="Run a small language model and look inside."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _command(commands, "models", models, "list what can be opened")
    fetch_parser = _command(
        commands, "fetch", fetch, "download a model, verified; safe to interrupt and repeat"
    )
    fetch_parser.add_argument(
        "name", help="a name from `models`, or owner/name[/file.gguf] of the Hugging Face Hub"
    )
    inspect_parser = _command(
        commands, "inspect", inspect, "show what is in a model: its settings, then its tensors"
    )
    inspect_parser.add_argument(
        "file", help="a name from `models`, a .gguf or .safetensors file, or a folder of a model"
    )
    _run_options(_command(commands, "generate", generate, "continue a prompt"), sampling=True)
    trace_parser = _command(
        commands, "trace", trace, "write what a run computed to a .safetensors file"
    )
    _run_options(trace_parser, sampling=False)
    trace_parser.add_argument("--out", required=True, metavar="FILE.safetensors")
    trace_parser.add_argument("--ops", help="attn.weights,mlp.out,... (default: all)")
    trace_parser.add_argument("--layers", help="0-3 or 0,5,29 (default: all)")
    _compare_options(
        _command(
            commands, "compare", compare, "compare the values of another engine with ours, op by op"
        )
    )
    return parser


def _compare_options(parser):
    parser.add_argument("file", help=".npz or .safetensors, see docs/compare.md")
    parser.add_argument("--model", help="a name or a path (default: what the file says)")
    text = parser.add_mutually_exclusive_group()
    text.add_argument("--prompt", help="what was run (default: the token ids in the file)")
    text.add_argument("--ids", help=IDS)
    parser.add_argument("--precision", choices=("float32", "float16", "bfloat16"))


def _command(commands, name, function, text):
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=function)
    return parser


def _run_options(parser, sampling):
    parser.add_argument(
        "--model",
        required=True,
        help="a name from `models`, or a path to a .gguf file or a Hugging Face folder",
    )
    text = parser.add_mutually_exclusive_group(required=True)
    text.add_argument("--prompt", help="a text")
    text.add_argument("--ids", help=f"{IDS}: token ids, for a model without a tokenizer")
    parser.add_argument("--chat", action="store_true", help="put the prompt into the chat template")
    parser.add_argument(
        "--control",
        action="store_true",
        help="read special markers in the prompt, such as <|im_end|>, as control tokens",
    )
    if sampling:
        for name, (kind, text) in SAMPLING.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text)
        parser.add_argument("--order", choices=ORDERS, help="of the steps above (transformers)")


def _spec(args, **settings):
    from core.run import RunSpec

    text = {} if args.ids is None else {"ids": _ids(args.ids)}
    if args.chat:  # beside ids, RunSpec refuses it
        text["messages"] = [("user", args.prompt or "")]
    elif args.prompt is not None:
        text["prompt"] = args.prompt
    return RunSpec(args.model, control=args.control, **text, **settings)


def models(args):
    """List what can be opened by name: size, memory, licence, whether it is here."""
    from core import model_table

    print(*model_table.lines(), sep="\n")


def fetch(args):
    """Download a model, with progress on standard error."""
    from core import model_table
    from core.files.fetch import fetch as fetch_model
    from core.files.registry import entry_of

    on_terminal = sys.stderr.isatty()

    def progress(done, total):
        if on_terminal:
            print(
                f"\r{done / 1e6:6.1f} of {total / 1e6:.1f} MB", end="", file=sys.stderr, flush=True
            )

    if warning := model_table.too_large(entry_of(args.name)):
        print(warning, file=sys.stderr)
    try:
        path = fetch_model(args.name, progress)
    finally:
        print(file=sys.stderr) if on_terminal else None
    print(path)


def generate(args):
    """Continue a prompt: the continuation only, as it comes, on standard output. Of a model
    without a tokenizer its ids.
    """
    from core.decode.generate import generate as events
    from core.run import open_model

    given = {name: getattr(args, name) for name in (*SAMPLING, "order")}
    spec = _spec(args, **{name: value for name, value in given.items() if value is not None})
    _warn_dropped(args)
    spoken = any(open_model(args.model).tokenizer.tokens)
    for event in events(spec):
        print(event.text if spoken else _id_text(event), end="", flush=True)
    print()
    if event.stop == "nonfinite":
        return _fail(str(nonfinite(*event.where)))
    return 0


def _id_text(event):
    """What an event adds to a continuation in ids, as `--ids` takes them; an end adds nothing."""
    if event.stop in ("end", "nonfinite"):
        return ""
    return f",{event.id}" if event.step else f"{event.id}"


def _warn_dropped(args):
    from core.run import open_model

    if args.prompt is None:
        return
    dropped = open_model(args.model).tokenizer.dropped(args.prompt)
    if dropped:
        names = " ".join(f"{b:02X}" for b in dropped)
        print(
            f"This vocabulary has no token for these bytes, they were dropped: {names}",
            file=sys.stderr,
        )


def trace(args):
    """Write a trace to a file."""
    from core.record.export import export
    from core.run import run

    _check_ending(args.out)
    ops, spec = None if args.ops is None else args.ops.split(","), _spec(args)
    _warn_dropped(args)
    n_bytes = export(run(spec), args.out, ops, _layers(args.layers))
    print(f"{args.out}: {n_bytes} bytes", file=sys.stderr)


def _check_ending(name):
    """Before anything is run. Devices and folders are refused where the file is written."""
    from core.errors import SettingError

    new = os.path.isfile(name) or not os.path.exists(name)
    if new and Path(name).suffix.lower() != ".safetensors":
        wanted = "a name that ends in .safetensors, the format that is written"
        raise SettingError("bad_setting", name="out", wanted=wanted, value=repr(name))


def compare(args):
    """Say which op of somebody else's run is the first to differ. 0: all agree, 1: one differs."""
    from core.comparing import compare_file

    text = {"prompt": args.prompt} if args.prompt is not None else {}
    if args.ids is not None:
        text = {"ids": _ids(args.ids)}
    code, lines = compare_file(args.file, args.model, args.precision, **text)
    print(*lines, sep="\n")
    return code


def _ids(text):
    """ "504,3575,282" as a list of numbers."""
    from core.errors import SettingError

    if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", text):
        wanted = f"numbers such as {IDS}"
        raise SettingError("bad_setting", name="ids", wanted=wanted, value=repr(text)[:80])
    return [int(part) for part in text.split(",")]


def _layers(text):
    """ "0-3" or "0,5,29" as a list of numbers."""
    from core.errors import SettingError

    if text is None:
        return None
    numbers = []
    for part in text.split(","):
        span = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        first, last = (int(span[1]), int(span[2] or span[1])) if span else (1, 0)
        if first > last:
            wanted = "numbers such as 0-3 or 0,5,29"
            raise SettingError("bad_setting", name="layers", wanted=wanted, value=repr(text))
        numbers += range(first, last + 1)
    return numbers


def inspect(args):
    """Show what is in a model, by name or path, or in a file of values: settings, then tensors."""
    from core import inspection

    print(*inspection.lines(args.file), sep="\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl+C: cleaned up
    sys.exit(main())
