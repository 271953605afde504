package hir

// Canonical is exported for tests.
var Canonical = canonical

// The range that classes of scalar values exclude.
const SurrogateLo, SurrogateHi = surrogateLo, surrogateHi
