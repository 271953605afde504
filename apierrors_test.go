package quarry_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/search"
	"quarry/tool"
)

// A wrong argument returns an error with the right code, also for errors.Is, and never panics.
func TestWrongArguments(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	putFile(t, file, "one\ntwo\nthree\nfour\n")
	ws := mustOpen(t, dir, &quarry.Options{StateDir: t.TempDir()})
	joined, err := quarry.Join(quarry.Root{Name: "a", Workspace: ws}, quarry.Root{Name: "b", Workspace: mustOpen(t, t.TempDir(), nil)})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(e change.Edit) error { return second(ws.Edit(ctx, "a.txt", []change.Edit{e}, nil)) }
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"occurrence":     {edit(change.Edit{Old: "one", New: "1", Occurrence: -5}), fault.InvalidArgument},
		"lines":          {edit(change.Edit{Verb: change.ReplaceLines, First: 3, Last: 2}), fault.InvalidArgument},
		"span before":    {edit(change.Edit{Verb: change.ReplaceSpan, Start: -1, End: 2}), fault.InvalidArgument},
		"span behind":    {edit(change.Edit{Verb: change.ReplaceSpan, Start: 1, End: 1 << 40}), fault.InvalidArgument},
		"span backwards": {edit(change.Edit{Verb: change.ReplaceSpan, Start: 3, End: 1}), fault.InvalidArgument},
		"verb":           {edit(change.Edit{Verb: 77}), fault.InvalidArgument},
		"hunk":           {edit(change.Edit{Verb: change.ApplyHunk, Hunk: "zzz"}), fault.InvalidArgument},
		"operation":      {second(ws.Apply(ctx, change.Set{Ops: []change.Op{{Verb: 77, Path: "a.txt"}}})), fault.InvalidArgument},
		"order":          {second(joined.Search(ctx, search.Query{Pattern: "one", Order: search.ByModTime})), fault.InvalidArgument},
		"no folder":      {second(quarry.Open("", nil)), fault.InvalidArgument},
		"the top":        {second(quarry.Open(filepath.VolumeName(dir)+string(filepath.Separator), nil)), fault.InvalidArgument},
		"a file":         {second(quarry.Open(file, nil)), fault.InvalidArgument},
		"missing":        {second(quarry.Open(filepath.Join(dir, "nope"), nil)), fault.NotFound},
		"trash":          {second(quarry.Open(dir, &quarry.Options{Trash: "bogus"})), fault.InvalidArgument},
		"kind":           {second(ws.Symbols(ctx, search.SymbolQuery{Kind: "zzz"})), fault.InvalidArgument},
		"no workspace":   {second(quarry.Join(quarry.Root{Name: "a"})), fault.InvalidArgument},
		"nor two":        {second(quarry.Join(quarry.Root{Name: "a"}, quarry.Root{Name: "b"})), fault.InvalidArgument},
		"no roots":       {second(quarry.Join()), fault.InvalidArgument},
		"delete nothing": {second(quarry.DeleteIndex(nil)), fault.InvalidArgument},
		"delete no dir":  {second(quarry.DeleteIndex(&quarry.IndexOptions{})), fault.InvalidArgument},
		"not found":      {edit(change.Edit{Old: "zzz", New: "y"}), fault.NotFound},
		"ambiguous":      {edit(change.Edit{Old: "o", New: "y"}), fault.InvalidArgument},
		"pattern":        {second(ws.Search(ctx, search.Query{Pattern: "("})), fault.InvalidPattern},
		"glob":           {second(ws.Find(ctx, search.FindQuery{Scope: search.Scope{Globs: []string{"[a"}}})), fault.InvalidPattern},
		"no index":       {ws.Index().Follow(ctx, func(search.Progress) {}), fault.IndexNotFound},
		"not the owner":  {ws.Index().Wait(ctx), fault.IndexNotFound},
	} {
		if fault.CodeOf(c.err) != c.want || !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v has code %s, errors.Is %v; want %s", name, c.err, fault.CodeOf(c.err), errors.Is(c.err, c.want), c.want)
		}
	}
	if got := fault.CodeOf(nil); got != "" {
		t.Errorf("no error has code %q", got)
	}
	for _, name := range []string{"", "one"} {
		if _, err := ws.Symbols(ctx, search.SymbolQuery{Name: name, Limit: -1}); err != nil {
			t.Errorf("Symbols with limit -1: %v", err)
		}
	}
	// The errors about folders that the program has to make name the folder and say so.
	gone := filepath.Join(t.TempDir(), "gone")
	for name, opts := range map[string]*quarry.Options{
		"state folder":        {StateDir: gone},
		"folder of proposals": {StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: gone}},
	} {
		_, err := quarry.Open(dir, opts)
		if fault.CodeOf(err) != fault.NotFound || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), gone) || !strings.Contains(fault.HintOf(err), "0700") {
			t.Errorf("without a %s: %v, hint %q", name, err, fault.HintOf(err))
		}
	}
	if err := second(ws.Undo(ctx, "zzz", nil)); strings.Count(err.Error(), "the id of a change") != 1 {
		t.Error(err)
	}
	// A tool made by the program passes on the details of an error.
	own := &tool.Tool{Name: "own", Run: func(context.Context, tool.Args) (*tool.Result, error) {
		return nil, second(ws.Edit(ctx, "a.txt", []change.Edit{{Old: "zzz", New: "y"}}, nil))
	}}
	res := own.Execute(ctx, []byte(`{}`))
	e := res.Structured.(map[string]*tool.Error)["error"]
	if e.Code != fault.NotFound || e.Hint == "" {
		t.Errorf("a tool's error: %+v", e)
	}
	if _, err := tool.NewRegistry(nil); err == nil {
		t.Error("a registry took nil")
	}
}

