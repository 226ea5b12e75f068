"""Goes on training the target from given weights, in the background, for as long as one likes.

    nice -n 19 python -m specviz.training.continue_target --corpus FOLDER --start FILE --run FOLDER

The same command goes on from the newest checkpoint. The rate is constant until `--decay-from STEP`
is given; from that step on it falls to zero over `--decay-steps`, and then the run ends. SIGTERM
and SIGINT write a checkpoint and end it; SIGSTOP and SIGCONT may pause it at any time. The folder
of the run is a build folder: `python -m specviz.training evaluate` and `export` read it.
"""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from specviz.distill.optimizers import build_optimizers, set_lr_scale
from specviz.distill.training_run import STATE_FILE, TrainingState
from specviz.errors import FormatError
from specviz.trace.typed_json import decode
from specviz.training.architecture import TARGET, build_model
from specviz.training.corpus import TokenStream, cached_streams, draw_batch
from specviz.training.evaluate import NUM_ROWS, SEQ_LEN
from specviz.training.fast_layers import FastLayers
from specviz.training.fast_loss import FastLoss
from specviz.training.forms import Form, Step, fastest_form
from specviz.training.settings import FamilySettings, TargetSettings, load_settings
from specviz.training.windows import cut_windows

SETTINGS_FILE = Path(__file__).with_name("last_training.toml")
CHECKPOINT_FILE, PREVIOUS_FILE = "checkpoint.pt", "checkpoint.previous.pt"
SAVE_EVERY_SECONDS = 600.0
EVALUATE_EVERY_SECONDS = 1800.0
REPORT_EVERY_STEPS = 50
PAUSE_SECONDS = 60.0
"""A step that takes longer was paused, and its time is not counted as training."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One batch shape and one mixture (source name to weight)."""

    rows: int
    seq_len: int
    mix: dict[str, float]


@dataclass(frozen=True, slots=True)
class LastTraining:
    """Everything that last_training.toml says."""

    seed: int
    lr_scale: float
    start_steps: int
    start_tokens: int
    constant: Phase
    decay: Phase


def load_last_training(path: Path = SETTINGS_FILE) -> LastTraining:
    """Read the settings of this training.

    Raises:
        FormatError: The file is not TOML, or a setting is missing, unknown or out of its range.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        settings: LastTraining = decode(LastTraining, content)
    except (tomllib.TOMLDecodeError, FormatError) as error:
        raise FormatError(f"{path.name}: {error}") from error
    return settings


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the rate begins to fall, in steps of this training, and over how many it does."""

    decay_from: int | None = None
    decay_steps: int = 0

    def rate(self, step: int) -> float:
        """The share of the rate that step `step` takes; 0 from the end on."""
        if self.decay_from is None or step < self.decay_from:
            return 1.0
        return max(0.0, 1.0 - (step - self.decay_from) / max(1, self.decay_steps))

    def decays(self, step: int) -> bool:
        """Whether step `step` belongs to the second phase."""
        return self.decay_from is not None and step >= self.decay_from


