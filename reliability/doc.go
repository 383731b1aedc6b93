// Package reliability measures what docs/reliability.md states: separate processes on loopback, one fault at a time, and a
// client that never submits again what was accepted. Its tests take minutes and want an idle machine:
//
//	make reliability
package reliability