// By default, Delete moves a file to the workspace's trash.
func TestDeleteByDefault(t *testing.T) {
	dir := t.TempDir()
	putFile(t, filepath.Join(dir, "a.txt"), "a\n")
	ws := mustOpen(t, dir, &quarry.Options{StateDir: t.TempDir()})
	c, err := ws.Delete(context.Background(), "a.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := change.TrashLocal; c.Trash.Kind != want && filepath.Separator == '/' {
		t.Errorf("deleted to %q, want %q", c.Trash.Kind, want)
	}
	if _, err := ws.Undo(context.Background(), "", nil); err != nil {
		t.Error(err)
	}
}

// The error for a pending change can be recognised, and the change can be withdrawn.
func TestPendingError(t *testing.T) {
	ctx := context.Background()
	ws := mustOpen(t, t.TempDir(), &quarry.Options{StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: t.TempDir(), Wait: -1}})
	_, err := ws.Write(ctx, "a.txt", []byte("a"), nil)
	var pending *change.PendingError
	if !errors.As(err, &pending) || pending.ID == "" {
		t.Fatalf("err %v", err)
	}
	if _, err := ws.Undo(ctx, pending.ID, nil); err != nil {
		t.Error(err)
	}
}

// Each limit on reading applies by itself, and to the whole answer.
func TestLimitsOfReads(t *testing.T) {
	root := func(name string) quarry.Root {
		dir := t.TempDir()
		for i := range 5 {
			putFile(t, filepath.Join(dir, fmt.Sprintf("%d.txt", i)), "x 45678\n")
		}
		return quarry.Root{Name: name, Workspace: mustOpen(t, dir, nil)}
	}
	one := root("a")
	two, err := quarry.Join(one, root("b"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ws      *quarry.Workspace
		limits  search.Limits
		files   int
		stopped search.Stop
	}{
		"bytes alone":     {one.Workspace, search.Limits{ReadBytes: 20}, 2, search.StopReads},
		"enough bytes":    {one.Workspace, search.Limits{ReadBytes: 40}, 5, ""},
		"files of both":   {two, search.Limits{Reads: 7}, 7, search.StopReads},
		"all of one":      {two, search.Limits{Reads: 5}, 5, search.StopReads},
		"all":             {two, search.Limits{Reads: 10}, 10, ""},
		"bytes of both":   {two, search.Limits{ReadBytes: 60}, 7, search.StopReads},
		"negative is any": {two, search.Limits{Reads: -1, ReadBytes: -1}, 10, ""},
	} {
		r, err := c.ws.Search(context.Background(), search.Query{Pattern: "x", Limits: c.limits})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Files) != c.files || r.Stopped != c.stopped || r.Exact != (c.stopped == "") {
			t.Errorf("%s: %d files, stopped %q, exact %v; want %d, %q", name, len(r.Files), r.Stopped, r.Exact, c.files, c.stopped)
		}
	}
}
