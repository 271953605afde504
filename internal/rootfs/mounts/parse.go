package mounts

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/rootfs"
)

// Mount is a file system, or a part of one, that is mounted at a path below a root. Mounting
// causes no file event, though it replaces the files at that path.
type Mount struct {
	At     rootfs.Path // the mount point
	Device string      // major:minor of its file system
	Source string      // the folder of that file system that is mounted
	id     int         // the kernel's number of this mount in this namespace
}

// parse returns the mounts below dir, an absolute path, from the text of
// /proc/self/mountinfo. Mounts at dir itself are not included. Of several mounts at one path,
// the last one is visible.
func parse(text, dir string) []Mount {
	var out []Mount
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		rel, ok := strings.CutPrefix(unescape(f[4]), prefix)
		if !ok || rel == "" {
			continue
		}
		m := Mount{Device: f[2], Source: unescape(f[3])}
		m.id, _ = strconv.Atoi(f[0])
		for name := range strings.SplitSeq(rel, "/") {
			next, err := m.At.Child(name)
			if err != nil {
				break // a folder that was deleted beneath its mount: "//deleted"
			}
			m.At = next
		}
		out = append(out, m)
	}
	return out
}

// unescape undoes the octal escapes of blanks, newlines and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || len(s) < i+4 {
			b.WriteString(s)
			return b.String()
		}
		n, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
		if err != nil {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i])
		b.WriteByte(byte(n))
		s = s[i+4:]
	}
}

// moved lists the paths at which mounts appeared or disappeared.
func moved(before, after []Mount) []rootfs.Path {
	var out []rootfs.Path
	differ := func(a, b []Mount) {
		for _, m := range a {
			if !slices.Contains(b, m) && !slices.Contains(out, m.At) {
				out = append(out, m.At)
			}
		}
	}
	differ(before, after)
	differ(after, before)
	return out
}

// sum is a hash of the mounts and their paths. It omits the kernel's numbers, since processes in different
// namespaces may have different numbers for the same mounts.
func sum(mounts []Mount) uint64 {
	if len(mounts) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, m := range mounts {
		fmt.Fprintf(h, "%q", []string{m.At.String(), m.Device, m.Source})
	}
	return h.Sum64()
}
