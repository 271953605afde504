package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"quarry/change"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// The edits in this file come from real commits, but their texts differ from the file in white
// space. The right result is the commit's. Stale edits are for a place that was modified since, so
// only a refusal is right.

// textEdit is one change of a commit, with surrounding lines.
type textEdit struct {
	name, file string   // the name and the text of the file
	old, new   []string // lines including their endings
	later      string   // the file after the commit
}

// newEdit picks one change in a file changed by a commit. It returns nil if no change has an old
// text that occurs exactly once.
func newEdit(rng *rand.Rand, repo, id string) (*textEdit, error) {
	name, before, after, err := changedFile(rng, repo, id)
	if err != nil || name == "" {
		return nil, err
	}
	bare, err := git(repo, "diff", "--no-color", "--no-ext-diff", "-U0", id+"^", id, "--", name)
	if err != nil {
		return nil, err
	}
	segs := segments(string(before), string(after), string(bare))
	if len(segs) < 3 {
		return nil, nil
	}
	i := 2*rng.IntN(len(segs)/2) + 1
	head, tail := last(segs[i-1].old, rng.IntN(4)), first(segs[i+1].old, rng.IntN(4))
	e := &textEdit{name: name, file: string(before), later: string(after)}
	e.old, e.new = slices.Concat(head, segs[i].old, tail), slices.Concat(head, segs[i].new, tail)
	old := strings.Join(e.old, "")
	// If the commit itself replaces tabs by spaces, it isn't known which white space is right.
	if tabs := func(l []string) bool { return strings.Contains(strings.Join(l, ""), "\n\t") }; tabs(head) != tabs(e.new) && tabs(e.old) != tabs(e.new) {
		return nil, nil
	}
	if strings.Count(e.file, old) != 1 || len(e.old) > 60 || !longEnough(e.old) {
		return nil, nil
	}
	return e, nil
}

// longEnough reports whether lines are long enough to be found despite different white space: two
// lines, or 20 characters that are not white space.
func longEnough(lines []string) bool {
	solid, chars := 0, 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			solid++
		}
		chars += len(strings.Join(strings.Fields(l), ""))
	}
	return solid >= 2 || chars >= 20
}

func indented(line string) (indent, rest string) {
	rest = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest
}

// each applies f to the lines that are not blank.
func each(lines []string, f func(string) string) []string {
	out := slices.Clone(lines)
	for i, l := range out {
		if strings.TrimSpace(l) != "" {
			out[i] = f(l)
		}
	}
	return out
}

// spaceSlips are typical mistakes in white space that models make when they copy text. They affect
// the old and the new text alike. A function returns false if it would change nothing.
var spaceSlips = []struct {
	name string
	do   func(rng *rand.Rand, e *textEdit) bool
}{
	{"spaces for tabs", func(rng *rand.Rand, e *textEdit) bool {
		return retab(e, strings.Repeat(" ", []int{4, 4, 2}[rng.IntN(3)]))
	}},
	{"tabs for spaces", func(_ *rand.Rand, e *textEdit) bool { return respace(e, "\t") }},
	{"2 spaces for 4", func(_ *rand.Rand, e *textEdit) bool { return respace(e, "  ") }},
	{"without the common indent", func(_ *rand.Rand, e *textEdit) bool {
		base := commonIndent(slices.Concat(e.old, e.new))
		cut := func(l string) string { return strings.TrimPrefix(l, base) }
		e.old, e.new = each(e.old, cut), each(e.new, cut)
		return base != ""
	}},
	{"spaces at the ends of lines", func(rng *rand.Rand, e *textEdit) bool {
		// Add the spaces to the file instead, because models copy the text without them.
		lines := strings.SplitAfter(e.file, "\n")
		old := strings.Join(e.old, "")
		at := strings.Count(e.file[:strings.Index(e.file, old)], "\n")
		for i := range e.old {
			if strings.TrimSpace(lines[at+i]) != "" && rng.IntN(2) == 0 {
				lines[at+i] = strings.TrimSuffix(lines[at+i], "\n") + "  \n"
			}
		}
		e.file = strings.Join(lines, "")
		return true
	}},
}

// retab replaces tabs by unit.
func retab(e *textEdit, unit string) bool {
	found := false
	do := func(l string) string {
		in, rest := indented(l)
		found = found || strings.Contains(in, "\t")
		return strings.ReplaceAll(in, "\t", unit) + rest
	}
	e.old, e.new = each(e.old, do), each(e.new, do)
	return found
}

