package rootfs

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"quarry/internal/policy"
	"quarry/internal/rootfs/version"
)

// The name of a temporary file contains its maker and purpose. So a later process can
// distinguish abandoned files from files in use, and never deletes content that exists
// nowhere else:
//
//	.quarry-tmp-<phase>-<boot>-<space>-<pid>-<start>-<random>[-<ino>-<version>]
//
// boot, space (the PID namespace), pid and start identify the process. In phase x the name also contains the
// inode of the new file and the version of the old one: after the exchange the name leads to the displaced
// file, which may only be deleted if it is our new file or has that version.
type tempName struct {
	phase   phase
	owner   owner
	random  string
	newIno  uint64
	version Version
}

type phase byte

const (
	phaseWrite    phase = 'w' // being written; worthless if the process dies
	phaseExchange phase = 'x' // about to be exchanged, or just exchanged
	phaseBackup   phase = 'b' // of a file being rewritten in place
)

// owner identifies a process, also after restarts of the machine.
type owner struct {
	boot, space string // 8 hex digits each
	pid         int
	start       uint64
}

// IsTemp reports whether name is one of our temporary files. They are never
// listed: Policy.Name calls them Unlisted.
func IsTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// temps records which temporary files a Root has in use. The names of one Root share a
// random tag, so that it recognizes files that it failed to remove.
type temps struct {
	mu    sync.Mutex
	tag   string
	inUse map[string]struct{} // by random part
	left  map[Path]struct{}   // folders with a file that could not be removed
}

// leave records a folder to be cleaned later.
func (t *temps) leave(dir Path) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == nil {
		t.left = map[Path]struct{}{}
	}
	t.left[dir] = struct{}{}
}

// takeLeft removes and returns the recorded folders.
func (t *temps) takeLeft() map[Path]struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.left
	t.left = nil
	return left
}

// next makes a name, which is in use until done is called.
func (t *temps) next(o owner, ph phase) tempName {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inUse == nil {
		t.inUse, t.tag = map[string]struct{}{}, randomHex(4)
	}
	n := tempName{phase: ph, owner: o, random: t.tag + randomHex(8)}
	t.inUse[n.random] = struct{}{}
	return n
}

func (t *temps) done(n tempName) {
	t.mu.Lock()
	delete(t.inUse, n.random)
	t.mu.Unlock()
}

// leftOver reports whether n was made here and is no longer in use.
func (t *temps) leftOver(n tempName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, used := t.inUse[n.random]
	return t.tag != "" && strings.HasPrefix(n.random, t.tag) && !used
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

func (t tempName) String() string {
	s := fmt.Sprintf("%s%c-%s-%s-%d-%x-%s", tempPrefix, t.phase, t.owner.boot, t.owner.space, t.owner.pid, t.owner.start, t.random)
	if t.phase == phaseExchange {
		s += fmt.Sprintf("-%x-%s", t.newIno, t.version)
	}
	return s
}

func parseTempName(s string) (tempName, error) {
	rest, ok := strings.CutPrefix(s, tempPrefix)
	f := strings.Split(rest, "-")
	if !ok || len(f) < 6 || len(f[0]) != 1 {
		return tempName{}, errBadTempName
	}
	t := tempName{phase: phase(f[0][0]), random: f[5]}
	var errPid, errStart, errIno, errVersion error
	t.owner.boot, t.owner.space = f[1], f[2]
	t.owner.pid, errPid = strconv.Atoi(f[3])
	t.owner.start, errStart = strconv.ParseUint(f[4], 16, 64)
	want := 6
	switch t.phase {
	case phaseWrite, phaseBackup:
	case phaseExchange:
		want = 8
		if len(f) == want {
			t.newIno, errIno = strconv.ParseUint(f[6], 16, 64)
			t.version, errVersion = version.Parse(f[7])
		}
	default:
		want = -1
	}
	if len(f) != want || errPid != nil || errStart != nil || errIno != nil || errVersion != nil || t.String() != s {
		return tempName{}, errBadTempName
	}
	return t, nil
}

// conflictName is the name under which another program's content is kept:
// "note.conflict-1a2b3c4d.md".
func conflictName(base string) string {
	ext := path.Ext(base)
	stem := base[:len(base)-len(ext)]
	if stem == "" {
		stem, ext = base, ""
	}
	tail := policy.ConflictInfix + randomHex(policy.ConflictHex/2) + ext
	if len(stem)+len(tail) > maxName {
		stem = stem[:max(0, maxName-len(tail))]
	}
	return stem + tail
}
