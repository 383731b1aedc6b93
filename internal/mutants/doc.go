// Package mutants holds no code, only tests: of docs/mutants.toml, the list of changes to the pure packages that
// change nothing, and, after `make mutate`, of what became of all the others.
package mutants