// respace replaces every 4 spaces of indentation by unit. It returns false if an indentation is not
// a multiple of 4.
func respace(e *textEdit, unit string) bool {
	found, ok := false, true
	do := func(l string) string {
		in, rest := indented(l)
		if strings.Trim(in, " ") != "" || len(in)%4 != 0 {
			ok = false
		}
		found = found || in != ""
		return strings.Repeat(unit, len(in)/4) + rest
	}
	e.old, e.new = each(e.old, do), each(e.new, do)
	return found && ok
}

func commonIndent(lines []string) string {
	base, any := "", false
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		in, _ := indented(l)
		if !any {
			base, any = in, true
		}
		for !strings.HasPrefix(in, base) {
			base = base[:len(base)-1]
		}
	}
	return base
}

// staleKinds are ways to modify the place that an edit is for.
var staleKinds = []struct {
	name string
	do   func(rng *rand.Rand, e *textEdit) bool
}{
	{"made already", func(_ *rand.Rand, e *textEdit) bool { e.file = e.later; return true }},
	{"a word changed in the text to be replaced", func(rng *rand.Rand, e *textEdit) bool {
		old := strings.Join(e.old, "")
		var words []int
		for i, l := range e.old {
			if strings.ContainsAny(l, "abcdefghijklmnopqrstuvwxyz") {
				words = append(words, i)
			}
		}
		if len(words) == 0 {
			return false
		}
		lines := slices.Clone(e.old)
		k := words[rng.IntN(len(words))]
		at := strings.IndexAny(lines[k], "abcdefghijklmnopqrstuvwxyz")
		lines[k] = lines[k][:at] + "changed_" + lines[k][at:]
		e.file = strings.Replace(e.file, old, strings.Join(lines, ""), 1)
		return true
	}},
	{"a line of the place gone", func(rng *rand.Rand, e *textEdit) bool {
		if len(e.old) < 2 {
			return false
		}
		k := rng.IntN(len(e.old))
		if strings.TrimSpace(e.old[k]) == "" {
			return false
		}
		e.file = strings.Replace(e.file, strings.Join(e.old, ""), strings.Join(slices.Delete(slices.Clone(e.old), k, k+1), ""), 1)
		return true
	}},
	{"re-indented as a whole", func(_ *rand.Rand, e *textEdit) bool {
		if commonIndent(e.old) == "" {
			return false // looks the same as a text that has lost its indentation
		}
		step := "    "
		if strings.Contains(e.file, "\n\t") {
			step = "\t"
		}
		e.file = strings.Replace(e.file, strings.Join(e.old, ""), strings.Join(each(e.old, func(l string) string { return step + l }), ""), 1)
		return true
	}},
	{"re-indented in part, where that means something", func(rng *rand.Rand, e *textEdit) bool {
		if !slices.Contains([]string{".py", ".yml", ".yaml", ".md", ".rst", ".sh", ".html"}, path.Ext(e.name)) || len(e.old) < 2 {
			return false
		}
		lines := slices.Clone(e.old)
		solid, moved := 0, 0
		for i, l := range lines {
			if strings.TrimSpace(l) == "" {
				continue
			}
			if solid++; rng.IntN(2) == 0 {
				lines[i] = "    " + l
				moved++
			}
		}
		e.file = strings.Replace(e.file, strings.Join(e.old, ""), strings.Join(lines, ""), 1)
		return moved > 0 && moved < solid
	}},
}

// edited applies an edit in the way a model would send it.
func (e *textEdit) edited() (got string, ok bool, err error) {
	doc, err := textfile.New([]byte(e.file))
	if err != nil {
		return "", false, err
	}
	c, refused := textedit.ApplyTo(e.name, textfile.InMemory(doc), textedit.DefaultMaxSize, nil, change.Edit{Old: strings.Join(e.old, ""), New: strings.Join(e.new, ""), Lenient: true})
	if refused != nil {
		return "", false, nil
	}
	return string(c.Bytes()), true, nil
}

