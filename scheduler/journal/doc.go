// Package journal keeps on disk what a scheduler must not forget: keys and their values, changed in groups. A group is durable when
// [Journal.Write] returns, and after a crash it is there as a whole or not at all.
//
// The folder holds segments, each named after the number of its first group. A segment begins with a header that holds a salt; groups
// follow, each with its number and with a checksum that begins with that of what stands before it. So Open knows what a crash leaves,
// an unfinished group at the very end, from damage: anything else that is not as it was written. The former was never
// acknowledged and is dropped; the latter is refused, with the file, the offset and what can be done.
//
// Every key has its place in memory, 100 bytes or so, beside the task that it stands for in the scheduler. When less than half
// of what the folder holds is needed, every group that is written takes some of the oldest segment's live values along,
// until that segment can go, and says so: Open misses one that has not gone in this way. Nothing stops meanwhile, and a group costs about
// three times its size. [Journal.Read] finds single values meanwhile; its place has a checksum of each.
//
// README.md beside it says why this is no library: what was measured, and what each does with a byte that has changed.
package journal
