// Patches applies diffs of real commits to files that have changed since. It compares the results
// of quarry, git apply and GNU patch with the only right result, which the generator knows.
//
//	scripts/tool bench/patches -repos A:B:C [-n 2000] [-seed 1] [-show] [-spaces]
//
// A repository may be bare. A case is one file of one commit: its diff with 3, 1 or 0 lines of
// context, and the old file with one damage. The diff is in git's form or in plain form without an
// index line. For quarry alone, it may also be in Codex's form or have hunks without numbers. A
// patch that was applied is applied again, and must then be refused. The damage is made in lines
// that the commit does not change, in the old and the new file alike, so the right result is known.
// If a line that the diff removes is damaged, only a refusal is right.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/internal/patch"
)

func main() {
	repos := flag.String("repos", os.Getenv("QUARRY_GIT_REPOS"), "git repositories, with : between them")
	n := flag.Int("n", 2000, "cases")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	show := flag.Bool("show", false, "print each misplaced hunk of ours")
	spaces := flag.Bool("spaces", false, "edits with other white space instead of patches")
	flag.Parse()
	run := run
	if *spaces {
		run = runSpaces
	}
	if err := run(strings.Split(*repos, ":"), *n, *seed, *show); err != nil {
		fmt.Fprintln(os.Stderr, "patches:", err)
		os.Exit(1)
	}
}

var kinds = []string{
	"as it was", "lines added at the top", "lines added at the end", "first hunk's context damaged", "last hunk's context damaged", "middle hunk's context damaged",
	"a removed line damaged", "a block stands twice", "\\r\\n", "no newline at the end", "lines added in the middle",
}

// trial is one case of the comparison.
type trial struct {
	name, kind, form string
	width            int
	diff             []byte
	target           string
	want             string // the right result; "" means that the patch must be refused
	doubled          bool   // the file changed when the patch was applied again
}

// byHand reports whether the diff is in a form that git and GNU patch can't read.
func (t *trial) byHand() bool { return t.form == "codex" || t.form == "bare" }

// unique reports whether the old lines of each hunk occur only once in a text.
func unique(diff, text string) bool {
	_, body, _ := strings.Cut(diff, "\n@@")
	for _, hunk := range strings.Split(body, "\n@@") {
		_, lines, _ := strings.Cut(hunk, "\n")
		old := "\n"
		for line := range strings.Lines(lines) {
			if line[0] == ' ' || line[0] == '-' {
				old += strings.TrimSuffix(line[1:], "\n") + "\n"
			}
		}
		if at := strings.Index("\n"+text, old); at < 0 || strings.Contains(("\n" + text)[at+1:], old) {
			return false
		}
	}
	return true
}

// reform converts the diff to another form, with three lines of context. In a hunk without numbers,
// the old lines must occur only once in the original file. Otherwise, if the damage is at the right
// one of two equal places, only the wrong one would match.
func (t *trial) reform(rng *rand.Rand, before string) {
	if t.form = "git"; t.width < 3 {
		return
	}
	t.form = []string{"git", "plain", "codex", "bare"}[rng.IntN(4)]
	if t.byHand() && !unique(string(t.diff), before) {
		t.form = "plain"
	}
	var b strings.Builder
	for line := range strings.Lines(string(t.diff)) {
		switch {
		case t.form == "git":
			b.WriteString(line)
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "index "):
		case t.form == "codex" && (strings.HasPrefix(line, "--- a/f") || strings.HasPrefix(line, "\\")):
		case t.form == "codex" && strings.HasPrefix(line, "+++ b/f"):
			b.WriteString("*** Update File: f\n")
		case t.byHand() && strings.HasPrefix(line, "@@"):
			b.WriteString("@@\n")
		default:
			b.WriteString(line)
		}
	}
	if t.diff = []byte(b.String()); t.form == "codex" {
		t.diff = []byte("*** Begin Patch\n" + b.String() + "*** End Patch\n")
	}
}

