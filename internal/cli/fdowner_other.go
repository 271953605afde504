//go:build !unix

package cli

// ownerTest refuses -o: files have no such owners here.
func ownerTest(s string) (func(path string) bool, error) {
	if s == "" {
		return nil, nil
	}
	return nil, fdErrorf("--owner is not there on this system")
}
