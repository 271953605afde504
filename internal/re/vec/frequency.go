package vec

// Frequency ranks b by how common it is in source code and prose: 8 × log2 of
// the times it occurs in 2^26 bytes. Ranks add where probabilities multiply.
func Frequency(b byte) uint8 { return byteFreq[b] }