func run(repos []string, n int, seed uint64, show bool) error {
	if len(repos) == 0 || repos[0] == "" {
		return errors.New("give -repos")
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	tally := map[string]map[string]*count{}
	all, loose := map[string]*count{}, map[string]*count{}
	made, again, doubled := 0, 0, 0
	for i, repo := range repos {
		ids, err := commits(repo)
		if err != nil {
			return err
		}
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		goal := n * (i + 1) / len(repos)
		for _, id := range ids {
			if made >= goal {
				break
			}
			t, err := newTrial(rng, repo, id)
			if err != nil || t == nil {
				continue
			}
			made++
			totals := all
			if t.byHand() {
				totals = loose
			}
			for tool, apply := range tools {
				if t.byHand() && tool != "quarry" {
					continue
				}
				got, ok, err := apply(t)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", tool, t.name, err)
				}
				for _, m := range []map[string]*count{totals, at(tally, fmt.Sprintf("%s -U%d, %s", t.form, t.width, t.kind))} {
					if m[tool] == nil {
						m[tool] = &count{}
					}
					m[tool].add(ok, got, t.want)
				}
				if show && tool == "quarry" && ok && got != t.want {
					fmt.Printf("misplaced: %s, -U%d, %s\n%s\n", t.name, t.width, t.kind, t.diff)
				}
				if tool == "quarry" && t.doubled {
					doubled++
					fmt.Printf("doubled: %s, %s, -U%d, %s\n", t.name, t.form, t.width, t.kind)
				}
				if tool == "quarry" && ok {
					again++
				}
			}
		}
	}
	if made < n {
		return fmt.Errorf("only %d of %d cases: the repositories have too few commits", made, n)
	}
	fmt.Printf("%d cases from %d repositories, none empty\n\n| | quarry | git apply | git apply --unidiff-zero | patch -F0 | patch |\n|---|---|---|---|---|---|\n", made, len(repos))
	row := func(name string, m map[string]*count) {
		fmt.Printf("| %s |", name)
		for _, tool := range []string{"quarry", "git", "git0", "patch0", "patch"} {
			fmt.Printf(" %v |", m[tool])
		}
		fmt.Println()
	}
	names := []string{}
	for k := range tally {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		row(k, tally[k])
	}
	row("**git's and plain diffs**: right, misplaced, refused", all)
	row("**Codex's and bare hunks**", loose)
	fmt.Printf("%d applied again: %d doubled\n", again, doubled)
	switch q, g := all["quarry"], all["git"]; {
	case doubled > 0:
		return fmt.Errorf("%d doubled", doubled)
	case q.wrong+loose["quarry"].wrong > 0:
		return fmt.Errorf("%d misplaced", q.wrong+loose["quarry"].wrong)
	case q.right < g.right:
		return fmt.Errorf("%d applied, git apply %d", q.right, g.right)
	case all["git0"].wrong+all["patch"].wrong == 0:
		return errors.New("no program misplaced a hunk: the cases show nothing")
	}
	return nil
}

func at(m map[string]map[string]*count, k string) map[string]*count {
	if m[k] == nil {
		m[k] = map[string]*count{}
	}
	return m[k]
}

type count struct{ right, wrong, refused int }

func (c *count) add(ok bool, got, want string) {
	switch {
	case !ok:
		c.refused++
	case got == want:
		c.right++
	default:
		c.wrong++
	}
}

func (c *count) String() string { return fmt.Sprintf("%d, %d, %d", c.right, c.wrong, c.refused) }

func git(repo string, args ...string) ([]byte, error) {
	return exec.Command("git", append([]string{"-C", repo}, args...)...).Output()
}

func commits(repo string) ([]string, error) {
	out, err := git(repo, "log", "--no-merges", "--format=%H", "-n", "12000")
	if err != nil {
		return nil, fmt.Errorf("git log in %s: %w", repo, err)
	}
	return strings.Fields(string(out)), nil
}

// segment is a run of lines, either kept by the commit or changed by it.
type segment struct {
	old, new []string
	changed  bool
}

