package identity

import "time"

// Written is a time as messages about certificates write it, to the minute and in UTC.
func Written(t time.Time) string { return written(t) }
