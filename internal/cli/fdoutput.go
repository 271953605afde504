package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/search"
)

// fdOutput prints entries as fd does, or runs commands for them.
type fdOutput struct {
	f        *fdFlags
	s        env.Streams
	w        *bufio.Writer
	implicit bool // no path was given
	tty      bool
	palette  *lsColours // nil without colours
	n        int
	paths    []string // for -X
	failed   bool     // a command failed
}

// add outputs those entries of a target for which accepts returns true.
func (o *fdOutput) add(ctx context.Context, t *target, entries []search.Entry, accepts func(*target, *search.Entry) bool,
	pass func(*search.Entry) bool, kinds map[string]bool) error {
	f := o.f
	owned, err := ownerTest(f.owner)
	if err != nil {
		return err
	}
	pruned, holding := map[string]bool{}, map[string]bool{}
	if len(f.ignoreContain) > 0 {
		holding = o.holding(ctx, t)
	}
	for i := range entries {
		e := &entries[i]
		if f.prune && inAny(pruned, filepath.ToSlash(filepath.Dir(e.Path))) {
			continue
		}
		if inAny(holding, e.Path) || len(holding) > 0 && holding[t.path] {
			continue
		}
		if !accepts(t, e) || len(f.exts) > 0 && !f.hasExtension(filepath.Base(e.Path)) || pass != nil && !pass(e) ||
			!f.isKind(ctx, t, e, kinds) || !t.deep(e.Path, f.minDepth) || owned != nil && !owned(t.abs(e)) {
			continue
		}
		if f.prune && e.Folder {
			pruned[e.Path] = true
		}
		if o.n++; f.quiet {
			return nil
		}
		if err := o.show(t, e); err != nil {
			return err
		}
		if f.maxResults > 0 && o.n >= f.maxResults {
			break
		}
	}
	return nil
}

// holding returns the folders that contain an entry named by --ignore-contain.
func (o *fdOutput) holding(ctx context.Context, t *target) map[string]bool {
	folders := map[string]bool{}
	q := search.FindQuery{Kind: search.FilesAndFolders, Links: true}
	q.Paths, q.IncludeHidden, q.IncludeIgnored = []string{t.path}, true, true
	if res, err := t.ws.Find(ctx, q); err == nil {
		for _, e := range res.Entries {
			for _, name := range o.f.ignoreContain {
				if filepath.Base(e.Path) == name {
					folders[filepath.ToSlash(filepath.Dir(e.Path))] = true
				}
			}
		}
	}
	return folders
}

