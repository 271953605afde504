package staged

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/splice"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// maxFile bounds a file that is changed.
const maxFile = 64 << 20

// open gives the staged file of a path, read from the disk if it is not staged
// yet.
func (v *View) open(ctx context.Context, p string) (*file, error) {
	if err := v.inFolder(p); err != nil {
		return nil, err
	}
	if f, ok := v.staged(p); ok {
		if f.gone {
			return nil, missing(p)
		}
		return f, nil
	}
	info, err := v.ws.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	if info.Folded {
		return nil, fault.New(fault.NotFound, fmt.Sprintf("%s does not exist", fault.Printable(p)), "did you mean "+fault.Printable(info.Path)+"?")
	}
	if info.Folder {
		return nil, fault.New(fault.InvalidArgument, fault.Printable(p)+" is a folder", "")
	}
	data, err := v.ws.ReadBytes(ctx, p, maxFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("%s is larger than %d MB", fault.Printable(p), maxFile>>20), "use edit_file")
	}
	version := version.Of(data).String()
	v.note(p, version)
	if seen := v.seen[p]; seen != version {
		return nil, fault.New(fault.Conflict, fault.Printable(p)+" changed while the script ran; nothing was changed", "run the script again")
	}
	return &file{from: p, base: data, raw: data, pieces: splice.Base(len(data)), version: version}, nil
}

// Edit stages edits of one text file. They refer to the text as it is now, after
// the changes before.
func (v *View) Edit(ctx context.Context, p string, edits ...change.Edit) error {
	p = v.target(ctx, p)
	f, err := v.open(ctx, p)
	if err != nil {
		return err
	}
	doc, err := textfile.New(f.raw)
	if err != nil {
		return err
	}
	ch, err := textedit.ApplyTo(p, textfile.InMemory(doc), textedit.DefaultMaxSize, atEnd(doc, edits)...)
	if err != nil {
		return err
	}
	next := *f
	var splices []splice.Splice
	for s := range ch.Splices() {
		splices = append(splices, splice.Splice{Span: splice.Span{Start: int(s.Start), End: int(s.End)}, New: string(s.New)})
	}
	next.pieces = next.pieces.Apply(splices)
	next.raw = bytes.Clone(ch.Bytes())
	v.put(p, &next)
	return nil
}

// atEnd makes appended text an insertion at the end of the file, after a line break
// if the last line has none.
func atEnd(doc *textfile.Document, edits []change.Edit) []change.Edit {
	edits = slices.Clone(edits)
	for i := range edits {
		if e := &edits[i]; e.Verb == change.AppendText {
			text := doc.Text()
			e.Verb, e.Start, e.End = change.ReplaceSpan, len(text), len(text)
			if len(text) > 0 && text[len(text)-1] != '\n' {
				e.New = "\n" + e.New
			}
		}
	}
	return edits
}

func (v *View) put(p string, f *file) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files[p] = f
}

// Write stages a file's whole content.
func (v *View) Write(ctx context.Context, p string, content []byte) error {
	p = v.target(ctx, p)
	f, err := v.open(ctx, p)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	if err != nil { // a new one; deleted before in this script it is the old one again
		f = &file{}
		v.mu.Lock()
		if was := v.files[p]; was != nil && was.gone {
			f = &file{from: was.from, base: was.base, version: was.version}
		}
		v.mu.Unlock()
	}
	next := *f
	next.raw, next.gone, next.written = content, false, true
	start, end := common(f.raw, content)
	next.pieces = next.pieces.Apply([]splice.Splice{{Span: splice.Span{Start: start, End: len(f.raw) - end}, New: string(content[start : len(content)-end])}})
	v.put(p, &next)
	return nil
}

// common counts the bytes that two texts have in common at their beginning and at
// their end, in whole characters.
func common(a, b []byte) (start, end int) {
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for start > 0 && (start < len(a) && !utf8.RuneStart(a[start]) || start < len(b) && !utf8.RuneStart(b[start])) {
		start--
	}
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	return start, end
}

