package vec

// Frequency ranks b by its frequency in source code and prose: 8 × log2 of its count in 2^26
// bytes. Ranks add where probabilities multiply.
func Frequency(b byte) uint8 { return byteFreq[b] }
