package journal

import (
	"fmt"
	"strings"
	"time"
)

// ID identifies an entry by eight letters and digits, ordered by time. The first six
// count seconds since 2024, the last two entries within a second.
type ID string

// idDigits has no i, l, o or u, so that an id can be read aloud and typed. Digits are in
// byte order.
const idDigits = "0123456789abcdefghjkmnpqrstvwxyz"

const idLen = 8

var idEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// nextID returns the id of an entry made now, greater than last. Ids are odd in the log
// of outside changes and even in the other log, so ids are unique and ordered across both
// logs of a workspace.
func nextID(now time.Time, last ID, outside bool) ID {
	n := uint64(max(now.Unix()-idEpoch.Unix(), 0)) << 10
	if l, ok := last.number(); ok && n <= l {
		n = l + 1
	}
	if n&1 == 1 != outside {
		n++
	}
	return idOf(n)
}

// Outside reports whether the id belongs to a change by another program, which was
// recorded afterwards.
func (id ID) Outside() bool {
	n, _ := id.number()
	return n&1 == 1
}

func idOf(n uint64) ID {
	var b [idLen]byte
	for i := idLen - 1; i >= 0; i-- {
		b[i] = idDigits[n&31]
		n >>= 5
	}
	return ID(b[:])
}

func (id ID) number() (n uint64, ok bool) {
	if len(id) != idLen {
		return 0, false
	}
	for i := range idLen {
		d := strings.IndexByte(idDigits, id[i])
		if d < 0 {
			return 0, false
		}
		n = n<<5 | uint64(d)
	}
	return n, true
}

// time returns the entry's time to the second. It may be later if many entries were made
// in one second.
func (id ID) time() time.Time {
	n, _ := id.number()
	return idEpoch.Add(time.Duration(n>>10) * time.Second)
}

// ParseID parses an id as typed by a user: in any case, with o for 0 and i or l for 1.
func ParseID(s string) (ID, error) {
	id := ID(strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(strings.ToLower(strings.TrimSpace(s))))
	if _, ok := id.number(); !ok {
		return "", fmt.Errorf("%q: an id has %d letters and digits", s, idLen)
	}
	return id, nil
}
