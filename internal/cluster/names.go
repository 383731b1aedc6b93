package cluster

import "fmt"

// SchedulerName is the name of scheduler i, from 0 on, where one process runs a whole cluster.
func SchedulerName(i int) string { return WorkerName("scheduler", i) }

// WorkerName is the name of worker i, from 0 on, of a class there.
func WorkerName(class string, i int) string { return fmt.Sprintf("%s-%d", class, i+1) }
