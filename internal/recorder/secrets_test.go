package recorder_test

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/stress"
)

// holds reports whether data contains a text, as it is or compressed. It tries every
// offset as the start of compressed data, so it assumes no format.
func holds(data []byte, text string) bool {
	if bytes.Contains(data, []byte(text)) {
		return true
	}
	in := flate.NewReader(nil)
	out := make([]byte, 4096)
	for at := range data {
		_ = in.(flate.Resetter).Reset(bytes.NewReader(data[at:]), nil)
		if n, _ := io.ReadFull(in, out); bytes.Contains(out[:n], []byte(text)) {
			return true
		}
	}
	return false
}

// Contents denied by the built-in list, the recording client or another client are
// nowhere in the state folder, after many changes in which files are also moved to and
// from denied paths.
func TestSecretsAreNotKept(t *testing.T) {
	run := stress.Start(t, "secrets are not recorded", 40, 1)
	changes := 60
	if stress.Long() {
		changes = 5000
	}
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		p := newPlace(t)
		o := p.options()
		o.Deny = []string{"private/**"}
		ws, err := quarry.Open(p.dir, o)
		must(t, err)
		must(t, ws.Index().Wait(t.Context()))
		p.recording(ws)
		o = p.options()
		o.Deny = []string{"plans/**", "*.draft"}
		o.Index.Ask = true
		other, err := quarry.Open(p.dir, o)
		must(t, err)
		for st, err := other.Recording(t.Context()); st == nil || !st.On; st, err = other.Recording(context.Background()) {
			must(t, err)
		}
		const secret, open = "Xq7secret marker", "Vw3open marker"
		closed := []string{".env", ".ssh/id_ed25519", "private/a.txt", "private/deep/b.txt", "plans/c.txt", "d.draft", "sub/.env", "sub/e.draft"}
		free := []string{"a.txt", "sub/b.txt", "sub/deep/c.txt"}
		text := func(mark string) string {
			return strings.Repeat(fmt.Sprintf("%s %d\n", mark, r.IntN(1000)), 1+r.IntN(40))
		}
		for k := range changes {
			at := closed[r.IntN(len(closed))]
			switch r.IntN(6) {
			case 0:
				to := closed[r.IntN(len(closed))] // it may not exist
				_ = os.Rename(filepath.Join(p.dir, at), filepath.Join(p.dir, to))
			case 1:
				_ = os.Remove(filepath.Join(p.dir, at))
			case 2:
				p.put(free[r.IntN(len(free))], text(open))
			default:
				p.put(at, text(secret))
			}
			if k%20 == 0 {
				p.log(ws)
			}
		}
		p.log(ws)
		must(t, other.Close())
		must(t, ws.Close())
		found := false
		must(t, filepath.WalkDir(p.state, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if holds(data, secret) {
				run.Violation(seed, "%s has a secret", path)
			}
			found = found || holds(data, open)
			return err
		}))
		if !found {
			t.Error("the log has nothing of the files that it may keep")
		}
		run.Tried(changes)
	}
}