// runSpaces tries n edits with other white space and n stale ones.
func runSpaces(repos []string, n int, seed uint64, show bool) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	fresh, stale := map[string]*count{}, map[string]*count{}
	freshAll, staleAll := &count{}, &count{}
	for i, repo := range repos {
		ids, err := commits(repo)
		if err != nil {
			return err
		}
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		goal := n * (i + 1) / len(repos)
		for _, id := range ids {
			done := func(c *count) bool { return c.right+c.wrong+c.refused >= goal }
			if done(freshAll) && done(staleAll) {
				break
			}
			real, err := newEdit(rng, repo, id)
			if err != nil || real == nil {
				continue
			}
			if !done(freshAll) {
				if err := tryFresh(rng, *real, fresh, freshAll, show); err != nil {
					return fmt.Errorf("%s %s: %w", id, real.name, err)
				}
			}
			if !done(staleAll) {
				if err := tryStale(rng, *real, stale, staleAll, show); err != nil {
					return fmt.Errorf("%s %s: %w", id, real.name, err)
				}
			}
		}
	}
	print := func(title string, m map[string]*count, all *count) {
		fmt.Printf("| %s: right, wrong, refused | |\n|---|---|\n", title)
		names := []string{}
		for k := range m {
			names = append(names, k)
		}
		slices.Sort(names)
		for _, k := range names {
			fmt.Printf("| %s | %v |\n", k, m[k])
		}
		fmt.Printf("| **all** | %v |\n\n", all)
	}
	fmt.Printf("edits of real commits from %d repositories, none empty\n\n", len(repos))
	print("other white space", fresh, freshAll)
	print("stale", stale, staleAll)
	switch {
	case freshAll.right+freshAll.wrong+freshAll.refused < n || staleAll.right+staleAll.wrong+staleAll.refused < n:
		return errors.New("the repositories have too few commits")
	case freshAll.wrong > 0 || staleAll.right+staleAll.wrong > 0:
		return fmt.Errorf("%d wrong, %d stale ones taken", freshAll.wrong, staleAll.right+staleAll.wrong)
	case freshAll.right*10 < n*9:
		return fmt.Errorf("only %d of %d taken", freshAll.right, n)
	}
	return nil
}

func at1(m map[string]*count, k string) *count {
	if m[k] == nil {
		m[k] = &count{}
	}
	return m[k]
}

func tryFresh(rng *rand.Rand, e textEdit, tally map[string]*count, all *count, show bool) error {
	want := strings.Replace(e.file, strings.Join(e.old, ""), strings.Join(e.new, ""), 1)
	slip := spaceSlips[rng.IntN(len(spaceSlips))]
	exact := e
	if !slip.do(rng, &e) || strings.Contains(e.file, strings.Join(e.old, "")) {
		return nil
	}
	got, ok, err := e.edited()
	if err != nil {
		return err
	}
	if e.file != exact.file {
		// Spaces were added to the file. They must remain in lines that the edit keeps.
		trim := func(s string) string {
			return strings.Join(each(strings.SplitAfter(s, "\n"), func(l string) string { return strings.TrimRight(l, " \t\n") + "\n" }), "")
		}
		got, want = trim(got), trim(want)
	}
	for _, c := range []*count{all, at1(tally, slip.name), at1(tally, "in "+cmpExt(e.name))} {
		c.add(ok, got, want)
	}
	if show && (!ok || got != want) {
		fmt.Printf("%s: taken %v\n%s\n", slip.name, ok, e.name)
		for i, l := range strings.SplitAfter(got, "\n") {
			if w := strings.SplitAfter(want, "\n"); ok && i < len(w) && w[i] != l {
				fmt.Printf("line %d is %q, want %q\n", i+1, l, w[i])
				break
			}
		}
		fmt.Printf("--- old\n%s--- new\n%s--- as it was\n%s\n\n", strings.Join(e.old, ""), strings.Join(e.new, ""), strings.Join(exact.old, ""))
	}
	return nil
}

func cmpExt(name string) string {
	if ext := path.Ext(name); slices.Contains([]string{".go", ".py", ".rs", ".js", ".ts", ".tsx", ".md", ".yml", ".html", ".css", ".txt", ".rst"}, ext) {
		return ext
	}
	return "other files"
}

func tryStale(rng *rand.Rand, e textEdit, tally map[string]*count, all *count, show bool) error {
	kind := staleKinds[rng.IntN(len(staleKinds))]
	name, given := kind.name, strings.Join(e.old, "")
	if !kind.do(rng, &e) || name != "made already" && strings.Contains(e.file, given) {
		return nil
	}
	if rng.IntN(2) == 0 && !strings.HasPrefix(name, "re-indented") {
		slip := spaceSlips[rng.IntN(len(spaceSlips)-1)]
		if !slip.do(rng, &e) {
			return nil
		}
		name += ", re-indented"
	}
	if strings.Contains(e.file, strings.Join(e.old, "")) {
		return nil // the text still occurs there
	}
	got, ok, err := e.edited()
	if err != nil {
		return err
	}
	for _, c := range []*count{all, at1(tally, name)} {
		c.add(ok, got, "\x00 nothing is right but a refusal")
	}
	if show && ok {
		fmt.Printf("stale: %s\n%s\n--- old\n%s--- new\n%s--- result\n%s\n--- file\n%s\n\n", name, e.name, strings.Join(e.old, ""), strings.Join(e.new, ""), got, e.file)
	}
	return nil
}
