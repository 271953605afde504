package rootfs

import (
	"bytes"
	"encoding/binary"

	"quarry/internal/rootfs/version"
)

// backup protects a rewrite in place. It has a header, the old content and the new
// content. With both contents, recovery can distinguish an interrupted rewrite, in which
// every page is old or new, from another program's writes.
type backup struct {
	ino              uint64
	oldSize, newSize int64
	old, new         Version
	base             string // the file's name in this folder
}

const (
	backupMagic  = "quarry backup 1\n"
	backupHeader = 512 // magic, the fields, name length and name, zeros
)

func (b backup) encode() []byte {
	h := make([]byte, 0, backupHeader)
	h = append(h, backupMagic...)
	h = binary.BigEndian.AppendUint64(h, b.ino)
	h = binary.BigEndian.AppendUint64(h, uint64(b.oldSize))
	h = binary.BigEndian.AppendUint64(h, uint64(b.newSize))
	h = b.new.Append(b.old.Append(h))
	h = append(h, byte(len(b.base)))
	h = append(h, b.base...)
	return h[:backupHeader]
}

func decodeBackup(h []byte) (b backup, ok bool) {
	if len(h) != backupHeader || !bytes.HasPrefix(h, []byte(backupMagic)) {
		return b, false
	}
	h = h[len(backupMagic):]
	b.ino = binary.BigEndian.Uint64(h)
	b.oldSize = int64(binary.BigEndian.Uint64(h[8:]))
	b.newSize = int64(binary.BigEndian.Uint64(h[16:]))
	b.old, b.new = version.From(h[24:]), version.From(h[40:])
	n := int(h[56])
	b.base = string(h[57 : 57+n])
	return b, b.oldSize >= 0 && b.newSize >= 0 && checkName(b.base) == nil
}
