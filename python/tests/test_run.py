"""Models on given tokens."""

import gc
import json
import os
import shutil
import threading
import warnings

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


def test_warns_of_what_is_not_computed(demo, tmp_path):
    shutil.copytree(demo / "mistral", tmp_path / "m")
    config = json.loads((tmp_path / "m/config.json").read_text())
    (tmp_path / "m/config.json").write_text(json.dumps({**config, "attn_logit_softcapping": 50.0}))
    with pytest.warns(UserWarning, match="attn_logit_softcapping.*other programs") as found:
        scorer = tare.run(tmp_path / "m")
    assert len(found) == 1 and found[0].filename == __file__ and len(scorer.doubts) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # only when it is made
        scorer.perplexity(IDS, context=70)
        assert tare.run(demo / "mistral").doubts == []
    with pytest.warns(UserWarning, match="B: .*attn_logit_softcapping") as found:
        tare.compare(demo / "mistral", tmp_path / "m", tokens=IDS)
    assert len(found) == 1 and found[0].filename == __file__


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


def test_streams(demo):
    scorer = tare.run(demo / "mistral")
    made = scorer.generate(IDS[:5], count=6)
    assert list(scorer.stream(IDS[:5], count=6)) == made.tokens
    words = scorer.generate("the model of this file", count=8)
    pieces = scorer.stream("the model of this file", count=8)
    first = next(pieces)
    assert isinstance(first, str) and first + "".join(pieces) == words.text
    drawn = scorer.generate(IDS[:5], count=9, temperature=1.0, seed=4).tokens
    assert list(scorer.stream(np.array(IDS[:5]), count=9, temperature=1.0, seed=4)) == drawn
    assert list(scorer.stream(IDS[:5], count=9, stop=[made.tokens[2]])) == made.tokens[: made.tokens.index(made.tokens[2])]
    assert list(scorer.stream(IDS[:5], count=0)) == []
    # Refused before the first piece is asked for.
    for wrong, rule in (({"temperature": -1.0}, "run.sampling"), ({"start": [1] * (scorer.context + 1)}, "run.context")):
        with pytest.raises(tare.UsageError) as error:
            scorer.stream(**{"start": [1], **wrong})
        assert error.value.rule == rule
    for start in ([], [2**40]):
        with pytest.raises(tare.UsageError) as error:
            next(scorer.stream(start))
        assert error.value.rule == "run.tokens"


def test_session_keeps_what_it_has_read(demo):
    scorer = tare.run(demo / "mistral")
    session = scorer.session()
    assert session.tokens == [] and session.room == scorer.context
    close = dict(rtol=1e-4, atol=1e-4)
    assert np.allclose(session.feed(IDS[:20]), scorer.logits(IDS[:20])[-1], **close)
    assert np.allclose(session.feed(IDS[20:23]), scorer.logits(IDS[:23])[-1], **close)
    assert session.tokens == IDS[:23] and session.room == scorer.context - 23
    made = session.generate(count=4)
    assert made.tokens == scorer.generate(IDS[:23], count=4).tokens
    assert made.prompt == [] and session.tokens == IDS[:23] + made.tokens
    more = session.generate([7, 8], count=5)
    assert more.prompt == [7, 8] and more.tokens == scorer.generate(IDS[:23] + made.tokens + [7, 8], count=5).tokens
    session.rewind(23)
    assert session.generate(count=4).tokens == made.tokens
    # The same with what is left of an iterator.
    session.rewind(23)
    steps = session.stream([], count=4)
    assert [next(steps), next(steps)] == made.tokens[:2] and session.tokens == IDS[:23] + made.tokens[:2]
    steps.close()
    assert session.generate(count=2).tokens == made.tokens[2:] and session.end == "count"
    stopped = session.generate(stop=range(scorer.vocab_size))
    assert stopped.tokens == [] and stopped.end == session.end == "stop"
    assert repr(session) == "Session(27 tokens)"


def test_session_continues_a_text(demo):
    scorer = tare.run(demo / "mistral")
    session = scorer.session()
    first = session.generate("the model", count=3)
    assert first == scorer.generate("the model", count=3)
    second = session.generate(" of this file", count=3)
    assert second.prompt and second.prompt[0] != first.prompt[0]  # no further beginning
    assert second.tokens == scorer.generate(first.prompt + first.tokens + second.prompt, count=3).tokens
    assert "".join(session.stream(" of", count=3)) == scorer.generate(session.tokens[:-3], count=3).text


def test_session_has_room(demo):
    scorer = tare.run(demo / "mistral")
    session = scorer.session(positions=8)
    made = session.generate(IDS[:5], count=30)
    assert made.end == "positions" and session.room == 0
    expected = scorer.generate(IDS[:5], count=30).tokens
    assert made.tokens == expected[: len(made.tokens)] and len(made.tokens) == 4
    with pytest.raises(tare.UsageError) as error:
        session.generate([1, 2])
    assert error.value.rule == "run.context" and len(session.tokens) == 8
    for position in (-1, 9):
        with pytest.raises(ValueError):
            session.rewind(position)
    session.rewind(3)
    assert session.room == 5
    with pytest.raises(tare.UsageError) as error:
        session.feed([1, 2**40])
    assert error.value.rule == "run.tokens" and session.tokens == IDS[:3]
    with pytest.raises(tare.UsageError) as error:
        scorer.session().generate()
    assert error.value.rule == "run.tokens"


