"""Models on given tokens."""

import numpy as np
import pytest

import tare

IDS = [i * i % 61 for i in range(70)]


def test_logits_do_not_depend_on_the_container(demo, tmp_path):
    first = tare.run(demo / "mistral").logits(IDS)
    assert first.shape == (70, tare.run(demo / "mistral").vocab_size) and first.dtype == np.float32
    assert np.isfinite(first).all()
    for name in ("m.zt", "m.gguf", "m.mcf"):
        tare.convert(demo / "mistral", tmp_path / name)
        assert np.array_equal(tare.run(tmp_path / name).logits(np.array(IDS, np.int64)), first)


def test_pieces(demo):
    scorer = tare.run(demo / "mistral")
    whole = scorer.logits(IDS, context=40)
    assert np.array_equal(whole[40:], scorer.logits(IDS[40:]))
    assert np.array_equal(scorer.logits(IDS, context=40, begin=3)[40:], scorer.logits([3, *IDS[41:]]))


def test_perplexity_of_the_logits(demo):
    scorer = tare.run(demo / "mistral")
    found = scorer.perplexity(IDS, context=70)
    logits = scorer.logits(IDS).astype(np.float64)
    losses = np.log(np.exp(logits).sum(1)) - logits[np.arange(70), IDS[1:] + [0]]
    assert found.tokens == 34 and found.pieces == 1
    assert found.value == pytest.approx(np.exp(losses[35:69].mean()), rel=1e-5)


def test_compare(demo, tmp_path):
    tare.convert(demo / "mistral", tmp_path / "m.zt")
    same = tare.compare(demo / "mistral", tmp_path / "m.zt", tokens=IDS)
    assert same.same and same.parting is None and same.kl == (0, 0) and same.tokens == 70
    tare.quantize(demo / "mistral", tmp_path / "k4.mcf", method="k4")
    other = tare.compare(demo / "mistral", tmp_path / "k4.mcf", tokens=IDS)
    assert not other.same and other.parting is None and other.kl[0] > 0 and other.casts
    assert [place["name"] for place in other.places][0] == "embeddings"
    assert "same=False" in repr(other)


def test_texts(demo, tmp_path):
    tare.quantize(demo / "mistral", tmp_path / "k4.mcf", method="k4")
    text = "the model of the file is not on a row of this layer. " * 8
    found = tare.compare(demo / "mistral", tmp_path / "k4.mcf", text=text, context=20)
    worst = found.worst[0]
    assert worst["text"].removeprefix("<s>").strip() in text
    assert found.kl[0] > 0 and worst["said_a"] and worst["said_b"] and worst["best_a"] >= 0
    scorer = tare.run(demo / "mistral")
    assert scorer.perplexity(text=text, context=16).context == 16
    assert scorer.perplexity().context == 512 and scorer.perplexity().tokens > 0
    assert tare.compare(demo / "mistral", demo / "mistral").same
    for wrong in (dict(tokens=IDS, text=text), dict(text=b"the")):
        with pytest.raises(tare.WrongTypeError):
            scorer.perplexity(**wrong)
    with pytest.raises(tare.UsageError) as error:
        scorer.perplexity(text="")
    assert error.value.rule == "run.tokens"


def test_refuses(demo):
    scorer = tare.run(demo / "mistral")
    for tokens in ([], [-1], [2**40], [-(2**40)], np.array([2**63], np.uint64)):
        with pytest.raises(tare.UsageError) as error:
            scorer.logits(tokens)
        assert error.value.rule == "run.tokens"
    for tokens in ([1.5], [[1]], ["a"]):
        with pytest.raises(tare.WrongTypeError):
            scorer.logits(tokens)
    with pytest.raises(tare.UnsupportedError) as error:
        tare.run(demo / "demo.zt")
    assert error.value.rule == "run.family"


def test_damaged_bytes_are_refused(demo, tmp_path):
    """Every weight that has a stored digest is compared with it before it is used."""
    path = tmp_path / "m.zt"
    tare.convert(demo / "mistral", path, digest="sha256")
    row = tare.open(path).tensor("model.layers.1.mlp.up_proj.weight").components[0]
    data = bytearray(path.read_bytes())
    data[row["offset"] + 100] ^= 1
    path.write_bytes(data)
    for attempt in (lambda: tare.run(path).logits(IDS), lambda: tare.compare(demo / "mistral", path, tokens=IDS)):
        with pytest.raises(tare.CorruptError) as error:
            attempt()
        assert error.value.rule == "digest.mismatch"


def test_generates_the_most_likely_tokens(demo, tmp_path):
    scorer = tare.run(demo / "mistral")
    made = scorer.generate(IDS[:5], count=6)
    tokens = IDS[:5]
    for token in made.tokens:
        assert scorer.logits(tokens)[-1].argmax() == token
        tokens = [*tokens, token]
    assert made.prompt == IDS[:5] and made.end == "count" and len(made.tokens) == 6
    tare.convert(demo / "mistral", tmp_path / "m.gguf")
    other = tare.run(tmp_path / "m.gguf")
    assert other.generate(IDS[:5], count=6) == made
    words = scorer.generate("the model of this file", count=6)
    assert isinstance(words.text, str) and words.text and other.generate("the model of this file", count=6) == words
    assert scorer.generate(words.prompt, count=6) == words
    stopped = scorer.generate(IDS[:5], count=6, stop=[made.tokens[2]])
    assert stopped.end == "stop" and stopped.tokens == made.tokens[: made.tokens.index(made.tokens[2])]
    drawn = [scorer.generate(IDS[:5], count=20, temperature=1.0, seed=seed).tokens for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert scorer.generate(IDS[:5], count=6, temperature=1.0, top_k=1).tokens == made.tokens
    steps = []
    scorer.generate(IDS[:5], count=6, progress=lambda done, expected: steps.append((done, expected)))
    assert steps[-1] == (6, 6)


def test_chat(demo, tmp_path):
    path = tmp_path / "m"
    tare.convert(demo / "mistral", path, format="hf")
    messages = [{"role": "user", "content": "the model"}]
    with pytest.raises(tare.NotFoundError) as error:
        tare.run(path).render(messages)
    assert error.value.rule == "chat.none"
    (path / "chat_template.jinja").write_text("{{ bos_token }}{% for m in messages %}{{ m.role }} {{ m.content }}{% endfor %}{{ extra }}{% if add_generation_prompt %} a{% endif %}")
    scorer = tare.run(path)
    assert scorer.render(messages) == "<s>user the model a"
    assert scorer.render(messages, add_generation_prompt=False, extra=[1, None]) == "<s>user the model[1, None]"
    answer = scorer.generate(messages, count=3)
    assert answer.prompt[0] == 1 and answer.tokens == scorer.generate(answer.prompt, count=3).tokens
    with pytest.raises(tare.WrongTypeError):
        scorer.generate("the model", extra=1)
    (path / "chat_template.jinja").write_text("{% include 'x' %}")
    with pytest.raises(tare.UnsupportedError) as error:
        tare.run(path).generate(messages)
    assert error.value.rule == "chat.unknown"


def test_generate_refuses(demo):
    scorer = tare.run(demo / "mistral")
    for start, rule in (([], "run.tokens"), ([2**40], "run.tokens"), ([1] * (scorer.context + 1), "run.context")):
        with pytest.raises(tare.UsageError) as error:
            scorer.generate(start)
        assert error.value.rule == rule
    with pytest.raises(tare.UsageError) as error:
        scorer.generate([1], temperature=-1.0)
    assert error.value.rule == "run.sampling"
