tare tokens hub ab 'b a' --no-bos
tare tokens hub abab --pieces
tare tokens hub ab $'\xffa' --json
tare tokens hub ab --pieces --json
tare tokens hub --decode 2,0 --json
tare tokens hub --decode '2 1'
tare tokens chat.gguf the '<s>'
tare tokens chat.gguf '<s>the' --special --no-bos --pieces
printf 'ab\nab' | tare tokens hub
printf 'abb' > text.txt && tare tokens hub --file text.txt
# Tokens that spell a style together
cp -r hub styled && printf '{"decoder": {"type": "Fuse"}, "model": {"type": "WordLevel", "vocab": {"\\u001b": 0, "[31mred": 1}, "unk_token": "["}}' > styled/tokenizer.json
pty tare tokens styled --decode 0,1
# What is refused
tare tokens hub --decode 9
tare tokens hub --decode x
tare tokens hub a --decode 1
tare tokens hub --decode 1 --pieces
tare tokens tiny.zt a
tare tokens missing.zt a
