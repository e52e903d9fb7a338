# the manual page and the completions name every verb and every option
tare man > tare.1; for verb in $(tare help --all | sed -n 's/^  \([a-z]*\) .*/\1/p'); do grep -q "^.Ss \"tare $verb\"" tare.1 || echo no $verb; done
for verb in $(tare help --all | sed -n 's/^  \([a-z]*\) .*/\1/p'); do tare help $verb; done | grep -o '^  [-, a-z]*--[a-z0-9-]*' | grep -o '[a-z][a-z0-9-]*$' | sort -u | while read option; do tr -d '\\' < tare.1 | grep -q -- "Fl -$option\( \|$\)" || echo no $option; done
for verb in $(tare help --all | sed -n 's/^  \([a-z]*\) .*/\1/p'); do tare help $verb | grep -q '^Example' || echo no example: $verb; done
tare man | head -6
if command -v mandoc > /dev/null; then mandoc -Tlint -Wwarning tare.1; fi
tare completions bash > tare.bash && bash -n tare.bash
source tare.bash; COMP_WORDS=(tare l); COMP_CWORD=1; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare ls --s); COMP_CWORD=2; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare ls --sort n); COMP_CWORD=3; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare ls --sort = s); COMP_CWORD=4; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare info ti); COMP_CWORD=2; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare help ver); COMP_CWORD=2; _tare; echo "${COMPREPLY[@]}"
source tare.bash; COMP_WORDS=(tare show tiny.zt ''); COMP_CWORD=3; _tare; echo "${COMPREPLY[@]}"
tare cat --as npy tiny.zt w -o '$(touch owned).npy'; source tare.bash; COMP_WORDS=(tare cat --as raw '$(touch owned).npy' ''); COMP_CWORD=5; _tare; echo "${COMPREPLY[@]}"; test ! -e owned
tare completions zsh | head -2; if command -v zsh > /dev/null; then tare completions zsh | zsh -n; fi
tare completions fish | head -1; if command -v fish > /dev/null; then tare completions fish > tare.fish && fish -n tare.fish; fi
