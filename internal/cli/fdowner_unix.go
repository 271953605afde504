//go:build unix

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayExecute reports whether this user may execute a file.
func mayExecute(path string, _ fs.FileMode) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}

// ownerTest parses the value user:group of -o and returns the test for it. A ! before either part
// excludes it. The test is nil if it would accept every file.
func ownerTest(s string) (func(path string) bool, error) {
	if s == "" {
		return nil, nil
	}
	who, group, _ := strings.Cut(s, ":")
	if strings.Contains(group, ":") {
		return nil, fmt.Errorf("--owner %q: it takes user:group, with one colon", s)
	}
	byUser, err := idTest(who, func(name string) (string, error) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", fmt.Errorf("--owner: unknown user %q", name)
		}
		return u.Uid, nil
	})
	if err != nil {
		return nil, err
	}
	byGroup, err := idTest(group, func(name string) (string, error) {
		g, err := user.LookupGroup(name)
		if err != nil {
			return "", fmt.Errorf("--owner: unknown group %q", name)
		}
		return g.Gid, nil
	})
	if err != nil {
		return nil, err
	}
	return func(path string) bool {
		info, err := os.Lstat(path)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		return ok && byUser(st.Uid) && byGroup(st.Gid)
	}, nil
}

func idTest(s string, lookup func(string) (string, error)) (func(uint32) bool, error) {
	name, not := strings.CutPrefix(s, "!")
	if name == "" {
		return func(uint32) bool { return true }, nil
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		id, err := lookup(name)
		if err != nil {
			return nil, err
		}
		if n, err = strconv.ParseUint(id, 10, 32); err != nil {
			return nil, err
		}
	}
	return func(id uint32) bool { return (uint64(id) == n) != not }, nil
}
