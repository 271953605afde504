// Command conformance runs other projects' test suites against Quarry and writes the results into
// docs/CONFORMANCE.md.
//
//	scripts/tool bench/conformance -suites DIR            print the table
//	scripts/tool bench/conformance -suites DIR -write     and put it into the document,
//	                                                  where rows not run are kept
//	scripts/tool bench/conformance -suites DIR -fetch     install the npm packages first
//
// DIR contains a checkout of each repository, under its name in the table. A missing one is
// reported as not run. Nothing of the checkouts becomes part of the project. Go's own tests of RE2
// are part of Go. The revision of a checkout is read from git or from its file REVISION.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

type run struct {
	dir, npm string
	rust     string
	failed   bool
}

func main() {
	var r run
	var fetch, write bool
	only := flag.String("only", "", "only suites whose name matches this expression")
	flag.StringVar(&r.dir, "suites", os.Getenv("QUARRY_SUITES"), "folder with a checkout of each suite")
	flag.StringVar(&r.npm, "npm", os.Getenv("QUARRY_NPM"), "folder node_modules; the default is npm/node_modules below -suites")
	flag.StringVar(&r.rust, "rust", os.Getenv("QUARRY_REBAR_RUST"), "rebar's runner of Rust's engine, for the table of speeds")
	flag.BoolVar(&fetch, "fetch", false, "install the packages of npm first")
	flag.BoolVar(&write, "write", false, "write docs/CONFORMANCE.md")
	flag.Parse()
	if err := r.main(*only, fetch, write); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func (r *run) main(only string, fetch, write bool) error {
	if r.dir == "" {
		return fmt.Errorf("name a folder with -suites; it has checkouts of %s", repositories)
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return err
	}
	r.dir = dir
	if r.npm == "" {
		r.npm = filepath.Join(dir, "npm", "node_modules")
	}
	if fetch {
		if err := r.fetch(); err != nil {
			return err
		}
	}
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| suite | what is compared | revision | tried | pass | documented difference | fail |\n|---|---|---|---:|---:|---|---:|\n")
	for i := range suites {
		if s := &suites[i]; re.MatchString(s.name) {
			line := r.row(s)
			fmt.Print(line)
			table.WriteString(line)
		}
	}
	speed := r.speed()
	if write {
		if err := document(table.String(), speed); err != nil {
			return err
		}
	}
	if r.failed {
		return fmt.Errorf("a suite has failures")
	}
	return nil
}

// fetch installs the npm packages with the npm of the node that runs the suites.
func (r *run) fetch() error {
	folder := filepath.Dir(r.npm)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	cmd := exec.Command("npm", append([]string{"install", "--no-audit", "--no-fund", "--silent", "node-" + runtime.GOOS + "-" + arch + "@22"}, packages...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	return cmd.Run()
}

// row runs one suite and returns its row.
func (r *run) row(s *suite) string {
	revision, why := r.revision(s)
	if why != "" {
		return fmt.Sprintf("| %s | %s | | not run: %s | | | |\n", s.name, s.what, why)
	}
	args := s.command
	if args == nil {
		args = []string{"go", "test", "-count=1", "-v", "-timeout", "60m", "-run", s.run, s.pkg}
	}
	args = append([]string(nil), args...)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", r.dir)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "QUARRY_SUITES="+r.dir, "QUARRY_NPM="+r.npm)
	if os.Getenv("QUARRY_RG") == "" {
		cmd.Env = append(cmd.Env, "QUARRY_RG="+filepath.Join(r.npm, "@vscode", "ripgrep-"+runtime.GOOS+"-"+strings.Replace(runtime.GOARCH, "amd64", "x64", 1), "bin", "rg"))
	}
	for k, v := range s.env {
		cmd.Env = append(cmd.Env, k+"="+strings.ReplaceAll(v, "DIR", r.dir))
	}
	out, err := cmd.CombinedOutput()
	n, ok := s.read(out)
	if !ok {
		why := "no result"
		if i := bytes.Index(out, []byte("--- SKIP")); i >= 0 {
			why = "skipped"
		} else if err != nil {
			r.failed = true
			why = "failed: " + lastLine(out)
		}
		return fmt.Sprintf("| %s | %s | %s | not run: %s | | | |\n", s.name, s.what, revision, why)
	}
	if err != nil && n.fail == 0 {
		n.fail, n.tried = 1, n.tried+1 // the test fails for a reason that its figures don't include
	}
	r.failed = r.failed || n.fail > 0
	documented := strconv.Itoa(n.documented)
	if n.documented > 0 {
		documented += ": " + s.differs
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %s | %d |\n", s.name, s.what, revision, n.tried, n.pass, documented, n.fail)
}

type numbers struct{ tried, pass, documented, fail int }

// read adds up the figures in a run's output.
func (s *suite) read(out []byte) (n numbers, ok bool) {
	for _, m := range s.line.FindAllSubmatch(out, -1) {
		ok = true
		var one numbers
		for i, name := range s.line.SubexpNames() {
			v, _ := strconv.Atoi(string(m[i]))
			switch name {
			case "tried":
				one.tried = v
			case "pass":
				one.pass = v
			case "documented":
				one.documented = v
			case "fail":
				one.fail = v
			}
		}
		one.tried = max(one.tried, one.pass+one.documented+one.fail)
		n = numbers{n.tried + one.tried, n.pass + one.pass, n.documented + one.documented, n.fail + one.fail}
	}
	return n, ok
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.ReplaceAll(lines[len(lines)-1], "|", "/")
}

// revision returns the version of a suite's checkout.
func (r *run) revision(s *suite) (revision, why string) {
	if s.from == "go" {
		return runtime.Version(), ""
	}
	if s.npm {
		data, err := os.ReadFile(filepath.Join(r.npm, s.from, "package.json"))
		var pkg struct{ Version string }
		if err != nil || json.Unmarshal(data, &pkg) != nil {
			return "", "npm's " + s.from + " is not installed"
		}
		return "npm " + pkg.Version, ""
	}
	dir := filepath.Join(r.dir, s.from)
	if _, err := os.Stat(dir); err != nil {
		return "", "no folder " + s.from
	}
	if data, err := os.ReadFile(filepath.Join(dir, "REVISION")); err == nil {
		return short(string(data)), ""
	}
	out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown", ""
	}
	return short(string(out)), ""
}

func short(revision string) string {
	revision = strings.TrimSpace(revision)
	return revision[:min(10, len(revision))]
}

// speed returns rebar's table if the runner for Rust's engine is given.
func (r *run) speed() string {
	if r.rust == "" {
		return ""
	}
	rebar := os.Getenv("QUARRY_REBAR") // this checkout may have other texts in place of the large ones
	if rebar == "" {
		rebar = filepath.Join(r.dir, "rebar")
	}
	out, err := exec.Command("scripts/tool", "bench/rebar", "-rebar", rebar, "-rust", r.rust, "-markdown", "-rounds", "2", "-time", "150ms").Output()
	fmt.Print(string(out))
	if err != nil && len(out) == 0 {
		return ""
	}
	return string(out)
}

// document replaces the text between the marks in docs/CONFORMANCE.md.
func document(table, speed string) error {
	const name = "docs/CONFORMANCE.md"
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text := between(string(data), "suites", merge(string(data), table))
	if speed != "" {
		text = between(text, "speed", speed)
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// merge keeps the old rows of suites that were not run, because some suites are slow.
func merge(old, table string) string {
	name := func(row string) string {
		cells := strings.SplitN(row, "|", 3)
		if len(cells) < 3 {
			return ""
		}
		return strings.TrimSpace(cells[1])
	}
	rows := map[string]string{}
	for row := range strings.Lines(old) {
		rows[name(row)] = row
	}
	for row := range strings.Lines(table) {
		if before, known := rows[name(row)]; !known || !strings.Contains(row, "not run: ") || strings.Contains(before, "not run: ") {
			rows[name(row)] = row
		}
	}
	var out strings.Builder
	for row := range strings.Lines(table) {
		if name(row) == "suite" || strings.HasPrefix(row, "|---") {
			out.WriteString(row)
		}
	}
	for i := range suites {
		out.WriteString(rows[suites[i].name])
	}
	return out.String()
}

func between(text, mark, with string) string {
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
	i, j := strings.Index(text, begin), strings.Index(text, end)
	if i < 0 || j < i {
		return text
	}
	return text[:i+len(begin)] + "\n" + with + "\n" + text[j:]
}
