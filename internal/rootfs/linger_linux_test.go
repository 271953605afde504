//go:build linux && !portable

package rootfs

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// On a full disk, displaced files watched for late writers are released and the change is
// retried once. It fails if there are none, or if the retry fails.
func TestFullDiskLetsDisplacedFilesGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits int // earlier edits, each of which leaves a displaced file
		times int // how often the disk is full
		ok    bool
	}{{"room is made", 2, 1, true}, {"nothing to let go", 0, 1, false}, {"it does not help", 2, 2, false}} {
		for _, create := range []bool{false, true} {
			dir := memoryDir(t)
			populate(t, dir, "f")
			r := openRoot(t, dir, nil)
			for i := range c.edits {
				_, err := r.Replace(Path{"f"}, []byte{byte('a' + i)}, Version{}, nil)
				must(t, err)
			}
			full := c.times
			r.sys.Layer = &Layer{Before: func(call string) error {
				if call == "write" && full > 0 {
					full--
					return unix.ENOSPC
				}
				return nil
			}}
			var err error
			if create {
				_, _, err = r.Create(Path{"g"}, []byte("new"), nil)
			} else {
				_, err = r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
			}
			if (err == nil) != c.ok || err != nil && !errors.Is(err, unix.ENOSPC) {
				t.Errorf("%s, create %v: %v", c.name, create, err)
			}
		}
	}
}
