//go:build linux && !portable

package rootfs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/policy"
	"quarry/internal/rootfs/layer"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// TestDeathAtEveryCall simulates a process that dies: from some call on, all calls fail, and the
// last write writes half. After cleaning up, there must be the complete old or new state.
func TestDeathAtEveryCall(t *testing.T) {
	stress.SkipTiny(t)
	deaths, restored := 0, 0
	for _, c := range changes() {
		calls := countCalls(t, c)
		for n := range calls {
			dir := prepared(t, c)
			r := openRoot(t, dir, nil)
			seen := 0
			r.sys.Layer = &Layer{Before: func(c string) error {
				switch seen++; {
				case seen == n+1 && c == "write":
					return layer.ErrShort
				case seen > n:
					return unix.EIO
				}
				return nil
			}}
			err := c.do(r)
			r.sys.Layer = nil
			res, cleanErr := r.CleanTemps(context.Background(), Path{})
			must(t, cleanErr)
			deaths++
			restored += len(res.Restored)
			if len(res.Errors) > 0 {
				t.Errorf("%s, dead from call %d on: %v", c.name, n, res.Errors)
			}
			if err == nil && !c.new(dir) || !c.old(dir) && !c.new(dir) {
				t.Errorf("%s, dead from call %d on: neither old nor new; error %v, cleaned %+v", c.name, n, err, res)
			}
			for _, name := range entryNames(dir) {
				if IsTemp(filepath.Base(name)) {
					t.Errorf("%s, dead from call %d on: left over %s", c.name, n, name)
				}
			}
			r.Close()
			os.RemoveAll(dir)
		}
	}
	t.Logf("%d deaths, %d torn files restored", deaths, restored)
	if restored == 0 {
		t.Error("no file was ever torn: the test proves nothing")
	}
}

func TestCleanTempsKeepsWhatIsNotOurs(t *testing.T) {
	dir := workspace(t, "d/f", tempPrefix+"someone", ".git/x")
	r := openRoot(t, dir, nil)
	self := r.owner()
	dead := self
	dead.pid, dead.start = deadProcess(t), 1
	otherBoot, otherSpace := self, self
	otherBoot.boot, otherSpace.space = "ffffffff", "ffffffff"
	displaced := version.Of([]byte("what was read"))
	put := func(name, text string) string {
		must(t, os.WriteFile(dir+"/d/"+name, []byte(text), 0o644))
		return name
	}
	name := func(p phase, o owner) string {
		return tempName{phase: p, owner: o, random: randomHex(8), newIno: 1, version: displaced}.String()
	}
	living := put(name(phaseWrite, self), "in use")
	elsewhere := put(name(phaseWrite, otherSpace), "another container's, young")
	put(name(phaseWrite, dead), "unfinished")
	put(name(phaseWrite, otherBoot), "unfinished before a restart")
	put(name(phaseExchange, dead), "what was read")
	put(name(phaseExchange, dead), "someone else's words")
	put(name(phaseBackup, dead), "no header")
	res, err := r.CleanTemps(context.Background(), Path{})
	must(t, err)
	if res.Removed != 4 || len(res.Kept) != 1 || len(res.Restored) != 0 || len(res.Errors) != 0 {
		t.Errorf("%+v", res)
	}
	if len(res.Kept) == 1 && content(t, dir+"/"+res.Kept[0].String()) != "someone else's words" {
		t.Error("the kept file holds something else")
	}
	for _, n := range []string{living, elsewhere} {
		if _, err := os.Stat(dir + "/d/" + n); err != nil {
			t.Errorf("%s is gone", n)
		}
	}
	if _, err := os.Stat(dir + "/" + tempPrefix + "someone"); err != nil {
		t.Error("a file that only looks like ours is gone")
	}
	d, err := r.OpenDir(Path{"d"})
	must(t, err)
	defer d.Close()
	if v := r.Policy().Entry(d.Path().s, living, false); v != policy.Unlisted {
		t.Errorf("a temporary file is %v", v)
	}
}

func deadProcess(t *testing.T) int {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip("no program to run:", err)
	}
	return cmd.Process.Pid
}

func TestTempNames(t *testing.T) {
	o := owner{"01234567", "89abcdef", 42, 0xbeef}
	for _, n := range []tempName{
		{phase: phaseWrite, owner: o, random: "aa"},
		{phase: phaseBackup, owner: o, random: "aa"},
		{phase: phaseExchange, owner: o, random: "aa", newIno: 77, version: version.Of(nil)},
	} {
		got, err := parseTempName(n.String())
		if err != nil || got != n {
			t.Errorf("%s becomes %+v, %v", n, got, err)
		}
		if len(n.String()) > maxName {
			t.Errorf("%s is too long", n)
		}
	}
	for _, bad := range []string{"", "x", tempPrefix, tempPrefix + "w", tempPrefix + "w-a-b-c-d-e", tempPrefix + "q-a-b-1-2-3", tempPrefix + "x-a-b-1-2-3",
		tempPrefix + "w-a-b-1-2-3-4", tempPrefix + "w-a-b-01-2-3"} {
		if _, err := parseTempName(bad); err == nil {
			t.Errorf("parseTempName(%q) succeeded", bad)
		}
	}
	for _, base := range []string{"note.md", ".hidden", "noext", strings.Repeat("x", 255), strings.Repeat("x", 250) + ".md", "." + strings.Repeat("y", 254)} {
		if c := conflictName(base); checkName(c) != nil || IsTemp(c) {
			t.Errorf("conflictName(%q) = %q", base, c)
		}
	}
}

// FuzzBackup checks that a damaged backup never causes a panic.
func FuzzBackup(f *testing.F) {
	f.Add(backup{ino: 1, oldSize: 2, newSize: 3, base: "note.md"}.encode())
	f.Add([]byte(backupMagic))
	f.Fuzz(func(t *testing.T, head []byte) {
		if b, ok := decodeBackup(head); ok {
			if again, ok := decodeBackup(b.encode()); !ok || again != b {
				t.Fatalf("%+v becomes %+v", b, again)
			}
		}
	})
}
