package owner_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/internal/backend"
	"quarry/internal/owner"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/searcher"
	"quarry/match"
	"quarry/search"
)

// fuzzedOwner owns the index of a folder with one small file, and has no socket.
func fuzzedOwner(f *testing.F) *owner.Member {
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("needle\n"), 0o644); err != nil {
		f.Fatal(err)
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	m := owner.New(root, owner.Options{Dir: f.TempDir(), Workers: 1})
	go func() {
		for r := range m.Requests() {
			if len(r.View.Rules) > 0 {
				r.Finish(nil, errors.New("rules are not for this test"))
				continue
			}
			seen, err := rootfs.Open(dir, &rootfs.Options{Rules: policy.Rules{Allow: r.View.Allow, Deny: r.View.Deny}, Trusted: r.View.Trusted, AllowAny: true, ReadOnly: true})
			if err != nil {
				r.Finish(nil, err)
				continue
			}
			files := &searcher.Folder{Root: seen, Workers: 1, Index: m.FilteredBy(owner.NewFilter(&r.View, seen, nil))}
			backend.Answer(files, r)
			seen.Close()
		}
	}()
	f.Cleanup(func() {
		m.Close()
		root.Close()
	})
	if err := m.Join(); err != nil {
		f.Fatal(err)
	}
	if err := m.Wait(context.Background()); err != nil {
		f.Fatal(err)
	}
	return m
}

// withTypes makes an encoded request from types and the bytes of its fields. It computes
// the length, because mutated type descriptions are hardly ever valid.
func withTypes(types, fields []byte) io.Reader {
	length := []byte{byte(len(fields))}
	if len(fields) > 127 {
		length = binary.BigEndian.AppendUint32([]byte{256 - 4}, uint32(len(fields)))
	}
	return io.MultiReader(bytes.NewReader(types), bytes.NewReader(length), bytes.NewReader(fields))
}

// FuzzRequest passes arbitrary requests to an owner, all with the right folder, because
// others are not answered. Each must be answered or refused soon, and the owner must
// continue. It uses no socket, which took a hundred times as long; FuzzFrame and
// TestOwnersKilled test that.
func FuzzRequest(f *testing.F) {
	m := fuzzedOwner(f)
	var types bytes.Buffer // the types, followed by an empty request
	if err := gob.NewEncoder(&types).Encode(owner.WireRequest{}); err != nil {
		f.Fatal(err)
	}
	answered := 0
	try := func(whole bool, raw []byte) error {
		var req owner.WireRequest
		if whole {
			if gob.NewDecoder(bytes.NewReader(raw)).Decode(&req) != nil {
				return nil
			}
		} else {
			in := gob.NewDecoder(withTypes(types.Bytes(), raw))
			for range 2 { // the empty one first
				if in.Decode(&req) != nil {
					return nil
				}
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		m.Reply(ctx, &req, func(b []byte) error { // errors are allowed
			if len(b) > 1 {
				answered++
			}
			return nil
		})
		return ctx.Err()
	}
	for _, req := range []owner.WireRequest{
		{Version: owner.ShareVersion, Search: &search.Query{Pattern: "needle", Match: match.Options{Case: match.Smart}}},
		{Version: owner.ShareVersion, Find: &search.FindQuery{Scope: search.Scope{Globs: []string{"*.txt"}}}}, {Version: owner.ShareVersion, Status: true}, {Version: 99}, {Version: owner.ShareVersion},
		{Version: owner.ShareVersion, Code: &search.CodeQuery{Query: "needle"}}, {Version: owner.ShareVersion, Symbols: &search.SymbolQuery{Name: "needle"}},
		{Version: owner.ShareVersion, Search: &search.Query{Pattern: "(", Scope: search.Scope{Paths: []string{"../x"}, MaxDepth: -1}, Before: -5, Offset: -1, Detail: 99, Limits: search.Limits{Lines: -1}}},
	} {
		var b bytes.Buffer
		out := gob.NewEncoder(&b)
		for _, whole := range []bool{true, false} {
			b.Reset() // without the types, which are only in the first message
			if err := out.Encode(req); err != nil {
				f.Fatal(err)
			}
			raw := bytes.Clone(b.Bytes())
			if !whole {
				raw = raw[1:] // without the length
			}
			f.Add(whole, raw)
			try(whole, raw)
		}
	}
	if answered < 12 {
		f.Fatalf("the owner sent %d messages to the known requests, want 12 at least", answered)
	}
	f.Fuzz(func(t *testing.T, whole bool, raw []byte) {
		if err := try(whole, raw); err != nil {
			t.Errorf("%q took 20 s", raw)
		}
	})
}
