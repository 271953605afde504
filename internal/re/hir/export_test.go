package hir

// Canonical is for tests.
var Canonical = canonical

// The range that no class of scalar values has.
const SurrogateLo, SurrogateHi = surrogateLo, surrogateHi
