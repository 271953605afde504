//go:build (unix && !linux) || (linux && portable)

package rootfs

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// renameWithin moves an entry between folders of the root. If an entry exists at to, it is
// from in another spelling.
func (r *Root) renameWithin(op string, from, to Path) error {
	return r.in(op, from, func(src *folder, name string) error {
		return r.in(op, to, func(dir *folder, base string) error {
			if from.Dir() == to.Dir() && strings.EqualFold(norm.NFC.String(name), norm.NFC.String(base)) {
				return src.Replace(name, base, true)
			}
			return src.Move(name, dir, base)
		})
	})
}
