package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/internal/trigram"
	"quarry/match"
)

// manyFiles is a world with an index of several segments, some documents dead.
func manyFiles(t *testing.T) *world {
	w := newWorld(t, 7, true)
	for i := range 40 {
		w.write(fmt.Sprintf("d%d/f%d", i%5, i), w.text())
		w.write(fmt.Sprintf("d%d/f%d.c", i%5, i), fmt.Sprintf("#define NEEDLE_%d 1\nstruct needle {\n\tint a%d, b;\n};\n", i, i))
	}
	for i := range 3 {
		w.write(fmt.Sprintf("d%d/large", i), w.largeText(200<<10))
	}
	w.open()
	w.refresh()
	for round := range 3 {
		for i := range 6 {
			w.write(fmt.Sprintf("d%d/f%d", i%5, i+round), w.text())
		}
		w.refresh()
	}
	if st := w.ix.Status(); st.Segments < 3 {
		t.Fatalf("only %d segments", st.Segments)
	}
	return w
}

func (w *world) stored() map[string][]byte {
	w.t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(w.stateDir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(w.stateDir, e.Name())); err != nil {
			w.t.Fatal(err)
		}
	}
	return files
}

func (w *world) restore(files map[string][]byte) {
	w.t.Helper()
	for name := range w.stored() {
		if _, ok := files[name]; !ok {
			os.Remove(filepath.Join(w.stateDir, name))
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(w.stateDir, name), data, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// mutate damages stored files in one of the ways disks, crashes and people do.
func mutate(r *rand.Rand, files, older map[string][]byte) (string, map[string][]byte) {
	files = maps.Clone(files)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(n string) bool { return n == lockName })
	name := names[r.IntN(len(names))]
	data := slices.Clone(files[name])
	how := ""
	switch r.IntN(9) {
	case 0, 1, 2:
		how = "flipped bits"
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	case 3:
		how = "truncated"
		data = data[:r.IntN(len(data))]
	case 4:
		how = "a stretch of zeros"
		at := r.IntN(len(data))
		clear(data[at:min(len(data), at+1+r.IntN(5000))])
	case 5:
		how = "swapped with another"
		other := names[r.IntN(len(names))]
		files[name], files[other] = files[other], files[name]
		return name + " " + how, files
	case 6:
		how = "missing"
		delete(files, name)
		return name + " " + how, files
	case 7:
		how = "from another version"
		if i := strings.Index(string(data), "\x02\x00\x00\x00"); i >= 0 {
			data[i]++
		}
	case 8:
		how = "all as it once was, with what came later beside it"
		for n, d := range older {
			if n == lockName || strings.HasPrefix(n, manifestPrefix) || r.IntN(2) == 0 {
				files[n] = d
			}
		}
		return how, files
	}
	files[name] = data
	return name + " " + how, files
}

// Whatever happens to the files on disk, there is no panic, the listed files equal a walk's, and no match is
// missing. Damaged parts are read again.
func TestDamage(t *testing.T) {
	stress.SkipTiny(t)
	w := manyFiles(t)
	w.calm()
	older := w.stored()
	for i := range 5 {
		w.write(fmt.Sprintf("d%d/late", i), w.text())
		w.write(fmt.Sprintf("d%d/f%d", i%5, i), "alpha needle\n")
	}
	w.calm()
	if err := w.ix.Merge(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := w.candidates("zzz_not_there", Ask{Hidden: true}); len(got) > 2 {
		t.Fatalf("an index in order has %d candidates for what is nowhere: the test would show nothing", len(got))
	}
	w.ix.Close()
	files := w.stored()
	listed := w.listed(true, false)
	var compiled []*match.Pattern
	var matching []map[string]bool
	for _, expr := range patterns {
		p := match.MustCompile(expr, match.Options{})
		compiled = append(compiled, p)
		matching = append(matching, w.matching(p, listed))
	}
	for seed := range stress.Start(t, "index damage", 2_000, 100_000).Cases() {
		r := stress.Rand(seed)
		how, broken := mutate(r, files, older)
		w.restore(broken)
		w.open()
		k := r.IntN(len(compiled))
		w.complete(how, compiled[k], matching[k], listed)
		if seed%20 == 0 { // newly written segments must be valid
			w.refresh()
			w.complete(how+", refreshed", compiled[k], matching[k], listed)
			w.reopen()
			w.complete(how+", reopened", compiled[k], matching[k], listed)
		}
		w.ix.Close()
		if t.Failed() {
			return
		}
	}
}

// matching lists the files a scan finds.
func (w *world) matching(p *match.Pattern, listed []string) map[string]bool {
	w.t.Helper()
	found := map[string]bool{}
	for _, name := range listed {
		if w.scan(p, name, false) {
			found[name] = true
		}
	}
	return found
}

func (w *world) complete(how string, p *match.Pattern, matching map[string]bool, listed []string) {
	w.t.Helper()
	snap, err := w.ix.Fresh(context.Background())
	if err != nil {
		w.t.Fatalf("%s: %v", how, err)
	}
	defer snap.Close()
	c, err := snap.Candidates(Ask{Need: p.Need(), Hidden: true, ByLine: true})
	if errors.Is(err, ErrDamaged) { // the segment was dropped, so the next query succeeds
		w.complete(how+", again", p, matching, listed)
		return
	}
	if err != nil {
		w.t.Fatalf("%s: %v", how, err)
	}
	var files []string
	missed := maps.Clone(matching)
	err = c.Files(func(d *Doc, may bool) bool {
		files = append(files, d.Path())
		if may {
			delete(missed, d.Path())
		}
		return true
	})
	if err != nil {
		w.t.Fatalf("%s: %v", how, err)
	}
	if !slices.Equal(files, listed) {
		w.t.Fatalf("%s: %s", how, differences(files, listed))
	}
	if len(missed) > 0 {
		w.t.Fatalf("%s: %q misses %q", how, p, slices.Sorted(maps.Keys(missed)))
	}
}

// Deliberate damage that checksums don't reveal must not cause a panic or an endless loop.
func TestForgedSegments(t *testing.T) {
	stress.SkipTiny(t)
	w := manyFiles(t)
	w.ix.Close()
	files := w.stored()
	r := rand.New(rand.NewPCG(4, 4))
	var names []string
	for name := range files {
		if strings.HasPrefix(name, segmentPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	need := match.MustCompile("needle|mutex_lock", match.Options{}).Need()
	opened := 0
	for range 600 {
		name := names[r.IntN(len(names))]
		data := slices.Clone(files[name])
		for range 1 + r.IntN(4) {
			data[len(segmentMagic)+r.IntN(len(data)-len(segmentMagic))] = byte(r.Uint32())
		}
		forge(data)
		w.restore(map[string][]byte{name: data})
		seg, err := openSegment(w.state, name, wordFields, false)
		if err != nil {
			continue
		}
		opened++
		h := newHeld(seg, nil)
		s := &Snapshot{snapshot: &snapshot{ix: &Index{log: w.ix.log}, views: []*view{{seg: seg, held: h, mask: h.mask}}}}
		s.refs.Store(1)
		for _, byLine := range []bool{false, true} {
			if c, err := s.Candidates(Ask{Need: need, ByLine: byLine}); err == nil {
				c.Each(func(*Doc) bool { return true })
				c.Files(func(*Doc, bool) bool { return true })
			}
		}
		s.Lookup("d1/f1")
		if views, err := s.Counted(Ask{}); err == nil {
			for _, v := range views.Views {
				v.Each(func(id int, _ []byte, _ Flags) bool { v.Parts(id); return true })
				for _, word := range []string{"needl", "mutex", "lock", "int"} {
					v.Postings(terms.KeyOf([]byte(word)), nil, nil)
				}
				all := make([]int, v.Documents())
				for id := range all {
					all[id] = id
				}
				v.Fields(all, AllValues, func(_ int, values Values) bool {
					for values.Next() != nil {
					}
					return true
				})
				v.Counted(terms.KeyOf([]byte("int")), nil, nil)
				v.Named([]byte("needle"), func(*Defined) {})
				v.Names(NameQuery{Between: anyKey}, func(d *Defined) bool {
					d.Each(func(id int, _ symbols.Kind, container uint32) {
						v.Container(container)
						v.Kinds(id, func(symbols.Kind, int) {})
					})
					return true
				})
			}
		}
		s.Close()
	}
	t.Logf("600 forged segments, %d opened and asked", opened)
	if opened < 50 {
		t.Errorf("only %d forged segments were opened: the test shows little", opened)
	}
}

// anyKey selects all names.
func anyKey(_, _ []byte) bool { return true }

// forge makes all sums right.
func forge(data []byte) {
	foot := data[len(data)-footerSize:]
	part := func(i int) []byte {
		e := foot[footerHead+i*sectionEntry:]
		off, size := binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
		if end := off + size; end >= off && end <= uint64(len(data)-footerSize) {
			return data[off:end]
		}
		return nil
	}
	var sums blockSums
	sums.add(part(secPostings))
	copy(part(secSums), sums.finish())
	sums = blockSums{}
	sums.add(part(secTerms))
	copy(part(secTermSums), sums.finish())
	sums = blockSums{}
	sums.add(part(secDefs))
	copy(part(secDefSums), sums.finish())
	for _, of := range [][2]int{{secFields, secFieldSums}, {secFieldTerms, secFieldTermSums}} {
		sums = blockSums{}
		sums.add(part(of[0]))
		copy(part(of[1]), sums.finish())
	}
	for i := range sections {
		e := foot[footerHead+i*sectionEntry:]
		binary.LittleEndian.PutUint32(e[16:], crc32.Checksum(part(i), castagnoli()))
	}
	binary.LittleEndian.PutUint32(foot[footerSize-12:], crc32.Checksum(foot[:footerSize-12], castagnoli()))
}

func FuzzManifest(f *testing.F) {
	m := &manifest{number: 7, segs: []manifestSegment{{"segment-0000000000000001", 100, 5, bitset{1, 2}}}}
	f.Add(m.encode())
	f.Add([]byte(manifestMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		decodeManifest(data)
		if len(data) > 4 { // also with a correct checksum
			body := data[:len(data)-4]
			decodeManifest(binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli())))
		}
	})
}

func TestManifestRoundTrip(t *testing.T) {
	m := &manifest{number: 7, segs: []manifestSegment{
		{"segment-0000000000000001", 100, 5, bitset{1, 1 << 63}}, {"segment-00000000000000ff", 1 << 40, 6, bitset{}},
	}}
	got, err := decodeManifest(m.encode())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(m) {
		t.Errorf("got %+v, want %+v", got, m)
	}
}

// A segment that is truncated while in use must not crash the process: where files are mapped, reading it is
// a fault.
func TestTruncatedWhileInUse(t *testing.T) {
	stress.SkipTiny(t)
	stress.NeedsUnix(t, "mapped files")
	w := manyFiles(t)
	w.calm()
	listed := w.listed(true, false)
	p := match.MustCompile("needle", match.Options{})
	matching := w.matching(p, listed)
	for round := range 3 {
		entries, err := os.ReadDir(w.stateDir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), segmentPrefix) {
				if err := os.Truncate(filepath.Join(w.stateDir, e.Name()), 0); err != nil {
					t.Skip("can't truncate: ", err)
				}
			}
		}
		snap, err := w.ix.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		c, err := snap.Candidates(Ask{Need: p.Need(), Hidden: true})
		if err == nil {
			err = c.Each(func(*Doc) bool { return true })
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		snap.Close()
		if round == 1 {
			w.ix.mu.Lock()
			segs := w.ix.segs
			w.ix.mu.Unlock()
			if len(segs) > 0 {
				if err := w.ix.join(context.Background(), segs); !errors.Is(err, ErrDamaged) {
					t.Errorf("joining what is damaged: %v", err)
				}
			}
		}
		w.complete(fmt.Sprint("round ", round), p, matching, listed)
		w.refresh()
		w.complete(fmt.Sprint("round ", round, ", refreshed"), p, matching, listed)
	}
}

// If a segment in use is damaged by a flipped bit or a truncation, a query fails or its answer
// is complete. Without checksums every case fails, because the damage is in a list that the
// query reads.
func TestDamagedWhileServing(t *testing.T) {
	w := newWorld(t, 3, false)
	for i := range 60 {
		w.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprintf("%sneedle%c\n%s", w.text(), 'a'+i%7, strings.Repeat("needle\n", i%4)))
	}
	w.open()
	w.refresh()
	if err := w.ix.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.calm()
	w.ix.Close()
	pristine := w.stored()
	listed := w.listed(true, false)
	run := stress.Start(t, "identity: a segment damaged while serving", 60, 3_000)
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		p := match.MustCompile(fmt.Sprintf("needle%c", 'a'+r.IntN(7)), match.Options{})
		matching := w.matching(p, listed)
		for _, aim := range []func(*segment) (at, size int){anywhere, listRead(p), termRead("needl")} {
			w.restore(pristine)
			w.open()
			w.refresh()
			counted := w.counts(t, "needl")
			w.ix.mu.Lock()
			segs := w.ix.segs
			w.ix.mu.Unlock()
			how := spoil(t, r, w.stateDir, segs, aim)
			w.complete(fmt.Sprintf("seed %d, %s", seed, how), p, matching, listed)
			if now := w.counts(t, "needl"); now != nil && !maps.Equal(now, counted) {
				run.Violation(seed, "%s: counts of a term are %v, were %v", how, now, counted)
			}
			if err := w.ix.Sweep(t.Context(), rootfs.Path{}); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			w.ix.Close()
			run.Tried(1)
		}
	}
}

