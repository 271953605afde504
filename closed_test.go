package quarry_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/search"
	"quarry/toolset"
)

// closing calls every method of Workspace and Index that can fail, by name.
var closing = map[string]func(ctx context.Context, w *quarry.Workspace) error{
	"Search": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Search(ctx, search.Query{Pattern: "x"}))
	},
	"SearchEach": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.SearchEach(ctx, search.Query{Pattern: "x"}, func(*search.FileMatch) error { return nil }))
	},
	"Find": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Find(ctx, search.FindQuery{})) },
	"SearchCode": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.SearchCode(ctx, search.CodeQuery{Query: "x"}))
	},
	"EachText": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.EachText(ctx, search.TextQuery{}, func(string, []byte) any { return nil }, func(string, any) {}))
	},
	"Symbols": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Symbols(ctx, search.SymbolQuery{Name: "x"}))
	},
	"Stat":      func(ctx context.Context, w *quarry.Workspace) error { return second(w.Stat(ctx, "a/0.txt")) },
	"Read":      func(ctx context.Context, w *quarry.Workspace) error { return second(w.Read(ctx, "a/0.txt", nil)) },
	"ReadBytes": func(ctx context.Context, w *quarry.Workspace) error { return second(w.ReadBytes(ctx, "a/0.txt", 0)) },
	"VaultFile": func(ctx context.Context, w *quarry.Workspace) error { return second(w.VaultFile(ctx, "app.json")) },
	"Apply": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: "a/0.txt"}}}))
	},
	"Plan": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Plan(ctx, change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: "a/0.txt"}}}))
	},
	"Edit": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Edit(ctx, "a/0.txt", []change.Edit{{Old: "x", New: "y"}}, nil))
	},
	"Write":  func(ctx context.Context, w *quarry.Workspace) error { return second(w.Write(ctx, "a/0.txt", nil, nil)) },
	"Mkdir":  func(ctx context.Context, w *quarry.Workspace) error { return second(w.Mkdir(ctx, "a/new", nil)) },
	"Delete": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Delete(ctx, "a/0.txt", nil)) },
	"Move": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Move(ctx, "a/0.txt", "a/n.txt", nil))
	},
	"Undo":    func(ctx context.Context, w *quarry.Workspace) error { return second(w.Undo(ctx, "", nil)) },
	"Diff":    func(ctx context.Context, w *quarry.Workspace) error { return second(w.Diff(ctx, "", nil)) },
	"DiffAll": func(ctx context.Context, w *quarry.Workspace) error { return second(w.DiffAll(ctx, []string{""})) },
	"Authors": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Authors(ctx, "a/0.txt")) },
	"Changes": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Changes(ctx, 0)) },
	"Clean":   func(ctx context.Context, w *quarry.Workspace) error { return second(w.Clean(ctx)) },
	"RestoreTrashed": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.RestoreTrashed(ctx, "a/0.txt", "", nil))
	},
	"EmptyTrash": func(ctx context.Context, w *quarry.Workspace) error { return second(w.EmptyTrash(ctx, time.Time{})) },
	"Trashed": func(ctx context.Context, w *quarry.Workspace) error {
		_, _, err := w.Trashed(ctx)
		return err
	},
	"Point":       func(ctx context.Context, w *quarry.Workspace) error { return w.Point(ctx, "a name") },
	"PurgeRecord": func(ctx context.Context, w *quarry.Workspace) error { return w.PurgeRecord(ctx, "") },
	"Replace": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Replace(ctx, search.Query{Pattern: "x"}, "y", nil))
	},
	"Recording": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Recording(ctx)) },
	"Remember": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Remember(ctx, "a key", func(context.Context) (any, error) { return 1, nil }))
	},
	"Index.Status": func(ctx context.Context, w *quarry.Workspace) error { return second(w.Index().Status(ctx)) },
	"Index.Wait":   func(ctx context.Context, w *quarry.Workspace) error { return w.Index().Wait(ctx) },
	"Index.Follow": func(ctx context.Context, w *quarry.Workspace) error {
		return w.Index().Follow(ctx, func(search.Progress) {})
	},
	"Index.Verify": func(ctx context.Context, w *quarry.Workspace) error {
		return second(w.Index().Verify(ctx, func(string, string) {}, nil))
	},
}

