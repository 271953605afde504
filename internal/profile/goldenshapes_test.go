package profile_test

// shapeGoldens are calls with the parameters structure and symbol.
func shapeGoldens() map[string][]scene {
	shapes := func() fixture {
		return fixture{files: map[string]string{
			"go.mod":  "module a\n",
			"one.go":  "package a\n\n// wrap wraps an error.\nfunc wrap(err error, text string) error {\n\treturn nil\n}\n\nfunc use() error {\n\tif err := run(); err != nil {\n\t\treturn wrap(err, \"a\")\n\t}\n\treturn wrap(nil /* none */, \"b\")\n}\n",
			"two.go":  "package a\n\ntype T struct{ wrap int }\n\nfunc use2(t T) int { return t.wrap }\n\nfunc (t T) f() error { return wrap(g(1, 2),\n\t\"c\") }\n",
			"three.c": "void f(void) {\n\ta * b;\n\tx = a * b;\n}\n",
			"note.md": "wrap(x, y) is documented here\n",
		}}
	}
	return map[string][]scene{
		"quarry/search_files@structure": {{make: shapes, steps: steps(
			step{name: "holes", args: `{"structure":"wrap($E, $T)","file_pattern":"*.go"}`, data: true},
			step{name: "over lines, without context", args: `{"structure":"wrap($E, $$)","context_lines":0}`},
			step{name: "a body", args: `{"structure":"if $A; $B { $$BODY }","context_lines":0}`, data: true},
			step{name: "doubtful", args: `{"structure":"$A * $B","file_pattern":"*.c","context_lines":0}`, data: true},
			step{name: "zero", args: `{"structure":"unwrap($A)"}`, data: true},
			step{name: "error: no partner", args: `{"structure":"wrap($A"}`},
			step{name: "error: holes only", args: `{"structure":"$A $B"}`},
			step{name: "error: with regex", args: `{"structure":"wrap($A)","regex":"wrap"}`},
			step{name: "error: with also", args: `{"structure":"wrap($A)","also":["x"]}`},
		)}},
		"quarry/replace_in_files@structure": {{make: shapes, steps: steps(
			step{name: "dry run", args: `{"structure":"wrap($E, $T)","replacement":"wrapf($T, $E)","file_pattern":"*.go","dry_run":true}`, data: true},
			step{name: "a comment would be lost", args: `{"structure":"wrap($E, $T)","replacement":"wrapf($T, $E)","file_pattern":"*.go"}`, data: true},
			step{name: "product or declaration", args: `{"structure":"$A * $B","replacement":"mul($A, $B)"}`},
			step{name: "error: nothing that can be replaced", args: `{"structure":"$A * $B","replacement":"mul($A, $B)"}`},
			step{name: "error: zero", args: `{"structure":"unwrap($A)","replacement":"x"}`},
			step{name: "error: another number", args: `{"structure":"return $A","replacement":"return f($A)","expected_count":1}`},
			step{name: "error: unknown hole", args: `{"structure":"return $A","replacement":"return $B"}`},
			step{name: "error: two of them", args: `{"structure":"return $A","text":"return","replacement":"x"}`},
		)}},
		"quarry/replace_in_files@symbol": {{make: shapes, steps: steps(
			step{name: "error: two definitions", args: `{"symbol":"wrap","replacement":"join"}`},
			step{name: "dry run", args: `{"symbol":"one.go#wrap","replacement":"join","dry_run":true}`, data: true},
			step{name: "sure", args: `{"symbol":"one.go#wrap","replacement":"join"}`, data: true},
			step{name: "doubtful and comments", args: `{"symbol":"join","replacement":"tie","doubtful":true,"comments":true}`},
			step{name: "error: unknown", args: `{"symbol":"zebra","replacement":"x"}`},
			step{name: "error: invalid name", args: `{"symbol":"tie","replacement":"a b"}`},
			step{name: "error: with text", args: `{"symbol":"tie","text":"tie","replacement":"x"}`},
		)}},
	}
}
