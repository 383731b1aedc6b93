// Package job turns what people type into the tasks of a job: lists of inputs, arrays, tasks line by line, and the flags
// that a script brings along. It does no I/O: whoever calls it has read the files, the clock and the dice.
package job
