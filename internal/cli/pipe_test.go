package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// Text from a pipe, in pieces of any size, is searched like the same text in a file, and no files
// are searched. If a path is given, the pipe is not read.
func TestPipedInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "other.txt": "foo in the folder\n"})
	run := stress.Start(t, "standard input", 100, 5_000)
	flags := [][]string{{}, {"-c"}, {"-n"}, {"-o"}, {"-v"}, {"-C1"}, {"--json"}, {"-U"}, {"--count-matches"}, {"-m", "3"}}
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		var text strings.Builder
		for range rng.IntN(400) {
			text.WriteString([]string{"foo", "bar", "\n", "foo\n", " baz\r\n", strings.Repeat("x", rng.IntN(9000))}[rng.IntN(6)])
		}
		if err := os.WriteFile("in.txt", []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"search"}, flags[rng.IntN(len(flags))]...)
		args = append(args, "foo")
		search := func(piped bool, paths ...string) (string, int) {
			s := Streams{}
			var out, errs bytes.Buffer
			s.Out, s.Err = &out, &errs
			in, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			s.In = in
			sent := make(chan bool)
			go func() {
				defer close(sent)
				defer w.Close()
				for rest := text.String(); piped && rest != ""; {
					n := min(len(rest), 1+rng.IntN(5000))
					if _, err := w.WriteString(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
			}()
			code := Run(t.Context(), append(args[:len(args):len(args)], paths...), s)
			in.Close()
			<-sent
			said := out.String()
			for _, last := range []string{`"type":"end"`, `"type":"summary"`} {
				said, _, _ = strings.Cut(said, last) // the rest has times
			}
			return strings.ReplaceAll(said, "<stdin>", "in.txt"), code
		}
		want, wantCode := search(false, "in.txt")
		for _, paths := range [][]string{nil, {"-"}} {
			if got, code := search(true, paths...); got != want || code != wantCode {
				run.Violation(seed, "%q %v: exit code %d, want %d; %s", args, paths, code, wantCode, fmt.Sprintf("%.300q, want %.300q", got, want))
			}
		}
		if got, _ := search(true, "other.txt"); strings.Contains(got, "xxx") || strings.Contains(got, "baz") {
			run.Violation(seed, "%q: with a path, the pipe was searched: %.300q", args, got)
		}
	}
}
