// Package arch holds no code, only tests that parse the tree and fail when a file breaks a rule of
// the house: who may import whom, what a pure package may touch, how long a file may be.
package arch
