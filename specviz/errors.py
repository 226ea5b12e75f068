"""Every error a user can meet, drawn as a tree.

SpecvizError
├── RequestError             what was asked for cannot be done: a number, a lane
│   ├── PromptError          it is the prompt that cannot be raced
│   └── FormatError          a file that does not hold what its format asks for
│       └── TraceFormatError a trace that does not hold what a trace holds
├── ModelLoadError           a model, tokenizer or config that cannot be loaded
│   └── FullMemoryError      its weights do not fit the memory here
├── IncompatibleModelError   a model that loads, but cannot do what the lane asks of it
└── DecodingError            a lane that failed while it ran (logits that are not numbers, …)

An error says what was found, what is allowed, and what to do. One that can reach the page names a
text of the table, which the page writes in the reader's language and everybody else in English; one
that only the command line meets may be an English sentence. Wrong arguments of our own code raise
ValueError.
"""

from specviz.texts import Text, in_english


class SpecvizError(Exception):
    """Base of every error whose text is meant for the user."""

    def __init__(self, text: Text) -> None:
        super().__init__(in_english(text))
        self.text = text
        """What it says: a message of the table, or an English sentence."""


class RequestError(SpecvizError):
    """A request that cannot be carried out as it stands."""


class PromptError(RequestError):
    """A prompt that is empty, too long, or holds what the target does not know."""


class FormatError(RequestError):
    """Content of a file that does not fit its format."""


class TraceFormatError(FormatError):
    """A trace whose content does not fit the format."""


class ModelLoadError(SpecvizError):
    """A model, tokenizer or config that cannot be loaded."""


class FullMemoryError(ModelLoadError):
    """A model whose weights do not fit the memory here."""


class IncompatibleModelError(SpecvizError):
    """A model or a pair of models that cannot serve in a lane."""


class DecodingError(SpecvizError):
    """A failure inside a running lane."""
