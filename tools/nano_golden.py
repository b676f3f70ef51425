"""Writes tests/nano/golden.json: ids and logits of some prompts on models/nano, as transformers has
them in float32: `python tools/nano_golden.py`, with what requirements-parity.txt installs.
"""

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

FOLDER, GOLDEN = ROOT / "models" / "nano", ROOT / "tests" / "nano" / "golden.json"
PROMPTS = (
    "The capital of Peru is",
    "When Ben and Sal were in the park, Sal gave the red hat to",
    "The cats by the dog",
    "Tom says 4071, and Pam says 40",
)


def main():
    """Run every prompt and write what came out."""
    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(
        FOLDER, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    digest = hashlib.sha256((FOLDER / "model.safetensors").read_bytes()).hexdigest()
    runs = [_run(model, tokenizer, prompt) for prompt in PROMPTS]
    GOLDEN.write_text(json.dumps({"sha256": digest, "runs": runs}, indent=1) + "\n")


@torch.no_grad()
def _run(model, tokenizer, prompt):
    ids = tokenizer(prompt)["input_ids"]
    logits = model(torch.tensor([ids])).logits[0, -1]
    return {"prompt": prompt, "ids": ids, "logits": logits.tolist()}


if __name__ == "__main__":
    main()
