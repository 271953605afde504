package rootfs

import (
	"os"
	"testing"

	"quarry/fault"
	"quarry/internal/rootfs/version"
)

// Known old content is compared instead of hashed; a file that differs is a conflict, and
// stored edits with another result are refused.
func TestSpliceWithKnownContent(t *testing.T) {
	r := openRoot(t, t.TempDir(), nil)
	old := []byte("f")
	edits := []Edit{{Off: 1, Data: []byte("g")}}
	next := version.SumOf(old).Edited(edits)
	for _, c := range []struct {
		name, have string
		opts       ReplaceOptions
		kind       fault.Code
		then       string
	}{
		{"another content", "x", ReplaceOptions{Want: next, Old: old}, fault.Conflict, "x"},
		{"a longer content", "fff", ReplaceOptions{Want: next, Old: old}, fault.Conflict, "fff"},
		{"edits that lead elsewhere", "f", ReplaceOptions{Want: version.Of(old)}, fault.InvalidArgument, "f"},
		{"as expected", "f", ReplaceOptions{Want: next, Old: old}, "", "fg"},
	} {
		file := r.Dir() + "/f"
		must(t, os.WriteFile(file, []byte(c.have), 0o644))
		got, err := r.Splice(Path{"f"}, edits, version.Of(old), &c.opts)
		if (err != nil) != (c.kind != "") || err != nil && KindOf(err) != c.kind || err == nil && got.New != next {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if b, err := os.ReadFile(file); string(b) != c.then || err != nil {
			t.Errorf("%s: the file holds %q, %v", c.name, b, err)
		}
	}
}
