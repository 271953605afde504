package fuzzy

// maxDistance is the longest text that Distance compares.
const maxDistance = 64

// Distance returns how many letters must be inserted, deleted, replaced or swapped with their
// neighbour to turn a into b, at most bound. For texts of more than 64 bytes it returns bound.
// It does not allocate, because after a search without results a name is compared with all
// names of a tree, which can be 78,000.
func Distance(a, b string, bound int) int {
	if d := len(a) - len(b); d >= bound || -d >= bound || len(a) > maxDistance || len(b) > maxDistance {
		return bound
	}
	var rows [3][maxDistance + 1]int
	two, one, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := one[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, one[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= bound {
			return bound
		}
		two, one, row = one, row, two
	}
	return min(one[len(b)], bound)
}
