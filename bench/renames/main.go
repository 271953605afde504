// Command renames compares quarry rename with gopls rename on trees of Go.
//
//	go run ./bench/renames -gopls PROGRAM [-n 50] TREE...
//
// It takes definitions of each tree at even distances, asks both for a new name and
// compares the places in code. A place that is sure and that gopls does not rename
// is wrong, and fails the comparison; so does a share of sure places below 80 %.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quarry"
	"quarry/internal/rename"
	"quarry/search"
)

func main() {
	program := flag.String("gopls", "gopls", "the program gopls")
	n := flag.Int("n", 50, "renames of each tree")
	show := flag.Bool("show", false, "show places that differ")
	planted := flag.Bool("planted", false, "call all doubtful places sure: the comparison must fail")
	flag.Parse()
	if _, err := exec.LookPath(*program); err != nil {
		fmt.Println("skipped: gopls is not installed (go install golang.org/x/tools/gopls@latest); name it with -gopls")
		return
	}
	if flag.NArg() == 0 {
		fmt.Println("skipped: no tree is named")
		return
	}
	socket, stop, err := serve(*program)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer stop()
	c := &comparison{gopls: *program, remote: "unix;" + socket, n: *n, show: *show, planted: *planted}
	total := tally{}
	for _, tree := range flag.Args() {
		t, err := c.tree(context.Background(), tree)
		if err != nil {
			stop()
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		t.print(filepath.Base(tree))
		total.add(t)
	}
	total.print("all")
	if total.renames == 0 || total.wrong > 0 || total.sure*100 < 80*total.theirs {
		stop()
		fmt.Fprintln(os.Stderr, "a place was renamed wrongly, or less than 80 % are sure")
		os.Exit(1)
	}
}

// serve starts a gopls that answers all calls, so that a tree is loaded once.
func serve(program string) (socket string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "renames")
	if err != nil {
		return "", nil, err
	}
	socket = filepath.Join(dir, "gopls")
	cmd := exec.Command(program, "serve", "-listen=unix;"+socket)
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	}
	for range 600 {
		if _, err := os.Stat(socket); err == nil {
			return socket, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("gopls did not start")
}

type comparison struct {
	gopls, remote string
	n             int
	show, planted bool
}

type tally struct {
	renames, refused                      int // by gopls
	theirs, sure, doubtful, missed, wrong int // places
}

func (t *tally) add(o tally) {
	t.renames, t.refused, t.theirs, t.sure, t.doubtful, t.missed, t.wrong = t.renames+o.renames, t.refused+o.refused, t.theirs+o.theirs, t.sure+o.sure, t.doubtful+o.doubtful, t.missed+o.missed, t.wrong+o.wrong
}

func (t *tally) print(name string) {
	fmt.Printf("%-12s %3d renames (gopls refused %d): of %d places sure and right %d (%.1f %%), doubtful %d, left %d; wrongly sure %d\n",
		name, t.renames, t.refused, t.theirs, t.sure, 100*float64(t.sure)/float64(max(t.theirs, 1)), t.doubtful, t.missed, t.wrong)
}

type place struct {
	file         string
	line, column int // column in bytes, from 1
}

func (c *comparison) tree(ctx context.Context, dir string) (t tally, err error) {
	ws, err := quarry.Open(dir, &quarry.Options{Trusted: true})
	if err != nil {
		return t, err
	}
	defer ws.Close()
	all, err := ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Globs: []string{"*.go", "!*_test.go"}}, Limit: 20000,
		Kinds: []string{"function", "method", "struct", "interface", "type", "constant", "variable", "field"}})
	if err != nil {
		return t, err
	}
	step := max(1, len(all.Symbols)/(c.n+c.n/2))
	for i := 0; i < len(all.Symbols) && t.renames < c.n; i += step {
		s := &all.Symbols[i]
		if s.Name == "_" || s.Name == "main" || s.Name == "init" {
			continue
		}
		fresh := s.Name + "Zz9"
		theirs, err := c.places(ctx, dir, s, fresh)
		if err != nil || len(theirs) == 0 {
			t.refused++
			continue
		}
		old := s.Path + "#" + s.Name
		if s.Container != "" {
			old = s.Path + "#" + s.Container + "." + s.Name
		}
		plan, err := rename.Find(ctx, ws, rename.Query{Old: old, New: fresh})
		if err != nil {
			return t, fmt.Errorf("%s: %w", old, err)
		}
		t.renames++
		c.compare(dir, old, theirs, plan, &t)
	}
	return t, nil
}

