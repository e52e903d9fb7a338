tare vocab chat.gguf
tare vocab hub
pty --stdout tare vocab chat.gguf --type control
tare vocab chat.gguf '<s>' the
tare vocab chat.gguf '▁the' 'new\nline' ' a '
tare vocab chat.gguf --id 2 --id 0
tare vocab chat.gguf --find the
tare vocab chat.gguf --find the --type user_defined
tare vocab chat.gguf the --type user_defined
tare vocab hub --merges
tare vocab hub --merges --find b --json
tare vocab chat.gguf --id 3 --json
tare vocab hub ab --json
# nothing found
tare vocab chat.gguf nothing
tare vocab chat.gguf '<s>' nothing '</s>'
tare vocab chat.gguf --id 8
tare vocab chat.gguf --id x
tare vocab chat.gguf --find xyz
tare vocab chat.gguf --type byte
tare vocab chat.gguf --type strange
tare vocab chat.gguf --merges
tare vocab chat.gguf --merges the
tare vocab tiny.zt
tare vocab missing.zt
