"""Simple English sentences with their Spanish and French translations, from one phrase grammar."""

import random
import re
from typing import NamedTuple

from specviz.training.task_texts import load_patterns

ADJECTIVE_SHARE = 0.45
TIME_SHARE = 0.25
MAX_SENTENCES = 3

_VOWELS = "aeiouhâàéèêîôûœ"
# In this order: "à le hôtel" must become "à l'hôtel" before "à le" would become "au".
_RULES = {
    "english": [(re.compile(r"\ba (?=[aeiou])"), "an ")],
    "spanish": [(re.compile(r"\b(a|de) el\b"), r"\1l")],
    "french": [
        (re.compile(rf"\b(l|d)(?:e|a) (?=[{_VOWELS}])"), r"\1'"),
        (re.compile(rf"\bma (?=[{_VOWELS}])"), "mon "),
        (re.compile(r"\bde le\b"), "du"),
        (re.compile(r"\bà le\b"), "au"),
    ],
}
_DETERMINERS = {
    "the": ({"m": "el", "f": "la"}, {"m": "le", "f": "la"}),
    "a": ({"m": "un", "f": "una"}, {"m": "un", "f": "une"}),
    "my": ({"m": "mi", "f": "mi"}, {"m": "mon", "f": "ma"}),
}


class Phrase(NamedTuple):
    """The same words in three languages."""

    english: str
    spanish: str
    french: str


class Noun(NamedTuple):
    """A noun in three languages with its genders, `m` or `f`."""

    english: str
    spanish: str
    spanish_gender: str
    french: str
    french_gender: str


class Adjective(NamedTuple):
    """An adjective in three languages with its forms and its place in French."""

    english: str
    spanish_m: str
    spanish_f: str
    french_m: str
    french_f: str
    french_place: str

    def agree(self, noun: Noun) -> Phrase:
        """The forms that go with a noun."""
        return Phrase(
            self.english,
            self.spanish_m if noun.spanish_gender == "m" else self.spanish_f,
            self.french_m if noun.french_gender == "m" else self.french_f,
        )


def write_translation(rng: random.Random) -> tuple[str, str, str]:
    """Write one to three sentences: the language, the English text, its translation."""
    language = rng.choice(["Spanish", "French"])
    count = rng.choice([1, 1, *range(1, MAX_SENTENCES + 1)])
    sentences = [finish(_sentence(rng)) for _ in range(count)]
    english = " ".join(sentence.english for sentence in sentences)
    other = " ".join(getattr(sentence, language.lower()) for sentence in sentences)
    return language, english, other


def finish(sentence: Phrase) -> Phrase:
    """Apply the contractions of each language, a capital and a full stop."""
    finished = {}
    for language, text in sentence._asdict().items():
        for rule, replacement in _RULES[language]:
            text = rule.sub(replacement, text)
        finished[language] = text[0].upper() + text[1:] + "."
    return Phrase(**finished)


def _sentence(rng: random.Random) -> Phrase:
    pattern = rng.choice([_act, _act, _act_on, _act_on, _go, _be_placed, _be_like, _own, _give])
    return pattern(rng)


def _act(rng: random.Random) -> Phrase:
    return join(_someone(rng), _phrase("does", rng), _location(rng), _time(rng))


def _act_on(rng: random.Random) -> Phrase:
    return join(_someone(rng), _phrase("does_to", rng), _something(rng), _time(rng))


def _go(rng: random.Random) -> Phrase:
    goal = noun_phrase(_noun("places", rng), rng.choice(["the", "the", "a"]))
    return join(_someone(rng), Phrase("goes to", "va a", "va à"), goal, _time(rng))


def _be_placed(rng: random.Random) -> Phrase:
    under = Phrase("is under", "está debajo de", "est sous")
    furniture = noun_phrase(_noun("furniture", rng), "the")
    if rng.random() < 0.5:
        return join(_something(rng, "the"), under, furniture)
    return join(_something(rng, "the"), Phrase("is", "está", "est"), _location(rng))


def _be_like(rng: random.Random) -> Phrase:
    table = rng.choice(["animals", "people", "things"])
    noun, determiner = _noun(table, rng), rng.choice(["the", "my"])
    if table == "things":
        quality, verb = _adjective("looks", rng), "es"
    elif rng.random() < 0.5:
        quality, verb = _adjective("natures", rng), "es"
    else:
        quality, verb = _adjective("moods", rng), "está"
    return join(noun_phrase(noun, determiner), Phrase("is", verb, "est"), quality.agree(noun))


def _own(rng: random.Random) -> Phrase:
    owner, thing = _noun(rng.choice(["animals", "people"]), rng), _noun("things", rng)
    _, spanish_owner, french_owner = noun_phrase(owner, "the")
    _, spanish, french = noun_phrase(thing, "the")
    owned = Phrase(
        f"the {owner.english}'s {thing.english}",
        f"{spanish} de {spanish_owner}",
        f"{french} de {french_owner}",
    )
    return join(owned, Phrase("is", "es", "est"), _adjective("looks", rng).agree(thing))


def _give(rng: random.Random) -> Phrase:
    receiver = noun_phrase(_noun(rng.choice(["animals", "people"]), rng), "the")
    gives = Phrase("gives", "le da", "donne")
    return join(_someone(rng), gives, _something(rng), Phrase("to", "a", "à"), receiver)


def _someone(rng: random.Random) -> Phrase:
    table, qualities = rng.choice([("animals", "looks"), ("people", "natures")])
    quality = _adjective(qualities, rng) if rng.random() < ADJECTIVE_SHARE else None
    return noun_phrase(_noun(table, rng), rng.choice(["the", "the", "a", "my"]), quality)


def _something(rng: random.Random, determiner: str = "") -> Phrase:
    quality = _adjective("looks", rng) if rng.random() < ADJECTIVE_SHARE else None
    determiner = determiner or rng.choice(["the", "a", "a", "my"])
    return noun_phrase(_noun("things", rng), determiner, quality)


def _location(rng: random.Random) -> Phrase:
    place = noun_phrase(_noun("places", rng), rng.choice(["the", "the", "a"]))
    return join(_phrase("where", rng), place)


def _time(rng: random.Random) -> Phrase:
    return _phrase("when", rng) if rng.random() < TIME_SHARE else Phrase("", "", "")


def noun_phrase(noun: Noun, determiner: str, quality: Adjective | None = None) -> Phrase:
    """A noun with its determiner (`the`, `a` or `my`) and at most one adjective."""
    spanish, french = _DETERMINERS[determiner]
    english_words = [determiner, noun.english]
    spanish_words = [spanish[noun.spanish_gender], noun.spanish]
    french_words = [french[noun.french_gender], noun.french]
    if quality:
        form = quality.agree(noun)
        english_words.insert(1, form.english)
        spanish_words.append(form.spanish)
        french_words.insert(1 if quality.french_place == "before" else 2, form.french)
    return Phrase(" ".join(english_words), " ".join(spanish_words), " ".join(french_words))


def join(*phrases: Phrase) -> Phrase:
    """Put phrases one after the other in all languages."""
    return Phrase(*(" ".join(filter(None, words)) for words in zip(*phrases, strict=True)))


def _fields(table: str, rng: random.Random) -> list[str]:
    entry: str = rng.choice(load_patterns()["translate"][table])
    return entry.split(" / ")


def _phrase(table: str, rng: random.Random) -> Phrase:
    return Phrase(*_fields(table, rng))


def _noun(table: str, rng: random.Random) -> Noun:
    return Noun(*_fields(table, rng))


def _adjective(table: str, rng: random.Random) -> Adjective:
    return Adjective(*_fields(table, rng))
