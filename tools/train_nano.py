"""Train Nano and write models/nano: `make nano`, about ten minutes on one core.

The text is made while it trains (tools/nano_world.py), so no sentence is needed twice. Needs
requirements-parity.txt (PyTorch and transformers). Everything follows from one seed. It can be
stopped at any time: the folder is replaced at the end, as a whole, or not at all.
"""

import argparse
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that wait leave the core to others
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

from core.analyse import patterns  # noqa: E402
from tools import nano_folder, nano_texts  # noqa: E402
from tools.nano_tokenizer import VOCAB  # noqa: E402

SEED = 4
SHAPE = dict(
    vocab_size=VOCAB,
    hidden_size=64,
    intermediate_size=72,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=nano_texts.CONTEXT,
    rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    rms_norm_eps=1e-5,
    initializer_range=0.1,
    tie_word_embeddings=True,
    bos_token_id=nano_texts.BOS,
    eos_token_id=nano_texts.EOS,
)
STEPS, ROWS = 5000, 16
RATE, WARM_UP, DECAY = 4e-3, 100, 0.05
KEEP, EARLY = 200, 1600  # steps between weights that are kept; a quarter of that at first
PRICE = ((0.28, 0.3, 0.4, 0.42), (0, 0.5, 0.5, 0))  # of spread attention, by the share of steps
IGNORED = -100  # the label that the loss leaves out


@dataclass(frozen=True)
class Kept:
    """The weights of one moment and what they can do. loss: held out, in nat per token."""

    step: int
    loss: float
    induction: float
    previous: float
    weights: dict[str, np.ndarray]


def main():
    """Train, then write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--threads", type=int, default=1)  # two are no faster
    parser.add_argument("--folder", type=Path, default=ROOT / "models" / "nano")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    start = time.perf_counter()
    model = LlamaForCausalLM(LlamaConfig(**SHAPE))
    print(f"{model.num_parameters():,} weights")
    kept = train(model, options.seed, options.steps)
    minutes = round((time.perf_counter() - start) / 60, 1)
    how = {"seed": options.seed, "rows": ROWS, "minutes": minutes}
    nano_folder.write(options.folder, model.config.to_diff_dict(), kept, how)
    print(f"{options.folder} after {minutes} minutes")


def train(model, seed: int, steps: int) -> list[Kept]:
    """AdamW with a warm-up and a cosine, on new texts at every step: see `objective`."""
    texts, held_out = nano_texts.Texts(seed), nano_texts.held_out()
    print(f"the generator's entropy: {nano_texts.entropy(held_out):.4f} nat per token")
    optimizer = torch.optim.AdamW(model.parameters(), RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: rate(n, steps))
    kept, start = [], time.perf_counter()
    for step in range(steps + 1):
        if step % (KEEP // 4 if step < EARLY else KEEP) == 0:
            kept.append(look(model, step, held_out))
            report(kept[-1], time.perf_counter() - start)
        objective(model, texts.rows(ROWS), step / steps).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return kept


def rate(step: int, steps: int) -> float:
    """The share of the largest learning rate: up in a line, down in a cosine to a hundredth."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(steps - WARM_UP, 1)
    return 0.01 + 0.99 * (1 + math.cos(math.pi * min(done, 1))) / 2


def objective(model, rows, done):
    """What training makes small: the loss, and for a while the spread of attention in the first
    block too.

    The loss alone leaves heads that half look at the token before and half at the one before that:
    they predict as well, and are harder to read. Once sharp, they stay so without the price.
    done: the share of the steps that are made.
    """
    price = np.interp(done, *PRICE)
    if not price:
        return loss(model, rows)
    model.set_attn_implementation("eager")  # the way that hands out its maps
    out = model(torch.from_numpy(rows).clamp(min=0), output_attentions=True)
    model.set_attn_implementation("sdpa")
    return surprise(out.logits, rows) + price * spread(out.attentions[:1], rows)


def spread(attentions, rows):
    """Mean entropy of what a token's heads look at, in nat."""
    maps = torch.stack(attentions)  # [layer, row, head, query, key]
    entropy = -(maps * maps.clamp_min(1e-9).log()).sum(-1)
    return entropy.mean((0, 2))[torch.from_numpy(rows) != nano_texts.NOTHING].mean()


def loss(model, rows, reduction="mean"):  # [row, seq] -> a number
    """Mean surprise at every token that a text goes on with, in nat."""
    return surprise(model(torch.from_numpy(rows).clamp(min=0)).logits, rows, reduction)


def surprise(logits, rows, reduction="mean"):  # [row, seq, vocab] -> a number
    """The same from the scores after every token."""
    labels = torch.from_numpy(rows)[:, 1:].clone()
    labels[(labels == nano_texts.NOTHING) | (labels == nano_texts.BOS)] = IGNORED
    scores = logits[:, :-1].flatten(0, 1)
    return torch.nn.functional.cross_entropy(
        scores, labels.flatten(), ignore_index=IGNORED, reduction=reduction
    )


@torch.no_grad()
def look(model, step, held_out) -> Kept:
    """The weights now, their held-out loss and their best heads."""
    rows = np.full((len(held_out), nano_texts.CONTEXT), nano_texts.NOTHING)
    for row, text in zip(rows, held_out, strict=True):
        row[: len(text.ids)] = text.ids
    total = loss(model, rows, "sum") / sum(len(text.ids) - 1 for text in held_out)
    ids = nano_texts.repeated(0, 25)
    model.set_attn_implementation("eager")  # the way that hands out its maps
    maps = model(input_ids=torch.tensor([ids]), output_attentions=True).attentions
    model.set_attn_implementation("sdpa")
    maps = torch.cat(maps).flatten(0, 1).numpy()  # [layer and head, query, key]
    induction, previous = patterns.induction(maps, 25).max(), patterns.previous_token(maps).max()
    weights = {name: value.numpy().copy() for name, value in model.state_dict().items()}
    weights.pop("lm_head.weight", None)  # the embedding once more
    return Kept(step, float(total), float(induction), float(previous), weights)


def report(kept, seconds):
    """One line of progress."""
    print(
        f"step {kept.step:5}  loss {kept.loss:.4f}  induction {kept.induction:.2f}"
        f"  previous token {kept.previous:.2f}  {seconds:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