// inAny reports whether a path is at or below one of the folders.
func inAny(folders map[string]bool, path string) bool {
	for len(folders) > 0 && path != "" {
		if folders[path] {
			return true
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return false
}

// path returns an entry's path as fd prints it. With prefixed, a path in the current
// folder begins with ./, unless --strip-cwd-prefix decides otherwise.
func (o *fdOutput) path(t *target, e *search.Entry, prefixed bool) string {
	path := t.shown(e.Path)
	switch {
	case o.f.absolute && !o.f.relative:
		path = o.f.whole(t, e)
	case !o.implicit || o.f.stripPrefix == "always":
	case prefixed || o.f.stripPrefix == "never":
		path = "./" + path
	}
	return path
}

func (o *fdOutput) show(t *target, e *search.Entry) error {
	f := o.f
	if len(f.commands)+len(f.batches) > 0 {
		path := o.path(t, e, true)
		if len(f.batches) > 0 {
			o.paths = append(o.paths, path)
			return nil
		}
		return o.each(path)
	}
	path := o.path(t, e, f.nul)
	if f.format != "" {
		row := o.expand(f.format, o.path(t, e, false))
		_, err := o.w.WriteString(row + map[bool]string{false: "\n", true: "\x00"}[f.nul])
		return err
	}
	tty := o.tty
	var row []byte
	if f.long {
		row = append(row, longLine(e)...)
	}
	link := f.hyperlink == "always" || f.hyperlink == "auto" && tty
	if link {
		row = append(row, o.link(t, e)...)
	}
	switch {
	case o.palette != nil:
		row = o.palette.appendColoured(row, printing.Escape(path), e)
	case tty && !f.nul:
		row = printing.AppendEscaped(row, []byte(path))
	default:
		row = append(row, path...)
	}
	if e.Folder {
		row = append(row, '/')
	}
	if link {
		row = append(row, "\x1b]8;;\x1b\\"...)
	}
	text := o.separated(string(row))
	if f.nul {
		_, err := o.w.WriteString(text + "\x00")
		return err
	}
	_, err := o.w.WriteString(text + "\n")
	return err
}

// separated replaces / by --path-separator.
func (o *fdOutput) separated(path string) string {
	if o.f.separator == "" {
		return path
	}
	return strings.ReplaceAll(path, "/", o.f.separator)
}

func (o *fdOutput) link(t *target, e *search.Entry) string {
	host, _ := os.Hostname()
	to := url.URL{Scheme: "file", Host: host, Path: filepath.ToSlash(t.abs(e))}
	return "\x1b]8;;" + to.String() + "\x1b\\"
}

// finish runs the commands of -X and flushes the output.
func (o *fdOutput) finish(context.Context) error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	for _, c := range o.f.batches {
		if err := o.batch(strings.Split(c, "\x00")); err != nil {
			return err
		}
	}
	if o.failed {
		return env.ErrReported
	}
	return nil
}

// each runs the commands of -x for one path.
func (o *fdOutput) each(path string) error {
	for _, c := range o.f.commands {
		var words []string
		used := false
		for _, w := range strings.Split(c, "\x00") {
			made := o.expand(w, path)
			used = used || hasPlaceholder(w)
			words = append(words, made)
		}
		if !used {
			words = append(words, o.separated(path))
		}
		if err := o.command(words); err != nil {
			return err
		}
	}
	return nil
}

func (o *fdOutput) batch(words []string) error {
	at := -1
	for i, w := range words {
		if !hasPlaceholder(w) {
			continue
		}
		if at >= 0 {
			return errors.New("--exec-batch takes one placeholder only, such as {}")
		}
		at = i
	}
	if at < 0 {
		words, at = append(words, "{}"), len(words)
	}
	if at == 0 {
		return errors.New("--exec-batch needs the name of a program before its placeholder")
	}
	size := o.f.batchSize
	if size <= 0 {
		size = 4000 // below every system's limit on the length of arguments
	}
	for from := 0; from < len(o.paths); from += size {
		run := append([]string{}, words[:at]...)
		for _, p := range o.paths[from:min(from+size, len(o.paths))] {
			run = append(run, o.expand(words[at], p))
		}
		if err := o.command(append(run, words[at+1:]...)); err != nil {
			return err
		}
	}
	return nil
}

func (o *fdOutput) command(words []string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.s.In, o.s.Out, o.s.Err
	err := cmd.Run()
	if o.f.nul && len(o.f.commands) > 0 {
		fmt.Fprint(o.s.Out, "\x00")
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		o.failed = true
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%q: no such program", words[0])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

var fdPlaceholders = []string{"{}", "{/}", "{//}", "{.}", "{/.}"}

func hasPlaceholder(word string) bool {
	return slices.ContainsFunc(fdPlaceholders, func(p string) bool { return strings.Contains(word, p) })
}

// expand fills a template: {} is the path, {/} its name, {//} its folder, {.} and
// {/.} the path and name without extension; {{ and }} are braces.
func (o *fdOutput) expand(template, path string) string {
	name := filepath.Base(path)
	bare := strings.TrimPrefix(path, "./")
	dir := filepath.ToSlash(filepath.Dir(bare))
	if strings.HasPrefix(path, "./") && dir != "." {
		dir = "./" + dir
	}
	return strings.NewReplacer("{{", "{", "}}", "}", "{}", o.separated(path), "{/}", name, "{//}", o.separated(dir),
		"{.}", o.separated(withoutExtension(bare)), "{/.}", withoutExtension(name)).Replace(template)
}

// withoutExtension removes the extension; a leading dot does not begin one.
func withoutExtension(path string) string {
	ext := filepath.Ext(path)
	if filepath.Base(path) == ext {
		return path
	}
	return strings.TrimSuffix(path, ext)
}

// splitFdExec merges the words of each -x and -X, up to ; or the end of the line, into one value,
// because a flag can't have a list of values.
func splitFdExec(args []string) []string {
	if len(args) == 0 || args[0] != "fd" {
		return args
	}
	var out []string
	for i := 0; i < len(args); i++ {
		flag := map[string]string{"-x": "exec", "--exec": "exec", "-X": "exec-batch", "--exec-batch": "exec-batch"}[args[i]]
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if flag == "" {
			out = append(out, args[i])
			continue
		}
		end := i + 1
		for end < len(args) && args[end] != ";" {
			end++
		}
		if end == i+1 {
			out = append(out, "--"+flag) // its value is missing, which the flag parser reports
		} else {
			out = append(out, "--"+flag+"="+strings.Join(args[i+1:end], "\x00"))
		}
		i = end
	}
	return out
}
