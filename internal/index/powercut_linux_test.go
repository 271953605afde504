//go:build linux && !portable

package index

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/powercut"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// The power fails at any moment of building, flushing and merging. The disk then opens in the
// state of the last flush or merge, or of the current one, answers correctly and accepts
// further changes, and no files are left over.
func TestPowerCut(t *testing.T) {
	run := stress.Start(t, "power loss: index", 6, 2_500)
	for seed := range run.Cases() {
		run.Tried(cutIndex(t, seed, 40))
		if t.Failed() {
			t.Fatalf("STRESS_SEED=%d", seed)
		}
	}
}

// cutIndex records some flushes and merges and tests the given number of disks from them.
func cutIndex(t *testing.T, seed uint64, disks int) int {
	w := newWorld(t, seed, true)
	defer w.root.Close()
	disk, err := powercut.New(w.stateDir)
	if err != nil {
		t.Fatal(err)
	}
	w.state, err = rootfs.Open(w.stateDir, &rootfs.Options{Trusted: true, AllowAny: true, Layer: disk.Layer()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.state.Close()
	for range 12 {
		w.write(w.name(), w.text())
	}
	w.open()
	forced := []manifestAt{{}} // manifests, and when each became durable
	inForce := func() { forced = append(forced, manifestAt{disk.Now(), w.ix.inForce}) }
	for range 2 + w.r.IntN(3) {
		w.change()
		if err := w.ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
			t.Fatal(err)
		}
		if err := w.ix.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		inForce()
		if err := w.ix.Merge(context.Background()); err != nil {
			t.Fatal(err)
		}
		inForce()
	}
	if err := w.ix.Close(); err != nil {
		t.Fatal(err)
	}
	if err := disk.Err(); err != nil {
		t.Fatal(err)
	}
	fates := append(powercut.Fates(), powercut.Random(w.r))
	seen := map[[32]byte]bool{}
	for range disks {
		at, fate := w.r.IntN(disk.Now()+1), fates[w.r.IntN(len(fates))]
		s := disk.Cut(at, fate)
		if sum := s.Sum(); seen[sum] {
			continue
		} else {
			seen[sum] = true
		}
		least := uint64(0)
		for _, m := range forced {
			if m.at <= at {
				least = m.number
			}
		}
		if w.powerOn(s, least); t.Failed() {
			t.Fatalf("power cut before event %d (%v)\nevents:\n%s\nthe disk:\n%s", at, fate, disk.Story(max(0, at-20), at), s)
		}
	}
	return len(seen)
}

// manifestAt is a manifest and the time when it became durable.
type manifestAt struct {
	at     int
	number uint64
}

// powerOn opens the contents of a disk as an index of the current tree. The manifest with number least was
// durable.
func (w *world) powerOn(s *powercut.State, least uint64) {
	base, err := os.MkdirTemp("/dev/shm", "quarry-index-")
	if err != nil {
		base = w.t.TempDir()
	}
	defer os.RemoveAll(base)
	if err := s.WriteTo(base); err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(base, filepath.Base(w.stateDir))
	state, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer state.Close()
	after := &world{t: w.t, r: rand.New(rand.NewPCG(w.r.Uint64(), 1)), dir: w.dir, stateDir: dir, root: w.root, state: state, silent: true}
	after.open()
	defer after.ix.Close()
	if got := after.ix.inForce; got < least {
		w.t.Errorf("manifest %d is in force, %d was durable", got, least)
	}
	after.check()
	after.refresh()
	after.check()
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	kept := map[string]bool{lockName: true, numbered(manifestPrefix, after.ix.inForce): true}
	for _, h := range after.ix.segs {
		kept[h.seg.name] = true
	}
	for _, e := range entries {
		if !kept[e.Name()] {
			w.t.Errorf("left over: %s", e.Name())
		}
	}
}
