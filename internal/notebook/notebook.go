// Package notebook has the operations that users of Obsidian expect: read and change a
// part of a note, its properties and tags, follow links, and open a daily note.
//
// It uses package vault, which computes changes as bytes, and is used by all user
// interfaces. A [Book] keeps no state: every answer is based on the current files, like a
// search. Every change is a [change.Set] that is applied and undone as a whole. Bytes
// outside the changed part never change.
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

// Workspace has the methods that a Book needs.
type Workspace interface {
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	Search(ctx context.Context, q search.Query) (*search.Result, error)
	EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error)
	// Remember returns the earlier result of make for key if no file has changed since;
	// otherwise it calls make. The result must not be modified.
	Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	// VaultFile reads a settings file below .obsidian. A missing file is empty.
	VaultFile(ctx context.Context, name string) ([]byte, error)
	// IsVaultAt reports whether a folder, "" for the root, has a folder .obsidian.
	IsVaultAt(folder string) bool
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
	Plan(ctx context.Context, set change.Set) (*change.Change, error)
}

// Book is a vault, or any folder of Markdown files. It is safe for concurrent use.
type Book struct{ ws Workspace }

// Open returns the Book of a workspace.
func Open(ws Workspace) *Book { return &Book{ws} }

// maxNote is the size of the largest note that is read.
const maxNote = 64 << 20

// Note is the contents of a note that was read.
type Note struct {
	Path    string
	Text    []byte // UTF-8
	Version string
	// Encoding and Ending are the file's encoding and line ending.
	Encoding, Ending string

	at, lines int // lines is the number of line feeds before offset at
}

// lineAt returns the number of the line that contains an offset, starting at 1. Ascending
// offsets take one pass over the text. It is not safe for concurrent use.
func (n *Note) lineAt(offset int) int {
	if offset < n.at {
		n.at, n.lines = 0, 0
	}
	n.lines += bytes.Count(n.Text[n.at:offset], []byte("\n"))
	n.at = offset
	return 1 + n.lines
}

// Read reads a note. ".md" may be omitted.
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

// readText reads a note that won't be changed. It doesn't compute the version, which is a
// third of the time to read a note, or the line ending.
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

// clean normalizes a path to the form in links and listings.
func clean(p string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(p, `\`, "/")), "/")
}

// Options control how a change is made.
type Options struct {
	DryRun          bool
	ExpectedVersion string // required version of the note, if only one is changed
	KeepTexts       bool   // keep the displayed texts of links to a renamed heading
	Summary         string // the caller's description for the log
	Tool            string
	Client          change.Client // the requesting client
}

// edit returns the operation that applies splices to a note.
func (n *Note) edit(splices []vault.Splice) change.Op {
	op := change.Op{Verb: change.EditFile, Path: n.Path, Version: n.Version}
	for _, s := range splices {
		op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New})
	}
	return op
}

func (b *Book) apply(ctx context.Context, summary string, o Options, ops ...change.Op) (*change.Change, error) {
	set := change.Set{Ops: ops, Summary: cmp.Or(o.Summary, summary), Tool: o.Tool, Client: o.Client}
	do := b.ws.Apply
	if o.DryRun {
		do = b.ws.Plan
	}
	c, err := do(ctx, set)
	if err == nil && o.Summary != "" {
		c.Summary = summary // describes the change in the answer
	}
	return c, err
}

// expect returns an error if the note doesn't have the expected version.
func (n *Note) expect(o Options) error {
	if o.ExpectedVersion == "" || len(o.ExpectedVersion) >= 12 && strings.HasPrefix(n.Version, strings.ToLower(o.ExpectedVersion)) {
		return nil
	}
	return fault.New(fault.Conflict, fmt.Sprintf("%s was changed: its version is %s", strconv.QuoteToGraphic(n.Path), n.Version), "read it again and repeat the change")
}

// notesGlobs match the files that can have links.
var notesGlobs = []string{"**/*.md", "**/*.canvas"}

// scope returns the scope of the files that Obsidian shows. If all is set, it includes
// ignored files: a change needs them, because their links must not break.
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
