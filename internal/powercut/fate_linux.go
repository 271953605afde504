package powercut

import "math/rand/v2"

// plain is a fate with equal decisions for all folders and for all files.
type plain struct {
	name  string
	names bool
	size  bool
	from  int // the first quarter of a file, of 4, that has the new data
	to    int // the first quarter after those
}

func part(all bool, n int) int {
	if all {
		return n
	}
	return 0
}

func (p plain) Names(n int) int { return part(p.names, n) }
func (p plain) Size(n int) int  { return part(p.size, n) }
func (p plain) Sector(sector, sectors, n int) int {
	quarter := sector * 4 / sectors
	return part(quarter >= p.from && quarter < p.to, n)
}

func (p plain) String() string { return p.name }

// Fates returns all plain fates.
func Fates() []Fate {
	return []Fate{
		plain{"nothing came", false, false, 0, 0},
		plain{"everything came", true, true, 0, 4},
		plain{"names and no data", true, false, 0, 0},
		plain{"data and no names", false, true, 0, 4},
		plain{"names and zeros", true, true, 0, 0},
		plain{"names and the first half", true, true, 0, 2},
		plain{"names and the second half", true, true, 2, 4},
	}
}

// Random returns a fate that makes random decisions.
func Random(rng *rand.Rand) Fate { return random{rng} }

type random struct{ rng *rand.Rand }

func (r random) Names(n int) int { return r.rng.IntN(n + 1) }

func (r random) Size(n int) int { return r.rng.IntN(n + 1) }

func (r random) Sector(_, _, n int) int { return r.rng.IntN(n + 1) }

func (random) String() string { return "random" }
