package powercut

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/rootfs"
)

// recorded makes a folder with files and starts recording it.
func recorded(t *testing.T, files map[string]string) (*rootfs.Root, *Disk) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	must(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	d, err := New(dir)
	must(t, err)
	r, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, Layer: d.Layer()})
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r, d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func known(t *testing.T, r *rootfs.Root, name string) rootfs.Path {
	t.Helper()
	p, err := r.Known(name)
	must(t, err)
	return p
}

// on writes the state out and reads one of its files.
func on(t *testing.T, s *State, name string) (text string, exists bool) {
	t.Helper()
	dir := t.TempDir()
	must(t, s.WriteTo(dir))
	data, err := os.ReadFile(filepath.Join(dir, "ws", name))
	return string(data), err == nil
}

// Synced data is in every state; the fate decides about other data.
func TestCutOfALog(t *testing.T) {
	r, d := recorded(t, nil)
	log, err := r.OpenLog(known(t, r, "log"), true) // true: sync the name
	must(t, err)
	defer log.Close()
	must(t, log.Append([]byte("synced;"), 0))
	must(t, log.Sync())
	long := strings.Repeat("x", 4*sectorSize)
	must(t, log.Append([]byte(long), 7))
	must(t, d.Err())
	for i, want := range []string{
		"synced;",
		"synced;" + long,
		"synced;",
		"synced;" + long,
		"synced;" + strings.Repeat("\x00", len(long)),
		"synced;" + long[:3*sectorSize-7] + strings.Repeat("\x00", sectorSize+7),
		"synced;" + strings.Repeat("\x00", 3*sectorSize-7) + long[:sectorSize+7],
	} {
		fate := Fates()[i]
		if got, ok := on(t, d.Cut(d.Now(), fate), "log"); got != want || !ok {
			t.Errorf("%v: %q, want %q", fate, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if got, _ := on(t, d.Cut(d.Now(), Random(rng)), "log"); !strings.HasPrefix(got, "synced;") {
			t.Fatalf("%q", got)
		}
	}
	if _, ok := on(t, d.Cut(0, Fates()[1]), "log"); ok {
		t.Error("before the first event the file is there")
	}
}

// A rename between folders is in both folders or in neither, even if only one of them was synced.
func TestCutOfARename(t *testing.T) {
	r, d := recorded(t, map[string]string{"a/f": "text", "b/g": "other"})
	must(t, r.Rename(known(t, r, "a/f"), known(t, r, "b/f")))
	must(t, d.Err())
	rng := rand.New(rand.NewPCG(2, 2))
	moved := 0
	for at := range d.Now() + 1 {
		for range 20 {
			s := d.Cut(at, Random(rng))
			_, old := on(t, s, "a/f")
			text, there := on(t, s, "b/f")
			if old == there || there && text != "text" {
				t.Fatalf("before event %d: old name %v, new name %v %q\n%s%s", at, old, there, text, d.Story(0, at), s)
			}
			if there {
				moved++
			}
		}
	}
	if _, there := on(t, d.Cut(d.Now(), Fates()[0]), "b/f"); !there || moved == 0 {
		t.Errorf("a finished rename is there: %v; %d of the disks had it", there, moved)
	}
}

// At every moment, a replaced file is either the old or the new one.
func TestCutOfAReplacement(t *testing.T) {
	r, d := recorded(t, map[string]string{"f": "the old text"})
	_, err := r.Replace(known(t, r, "f"), []byte("the new text"), rootfs.Version{}, nil)
	must(t, err)
	must(t, d.Err())
	sums := map[[32]byte]bool{}
	for at := range d.Now() + 1 {
		for _, fate := range Fates() {
			s := d.Cut(at, fate)
			sums[s.Sum()] = true
			if text, _ := on(t, s, "f"); text != "the old text" && text != "the new text" {
				t.Errorf("before event %d, %v: %q", at, fate, text)
			}
		}
	}
	if len(sums) < 5 {
		t.Errorf("only %d disks", len(sums))
	}
}