class FastTarget:
    """The target with its loss, in the form that was chosen."""

    def __init__(self, model: Any, settings: TargetSettings, form: Form) -> None:
        self.model, self.settings = model, settings
        self._layers = FastLayers(model, form.dtype, compiled=form.compiled)
        self._loss = FastLoss(compiled=form.compiled)

    def loss(self, batch: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The last layer's loss in nats, and the sum with an early exit's that is minimised.

        The same as `pretrain.target_loss`, computed faster.
        """
        settings = self.settings
        inputs, labels = batch[:, :-1], batch[:, 1:]
        exit_layer = settings.exit_layers[step % len(settings.exit_layers)]
        last, early = self._layers.states(inputs, exit_layer)
        weight = self.model.lm_head.weight
        loss = self._loss(last.flatten(0, 1), weight, labels.flatten())
        num_rows = max(1, int(settings.exit_rows * len(batch)))
        early = early[:num_rows].flatten(0, 1)
        exit_loss = self._loss(early, weight, labels[:num_rows].flatten())
        return loss.detach(), loss + settings.exit_weight * exit_loss

    @torch.no_grad()
    def held_out_loss(self, ids: torch.Tensor) -> float:
        """Mean loss of the last layer over windows `[rows, length + 1]`."""
        last, _ = self._layers.states(ids[:, :-1], exit_layer=0)
        labels = ids[:, 1:].flatten()
        return float(self._loss(last.flatten(0, 1), self.model.lm_head.weight, labels))


def start_model(settings: FamilySettings, tokenizer: Tokenizer, start: Path) -> Any:
    """Build the target with the weights of a safetensors file, which may leave out `lm_head`."""
    model = build_model(settings, TARGET, tokenizer)
    stored = {key: value.float() for key, value in load_file(start).items()}
    stored["lm_head.weight"] = stored["model.embed_tokens.weight"]
    model.load_state_dict(stored)
    return model


class TargetContinuation:
    """One resumable run, kept in `run/target`.

    Args:
        run: The folder of the run; it holds tokenizer.json.
        start: Weights to begin from where there is no checkpoint yet.
        threads: Processor threads at most.
    """

    def __init__(
        self,
        family: FamilySettings,
        last: LastTraining,
        corpus: Path,
        start: Path,
        run: Path,
        threads: int,
    ) -> None:
        self.family, self.last, self.corpus, self.run = family, last, corpus, run
        self.folder = run / TARGET
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer = Tokenizer.from_file(str(run / "tokenizer.json"))
        self.state = TrainingState(
            stage=len(self.family.target.stages),
            steps=last.start_steps,
            tokens=last.start_tokens,
            warm_from=last.start_steps,
        )
        self.form = fastest_form(
            run / "form.json", threads, lambda form: self._trial_step(start, form)
        )
        torch.set_num_threads(self.form.threads)
        self.model = start_model(self.family, self.tokenizer, start)
        self.target = FastTarget(self.model, self.family.target, self.form)
        self.optimizers = self._build_optimizers(self.model, self.form)
        self._stop = False
        self._resume()

    def _build_optimizers(self, model: Any, form: Form) -> list[torch.optim.Optimizer]:
        target = self.family.target
        return build_optimizers(
            model, target.matrix_lr, target.other_lr, target.weight_decay, form.dtype
        )

    def _trial_step(self, start: Path, form: Form) -> Step:
        """A step on random ids with a model of its own, for timing."""
        model = start_model(self.family, self.tokenizer, start)
        target, phase = FastTarget(model, self.family.target, form), self.last.constant
        optimizers = self._build_optimizers(model, form)
        shape = (phase.rows, phase.seq_len + 1)
        batch = torch.randint(self.tokenizer.get_vocab_size(), shape)
        return lambda step: self._update(target, optimizers, target.loss(batch, step)[1])

    def _update(
        self, target: FastTarget, optimizers: list[torch.optim.Optimizer], loss: torch.Tensor
    ) -> None:
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(target.model.parameters(), self.family.target.clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()

    def _resume(self) -> None:
        """Take up the newest checkpoint that reads whole, if there is one."""
        for name in (CHECKPOINT_FILE, PREVIOUS_FILE):
            path = self.folder / name
            if not path.exists():
                continue
            try:
                stored = torch.load(path, weights_only=True)
            except (RuntimeError, UnpicklingError, EOFError, OSError) as error:
                self._log(unreadable=name, error=str(error)[:200])
                continue
            self.model.load_state_dict(stored["model"])
            for optimizer, state in zip(self.optimizers, stored["optimizers"], strict=True):
                wanted = [group["lr"] for group in optimizer.param_groups]
                optimizer.load_state_dict(state)
                for group, rate in zip(optimizer.param_groups, wanted, strict=True):
                    group["first_lr"] = rate
            self.state = TrainingState(**stored["state"])
            break

    def save(self) -> None:
        """Write weights, optimizer states and progress as one file; the one before it stays."""
        fresh = self.folder / "checkpoint.new"
        stored = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "state": asdict(self.state),
        }
        with fresh.open("wb") as file:
            torch.save(stored, file)
            file.flush()
            os.fsync(file.fileno())
        newest = self.folder / CHECKPOINT_FILE
        if newest.exists():
            newest.replace(self.folder / PREVIOUS_FILE)
        fresh.replace(newest)
        fresh_state = self.folder / "state.new"
        fresh_state.write_text(json.dumps(asdict(self.state)))
        fresh_state.replace(self.folder / STATE_FILE)

    def _log(self, **row: Any) -> None:
        """Add a row to log.jsonl and print it."""
        row = {"step": self.state.step_in_stage, "tokens": self.state.tokens, **row}
        line = json.dumps({**row, "time": time.strftime("%Y-%m-%dT%H:%M:%S")})
        with (self.run / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print(line, flush=True)  # noqa: T201

    def _streams(self, phase: Phase, *, held_out: bool = False) -> dict[str, TokenStream]:
        return cached_streams(
            self.run,
            self.corpus,
            phase.mix,
            self.tokenizer,
            self.family.held_out_below,
            held_out=held_out,
        )

    def evaluate(self) -> None:
        """Log the held-out loss of each source, on the windows that `evaluate` takes."""
        losses = {}
        for source, stream in self._streams(self.last.constant, held_out=True).items():
            length = min(SEQ_LEN + 1, len(stream.ids) - 1)
            windows = cut_windows(stream, NUM_ROWS, length, self.family.seed)
            ids = torch.tensor([window.ids for window in windows])
            losses[source] = round(self.target.held_out_loss(ids), 4)
        self._log(held_out=losses)

    def stop(self, *_: object) -> None:
        """End after the present step."""
        self._stop = True

    def train(self, schedule: Schedule, max_steps: int | None = None) -> None:
        """Step until stopped, until the decay ends, or for `max_steps`."""
        streams = {
            False: self._streams(self.last.constant),
            True: self._streams(self.last.decay) if schedule.decay_from is not None else {},
        }
        first, state = self.state.step_in_stage, self.state
        self._log(begins=asdict(schedule), form=asdict(self.form), pid=os.getpid())
        if first == 0:
            self.evaluate()
        saved = evaluated = begun = time.monotonic()
        losses: list[float] = []
        speeds: list[float] = []
        while not self._stop and schedule.rate(state.step_in_stage) > 0:
            if max_steps is not None and state.step_in_stage - first >= max_steps:
                break
            decays = schedule.decays(state.step_in_stage)
            phase = self.last.decay if decays else self.last.constant
            rate = self.last.lr_scale * schedule.rate(state.step_in_stage)
            losses.append(self._step(streams[decays], phase, rate))
            now = time.monotonic()
            seconds, begun = now - begun, now
            speeds.append(phase.rows * phase.seq_len / seconds)
            state.seconds += min(seconds, PAUSE_SECONDS)
            if state.step_in_stage % REPORT_EVERY_STEPS == 0:
                self._log(
                    loss=round(float(np.mean(losses)), 4),
                    tokens_per_s=round(float(np.median(speeds))),
                    rate=round(rate, 4),
                    seconds=round(state.seconds),
                )
                losses.clear()
                speeds.clear()
            if now - evaluated > EVALUATE_EVERY_SECONDS:
                self.evaluate()
                evaluated = begun = time.monotonic()
            if now - saved > SAVE_EVERY_SECONDS:
                self.save()
                saved = begun = time.monotonic()
        self.save()
        if schedule.rate(state.step_in_stage) == 0:
            self.evaluate()
        self._log(ends="stopped" if self._stop else "done")

    def _step(self, streams: dict[str, TokenStream], phase: Phase, rate: float) -> float:
        state, settings = self.state, self.family.target
        rng = np.random.default_rng([self.last.seed, state.step_in_stage])
        batch = draw_batch(streams, phase.mix, phase.rows, phase.seq_len + 1, rng)
        warm = (state.steps - state.warm_from + 1) / settings.warmup_steps
        set_lr_scale(self.optimizers, min(1.0, warm) * rate)
        loss, total = self.target.loss(torch.from_numpy(batch), state.step_in_stage)
        self._update(self.target, self.optimizers, total)
        state.steps += 1
        state.step_in_stage += 1
        state.tokens += phase.rows * phase.seq_len
        return float(loss)


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m specviz.training.continue_target",
        description=(__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--corpus", type=Path, required=True, help="folder of *.jsonl.xz")
    parser.add_argument("--start", type=Path, required=True, help="weights to begin from")
    parser.add_argument("--run", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--settings", type=Path, default=SETTINGS_FILE)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="at most")
    parser.add_argument("--decay-from", type=int, metavar="STEP", help="where the rate falls")
    parser.add_argument("--decay-steps", type=int, default=0, help="over how many steps it falls")
    parser.add_argument("--max-steps", type=int, help="stop after as many steps")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Train until stopped and return the exit status."""
    parsed = build_parser().parse_args(arguments)
    if parsed.decay_from is not None and parsed.decay_steps < 1:
        print("error: --decay-from needs --decay-steps", file=sys.stderr)  # noqa: T201
        return 2
    with (parsed.run / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("error: this run is going on already", file=sys.stderr)  # noqa: T201
            return 2
        (parsed.run / "pid").write_text(f"{os.getpid()}\n")
        last = load_last_training(parsed.settings)
        training = TargetContinuation(
            load_settings(), last, parsed.corpus, parsed.start, parsed.run, parsed.threads
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, training.stop)
        training.train(Schedule(parsed.decay_from, parsed.decay_steps), parsed.max_steps)
        (parsed.run / "pid").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
