"""Writes models/nano: an ordinary Hugging Face folder, and the checkpoints of its training.

Knows files; nothing of training. The folder is made beside the old one and takes its place at the
end, so that a stop leaves a whole one.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from tools import nano_texts
from tools import nano_tokenizer as words

FORMING, FORMED = 0.5, 0.8  # induction score in the middle of the jump, and after it


def write(folder: Path, config: dict, kept: list, how: dict):
    """Everything but the README, which stays as it is.

    config: of config.json. kept: moments of the training, the last one trained; each has step,
    loss (nat per token), induction, previous and weights ({name: float32 array}). how: what else
    checkpoints.json says of the training.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".nano-") as place:
        new, old = Path(place) / "new", Path(place) / "old"
        new.mkdir(mode=0o755)
        _fill(new, config, kept, how)
        if folder.exists():
            for file in folder.glob("README*"):
                shutil.copy(file, new)
            os.rename(folder, old)
        os.rename(new, folder)


def _fill(folder, config, kept, how):
    kind = {"architectures": ["LlamaForCausalLM"], "dtype": "float32"}
    _json(folder / "config.json", config | kind)
    _json(folder / "tokenizer.json", words.tokenizer_json())
    _json(folder / "tokenizer_config.json", words.tokenizer_config())
    save_file(kept[-1].weights, folder / "model.safetensors", {"format": "pt"})
    steps = []
    for moment in chosen(kept):
        last = moment is kept[-1]
        file = "model.safetensors" if last else f"step-{moment.step:05}.safetensors"
        steps.append({"step": moment.step, "file": file, "loss": round(moment.loss, 4)})
        if not last:
            half = {name: w.astype(np.float16) for name, w in moment.weights.items()}
            save_file(half, folder / file, {"format": "pt"})
    for file in folder.glob("*.safetensors"):
        file.chmod(0o644)  # the library makes them private
    entropy = round(nano_texts.entropy(nano_texts.held_out()), 4)
    _json(folder / "checkpoints.json", {"steps": steps, "entropy": entropy} | how)


def chosen(kept: list) -> list:
    """Six moments: random, early, just before the induction head, in its midst, after, the end."""
    jump = next((n for n, moment in enumerate(kept) if moment.induction >= FORMING), None)
    if jump is None or kept[-1].induction < FORMED:
        raise SystemExit("No induction head formed: nothing is written.")
    before = max(n for n in range(jump) if kept[n].induction < 0.2)
    during = min(range(before + 1, len(kept) - 2), key=lambda n: abs(kept[n].induction - FORMING))
    after = next(n for n in range(during + 1, len(kept)) if kept[n].induction >= FORMED)
    return [kept[n] for n in (0, before // 2, before, during, after, len(kept) - 1)]


def _json(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
