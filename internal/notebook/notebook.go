// Package notebook has the operations of Obsidian's users: read and change a part of a
// note, its properties and tags, follow links, open the note of a day.
//
// It sits above package vault, which decides on bytes, and below the faces. A
// [Book] keeps no state: every answer is that of the files as they are when it
// is asked, so it is as fresh as any search, and every change is one
// [change.Set], applied and undone as a whole. Bytes outside the named part
// never change.
package notebook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/textfile"
	"quarry/internal/vault"
	"quarry/search"
)

// Workspace is what a Book needs of a workspace.
type Workspace interface {
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Search(ctx context.Context, q search.Query) (*search.Result, error)
	EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error)
	// Remember returns what make has returned for the key, if no file has changed
	// since; otherwise it calls make. Nobody may change the value.
	Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	// VaultFile reads a file of settings below .obsidian; one that is missing
	// is empty.
	VaultFile(ctx context.Context, name string) ([]byte, error)
	// IsVaultAt reports whether a folder, "" for the root, has a folder .obsidian.
	IsVaultAt(folder string) bool
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
	Plan(ctx context.Context, set change.Set) (*change.Change, error)
}

// Book is a vault, or any folder of markdown. It is safe for concurrent use.
type Book struct{ ws Workspace }

// Open makes the Book of a workspace.
func Open(ws Workspace) *Book { return &Book{ws} }

// maxNote is the largest note that is read.
const maxNote = 64 << 20

// Note is a note as it was read.
type Note struct {
	Path    string
	Text    []byte // UTF-8
	Version string
	// Encoding and Ending are those of the file.
	Encoding, Ending string

	at, lines int // so many line feeds are before at
}

// lineAt is the number of the line, from 1, that has an offset. Offsets that ascend
// take one pass over the text. One goroutine may ask.
func (n *Note) lineAt(offset int) int {
	if offset < n.at {
		n.at, n.lines = 0, 0
	}
	n.lines += bytes.Count(n.Text[n.at:offset], []byte("\n"))
	n.at = offset
	return 1 + n.lines
}

// Read reads a note. ".md" may be left out.
func (b *Book) Read(ctx context.Context, p string) (*Note, error) {
	n, err := b.read(ctx, p)
	if err != nil && errors.Is(err, fault.NotFound) && !strings.EqualFold(path.Ext(p), ".md") {
		if n, err2 := b.read(ctx, p+".md"); err2 == nil {
			return n, nil
		}
	}
	return n, err
}

func (b *Book) read(ctx context.Context, p string) (*Note, error) {
	n, data, err := b.readText(ctx, p)
	if err != nil {
		return nil, err
	}
	n.Version, n.Ending = version.Of(data).String(), textfile.CountEndings(n.Text).String()
	return n, nil
}

// readText reads a note that is only looked at: without its version, which costs
// a third of reading it, and its line ending.
func (b *Book) readText(ctx context.Context, p string) (*Note, []byte, error) {
	data, err := b.ws.ReadBytes(ctx, p, maxNote)
	if err != nil {
		return nil, nil, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return nil, nil, fault.New(fault.NotText, fmt.Sprintf("%s is not a text file", strconv.QuoteToGraphic(p)), "")
	}
	return &Note{Path: clean(p), Text: doc.Text(), Encoding: doc.Encoding().String()}, data, nil
}

// clean is a path as links and listings have it.
func clean(p string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(p, `\`, "/")), "/")
}

// Options say how a change is made.
type Options struct {
	DryRun          bool
	ExpectedVersion string // of the one note that is named
	KeepTexts       bool   // of links to a heading that is renamed
	Summary         string // the caller's words for it, in the log
	Tool            string
	Client          change.Client // who asked
}

// edit is the change of one note by splices.
func (n *Note) edit(splices []vault.Splice) change.Op {
	op := change.Op{Verb: change.EditFile, Path: n.Path, Version: n.Version}
	for _, s := range splices {
		op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New})
	}
	return op
}

// apply makes a set of changes.
func (b *Book) apply(ctx context.Context, summary string, o Options, ops ...change.Op) (*change.Change, error) {
	set := change.Set{Ops: ops, Summary: cmp.Or(o.Summary, summary), Tool: o.Tool, Client: o.Client}
	do := b.ws.Apply
	if o.DryRun {
		do = b.ws.Plan
	}
	c, err := do(ctx, set)
	if err == nil && o.Summary != "" {
		c.Summary = summary // what was done, for the answer
	}
	return c, err
}

// expect refuses a note that is not what the caller has seen.
func (n *Note) expect(o Options) error {
	if o.ExpectedVersion == "" || len(o.ExpectedVersion) >= 12 && strings.HasPrefix(n.Version, strings.ToLower(o.ExpectedVersion)) {
		return nil
	}
	return fault.New(fault.Conflict, fmt.Sprintf("%s was changed: its version is %s", strconv.QuoteToGraphic(n.Path), n.Version), "read it again and repeat the change")
}

// notesGlobs are the files that have links.
var notesGlobs = []string{"**/*.md", "**/*.canvas"}

// scope are the files Obsidian shows. A change sees what ignore files exclude
// as well, so that no link to it breaks.
func scope(all bool, globs ...string) search.Scope {
	return search.Scope{Globs: globs, Dialect: search.Plain, StrictHidden: true, IncludeIgnored: all}
}

// paths lists files in path order.
func (b *Book) paths(ctx context.Context, all bool, globs ...string) ([]string, error) {
	r, err := b.ws.Find(ctx, search.FindQuery{Scope: scope(all, globs...)})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(r.Entries))
	for i := range r.Entries {
		out[i] = r.Entries[i].Path
	}
	slices.Sort(out)
	return out, nil
}
