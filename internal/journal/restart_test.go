package journal

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// After a restart of the machine, Restarted returns the last changes until Tidied is
// called.
func TestRestarted(t *testing.T) {
	b := newBench(t, nil)
	if b.st.Boot() == "" {
		t.Skip("the system does not tell its boots apart")
	}
	boot := func(name string) {
		b.must(b.j.Close())
		st, err := rootfs.Open(b.state, &rootfs.Options{Trusted: true, Layer: &rootfs.Layer{Boot: name}})
		b.must(err)
		b.st = st
		b.j, err = Open(st, nil)
		b.must(err)
		j := b.j
		t.Cleanup(func() { j.Close(); st.Close() })
	}
	restarted := func() int {
		list, err := b.j.Restarted()
		b.must(err)
		return len(list)
	}
	boot("00000001")
	b.put("f", "one")
	b.change("first", b.replace("f", "two"))
	if n := restarted(); n != 0 {
		t.Errorf("in the same boot: %d changes", n)
	}
	boot("00000001")
	if n := restarted(); n != 0 {
		t.Errorf("in the same boot, another process: %d changes", n)
	}
	boot("00000002")
	list, err := b.j.Restarted()
	b.must(err)
	if len(list) != 1 || len(list[0].Folders()) != 1 || !list[0].Folders()[0].IsRoot() {
		t.Errorf("in the next boot: %+v", list)
	}
	b.must(b.j.Tidied())
	if n := restarted(); n != 0 {
		t.Errorf("looked after: %d changes", n)
	}
}

// If a process can't remove its own owner file at Close, its changes still count as
// successful. The next process removes the file.
func TestMarkThatStays(t *testing.T) {
	stress.NeedsUnix(t, "an open file is replaced")
	b := newBench(t, nil)
	b.put("f", "one")
	b.change("first", b.replace("f", "two"))
	mark := filepath.Join(b.state, "owners", b.j.owner)
	b.must(os.Remove(mark))
	b.must(os.MkdirAll(filepath.Join(mark, "full"), 0o700))
	if err := b.j.Close(); err != nil {
		t.Errorf("closing after a change that was made: %v", err)
	}
}
