package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry"
	"quarry/change"
	"quarry/internal/replacer"
)

// parse runs the language's own parser on files and returns its complaints by path.
func parse(ext string, paths []string) (map[string]string, error) {
	bad := map[string]string{}
	if ext == ".go" { // the parser that gofmt uses
		for _, p := range paths {
			if _, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				bad[p] = err.Error()
			}
		}
		return bad, nil
	}
	cmd := exec.Command("python3", "-c", `import ast, json, sys
bad = {}
for p in json.load(sys.stdin):
    try: ast.parse(open(p, 'rb').read())
    except (SyntaxError, ValueError) as e: bad[p] = str(e)
print(json.dumps(bad))`)
	if ext == ".js" { // node --check, for scripts and for modules
		cmd = exec.Command("node", "--experimental-vm-modules", "--no-warnings", "-e", `const vm = require('vm'), fs = require('fs'), bad = {};
for (const p of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const text = fs.readFileSync(p, 'utf8').replace(/^#!.*/, '');
  try { new vm.Script(require('module').wrap(text)) } catch (e) {
    try { new vm.SourceTextModule(text) } catch (f) { bad[p] = e.stack.slice(0, 120) + ' | ' + (f.stack || '').slice(0, 200) }
  }
}
console.log(JSON.stringify(bad))`)
	}
	list, err := json.Marshal(paths)
	if err != nil {
		return nil, err
	}
	cmd.Stdin = bytes.NewReader(list)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("parser of %s: %w", ext, err)
	}
	return bad, json.Unmarshal(out, &bad)
}

// rewritings counts the results of the rewrites.
type rewritings struct {
	made, empty, places, files int
	unparsed, undone           int
	refused                    map[string]int
	planted                    bool
	known                      map[string]map[string]string // by tree, the files that did not parse before any rewrite
}

// rewrites makes every rewrite in a copy of every tree of its language. Files that parsed before
// must still parse, and undo must restore the original bytes.
func rewrites(ctx context.Context, trees, only, find string, planted bool) error {
	all := rewritings{refused: map[string]int{}, planted: planted, known: map[string]map[string]string{}}
	for _, l := range rewritten {
		if only != "" && l.name != only {
			continue
		}
		dirs, err := treesOf(trees, l.name)
		if err != nil {
			return err
		}
		one := rewritings{refused: map[string]int{}, planted: planted, known: all.known}
		for _, dir := range dirs {
			list := slices.DeleteFunc(slices.Clone(l.rewrites), func(w rewrite) bool { return find != "" && w.find != find })
			if err := one.tree(ctx, dir, l.ext, list); err != nil {
				return err
			}
		}
		fmt.Printf("%-7s %d trees: %v\n", l.name, len(dirs), one.String())
		all.add(&one)
	}
	fmt.Printf("all: %v\n", all.String())
	switch n := all.refusals(); {
	case all.made == 0 || all.unparsed > 0 || all.undone > 0:
		return errors.New("the rewrites failed")
	case n*20 > all.places+n:
		return errors.New("more than 5 % of the places are refused")
	}
	return nil
}

func (r *rewritings) add(o *rewritings) {
	r.made, r.empty, r.places, r.files, r.unparsed, r.undone = r.made+o.made, r.empty+o.empty, r.places+o.places, r.files+o.files, r.unparsed+o.unparsed, r.undone+o.undone
	for why, n := range o.refused {
		r.refused[why] += n
	}
}

func (r *rewritings) refusals() int {
	n := 0
	for _, k := range r.refused {
		n += k
	}
	return n
}

func (r *rewritings) String() string {
	n := r.refusals()
	return fmt.Sprintf("%d rewrites with a match (%d without) of %d places in %d files; refused %d places (%.2f %%) %v; %d files of a rewrite don't parse; %d rewrites not undone",
		r.made, r.empty, r.places, r.files, n, 100*float64(n)/float64(max(r.places+n, 1)), r.refused, r.unparsed, r.undone)
}

