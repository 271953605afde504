package cli

import (
	"bufio"
	"errors"
	"fmt"

	"quarry"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/search"
)

// list calls each for every path of a command that lists contents, such as find and symbols. each
// prints one path and returns the numbers of printed and skipped entries. noInput is the error if
// standard input is to be listed.
func list(s env.Streams, root string, paths []string, noInput string,
	each func(w *bufio.Writer, t *target) (n int, skipped []search.Skip, err error)) (found int, err error) {
	failed := false
	complain := func(err error) {
		failed = true
		fmt.Fprintf(s.Err, "quarry: %s\n", printing.EscapeLines(err.Error()))
	}
	ws := &workspaces{open: map[string]*quarry.Workspace{}}
	defer ws.close()
	targets, err := ws.find(root, paths, complain)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(s.Out, 64<<10)
	for i := range targets {
		t := &targets[i]
		if t.stdin {
			complain(errors.New("-: " + noInput))
			continue
		}
		n, skipped, err := each(w, t)
		if err != nil {
			return found, err
		}
		found += n
		for _, k := range skipped {
			complain(skipError(t, k))
		}
	}
	if err := w.Flush(); err != nil {
		return found, err
	}
	if failed {
		return found, env.ErrReported
	}
	return found, nil
}
