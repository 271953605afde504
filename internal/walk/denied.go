package walk

import (
	"strings"

	"quarry/internal/ignore"
	"quarry/internal/policy"
)

// deny counts an entry that the policy denies, provided that the walk would otherwise list it.
func (w *worker) deny(t *task, shown string, frame *ignore.Frame, name string, isDir bool, v policy.Verdict) {
	path := join(shown, name)
	if t.ignored {
		return
	}
	answer := frame.Answer(path, name, isDir)
	if answer == ignore.Ignore || name[0] == '.' && !w.opts.Hidden && (answer != ignore.Keep || w.opts.StrictHidden) {
		return
	}
	f := w.opts.Filter
	switch {
	case isDir:
		if w.opts.MaxDepth > 0 && t.depth+1 >= w.opts.MaxDepth || f != nil && !f.Descend(path[w.below:]) {
			return
		}
	case f != nil && !f.MatchFile(path[w.below:]) || w.opts.Denied != nil && !w.opts.Denied(shown, name):
		return
	}
	w.denied++
	if v == policy.Secret && len(w.secrets) < maxSecrets {
		w.secrets = append(w.secrets, strings.Clone(path))
	}
}

// maxSecrets limits the number of secrets that each worker records. If there are more, the recorded
// ones may not be the first in path order.
const maxSecrets = 1000
