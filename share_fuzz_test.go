package quarry

import (
	"bytes"
	"context"
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/match"
)

// FuzzRequest sends anything as another process's request. It is answered or
// refused, and the workspace goes on.
func FuzzRequest(f *testing.F) {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644); err != nil {
		f.Fatal(err)
	}
	ws, err := Open(dir, &Options{Index: &IndexOptions{Dir: f.TempDir()}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { ws.Close() })
	if err := ws.WaitIndex(context.Background()); err != nil {
		f.Fatal(err)
	}
	for _, req := range []request{
		{Version: shareVersion, Search: &Query{Pattern: "needle", Match: match.Options{Case: match.Smart}}},
		{Version: shareVersion, Find: &FindQuery{Scope: Scope{Globs: []string{"*.txt"}}}}, {Version: shareVersion, Status: true}, {Version: 99}, {Version: shareVersion},
		{Version: shareVersion, Search: &Query{Pattern: "(", Scope: Scope{Paths: []string{"../x"}, MaxDepth: -1}, Before: -5, Offset: -1, Detail: 99, Limits: Limits{Lines: -1}}},
	} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(req); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		ws.answer(ctx, raw, func([]byte) error { return nil })
		if err := ctx.Err(); err != nil {
			t.Errorf("%q took 20 s", raw)
		}
	})
}
