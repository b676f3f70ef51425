"""The other engines that `make bench` measures, with the methods of ours (see bench_ours).

Knows how transformers, TransformerLens and llama.cpp open the model, run a prompt and decode.
"""

import statistics
import time
from importlib import metadata
from pathlib import Path

from bench_ours import CORES, STEPS, Engine, Limits, Tokenwalk, ids_of


class Transformers(Engine):
    """transformers, PyTorch, float32, eager attention, with a KV cache."""

    needs = ("torch", "transformers", "accelerate", "gguf")

    def load(self):
        import torch
        import transformers

        torch.set_num_threads(CORES)
        torch.set_grad_enabled(False)
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        self.torch, self.library, self.past = torch, transformers, {}
        return f"transformers {transformers.__version__} (torch {torch.__version__})"

    def open(self):
        self.model = self.from_pretrained(self.place)

    def from_pretrained(self, place, **settings):
        settings |= {"dtype": self.torch.float32, "attn_implementation": "eager"}
        return self.library.AutoModelForCausalLM.from_pretrained(place, **settings).eval()

    def forward(self, ids, past=None):
        with self.torch.inference_mode():
            ids = self.torch.tensor([ids])
            return self.model(ids, past_key_values=past, use_cache=True, logits_to_keep=1)

    def run(self, n):
        return self.forward(ids_of(n)).logits[0, -1]

    def decode(self, n):
        """Seconds per token, the choice of the most likely one included."""
        if n not in self.past:
            self.past[n] = self.forward(ids_of(n)).past_key_values
        past, id, measured = self.past[n], 1000, []
        for _ in range(STEPS):
            start = time.perf_counter()
            id = int(self.forward([id], past).logits[0, -1].argmax())
            measured.append(time.perf_counter() - start)
        past.crop(n - past.get_seq_length())  # what was decoded is forgotten
        return statistics.median(measured)

    def memory(self, n):
        """Run n tokens; bytes of the KV cache."""
        past = self.forward(ids_of(n)).past_key_values
        return {"kv": sum(layer.keys.nbytes + layer.values.nbytes for layer in past.layers)}


class FromGGUF(Transformers):
    """transformers' own reading of the GGUF file: slow, so it is saved as a folder once."""

    def open(self):
        path = Path(self.place)
        self.model = self.from_pretrained(path.parent, gguf_file=path.name)

    def save(self, folder):
        """Write safetensors, config and tokenizer, as a folder from the hub has them."""
        path, tokenizers = Path(self.place), self.library.AutoTokenizer
        self.model.hf_quantizer = None  # the weights are float32 by now: nothing refuses to save
        del self.model.config.quantization_config
        self.model.save_pretrained(folder)
        tokenizers.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)


class TransformerLens(Transformers):
    """TransformerLens: a prefill is `run_with_cache`, everything it records by default."""

    needs = (*Transformers.needs, "transformer_lens")
    decode = None  # made for recording: nothing to compare

    def load(self):
        below = super().load()
        from transformer_lens.model_bridge import TransformerBridge

        self.bridge = TransformerBridge
        return f"transformer-lens {metadata.version('transformer-lens')} on {below}"

    def open(self):
        self.model = self.bridge.boot_transformers(self.place, device="cpu")

    def start(self, n):
        self.cache = None

    def run(self, n):
        with self.torch.inference_mode():
            ids = self.torch.tensor([ids_of(n)])
            logits, self.cache = self.model.run_with_cache(ids, logits_to_keep=1)
        return logits[0, -1]

    def memory(self, n):
        """Bytes of the cache: the sum over its names, and what it holds, views counted once."""
        self.run(n)
        arrays = [array for array in self.cache.values() if array is not None]
        storages = {s.data_ptr(): s.nbytes() for s in (a.untyped_storage() for a in arrays)}
        return {"named": sum(a.nbytes for a in arrays), "held": sum(storages.values())}


class LlamaCpp(Engine):
    """llama.cpp on the GGUF file as it is: its matrices stay in blocks of 4 bits."""

    needs = ("llama_cpp", "numpy")

    def load(self):
        import llama_cpp
        import numpy

        self.library, self.numpy = llama_cpp, numpy
        return f"llama-cpp-python {llama_cpp.__version__}"

    def open(self):
        self.model = self.library.Llama(
            self.place,
            n_ctx=1024,
            n_batch=512,
            n_threads=CORES,
            n_threads_batch=CORES,
            verbose=False,
        )

    def start(self, n):
        self.model.reset()

    def run(self, n):
        return self.forward(ids_of(n))

    def forward(self, ids):
        self.model.eval(ids)
        scores = self.library.llama_get_logits_ith(self.model.ctx, -1)
        return self.numpy.ctypeslib.as_array(scores, shape=(self.model.n_vocab(),))

    def decode(self, n):
        """Seconds per token, the choice of the most likely one included."""
        self.start(n)
        scores, measured = self.run(n), []
        for _ in range(STEPS):
            start = time.perf_counter()
            scores = self.forward([int(scores.argmax())])
            measured.append(time.perf_counter() - start)
        return statistics.median(measured)

    def memory(self, n):
        """Run n tokens."""
        self.run(n)
        return {}


ENGINES = {
    "tokenwalk": Tokenwalk,
    "transformers": Transformers,
    "transformer-lens": TransformerLens,
    "llama.cpp": LlamaCpp,
    "limits": Limits,
    "from-gguf": FromGGUF,
}
