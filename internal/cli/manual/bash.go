package manual

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"
)

// bashWords replaces the functions of the bash-completion package that cobra's script calls. Many
// machines lack that package, and then pressing Tab printed "command not found". Bash also splits
// words at = and :, so parts without a blank between them are joined again.
const bashWords = `
__quarry_words()
{
    local rest=$COMP_LINE at=0 i gap part
    words=() cword=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        gap=${rest%%[![:space:]]*}
        part=${COMP_WORDS[i]}
        rest=${rest:${#gap}+${#part}}
        at=$((at + ${#gap}))
        if ((i == 0 || ${#gap} > 0)); then
            cword=$((cword + 1))
            words[cword]=
        fi
        if ((i == COMP_CWORD && COMP_POINT - at >= 0)); then
            part=${part:0:COMP_POINT-at} # up to the cursor
        fi
        words[cword]+=$part
        at=$((at + ${#part}))
    done
    cur=${words[cword]} prev=
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
}

__quarry_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local IFS=$'\n' kind=-f
    if [[ ${1-} == -d ]]; then
        kind=-d
    fi
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen $kind -- "$cur"))
}
`

// writeBash writes a completion script that needs only bash.
func writeBash(root *cobra.Command, w io.Writer) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("_filedir"), []byte("__quarry_filedir"))
	text = bytes.Replace(text, []byte(`_get_comp_words_by_ref "$@" cur prev words cword`), []byte("__quarry_words"), 1)
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = append(text[:i+1:i+1], append([]byte(bashWords), text[i+1:]...)...)
	}
	_, err := w.Write(text)
	return err
}
