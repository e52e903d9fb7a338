import os

from worst.common import case, name, numbered, put, repeated
from worst.safetensors import TENSOR, safetensors

def directory_with(directory, **files):
    home = os.path.join(directory, "model")
    safetensors(home, "{%s}" % TENSOR, name="model.safetensors")
    put(home, "config.json", files.pop("config", '{"model_type":"llama"}'))
    for name, text in files.items():
        put(home, name.replace("__", "."), text)
    return home


@case
def config_nan(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"NaN", size) + b"]}")


@case
def config_infinities(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"-Infinity", size) + b"]}")


@case
def config_keys(directory, size):
    return directory_with(directory, config='{"model_type":"llama",%s}' % numbered('"%s":1', size))


@case
def config_objects(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"{}", size) + b"]}")


@case
def vocab_txt_line_feeds(directory, size):
    return directory_with(directory, vocab__txt=b"[UNK]" + b"\n" * size)


@case
def vocab_txt_words(directory, size):
    return directory_with(directory, vocab__txt=numbered("%s", size, "\n"))


@case
def tokenizer_tokens(directory, size):
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % ",".join(
        '"%s":%d' % (name(i), i) for i in range(size // 13)))


@case
def tokenizer_merges(directory, size):
    return directory_with(
        directory, tokenizer__json='{"model":{"type":"BPE","vocab":{"a":0,"aa":1},"merges":[%s]}}' % ",".join(
            ['"a a"'] * (size // 6)))


@case
def tokenizer_added(directory, size):
    added = ",".join('{"id":%d,"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, tokenizer__json='{"added_tokens":[%s],"model":{"type":"BPE","vocab":{"a":0},'
                                                     '"merges":[]}}' % added)


@case
def tokenizer_far_ids(directory, size):
    vocab = ",".join('"%s":%d' % (name(i), i * 1000) for i in range(size // 16))
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % vocab)


@case
def tokenizer_config_added(directory, size):
    added = ",".join('"%d":{"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, vocab__txt="a\nb\n",
                          tokenizer_config__json='{"added_tokens_decoder":{%s}}' % added)


@case
def tare_json_added(directory, size):
    home = os.path.join(directory, "model")
    put(home, "config.json", '{"model_type":"llama"}')
    safetensors(home, '{"__metadata__":{%s},%s}' % (numbered('"%s":"v"', size // 2), TENSOR),
                name="model.safetensors")
    put(home, "tare.json", '{"tare":1,"added":[%s]}' % numbered('"%s.x"', size // 2))
    return home


@case
def tare_json_made(directory, size):
    home = directory_with(directory)
    for i in range(min(1000, size // 1000)):
        put(home, "additional_chat_templates/%d.jinja" % i, "x")
    put(home, "tare.json", '{"tare":1,"made":[%s]}' % numbered('"%s.x"', size))
    return home


@case
def tare_json_zeros(directory, size):
    return directory_with(directory, tare__json=b'{"tare":1,"config":{"x":[' + repeated(b"0", size) + b"]}}")