// TestClosingIsComplete checks that closing includes all methods.
func TestClosingIsComplete(t *testing.T) {
	failing := reflect.TypeFor[error]()
	for _, typ := range []reflect.Type{reflect.TypeFor[*quarry.Workspace](), reflect.TypeFor[*quarry.Index]()} {
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			name := m.Name
			if typ == reflect.TypeFor[*quarry.Index]() {
				name = "Index." + name
			}
			if n := m.Type.NumOut(); n > 0 && m.Type.Out(n-1) == failing && name != "Close" && closing[name] == nil {
				t.Errorf("no call of %s is tested on a closed workspace", name)
			}
		}
	}
}

// closingTree makes n files that contain an x.
func closingTree(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		putFile(t, filepath.Join(dir, string(rune('a'+i%3)), fmt.Sprintf("%d.txt", i)), "x\n")
	}
	return dir
}

func mustOpen(t *testing.T, dir string, opts *quarry.Options) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func isClosed(err error) bool {
	return errors.Is(err, quarry.ErrClosed) && errors.Is(err, fs.ErrClosed) && fault.CodeOf(err) == fault.IOError && fault.HintOf(err) != "" &&
		strings.Contains(err.Error(), "the workspace is closed")
}

// After Close, every method of every kind of workspace returns ErrClosed.
func TestAfterClose(t *testing.T) {
	folder := func(t *testing.T) *quarry.Workspace {
		return mustOpen(t, closingTree(t, 3), &quarry.Options{StateDir: t.TempDir(), Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	}
	kinds := map[string]func(t *testing.T) *quarry.Workspace{
		"folder": folder,
		"reading": func(t *testing.T) *quarry.Workspace {
			return mustOpen(t, closingTree(t, 3), nil)
		},
		"reviewed": func(t *testing.T) *quarry.Workspace {
			return mustOpen(t, closingTree(t, 3), &quarry.Options{StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: t.TempDir(), Wait: -1}})
		},
		"joined": func(t *testing.T) *quarry.Workspace {
			ws, err := quarry.Join(quarry.Root{Name: "a", Workspace: folder(t)}, quarry.Root{Name: "b", Workspace: folder(t)})
			if err != nil {
				t.Fatal(err)
			}
			return ws
		},
	}
	for kind, open := range kinds {
		t.Run(kind, func(t *testing.T) {
			ws := open(t)
			if err := ws.Close(); err != nil {
				t.Fatal(err)
			}
			if err := ws.Close(); err != nil {
				t.Errorf("a second Close: %v", err)
			}
			for _, root := range ws.Roots() {
				if err := closing["Stat"](context.Background(), root.Workspace); !isClosed(err) {
					t.Errorf("root %q: %v", root.Name, err)
				}
			}
			for name, call := range closing {
				if err := call(context.Background(), ws); !isClosed(err) {
					t.Errorf("%s: %v, code %s", name, err, fault.CodeOf(err))
				}
			}
		})
	}
}

// A search over joined workspaces fails if one of them is closed.
func TestJoinClosedRoot(t *testing.T) {
	a, b := mustOpen(t, closingTree(t, 3), nil), mustOpen(t, closingTree(t, 3), nil)
	ws, err := quarry.Join(quarry.Root{Name: "a", Workspace: a}, quarry.Root{Name: "b", Workspace: b})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Search", "Find", "SearchCode", "EachText", "Symbols", "Index.Status"} {
		if err := closing[name](context.Background(), ws); !errors.Is(err, quarry.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If Close interrupts a search, the search fails. It never returns a partial answer that looks
// complete.
func TestCloseDuringSearch(t *testing.T) {
	dir := closingTree(t, 300)
	for _, indexed := range []bool{false, true} {
		open := func(t *testing.T) *quarry.Workspace {
			opts := &quarry.Options{}
			if indexed {
				opts.Index = &quarry.IndexOptions{Dir: t.TempDir()}
			}
			ws := mustOpen(t, dir, opts)
			if indexed {
				if err := ws.Index().Wait(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			return ws
		}
		t.Run(fmt.Sprint("SearchEach, indexed ", indexed), func(t *testing.T) {
			ws := open(t)
			_, err := ws.SearchEach(context.Background(), search.Query{Pattern: "x"}, func(*search.FileMatch) error { return ws.Close() })
			if !isClosed(err) {
				t.Errorf("err %v", err)
			}
		})
		t.Run(fmt.Sprint("EachText, indexed ", indexed), func(t *testing.T) {
			ws := open(t)
			var once sync.Once
			_, err := ws.EachText(context.Background(), search.TextQuery{}, func(string, []byte) any {
				once.Do(func() { ws.Close() })
				return true
			}, func(string, any) {})
			if !isClosed(err) {
				t.Errorf("err %v", err)
			}
		})
	}
	// Close the workspace in Outside, which is called at the start of each answer that needs rules.
	for _, name := range []string{"Search", "Find", "SearchCode", "EachText", "Symbols"} {
		t.Run(name, func(t *testing.T) {
			var ws *quarry.Workspace
			ws = mustOpen(t, dir, &quarry.Options{Outside: func() ([]byte, []quarry.IgnoreFile, bool) {
				ws.Close()
				return nil, nil, false
			}})
			if err := closing[name](context.Background(), ws); !isClosed(err) {
				t.Errorf("err %v", err)
			}
		})
	}
}

// A change interrupted by Close is either made and reported, or not made and fails with ErrClosed.
func TestCloseDuringChange(t *testing.T) {
	for range 5 {
		dir, state := t.TempDir(), t.TempDir()
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: state})
		if err != nil {
			t.Fatal(err)
		}
		made := make([]error, 24)
		var wg sync.WaitGroup
		started := make(chan bool, len(made))
		for i := range made {
			wg.Go(func() {
				started <- true
				_, made[i] = ws.Write(context.Background(), fmt.Sprintf("d%d/f.txt", i), []byte("x"), nil)
			})
		}
		<-started
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		for i, err := range made {
			_, missing := os.Stat(filepath.Join(dir, fmt.Sprintf("d%d/f.txt", i)))
			var partly *change.PartialError
			if err == nil && missing != nil || err != nil && (missing == nil || !isClosed(err) || errors.As(err, &partly)) {
				t.Errorf("write %d: %v, and the file: %v", i, err, missing)
			}
		}
		again := mustOpen(t, dir, &quarry.Options{StateDir: state})
		log, err := again.Changes(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range log.Changes {
			if c.Pending {
				t.Errorf("change %s is pending", c.ID)
			}
		}
	}
}

// Tools fail if the workspace is closed, and these calls aren't counted.
func TestClosedTools(t *testing.T) {
	dir := closingTree(t, 30)
	var ws *quarry.Workspace
	closeIt := false
	ws = mustOpen(t, dir, &quarry.Options{Outside: func() ([]byte, []quarry.IgnoreFile, bool) {
		if closeIt {
			ws.Close()
		}
		return nil, nil, false
	}})
	tools, err := toolset.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeIt = true
	for range 2 { // during Close and after it
		// The first call is a search, because reading a named file loads no rules and so wouldn't
		// close the workspace.
		for _, one := range []string{
			`search_files {"regex":"x","count":"exact"}`, `list_files {"pattern":"**"}`, `read_file {"path":"a/0.txt"}`,
			`search_code {"query":"x"}`, `find_symbol {"name":"x"}`, `outline {"path":"a/0.txt"}`, `get_file_info {"path":"a/0.txt"}`,
		} {
			name, args, _ := strings.Cut(one, " ")
			res, err := tools.Call(context.Background(), name, []byte(args))
			if err != nil {
				t.Fatal(err)
			}
			if !res.IsError || !strings.Contains(res.Text, "he workspace is closed") {
				t.Errorf("%s: error %v, %q", name, res.IsError, res.Text)
			}
		}
	}
}
