package owner_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry"
	"quarry/internal/owner"
	"quarry/match"
	"quarry/search"
)

// FuzzRequest sends anything as another process's request. It is answered or
// refused, and the workspace goes on.
func FuzzRequest(f *testing.F) {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644); err != nil {
		f.Fatal(err)
	}
	socket := filepath.Join(f.TempDir(), "s", "sock")
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: f.TempDir(), Socket: socket}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ws.Close() })
	if c, err := owner.Dial(socket); err == nil {
		c.Close()
	} else {
		f.Skip("sharing an index is not possible here: ", err)
	}
	if err := ws.Index().Wait(context.Background()); err != nil {
		f.Fatal(err)
	}
	for _, req := range []owner.Request{
		{Version: owner.ShareVersion, Search: &search.Query{Pattern: "needle", Match: match.Options{Case: match.Smart}}},
		{Version: owner.ShareVersion, Find: &search.FindQuery{Scope: search.Scope{Globs: []string{"*.txt"}}}}, {Version: owner.ShareVersion, Status: true}, {Version: 99}, {Version: owner.ShareVersion},
		{Version: owner.ShareVersion, Search: &search.Query{Pattern: "(", Scope: search.Scope{Paths: []string{"../x"}, MaxDepth: -1}, Before: -5, Offset: -1, Detail: 99, Limits: search.Limits{Lines: -1}}},
	} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(req); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	var c *owner.Client // kept as long as it answers: a new one takes longer than a request
	f.Fuzz(func(t *testing.T, raw []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if c == nil {
			var err error
			if c, err = owner.Dial(socket); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Ask(ctx, raw, func([]byte) error { return nil }); err != nil { // refused is fine
			c.Close()
			c = nil
		}
		if err := ctx.Err(); err != nil {
			t.Errorf("%q took 20 s", raw)
		}
	})
}
