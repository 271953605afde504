//go:build !amd64 && !arm64

package vec

func cpuLevel() level { return generic }

func pairFind(_ level, k *pair, hay []byte, from, end int) int {
	return pairFindGeneric(k, hay, from, end)
}

func lastIndexByte(_ level, b []byte, c byte) int { return lastIndexByteGeneric(b, c) }

func indexNonASCII(_ level, b []byte) int { return indexNonASCIIGeneric(b) }

func setFind(_ level, h *half, b []byte) int { return setFindGeneric(h, b) }

// Teddy runs its fallback at the generic level and never calls these.

func teddyStep(level, bool, int) int { return 32 }

func teddyFind(*Teddy, []byte, int, int, *[64]byte) (pos int, mask uint64) { return -1, 0 }

// validBlocks is never called at the generic level.
func validBlocks([]byte) bool { return true }
