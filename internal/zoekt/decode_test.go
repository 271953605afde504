package zoekt

import (
	"bytes"
	"testing"

	"quarry/internal/remote"
	"quarry/internal/zoekt/wire"
)

// FuzzDecode: whatever a server sends, decoding ends with an answer or an error.
func FuzzDecode(f *testing.F) {
	doc := wire.AppendString(wire.AppendString(nil, 3, "a.txt"), 4, "alpha")
	stats := wire.AppendInt(wire.AppendInt(nil, 3, 1), 9, 2)
	chunk := wire.AppendMessage(wire.AppendMessage(nil, 1, stats), 3, doc)
	f.Add(wire.AppendMessage(nil, 6, chunk))
	branch := wire.AppendString(wire.AppendString(nil, 1, "main"), 2, "c0ffee")
	repo := wire.AppendMessage(wire.AppendString(nil, 2, "alpha"), 5, branch)
	f.Add(wire.AppendMessage(nil, 1, wire.AppendMessage(nil, 1, repo)))
	f.Add([]byte{0x32, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0})
	f.Add(encode(remote.Or(remote.Text("x", true), remote.And(remote.In("a"), remote.Paths("b")))))
	f.Fuzz(func(t *testing.T, message []byte) {
		var r found
		_ = r.addChunk(message)
		for _, d := range r.docs {
			if len(d.Content) > len(message) || len(d.Path) > len(message) {
				t.Fatalf("a document is larger than the message it came in")
			}
		}
		repos, _, _ := readList(message)
		for _, r := range repos {
			if r.Files < 0 || r.Bytes < 0 || r.Name == "" {
				t.Fatalf("%+v", r)
			}
		}
		framed := append([]byte{0, 0, 0, 0, byte(len(message))}, message...)
		if m, err := readFrame(bytes.NewReader(framed)); err == nil && len(m) != len(message)%256 {
			t.Fatalf("a frame of %d bytes gave %d", len(message)%256, len(m))
		}
	})
}
