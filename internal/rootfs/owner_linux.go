//go:build linux && !portable

package rootfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"time"
)

// owner returns the identity of this process, looked up once.
func (r *Root) owner() owner {
	r.sys.selfOnce.Do(func() {
		o := owner{boot: noBoot, space: "00000000", pid: os.Getpid()}
		if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
			o.boot = short(b)
		}
		if s, err := os.Readlink("/proc/self/ns/pid"); err == nil {
			o.space = short([]byte(s))
		}
		if r.layer != nil && r.layer.Boot != "" {
			o.boot = r.layer.Boot
		}
		o.start, _ = startTime("self")
		r.sys.self = o
	})
	return r.sys.self
}

func short(b []byte) string {
	sum := sha256.Sum256(bytes.TrimSpace(b))
	return hex.EncodeToString(sum[:4])
}

// startTime reads when a process started, in ticks since boot. A zombie counts as ended.
func startTime(pid string) (uint64, error) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	// pid (name) state ppid …: the name may contain parentheses, so find the last one.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0, errNoStart
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 20 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return 0, errNoStart
	}
	return strconv.ParseUint(string(f[19]), 10, 64)
}

var errNoStart = errors.New("no such process")

// abandoned reports whether the maker of a temporary file is gone.
func (r *Root) abandoned(n tempName, info Info) bool {
	o, self := n.owner, r.owner()
	switch {
	case r.FSKind() == FSNetwork, o.boot == self.boot && o.space != self.space:
		// A process of another machine or container: only the age decides.
		return time.Since(info.ChangeTime) > doubtfulAge
	case o.boot != self.boot:
		return true
	}
	if o == self && r.temps.leftOver(n) {
		return true
	}
	start, err := startTime(strconv.Itoa(o.pid))
	return err != nil || start != o.start
}
