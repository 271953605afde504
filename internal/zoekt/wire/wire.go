// Package wire reads and writes the part of protobuf's wire format that the
// messages of Zoekt need. Nothing it reads can make it panic or allocate; what it
// gives of a buffer is a view of it.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// How a field is written.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Fixed32 = 5
)

// AppendTag begins a field.
func AppendTag(b []byte, field, wire int) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(wire))
}

// AppendInt leaves zero out, which is what zero means.
func AppendInt(b []byte, field int, v int64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(AppendTag(b, field, Varint), uint64(v))
}

// AppendBool leaves false out.
func AppendBool(b []byte, field int, v bool) []byte {
	if !v {
		return b
	}
	return append(AppendTag(b, field, Varint), 1)
}

// AppendString writes a string, also an empty one.
func AppendString(b []byte, field int, v string) []byte {
	b = binary.AppendUvarint(AppendTag(b, field, Bytes), uint64(len(v)))
	return append(b, v...)
}

// AppendMessage writes a message that is encoded already.
func AppendMessage(b []byte, field int, body []byte) []byte {
	b = binary.AppendUvarint(AppendTag(b, field, Bytes), uint64(len(body)))
	return append(b, body...)
}

// ErrDamaged is a message that is no protobuf.
var ErrDamaged = errors.New("damaged message")

// Field is one field of a message.
type Field struct {
	Num  int
	Int  uint64 // a varint or a fixed number
	Data []byte // a string, bytes or a message; part of the buffer

	wire int
	rest []byte
}

// next reads one field and reports whether there was one.
func (f *Field) next() (bool, error) {
	if len(f.rest) == 0 {
		return false, nil
	}
	tag, n := binary.Uvarint(f.rest)
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return false, ErrDamaged
	}
	f.rest = f.rest[n:]
	f.Num, f.wire, f.Int, f.Data = int(tag>>3), int(tag&7), 0, nil
	switch f.wire {
	case Varint:
		if f.Int, n = binary.Uvarint(f.rest); n <= 0 {
			return false, ErrDamaged
		}
	case Fixed64:
		if n = 8; len(f.rest) < n {
			return false, ErrDamaged
		}
		f.Int = binary.LittleEndian.Uint64(f.rest)
	case Fixed32:
		if n = 4; len(f.rest) < n {
			return false, ErrDamaged
		}
		f.Int = uint64(binary.LittleEndian.Uint32(f.rest))
	case Bytes:
		size, k := binary.Uvarint(f.rest)
		if k <= 0 || size > uint64(len(f.rest)-k) {
			return false, ErrDamaged
		}
		n = k + int(size)
		f.Data = f.rest[k:n:n]
	default:
		return false, ErrDamaged
	}
	f.rest = f.rest[n:]
	return true, nil
}

// Each visits the fields of a message in order.
func Each(message []byte, visit func(f *Field) error) error {
	f := &Field{rest: message}
	for {
		ok, err := f.next()
		if err != nil || !ok {
			return err
		}
		if err := visit(f); err != nil {
			return fmt.Errorf("field %d: %w", f.Num, err)
		}
	}
}

// Is reports whether the field is this one, of this type. One of another type
// is not what we know by the number, and is passed over.
func (f *Field) Is(num, wire int) bool { return f.Num == num && f.wire == wire }