// tree makes the rewrites of one language in a copy of a tree.
func (r *rewritings) tree(ctx context.Context, dir, ext string, list []rewrite) error {
	copied, err := os.MkdirTemp("", "rewrites")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copied)
	tree, state := filepath.Join(copied, "tree"), filepath.Join(copied, "state")
	if err := errors.Join(os.CopyFS(tree, os.DirFS(dir)), os.Mkdir(state, 0o700)); err != nil {
		return err
	}
	ws, err := quarry.Open(tree, &quarry.Options{StateDir: state})
	if err != nil {
		return err
	}
	defer ws.Close()
	for _, w := range list {
		if err := r.rewrite(ctx, ws, tree, ext, w); err != nil {
			return fmt.Errorf("%s in %s: %w", w.find, dir, err)
		}
	}
	return nil
}

func (r *rewritings) rewrite(ctx context.Context, ws *quarry.Workspace, tree, ext string, w rewrite) error {
	q := replacer.Query{Replacement: w.new}
	q.Structure, q.Globs = w.find, []string{"*" + ext}
	found, err := replacer.Find(ctx, ws, q)
	if found != nil {
		for why, n := range found.Refused {
			r.refused[why] += n
		}
	}
	if err != nil {
		var none *replacer.RefusedError
		if errors.Is(err, replacer.ErrNone) || errors.As(err, &none) {
			r.empty++
			return nil
		}
		return err
	}
	r.made++
	r.places += found.Matches
	r.files += len(found.Ops)
	if r.planted {
		for i := range found.Ops {
			if e := found.Ops[i].Edits; i%7 == 0 {
				e[0].New += ")"
			}
		}
	}
	bad, same, err := r.once(ctx, ws, tree, ext, found)
	if err != nil {
		return err
	}
	r.unparsed += len(bad)
	for i, p := range slices.Sorted(maps.Keys(bad)) {
		if i < 3 {
			fmt.Printf("  %s → %s: %s\n", w.find, w.new, strings.ReplaceAll(bad[p], "\n", "⏎"))
		}
	}
	if !same {
		r.undone++
		fmt.Printf("  %s → %s in %s: undo gave other bytes\n", w.find, w.new, tree)
	}
	return nil
}

// once makes one rewrite, runs the language's parser on the files, and undoes the rewrite.
func (r *rewritings) once(ctx context.Context, ws *quarry.Workspace, tree, ext string, found *replacer.Found) (bad map[string]string, same bool, err error) {
	before := map[string][]byte{}
	for _, op := range found.Ops {
		p := filepath.Join(tree, op.Path)
		if before[p], err = os.ReadFile(p); err != nil {
			return nil, false, err
		}
	}
	paths := slices.Sorted(maps.Keys(before))
	if r.known[tree] == nil {
		all, err := filepathsOf(tree, ext)
		if err != nil {
			return nil, false, err
		}
		if r.known[tree], err = parse(ext, all); err != nil {
			return nil, false, err
		}
	}
	done, err := ws.Apply(ctx, change.Set{Ops: found.Ops, Tool: "rewrite"})
	if err != nil {
		return nil, false, err
	}
	bad, err = parse(ext, slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return r.known[tree][p] != "" }))
	if err != nil {
		return nil, false, err
	}
	for p := range bad {
		bad[p] = shown(p, bad[p])
	}
	if _, err := ws.Undo(ctx, done.ID, nil); err != nil {
		return bad, false, err
	}
	same = true
	for p, data := range before {
		now, err := os.ReadFile(p)
		same = same && err == nil && bytes.Equal(now, data)
	}
	return bad, same, nil
}

var lineNumber = regexp.MustCompile(`(?::|line )(\d+)`)

// shown formats a parser's complaint together with the line that it is about.
func shown(path, complaint string) string {
	at := lineNumber.FindStringSubmatch(complaint)
	text, err := os.ReadFile(path)
	if at == nil || err != nil {
		return complaint
	}
	n, _ := strconv.Atoi(at[1])
	if lines := strings.Split(string(text), "\n"); n > 0 && n <= len(lines) {
		return complaint + ": " + clipped(strings.TrimSpace(lines[n-1]))
	}
	return complaint
}

func clipped(s string) string { return s[:min(len(s), 300)] }

// filepathsOf returns the paths of all files in a tree with the extension ext.
func filepathsOf(tree, ext string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(tree, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(p, ext) {
			paths = append(paths, p)
		}
		return err
	})
	return paths, err
}
