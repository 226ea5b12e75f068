"""Windows of packed text, as texts of which every position counts."""

from collections.abc import Mapping

import numpy as np

from specviz.distill.batches import Batch, read_batch
from specviz.distill.model_reader import ModelReader
from specviz.distill.texts import Text
from specviz.training.corpus import Ids, TokenStream, pick_sources
from specviz.training.settings import DraftSettings


def window_text(window: Ids) -> Text:
    """A window as a text: its first id is the prompt, every other one is learned or judged."""
    return Text(0, tuple(window.tolist()), 1)


def cut_windows(stream: TokenStream, rows: int, length: int, seed: int) -> list[Text]:
    """Cut windows of `length` ids, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    return [window_text(stream.window(length, rng)) for _ in range(rows)]


class MixedWindows:
    """Batches of windows, some of the target's own text and some of training text."""

    def __init__(
        self,
        target: ModelReader,
        samples: TokenStream,
        streams: Mapping[str, TokenStream],
        settings: DraftSettings,
        seed: int,
    ) -> None:
        self.target = target
        self._samples, self._streams = samples, streams
        self._settings, self._seed = settings, seed

    def batch(self, step: int) -> Batch:
        """Draw `rows` windows of `seq_len + 1` ids, the same ones for the same step."""
        return read_batch(self.target, self.draw(step))

    def draw(self, step: int) -> list[Text]:
        """Draw the windows of a step; `sampled_share` of them are the target's own text."""
        settings = self._settings
        rng = np.random.default_rng([self._seed, step])
        windows = []
        for source in pick_sources(settings.mix, settings.rows, rng):
            is_sampled = rng.random() < settings.sampled_share
            stream = self._samples if is_sampled else self._streams[source]
            windows.append(window_text(stream.window(settings.seq_len + 1, rng)))
        return windows
