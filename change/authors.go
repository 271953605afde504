package change

// Authors names the change that last touched each line of a text file.
type Authors struct {
	Path    string
	Version string // of the file
	// Lines has the id of a change for each line; "" is a line that no change in the log
	// has touched.
	Lines []string
	// Changes are the changes named in Lines, newest first.
	Changes []Change
}
