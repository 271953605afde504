// Command hostile runs the built program with calls that are meant to exhaust it, each in its own
// process. It prints the peak memory, processor time and exit code of each call, and fails if one
// exceeds its limits.
//
//	scripts/tool stress/hostile          what make hostile runs
//	scripts/tool stress/hostile -write   and puts the table into docs/FIGURES.md
//	scripts/tool stress/hostile -only outline
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A trial is one call and its limits.
type trial struct {
	name   string
	args   []string
	in     func() string // standard input; nil if there is none
	memory int           // limit in MB
	cpu    time.Duration // limit
	want   string        // text that stdout or stderr must contain
}

func main() {
	write := flag.Bool("write", false, "put the table into docs/FIGURES.md")
	only := flag.String("only", "", "calls whose name matches this expression; no table is written then")
	prepare := flag.String("prepare", "", "make the workspace and what is read in this folder, and end")
	flag.Parse()
	if *prepare != "" {
		if err := fill(*prepare); err != nil {
			fmt.Fprintln(os.Stderr, "hostile:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*write, *only); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(write bool, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "quarry")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/quarry").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	// Use a separate process, because on Linux a parent's peak memory also counts for its children.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err := exec.Command(self, "-prepare", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("prepare: %w\n%s", err, out)
	}
	ws := filepath.Join(dir, "ws")
	var table strings.Builder
	table.WriteString("| call | peak memory | limit | processor time | limit | answer |\n|---|---|---|---|---|---|\n")
	over := 0
	for i, t := range trials(ws) {
		if !wanted.MatchString(t.name) {
			continue
		}
		got, err := t.measure(program, dir, ws, input(dir, i))
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		mark := ""
		if got.memory > t.memory || got.cpu > t.cpu || !strings.Contains(got.said, t.want) {
			over++
			mark = " **over**"
			fmt.Fprintf(os.Stderr, "%s: exit code %d, %.300s\n", t.name, got.code, got.said)
		}
		row := fmt.Sprintf("| %s | %d MB | %d MB | %.1f s | %.0f s | exit code %d%s |\n", t.name, got.memory, t.memory, got.cpu.Seconds(), t.cpu.Seconds(), got.code, mark)
		fmt.Print(row)
		table.WriteString(row)
	}
	if over > 0 {
		return fmt.Errorf("%d calls exceeded their limits or gave another answer", over)
	}
	if write && only == "" {
		return intoDocs("docs/FIGURES.md", table.String())
	}
	return nil
}

// input returns the path of the file for trial i's standard input.
func input(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("stdin-%d", i)) }

type taken struct {
	memory int
	cpu    time.Duration
	code   int
	said   string
}

// patience is the time after which a hanging call is killed.
const patience = 10 * time.Minute

func (t *trial) measure(program, home, ws, in string) (taken, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, t.args...)
	cmd.Dir = ws
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home}
	if t.in != nil {
		f, err := os.Open(in)
		if err != nil {
			return taken{}, err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	said := &head{}
	cmd.Stdout, cmd.Stderr = said, said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return taken{}, err
	}
	if ctx.Err() != nil {
		return taken{}, fmt.Errorf("no end after %v", patience)
	}
	return taken{
		memory: peakMemory(cmd.ProcessState), code: cmd.ProcessState.ExitCode(), said: said.String(),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}, nil
}

// head keeps only the first 64 KB written to it, unlike a bytes.Buffer.
type head struct{ kept []byte }

func (h *head) String() string { return string(h.kept) }

func (h *head) Write(b []byte) (int, error) {
	if room := 64<<10 - len(h.kept); room > 0 {
		h.kept = append(h.kept, b[:min(len(b), room)]...)
	}
	return len(b), nil
}

const begin, end = "<!-- hostile: begin -->\n", "<!-- hostile: end -->"

func intoDocs(file, table string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table", file)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644)
}
