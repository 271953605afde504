// Command fuzz runs every native fuzz target for the same time and prints the executions
// per second and per second of processor time, which is independent of other programs. It
// fails if a target fails, or if both rates are below -rate: a slower target tries
// too few inputs.
//
//	scripts/tool stress/fuzz -time 20s              what make fuzz runs
//	scripts/tool stress/fuzz -only 'backref|symbols' -time 10m
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a fuzz target with its result.
type target struct {
	pkg, name string
	dir       string // folder of the package
	execs     int
	known     int           // number of these inputs that were known before
	before    time.Duration // processor time used for the known inputs; 0 if unknown
	rate      float64       // executions per second after the known inputs
	work      float64       // executions per second of processor time, of all workers together, after the known inputs
	err       error
}

func (t *target) String() string { return t.pkg + " " + t.name }

func main() {
	if os.Getenv(asCompiler) != "" && len(os.Args) > 1 {
		os.Exit(runTool(os.Args[1:]))
	}
	each := flag.Duration("time", 20*time.Second, "how long each target runs")
	least := flag.Float64("rate", 1000, "executions a second that a target makes at least")
	only := flag.String("only", "", "targets whose package or name matches this expression")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *each, *least, *only); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, each time.Duration, least float64, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	list, err := exec.CommandContext(ctx, "go", "list", "-f", packageFormat, "./...").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	targets, err := targetsOf(string(list))
	if err != nil {
		return err
	}
	targets = slices.DeleteFunc(targets, func(t *target) bool { return !wanted.MatchString(t.String()) })
	if len(targets) == 0 {
		return errors.New("no fuzz target matches")
	}
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built := builder{dir: dir, programs: map[string]string{}}
	for i, t := range targets {
		fmt.Printf("%d of %d: %s\n", i+1, len(targets), t)
		if t.run(ctx, each, &built); t.err != nil {
			fmt.Println("FAILED:", t.err)
		} else {
			fmt.Printf("  %d executions, %.0f a second, %.0f a second of processor time\n", t.execs, t.rate, t.work)
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
	}
	slices.SortFunc(targets, func(a, b *target) int { return cmp.Compare(a.work, b.work) })
	fmt.Printf("\n%-60s %12s %12s %20s\n", "target, the slowest first", "executions", "a second", "of processor time")
	failed, slow := 0, 0
	for _, t := range targets {
		mark := ""
		switch {
		case t.err != nil:
			failed++
			mark = "  FAILED"
		case max(t.rate, t.work) < least:
			slow++
			mark = "  slow"
		}
		fmt.Printf("%-60s %12d %12.0f %20.0f%s\n", t, t.execs, t.rate, t.work, mark)
	}
	if failed+slow > 0 {
		return fmt.Errorf("of %d targets %d failed and %d made fewer than %.0f executions a second", len(targets), failed, slow, least)
	}
	return nil
}

// packageFormat makes go list print a line for each package, with its name, folder and test files.
const packageFormat = `{{.ImportPath}}{{"\t"}}{{.Dir}}{{range .TestGoFiles}}{{"\t"}}{{.}}{{end}}{{range .XTestGoFiles}}{{"\t"}}{{.}}{{end}}`

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(f \*testing\.F\)`)

// targetsOf returns the fuzz targets in the test files of packages. It doesn't use go test -list,
// which would build all packages first and take minutes.
func targetsOf(list string) (out []*target, err error) {
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) < 3 {
			continue
		}
		for _, file := range fields[2:] {
			text, err := os.ReadFile(filepath.Join(fields[1], file))
			if err != nil {
				return nil, err
			}
			for _, m := range declared.FindAllSubmatch(text, -1) {
				out = append(out, &target{pkg: fields[0], dir: fields[1], name: string(m[1])})
			}
		}
	}
	return out, nil
}

// builder builds the test program of each package once, with fuzzing enabled.
type builder struct {
	dir      string
	programs map[string]string // by package
}

func (b *builder) program(ctx context.Context, pkg string) (string, error) {
	if p := b.programs[pkg]; p != "" {
		return p, nil
	}
	p := filepath.Join(b.dir, fmt.Sprint(len(b.programs), ".test"))
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=^Fuzz", "-toolexec", self, "-o", p, pkg)
	cmd.Env = append(os.Environ(), asCompiler+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	b.programs[pkg] = p
	return p, nil
}

// minimize disables the minimization of inputs that reach new code. It takes Go up to a minute for
// each input, without counting the executions, so targets that find many inputs seemed to make only
// ten executions a second. Failing inputs are stored unchanged; go test -fuzz minimizes them later,
// because it reads them first.
const minimize = "0x"

func (t *target) run(ctx context.Context, each time.Duration, built *builder) {
	program, err := built.program(ctx, t.pkg)
	if err != nil {
		t.err = err
		return
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.err = err
		return
	}
	cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+each.String(), "-test.fuzzminimizetime="+minimize,
		"-test.fuzzcachedir="+filepath.Join(cache, "quarry-fuzz", t.pkg))
	cmd.Dir = t.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.err = err
		return
	}
	cmd.Stderr = cmd.Stdout
	if t.err = cmd.Start(); t.err != nil {
		return
	}
	tail := t.read(out, func() time.Duration { return used(cmd.Process.Pid) })
	if t.err = cmd.Wait(); t.err != nil {
		fmt.Println(strings.Join(tail, "\n"))
	}
	if p := cmd.ProcessState; p != nil { // includes the workers, which the process has waited for
		t.work = float64(t.execs-t.known) / (p.UserTime() + p.SystemTime() - t.before).Seconds()
	}
}

// The lines that go test prints after the known inputs and then every three seconds.
var (
	begins   = regexp.MustCompile(`^fuzz: elapsed: ([^,]+), gathering baseline coverage: (\d+)/\d+ completed, now fuzzing`)
	progress = regexp.MustCompile(`^fuzz: elapsed: ([^,]+), execs: (\d+)`)
)

// read parses the counts and returns the last lines. used returns the processor time used so far.
func (t *target) read(out io.Reader, used func() time.Duration) (tail []string) {
	var first, last time.Duration
	known := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if tail = append(tail, line); len(tail) > 60 {
			tail = tail[1:]
		}
		start := begins.FindStringSubmatch(line)
		m := start
		if m == nil {
			m = progress.FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		elapsed, errTime := time.ParseDuration(m[1])
		n, err := strconv.Atoi(m[2])
		if errTime != nil || err != nil {
			continue
		}
		t.execs, last = n, elapsed
		if start != nil {
			first, known = elapsed, n
			if t.before = used(); t.before > 0 {
				t.known = n
			}
		}
	}
	if last > first {
		t.rate = float64(t.execs-known) / (last - first).Seconds()
	}
	return tail
}

// used returns the processor time of a process and its children so far; 0 without
// /proc.
func used(pid int) (sum time.Duration) {
	const tick = time.Second / 100 // the kernel's unit
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name in brackets may have spaces. Fields 14 to 17 are utime, stime and the times of
	// ended children.
	if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(f) > 14 {
		for _, ticks := range f[11:15] {
			if n, err := strconv.Atoi(ticks); err == nil {
				sum += time.Duration(n) * tick
			}
		}
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the only possible error is an invalid pattern
	for _, list := range lists {
		children, _ := os.ReadFile(list) // fails if the process has just ended
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				sum += used(n)
			}
		}
	}
	return sum
}
