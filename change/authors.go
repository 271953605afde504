package change

// Authors says which change touched each line of a text file last.
type Authors struct {
	Path    string
	Version string // of the file
	// Lines has the id of a change for each line; "" is a line that no change of the
	// log has touched.
	Lines []string
	// Changes are those that Lines names, newest first.
	Changes []Change
}