def test_session_answers_a_conversation(demo, tmp_path):
    path = tmp_path / "m"
    tare.convert(demo / "mistral", path, format="hf")
    (path / "chat_template.jinja").write_text("{{ bos_token }}{% for m in messages %}{{ m.role }} {{ m.content }}{% endfor %}{% if add_generation_prompt %} a{% endif %}")
    scorer = tare.run(path)
    session = scorer.session()
    messages = [{"role": "user", "content": "the model"}]
    first = session.generate(messages, count=3)
    assert first == scorer.generate(messages, count=3)
    messages += [{"role": "assistant", "content": first.text}, {"role": "user", "content": " of this file"}]
    assert session.generate(messages, count=3).tokens == scorer.generate(messages, count=3).tokens
    assert session.tokens[:-3] == session.generate(messages, count=3).prompt
    assert "".join(session.stream(messages, count=3)) == scorer.generate(messages, count=3).text
    with pytest.raises(tare.WrongTypeError):
        session.stream("the model", extra=1)


def test_session_ends_with_its_model(demo):
    model = tare.open(demo / "mistral")
    session = tare.run(model).session()
    session.feed(IDS[:3])
    model.close()
    with pytest.raises(tare.UsageError) as error:
        session.feed([1])
    assert error.value.rule == "python.closed" and session.tokens == IDS[:3]


def test_session_is_for_one_thread_and_process(demo):
    session = tare.run(demo / "mistral").session()
    session.feed(IDS[:3])
    begun, go_on = threading.Event(), threading.Event()

    def wait(done, expected):
        begun.set()
        assert go_on.wait(60)

    other = threading.Thread(target=lambda: session.feed([1], progress=wait))
    other.start()
    assert begun.wait(60)
    with pytest.raises(tare.UsageError) as error:
        session.feed([2])
    assert error.value.rule == "python.busy"
    go_on.set()
    other.join()
    assert session.tokens == [*IDS[:3], 1]
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            session.feed([1])
        except tare.UsageError as error:
            code = 0 if error.rule == "python.fork" else 2
        del session
        gc.collect()
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_session_survives_an_interruption(demo):
    scorer = tare.run(demo / "mistral")
    session = scorer.session()
    session.feed(IDS[:20])

    def interrupt(done, expected):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.feed(IDS[20:40], progress=interrupt)
    read = len(session.tokens)
    assert session.tokens == IDS[:read] and 20 <= read <= 40
    assert np.allclose(session.feed(IDS[read:50]), scorer.logits(IDS[:50])[-1], rtol=1e-4, atol=1e-4)


def test_calibrate(demo, tmp_path):
    found = tare.calibrate(demo / "mistral", tmp_path / "i.gguf", tokens=IDS * 8, context=70, name="ids")
    assert found.tokens == 560 and found.pieces == 8 and found.enough == 4096 and "few" in found.remarks[0]
    assert found.matrices["blk.0.attn_q.weight"] == [560] and "matrices" not in repr(found)
    with tare.open(tmp_path / "i.gguf") as file:
        assert file.metadata["general.type"] == "imatrix" and file.metadata["imatrix.datasets"] == [f"ids ({found.source})"]
        sums = file["blk.0.attn_q.weight.in_sum2"]
        assert (sums > 0).all() and np.array_equal(sums, file["blk.0.attn_v.weight.in_sum2"])
    with pytest.raises(tare.ExistsError):
        tare.calibrate(demo / "mistral", tmp_path / "i.gguf", tokens=IDS)
    tare.quantize(demo / "mistral", tmp_path / "q.mcf", "k4", importance=tmp_path / "i.gguf")


def test_measure(demo, tmp_path):
    tare.quantize(demo / "mistral", tmp_path / "k4.mcf", "k4")
    text = "the model of the file is not on a row of this layer. " * 4
    found = tare.measure(tmp_path / "k4.mcf", demo / "mistral", text=text, write=True)
    compared = tare.compare(demo / "mistral", tmp_path / "k4.mcf", text=text)
    assert found.kl == compared.kl and found.ratio == compared.ratio and found.top_1 == compared.top_1 and found.kl[0] > 0
    assert found.source == tare.hash(demo / "mistral")
    with tare.open(tmp_path / "k4.mcf") as file:
        assert file.metadata["tare.quality.kl"] == found.kl[0]
    tare.convert(tmp_path / "k4.mcf", tmp_path / "f16.zt", dtype="f16")
    with tare.open(tmp_path / "f16.zt") as file:
        assert "tare.quality.kl" not in file.metadata