// Delete stages a deletion: of a symlink, not of what it leads to.
func (v *View) Delete(ctx context.Context, p string) error {
	p, whole, err := v.entry(ctx, p)
	if err != nil {
		return err
	}
	if whole {
		return v.folder(change.Op{Verb: change.DeletePath, Path: p})
	}
	f, err := v.open(ctx, p)
	if err != nil {
		return err
	}
	if f.from == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.files, p)
		return nil
	}
	if f.from != p {
		return fault.New(fault.InvalidArgument, fault.Printable(p)+" was moved by this script and can't be deleted by it too", "delete it instead of moving it")
	}
	next := *f
	next.gone = true
	v.put(p, &next)
	return nil
}

// folder stages a move or a deletion of a folder: no other change of the script
// may be about what is in it.
func (v *View) folder(op change.Op) error {
	for _, p := range v.paths() {
		for _, dir := range []string{op.Path, op.To} {
			if dir != "" && strings.HasPrefix(p, dir+"/") {
				return &InFolderError{p, dir}
			}
		}
	}
	v.folders = append(v.folders, op)
	return nil
}

// Move stages a move, of a symlink itself. What links need is planned on the disk, and reported.
func (v *View) Move(ctx context.Context, from, to string, links change.LinkUpdate) (*change.LinkReport, error) {
	from, whole, err := v.entry(ctx, from)
	if err != nil {
		return nil, err
	}
	dir := strings.HasSuffix(to, "/")
	to = clean(to)
	if dir {
		to += from[strings.LastIndexByte(from, '/'):]
	}
	to = v.name(ctx, to)
	if _, err := v.Stat(ctx, to); err == nil && !strings.EqualFold(from, to) {
		return nil, fault.New(fault.AlreadyExists, fault.Printable(to)+" exists already", "choose another name, or delete it first")
	}
	if whole {
		op := change.Op{Verb: change.MovePath, Path: from, To: to, Links: links}
		plan, err := v.ws.Plan(ctx, change.Set{Ops: []change.Op{op}})
		if err != nil {
			return nil, err
		}
		return plan.Links, v.folder(op)
	}
	f, err := v.open(ctx, from)
	if err != nil {
		return nil, err
	}
	var report *change.LinkReport
	if f.from != "" {
		plan, err := v.ws.Plan(ctx, change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: f.from, To: to, Links: links}}})
		if err != nil {
			return nil, err
		}
		report = plan.Links
	}
	next := *f
	next.links = links
	v.mu.Lock()
	delete(v.files, from)
	v.files[to] = &next
	v.mu.Unlock()
	return report, nil
}

