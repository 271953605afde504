package journal

import (
	"strings"
	"testing"

	"quarry/internal/rootfs"
)

// A path below a folder is made at once: made name by name, the files of 3,000 folders in
// each other took most of eight seconds to be deleted.
func TestJoinIsCheap(t *testing.T) {
	rel := strings.Repeat("d/", 2000) + "f"
	if got := testing.AllocsPerRun(10, func() {
		if p, err := join(rootfs.Path{}, rel); err != nil || p.String() != rel {
			t.Error(err)
		}
	}); got > 4 {
		t.Errorf("%.0f allocations", got)
	}
	for _, bad := range []string{"..", "a/../b", "a//b", "/a", "a/", ".", "a\x00b"} {
		if p, err := join(rootfs.Path{}, bad); err == nil {
			t.Errorf("join(%q) = %q", bad, p)
		}
	}
	if p, err := join(rootfs.Path{}, ""); err != nil || p != (rootfs.Path{}) {
		t.Errorf("join of nothing: %q, %v", p, err)
	}
}
