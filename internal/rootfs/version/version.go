// Package version identifies contents by their hash, and computes the hash of an edited
// content without hashing all of it again.
//
// The invariant: equal contents have equal versions, and a version computed from edits
// equals the version of the edited content.
package version

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Version identifies a file's content: the first 128 bits of its SHA-256, for which no useful collision can
// be made, in 32 hex digits. The zero Version means unknown.
type Version struct{ sum [16]byte }

// Of returns the version of data.
func Of(data []byte) Version {
	full := sha256.Sum256(data)
	return Version{[16]byte(full[:16])}
}

// From returns the version with the first 16 bytes of sum, a SHA-256 or the result of Append.
func From(sum []byte) Version { return Version{[16]byte(sum[:16])} }

// Append adds the 16 bytes of the version to b.
func (v Version) Append(b []byte) []byte { return append(b, v.sum[:]...) }

// shortDigits is the number of digits that suffice to name a version: 48 bits, so that among a million
// versions of one file two share them once in 560 times.
const shortDigits = 12

// Is reports whether text consists of the first digits of the version, at least 12.
func (v Version) Is(text string) (bool, error) {
	if len(text) == 2*len(v.sum) {
		want, err := Parse(text)
		return want == v, err
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false, errDigits
		}
	}
	if len(text) < shortDigits || len(text) > 2*len(v.sum) {
		return false, errDigits
	}
	return strings.EqualFold(v.String()[:len(text)], text), nil
}

// Parse parses the result of String.
func Parse(s string) (Version, error) {
	var v Version
	if len(s) != 32 {
		return v, errDigits
	}
	if _, err := hex.Decode(v.sum[:], []byte(s)); err != nil {
		return Version{}, errDigits
	}
	return v, nil
}

var errDigits = errors.New("a version is 12 to 32 hexadecimal digits")

// String prints the version as 32 hex digits.
func (v Version) String() string { return hex.EncodeToString(v.sum[:]) }

// IsZero reports whether no version is known.
func (v Version) IsZero() bool { return v == Version{} }