func (c *comparison) compare(dir, old string, theirs map[place]bool, plan *rename.Plan, t *tally) {
	t.theirs += len(theirs)
	if c.planted {
		plan.Sure = append(plan.Sure, plan.Doubtful...)
	}
	left := map[place]string{}
	for _, p := range plan.Sure {
		at := c.place(dir, &p)
		if theirs[at] {
			t.sure++
			delete(theirs, at)
			continue
		}
		t.wrong++
		fmt.Printf("  wrong: %s at %s:%d: %s\n", old, p.Path, p.Line, p.Text)
	}
	for _, p := range plan.Doubtful {
		if at := c.place(dir, &p); theirs[at] {
			t.doubtful++
			delete(theirs, at)
			if c.show {
				fmt.Printf("  doubtful: %s at %s:%d: %s (%s)\n", old, p.Path, p.Line, p.Text, p.Why)
			}
		}
	}
	for _, p := range plan.Left {
		left[c.place(dir, &p)] = p.Why
	}
	for at := range theirs {
		t.missed++
		if c.show {
			fmt.Printf("  left: %s at %s:%d (%s)\n", old, at.file, at.line, left[at])
		}
	}
}

func (c *comparison) place(dir string, p *rename.Place) place {
	text, _ := os.ReadFile(filepath.Join(dir, p.Path))
	return place{p.Path, p.Line, p.Start - (bytes.LastIndexByte(text[:p.Start], '\n') + 1) + 1}
}

// places are those in code that gopls renames.
func (c *comparison) places(ctx context.Context, dir string, s *search.Symbol, fresh string) (map[place]bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, s.Path))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	column := strings.Index(lines[s.Line-1], s.Name)
	for column > 0 && isWord(lines[s.Line-1][column-1]) {
		next := strings.Index(lines[s.Line-1][column+1:], s.Name)
		if next < 0 {
			return nil, fmt.Errorf("%s is not in its line", s.Name)
		}
		column += 1 + next
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.gopls, "-remote="+c.remote, "rename", "-d", fmt.Sprintf("%s:%d:%d", s.Path, s.Line, column+1), fresh)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); c.show && errors.As(err, &exit) {
			fmt.Printf("  gopls on %s:%d: %s\n", s.Path, s.Line, exit.Stderr)
		}
		return nil, err
	}
	return parse(dir, string(out), s.Name, fresh), nil
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// parse reads the places from a unified diff. Those in comments don't count.
func parse(dir, diff, old, fresh string) map[place]bool {
	found := map[place]bool{}
	file, line := "", 0
	var removed []int
	for row := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(row, "--- "):
			name, _, _ := strings.Cut(strings.TrimPrefix(row, "--- "), "\t")
			name = strings.TrimSuffix(strings.TrimSpace(name), ".orig")
			if rel, err := filepath.Rel(dir, name); err == nil {
				file = filepath.ToSlash(rel)
			}
			removed = nil
		case strings.HasPrefix(row, "+++ "):
		case strings.HasPrefix(row, "@@ "):
			line, _ = strconv.Atoi(strings.FieldsFunc(row, func(r rune) bool { return r == ' ' || r == ',' || r == '-' })[1])
			removed = nil
		case strings.HasPrefix(row, "-"):
			removed = append(removed, line)
			line++
		case strings.HasPrefix(row, "+"):
			if len(removed) == 0 {
				continue
			}
			at := removed[0]
			removed = removed[1:]
			text := row[1:]
			comment := strings.Index(text, "//")
			shift := 0
			for from := 0; ; {
				i := strings.Index(text[from:], fresh)
				if i < 0 {
					break
				}
				i += from
				if comment < 0 || i < comment {
					found[place{file, at, i - shift + 1}] = true
				}
				shift += len(fresh) - len(old)
				from = i + len(fresh)
			}
		default:
			line++
			removed = nil
		}
	}
	return found
}
