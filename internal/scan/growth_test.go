package scan

import "testing"

// While a text that can't be cut is moved, it is in memory twice. So the last move is before
// half of the longest text, and a text of known size is moved once.
func TestRoomier(t *testing.T) {
	const longest = 16 * MaxLine
	for _, size := range []int64{0, 12 * MaxLine} {
		buf, large := make([]byte, 0, blockSize), 0
		for cap(buf) < longest/2 {
			next := roomier(buf, size, longest)
			if cap(next) <= cap(buf) || cap(next) > longest+2*blockSize {
				t.Fatalf("size %d: %d after %d", size, cap(next), cap(buf))
			}
			if cap(next) > 4*MaxLine {
				large++
			}
			buf = next
		}
		want := int64(longest)
		if size > 0 {
			want = size
		}
		if got := int64(cap(buf)); got < want || got > want+want/8 || size > 0 && large > 1 {
			t.Errorf("size %d: it ends with %d after %d large moves", size, cap(buf), large)
		}
	}
}
