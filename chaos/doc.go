// Package chaos says what is to go wrong, and proves what came of it. Plan draws a scenario from a seed: a small cluster, what is
// submitted to it, and which faults happen when. Whoever carries it out, the simulator or real processes in containers, writes a
// History: every submission, every execution, every result, and what is left in the end. Check finds in it what must never happen.
//
// It is pure: no clock, network or goroutine.
package chaos