// changedFile picks a text file changed by a commit, and returns it before and after the commit.
// The name is "" if no changed file is small, ends with a line feed and has no CRLF.
func changedFile(rng *rand.Rand, repo, id string) (name string, before, after []byte, err error) {
	out, err := git(repo, "diff", "--no-renames", "--diff-filter=M", "--name-only", "-z", id+"^", id)
	if err != nil {
		return "", nil, nil, err
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if name = names[rng.IntN(len(names))]; name == "" {
		return "", nil, nil, nil
	}
	if before, err = git(repo, "show", id+"^:"+name); err != nil {
		return "", nil, nil, err
	}
	if after, err = git(repo, "show", id+":"+name); err != nil {
		return "", nil, nil, err
	}
	ends := bytes.HasSuffix(before, []byte("\n")) && bytes.HasSuffix(after, []byte("\n"))
	if !ends || len(before) > 200_000 || bytes.IndexByte(before, 0) >= 0 || bytes.Contains(before, []byte("\r")) {
		return "", nil, nil, nil
	}
	return name, before, after, nil
}

// newTrial makes a case from a file that the commit changes; nil if there is no suitable file.
func newTrial(rng *rand.Rand, repo, id string) (*trial, error) {
	name, before, after, err := changedFile(rng, repo, id)
	if err != nil || name == "" {
		return nil, err
	}
	t := &trial{name: id[:10] + " " + name, kind: kinds[rng.IntN(len(kinds))], width: []int{3, 3, 1, 0}[rng.IntN(4)]}
	if t.diff, err = git(repo, "diff", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", fmt.Sprintf("-U%d", t.width), id+"^", id, "--", name); err != nil || len(t.diff) == 0 {
		return nil, err
	}
	// Use the same file name in all cases.
	t.diff = bytes.ReplaceAll(t.diff, []byte("a/"+name), []byte("a/f"))
	t.diff = bytes.ReplaceAll(t.diff, []byte("b/"+name), []byte("b/f"))
	bare, err := git(repo, "diff", "--no-color", "--no-ext-diff", "-U0", id+"^", id, "--", name)
	if err != nil {
		return nil, err
	}
	segs := segments(string(before), string(after), string(bare))
	if len(segs) < 3 { // no change, or only a mode change
		return nil, nil
	}
	t.reform(rng, string(before))
	return t, damage(rng, t, segs)
}

// segments divides the old and the new text at the hunks of a diff without context.
func segments(before, after, diff string) []segment {
	old, new := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	old, new = old[:len(old)-1], new[:len(new)-1]
	var segs []segment
	o, n := 0, 0
	for line := range strings.Lines(diff) {
		var a, b, c, d int
		if !strings.HasPrefix(line, "@@ ") {
			continue
		}
		f := strings.Fields(line)
		if a, b = span(f[1]); b == 0 {
			a++
		}
		if c, d = span(f[2]); d == 0 {
			c++
		}
		segs = append(segs, segment{old: old[o : a-1], new: new[n : c-1]}, segment{old: old[a-1 : a-1+b], new: new[c-1 : c-1+d], changed: true})
		o, n = a-1+b, c-1+d
	}
	segs = append(segs, segment{old: old[o:], new: new[n:]})
	for _, s := range segs {
		if !s.changed && !slices.Equal(s.old, s.new) {
			return nil
		}
	}
	return segs
}

func span(s string) (at, count int) {
	count = 1
	a, b, both := strings.Cut(s[1:], ",")
	fmt.Sscan(a, &at)
	if both {
		fmt.Sscan(b, &count)
	}
	return at, count
}

// damage sets target and want, made from the segments.
func damage(rng *rand.Rand, t *trial, segs []segment) error {
	segs = slices.Clone(segs)
	extra := func() []string {
		lines := make([]string, 1+rng.IntN(9))
		for i := range lines {
			lines[i] = fmt.Sprintf("added %d\n", rng.IntN(1_000_000))
		}
		return lines
	}
	same := func(i int, lines []string) { segs[i] = segment{old: lines, new: lines} }
	hunks := len(segs) / 2
	refuse := false
	near := func(k int) { // a line next to the k-th change
		if before := segs[2*k].old; len(before) > 0 && (rng.IntN(2) == 0 || len(segs[2*k+2].old) == 0) {
			lines := slices.Clone(before)
			lines[len(lines)-1] = "damaged " + lines[len(lines)-1]
			same(2*k, lines)
		} else if after := segs[2*k+2].old; len(after) > 0 {
			lines := slices.Clone(after)
			lines[0] = "damaged " + lines[0]
			same(2*k+2, lines)
		}
	}
	end := "\n"
	switch t.kind {
	case "lines added at the top":
		same(0, append(extra(), segs[0].old...))
	case "lines added at the end":
		same(len(segs)-1, append(slices.Clone(segs[len(segs)-1].old), extra()...))
	case "lines added in the middle":
		i := 2 * rng.IntN(hunks+1)
		cut := rng.IntN(len(segs[i].old) + 1)
		same(i, slices.Concat(segs[i].old[:cut], extra(), segs[i].old[cut:]))
	case "first hunk's context damaged":
		near(0)
	case "last hunk's context damaged":
		near(hunks - 1)
	case "middle hunk's context damaged":
		near(hunks / 2)
	case "a removed line damaged":
		i := 2*rng.IntN(hunks) + 1
		if len(segs[i].old) == 0 {
			t.kind = "as it was"
			break
		}
		lines := slices.Clone(segs[i].old)
		k := rng.IntN(len(lines))
		lines[k] = "damaged " + lines[k]
		segs[i].old, refuse = lines, true
	case "a block stands twice":
		i := 2*rng.IntN(hunks) + 1
		block := slices.Concat(last(segs[i-1].old, 3), segs[i].old, first(segs[i+1].old, 3))
		if rng.IntN(2) == 0 && i > 1 {
			same(0, append(block, segs[0].old...))
		} else { // not before the first hunk, where the copy could be at the hunk's line number
			same(len(segs)-1, append(slices.Clone(segs[len(segs)-1].old), block...))
		}
	case `\r\n`:
		end = "\r\n"
	case "no newline at the end":
		if tail := segs[len(segs)-1].old; len(tail) > 3 {
			lines := slices.Clone(tail)
			lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], "\n")
			same(len(segs)-1, lines)
		} else {
			t.kind = "as it was"
		}
	}
	var target, want strings.Builder
	for _, s := range segs {
		target.WriteString(strings.Join(s.old, ""))
		want.WriteString(strings.Join(s.new, ""))
	}
	t.target = strings.ReplaceAll(target.String(), "\n", end)
	if t.want = strings.ReplaceAll(want.String(), "\n", end); refuse {
		t.want = "\x00 nothing is right but a refusal"
	}
	return nil
}

