package stress_test

// edgeMutations revert the fixes for the rows of "Edges" in docs/RELIABILITY.md, by the number of
// the row. Row 13 is "nothing outside the workspace" in mutations.
var edgeMutations = []mutation{
	{"edge 1: a .git file leads out only to a folder that names it back", "internal/gitdir", "openNamed", []edit{instead("verify own", "&Dir{own, own}, error(nil)")}, "./internal/gitdir", "TestLeadsElsewhere"},
	{"edge 2: our own files are closed", ".", "Options.closed", []edit{instead("append StateDir", "slices.Clone([]string{})")}, "./internal/cli", "TestOwnLimits"},
	{"edge 4: the receipt on an overlay", "internal/profile", "call.freshness", []edit{skip("Overlay")}, "./internal/cli", "TestReceiptNamesOverlay"},
	{"edge 5: reading definitions ends with its call", "internal/symbols", "parser.refill", []edit{never("stop nil")}, "./internal/symbols", "TestShapes"},
	{"edge 6: steps are bounded", "internal/symbols", "parser.refill", []edit{never("budget 0")}, "./internal/symbols", "TestReadInPart"},
	{"edge 6: comments above many definitions are read once", "internal/symbols", "parser.docLine", []edit{never("doc before")}, "./internal/symbols", "TestManyBelowComments"},
	{"edge 6: large front matter is refused", "internal/vault", "parseYAML", []edit{never("maxFrontMatter")}, "./internal/notebook", "TestManyKeys"},
	{"edge 7: markers of others", "internal/config", "IsRoot", []edit{always("Ours")}, "./internal/config", "TestMarkersOfOthers"},
	{"edge 8: names of secrets", "internal/policy", "secretNames", []edit{instead(`"id_ecdsa"`, `"id_none"`)}, "./internal/policy", "TestDocumentedNames"},
	{"edge 8: files with a credential", "internal/policy", "HoldsCredential", []edit{never("holds")}, "./internal/profile", "TestSuspectFiles"},
	{"edge 9: install stays in the project", "internal/cli/agents", "target.inside", []edit{never("IsLocal")}, "./internal/cli", "TestInstallStaysInProject"},
	{"edge 10: lines of notes have numbers", "internal/render", "Notes", []edit{never("numbered")}, "./internal/stress", "TestHostileNamesInToolTexts"},
	{"edge 11: connections without a token are bounded", "internal/strangers", "Conns.arrived", []edit{never("Max")}, "./internal/mcpserver", "TestUnauthenticatedDontBlockOthers"},
	{"edge 12: settings of others", "internal/config", "Load", []edit{never("Ours")}, "./internal/config", "TestConfigOfOthers"},
	{"edge 12: arguments that are not UTF-8", "tool", "invalidText", []edit{never("Valid raw")}, "./tool", "TestTextIsNotChanged"},
	{"edge 12: messages that are not UTF-8", "internal/mcpserver", "lineConn.acceptOne", []edit{never("utf8 Valid")}, "./internal/mcpserver", "TestGarbageLines"},
	{"edge 12: escapes in summaries", "change", "escaped", []edit{always("ContainsFunc unshown")}, "./internal/stress", "TestHostileNamesOfCallers"},

	// Bugs for the regimes that have no mutation above.
	{"regime requests: a question without a path", "internal/searcher", "Folder.fields", []edit{never("Paths 1")}, "./internal/owner", "FuzzRequest"},
	{"regime forged segments: a panic is an error", "internal/index", "guard", []edit{instead("recover", "any(nil)")}, "./internal/index", "TestForgedSegments"},
	{"regime floods: sessions are bounded", "internal/mcpserver", "handler.makeRoom", []edit{never("maxSessions")}, "./internal/mcpserver", "TestSessionFlood"},
	{"regime git's folder: an error has what a file says", "internal/githead", "Repo.headTree", []edit{instead(`New "HEAD_names_no_commit"`, `errors.New("HEAD names no commit: " + value)`)}, "./internal/stress", "TestHostileGitFolder"},
	{"regime full disks: a short write is an error", "internal/rootfs", "Writer.put", []edit{instead("PwriteAll", "func() error { _ = %s; return nil }()")}, "./internal/stress", "TestFullDisk"},
	{"regime denied names: a name less", "internal/policy", "secretNames", []edit{instead(`"id_ecdsa"`, `"id_none"`)}, "./internal/profile", "TestSecretNames"},
	{"regime twins: the first of several", "internal/rootfs", "Root.ResolveFold", []edit{replace("AmbiguousPath", "return r.resolve(op, matches[0], followed)")}, "./internal/stress", "TestTwins"},
	{"regime many roots: one is left out", "internal/backend", "joint.inTurn",
		[]edit{instead("part targets", "func() (bool, error) {\nif i == 0 {\nreturn true, nil\n}\nreturn %s\n}()")}, "./internal/stress", "TestThirtyRoots"},
}
