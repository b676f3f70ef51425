"""What a token is called in the sentences of sampling. Knows the tokenizer only."""

from pages.parts.html import Token


def token_of(trace, id) -> Token:
    """A token of the trace's model, as it is shown."""
    return Token(trace.model.tokenizer.display(int(id)))
