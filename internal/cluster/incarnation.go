package cluster

// NextIncarnation is that of a process whose predecessor's is known, 0 if there was none: a clock that was set back changes nothing.
func NextIncarnation(last, clock int64) int64 { return max(last+1, clock) }