// Apply stages a set. It has the form of Workspace.Apply, so that what changes a
// workspace can change a view as well. The change has no id.
func (v *View) Apply(ctx context.Context, set change.Set) (*change.Change, error) {
	c := &change.Change{Summary: set.Summary, DryRun: true, Unchanged: len(set.Ops) == 0}
	for i := range set.Ops {
		op := &set.Ops[i]
		c.Paths = append(c.Paths, op.Path)
		var err error
		switch op.Verb {
		case change.EditFile:
			if len(op.Edits) > 0 {
				err = v.Edit(ctx, op.Path, op.Edits...)
			}
		case change.WriteFile:
			err = v.Write(ctx, op.Path, op.Content)
		case change.CreateFile:
			if _, there := v.Stat(ctx, op.Path); there == nil {
				return nil, fault.New(fault.AlreadyExists, fault.Printable(op.Path)+" exists already", "")
			}
			err = v.Write(ctx, op.Path, op.Content)
		case change.DeletePath:
			err = v.Delete(ctx, op.Path)
		case change.MovePath:
			if c.Links, err = v.Move(ctx, op.Path, op.To, op.Links); err == nil && len(op.Edits) > 0 {
				err = v.Edit(ctx, op.To, op.Edits...)
			}
		default:
			err = fault.New(fault.InvalidArgument, "a folder is made with its first file", "")
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Plan is Apply: nothing is made either way.
func (v *View) Plan(ctx context.Context, set change.Set) (*change.Change, error) {
	return v.Apply(ctx, set)
}

// Set is all that was staged, as one set. Files that were read and are not changed
// are named with their version, so that a conflict is found for them too.
func (v *View) Set() (change.Set, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var set change.Set
	var paths []string
	for p := range v.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	named := map[string]bool{}
	for _, p := range paths {
		op, ok, err := v.files[p].op(p)
		if err != nil {
			return set, err
		}
		if ok {
			op.Origin = "changed by the script"
			set.Ops = append(set.Ops, op)
			named[op.Path] = true
		}
	}
	set.Ops = append(set.Ops, v.folders...)
	if len(set.Ops) == 0 {
		return set, nil
	}
	var seen []string
	for p := range v.seen {
		if !named[p] && !v.binary[p] && v.inFolder(p) == nil {
			seen = append(seen, p)
		}
	}
	slices.Sort(seen)
	for _, p := range seen {
		// An edit of nothing: the version must be what was read.
		set.Ops = append(set.Ops, change.Op{Verb: change.EditFile, Path: p, Version: v.seen[p], Origin: "read by the script", Edits: []change.Edit{{Verb: change.ReplaceSpan, Verbatim: true}}})
	}
	return set, nil
}

// op is the operation that makes a file what it is to be.
func (f *file) op(p string) (op change.Op, ok bool, err error) {
	switch {
	case f.from == "" && f.gone:
		return op, false, nil
	case f.from == "":
		return change.Op{Verb: change.CreateFile, Path: p, Content: f.raw}, true, nil
	case f.gone:
		return change.Op{Verb: change.DeletePath, Path: f.from, Version: f.version, FileOnly: true}, true, nil
	}
	edits, text, err := f.edits()
	if err != nil {
		return op, false, err
	}
	switch {
	case f.from != p:
		if !text && !bytes.Equal(f.base, f.raw) {
			return op, false, fault.New(fault.InvalidArgument, fault.Printable(p)+" is no text file: it can be moved or written, not both", "")
		}
		return change.Op{Verb: change.MovePath, Path: f.from, To: p, Version: f.version, Edits: edits, Links: f.links}, true, nil
	case bytes.Equal(f.base, f.raw):
		return op, false, nil
	case !text:
		return change.Op{Verb: change.WriteFile, Path: p, Version: f.version, Content: f.raw}, true, nil
	}
	return change.Op{Verb: change.EditFile, Path: p, Version: f.version, Edits: edits}, true, nil
}

// edits are the spans of the decoded text that change. A file that is not text
// before and after has none.
func (f *file) edits() (edits []change.Edit, text bool, err error) {
	doc, err := textfile.New(f.base)
	if err != nil {
		return nil, false, nil
	}
	now, err := textfile.New(f.raw)
	if err != nil {
		return nil, false, nil
	}
	if bytes.Equal(f.base, f.raw) {
		return nil, true, nil
	}
	if doc.Encoding() == now.Encoding() && bytes.HasSuffix(doc.Raw(), doc.Text()) && bytes.HasSuffix(now.Raw(), now.Text()) {
		mark := len(doc.Raw()) - len(doc.Text())
		var edits []change.Edit // UTF-8, with or without a mark
		for _, s := range f.pieces.Splices(len(f.base)) {
			edits = append(edits, change.Edit{Verb: change.ReplaceSpan, Start: s.Start, End: s.End, New: s.New, Verbatim: true})
		}
		for i := range edits {
			if edits[i].Start -= mark; edits[i].Start < 0 {
				return nil, false, nil // the mark itself was changed
			}
			edits[i].End -= mark
		}
		return edits, true, nil
	}
	old, text2 := doc.Text(), now.Text() // another encoding: one span
	start, end := common(old, text2)
	return []change.Edit{{Verb: change.ReplaceSpan, Start: start, End: len(old) - end, New: string(text2[start : len(text2)-end]), Verbatim: true}}, true, nil
}
