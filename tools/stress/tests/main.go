// Command tests runs go test and prints a summary: the duration, the skipped tests with the
// reasons, and how to run them.
//
//	scripts/tool stress/tests ./...          what make test runs
//	scripts/tool stress/tests -short ./...
//	scripts/tool stress/tests -skipped < LOG   only what was skipped in a run; flags of go test may follow
//
// The arguments are passed to go test; -C DIR has to be the first. LOG is the output of "go test -v
// ./...", for example from a machine that lacks the programs that tests compare with. The exit code
// is go test's.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() {
	began := time.Now()
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "-skipped" {
		flags := args[1:]
		var err error
		if args, err = skippedIn(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "tests:", err)
			os.Exit(1)
		}
		args = append(flags, args...)
	}
	flags := []string{"test", "-json"}
	if len(args) > 1 && args[0] == "-C" { // the go command accepts it only as the first flag
		flags, args = []string{"test", "-C", args[1], "-json"}, args[2:]
	}
	cmd := exec.Command("go", append(flags, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
	s := newSummary(os.Stdout)
	if err := s.read(out); err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
	}
	err = cmd.Wait()
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.print(time.Since(began), spent)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
}

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// summary collects events and prints what go test would print: the result of each package, and the
// output of failed tests.
type summary struct {
	out             io.Writer
	passed, failed  int
	skipped         map[string][]string // skipped tests, by reason
	written         map[string][]string // output by package and test, until the test's result is known
	packagesWithout int                 // packages without tests
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, skipped: map[string][]string{}, written: map[string][]string{}}
}

func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				s.out.Write(line) // not JSON: printed by the go command itself
			} else {
				s.add(&e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) add(e *event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		switch {
		case e.Test != "":
			s.written[key] = append(s.written[key], e.Output)
		case strings.Contains(e.Output, "[no test files]"):
			s.packagesWithout++
		case e.Output != "PASS\n":
			fmt.Fprint(s.out, e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			return
		}
		switch e.Action {
		case "pass":
			s.passed++
		case "fail":
			s.failed++
			fmt.Fprint(s.out, strings.Join(s.written[key], ""))
		case "skip":
			why := reason(s.written[key])
			s.skipped[why] = append(s.skipped[why], e.Package+" "+e.Test)
		}
		delete(s.written, key)
	}
}

// reason returns the argument of Skip, which is in the last log line before the result.
func reason(output []string) string {
	why := ""
	for _, line := range output {
		if text := strings.TrimSpace(line); !strings.HasPrefix(text, "===") && !strings.HasPrefix(text, "---") {
			if _, rest, ok := strings.Cut(text, ".go:"); ok { // file.go:12: text
				if _, after, ok := strings.Cut(rest, ": "); ok {
					text = after
				}
			}
			why = cmp.Or(text, why)
		}
	}
	return cmp.Or(why, "no reason given")
}

func (s *summary) print(took, spent time.Duration) {
	byKind := map[string][]string{} // reasons by kind
	number := map[string]int{}      // number of tests by kind
	skips := 0
	for _, why := range slices.Sorted(maps.Keys(s.skipped)) {
		k := kindOf(why)
		switch {
		case k == nil:
			k = &kind{name: "another reason"}
		case k.name == inside.name:
			continue
		}
		byKind[k.name] = append(byKind[k.name], why)
		number[k.name] += len(s.skipped[why])
		skips += len(s.skipped[why])
	}
	fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped in %s (%s of processor time)\n",
		s.passed, s.failed, skips, took.Round(100*time.Millisecond), spent.Round(100*time.Millisecond))
	if skips == 0 {
		return
	}
	fmt.Fprintf(s.out, "Skipped, %d kinds of reasons:\n", len(byKind))
	for _, name := range slices.Sorted(maps.Keys(byKind)) {
		fmt.Fprintf(s.out, "  %s: %d\n", name, number[name])
		for _, why := range byKind[name] {
			tests, more := s.skipped[why], ""
			if len(tests) > 3 {
				more = fmt.Sprintf(" and %d more", len(tests)-3)
				tests = tests[:3]
			}
			fmt.Fprintf(s.out, "    %s\n      %s%s\n", why, strings.Join(tests, ", "), more)
		}
	}
	fmt.Fprint(s.out, "How to run them: .ci/run installs the oracles; without -short go test leaves nothing out for time;\n"+
		"make stress runs the regimes of docs/RELIABILITY.md at full length; mounting needs root.\n")
}