// counts returns the counts of a term in all files, according to the index. It returns nil if
// the index lacks the counts of some file.
func (w *world) counts(t *testing.T, term string) map[string]uint8 {
	t.Helper()
	snap, err := w.ix.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	c, err := snap.Counted(Ask{Hidden: true})
	if err != nil || len(c.Dirty) > 0 {
		return nil
	}
	out := map[string]uint8{}
	for _, v := range c.Views {
		ids, counts, err := v.Postings(terms.KeyOf([]byte(term)), nil, nil)
		if err != nil {
			return nil
		}
		for i, id := range ids {
			paths, err := v.Paths([]int{int(id)})
			if err != nil {
				return nil
			}
			out[paths[0]] = counts[i]
		}
	}
	return out
}

// anywhere aims at the whole file of a segment.
func anywhere(s *segment) (at, size int) { return 0, int(s.size) }

// listRead returns the shortest list that a search for a pattern must read.
func listRead(p *match.Pattern) func(*segment) (at, size int) {
	return func(s *segment) (at, size int) {
		f := trigram.From(p.Need())
		best := s.grams.find(f.Grams[0])
		for _, g := range f.Grams[1:] {
			if e := s.grams.find(g); e.n < best.n {
				best = e
			}
		}
		return len(segmentMagic) + int(best.where), best.size
	}
}

// termRead returns the list of a term.
func termRead(term string) func(*segment) (at, size int) {
	return func(s *segment) (at, size int) {
		e := s.terms.find(terms.KeyOf([]byte(term)))
		return bytes.Index(s.mapping.Bytes(), s.terms.file) + int(e.where), e.size
	}
}

// spoil damages the range of a segment that aim returns: it flips a bit or, if the range is the
// whole file, may truncate the file instead.
func spoil(t *testing.T, r *rand.Rand, dir string, segs []*held, aim func(*segment) (at, size int)) string {
	t.Helper()
	var s *segment
	from, size := 0, 0
	for _, i := range r.Perm(len(segs)) {
		s = segs[i].seg
		if from, size = aim(s); size > 0 {
			break
		}
	}
	if size == 0 {
		t.Fatal("there is nothing to spoil: the test shows nothing")
	}
	f, err := os.OpenFile(filepath.Join(dir, s.name), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := int64(from + r.IntN(size))
	if from == 0 && r.IntN(2) == 0 {
		if err := f.Truncate(at); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s cut at %d", s.name, at)
	}
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << r.IntN(8)
	if _, err = f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s with a bit flipped at %d", s.name, at)
}