func last(lines []string, n int) []string  { return slices.Clone(lines[max(0, len(lines)-n):]) }
func first(lines []string, n int) []string { return lines[:min(n, len(lines))] }

var tools = map[string]func(*trial) (string, bool, error){
	"quarry": ours,
	"git":    func(t *trial) (string, bool, error) { return outside(t, "git", "apply", "-p1") },
	"git0":   func(t *trial) (string, bool, error) { return outside(t, "git", "apply", "-p1", "--unidiff-zero") },
	"patch0": func(t *trial) (string, bool, error) { return outside(t, "patch", gnu("0")...) },
	"patch":  func(t *trial) (string, bool, error) { return outside(t, "patch", gnu("2")...) },
}

func gnu(fuzz string) []string {
	return []string{"-p1", "--fuzz=" + fuzz, "--batch", "--forward", "--no-backup-if-mismatch", "--reject-file=-", "--silent"}
}

func ours(t *trial) (string, bool, error) {
	dir, err := os.MkdirTemp("", "patches-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "w", "f")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.Mkdir(filepath.Join(dir, "s"), 0o700), os.WriteFile(file, []byte(t.target), 0o644)); err != nil {
		return "", false, err
	}
	ws, err := quarry.Open(filepath.Dir(file), &quarry.Options{StateDir: filepath.Join(dir, "s")})
	if err != nil {
		return "", false, err
	}
	defer ws.Close()
	ops, err := patch.Parse(string(t.diff), -1)
	if err != nil {
		return "", false, fmt.Errorf("%w\n%s", err, t.diff)
	}
	for i := range ops {
		for k := range ops[i].Edits {
			ops[i].Edits[k].Lenient = t.byHand()
		}
	}
	_, applyErr := ws.Apply(context.Background(), change.Set{Ops: ops})
	now, err := os.ReadFile(file)
	if applyErr == nil && err == nil {
		_, _ = ws.Apply(context.Background(), change.Set{Ops: ops}) // the file shows whether it was refused
		again, readErr := os.ReadFile(file)
		t.doubled, err = string(again) != string(now), readErr
	}
	if applyErr != nil && string(now) != t.target {
		err = errors.Join(err, fmt.Errorf("refused and changed: %w", applyErr))
	}
	return string(now), applyErr == nil, err
}

func outside(t *trial, program string, args ...string) (string, bool, error) {
	dir, err := os.MkdirTemp("", "patches-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(t.target), 0o644); err != nil {
		return "", false, err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(t.diff)
	failed := cmd.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return "", false, failed
	}
	now, err := os.ReadFile(file)
	return string(now), failed == nil, err
}
