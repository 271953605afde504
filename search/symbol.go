package search

// SymbolQuery asks for the definitions of a name, or all definitions of some files.
type SymbolQuery struct {
	// Name is the name to look for: Open, Workspace.Open, Workspace::open. Without a name the definitions of
	// the files in scope are listed.
	Name string
	// Fuzzy also finds names in another case or style, names with one or two letters
	// missing, doubled, wrong or swapped, and names that contain the name.
	Fuzzy bool
	// Kind is function (methods too), type (structs, classes, interfaces and
	// enumerations too), method, class, struct, interface, enum, module, macro,
	// constant, variable, field, member, prototype, impl, test, table or heading;
	// "" is any.
	Kind string
	// Kinds are alternatives to Kind; if both are empty, every kind counts.
	Kinds []string
	Scope
	Limit int  // maximum number of definitions; 0 is 10, and 1000 without a name
	Text  bool // return the text of each definition with its doc comment
}

// Symbol is a definition.
type Symbol struct {
	Path      string
	Name      string
	Container string // the containing definitions, joined by dots
	Kind      string // function, method, class, struct, heading, ...
	Line      int    // of its name
	StartLine int    // with its doc comment
	EndLine   int
	Level     int    // nesting depth, from 0; for a heading its level, from 1
	Signature string // the line that defines it
	Text      string
	Score     float64 // how well it matches the name
}

// SymbolResult is the answer to a SymbolQuery. With a name, the likeliest
// definition comes first; otherwise they are ordered by path and line.
type SymbolResult struct {
	Symbols []Symbol
	Total   int

	Summary
}
