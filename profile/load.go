package profile

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"
)

// What is measured while others use the machine is not the task: it runs longer, and seems to keep fewer
// cores busy than it would. load follows what the whole machine does.
type load struct {
	begin time.Time
	busy  time.Duration // of all CPUs since boot; 0: not known
}

func startLoad() load { return load{time.Now(), busySinceBoot()} }

// others is how many cores were busy on average since l was started, apart from what the runs used.
func (l load) others(runs time.Duration) float64 {
	const ticks = 100 * time.Millisecond // ten of the account's: less says nothing
	passed := time.Since(l.begin)
	if l.busy == 0 || passed < ticks {
		return 0
	}
	return max(0, float64(busySinceBoot()-l.busy-runs)/float64(passed))
}

// crowded reports whether others left clearly less of the machine than a run may use.
func crowded(cpus int, others, limit float64) bool {
	const tolerance = 0.8 // the engine takes some time to make and remove a container
	return float64(cpus)-others < tolerance*min(limit, float64(cpus))
}

// busySinceBoot reads the kernel's account of all CPUs.
func busySinceBoot() time.Duration {
	file, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer file.Close()
	line, _ := bufio.NewReader(file).ReadString('\n')
	return busyIn(line)
}

// busyIn adds up the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal, in
// hundredths of a second.
func busyIn(line string) (sum time.Duration) {
	fields := strings.Fields(line)
	const idle, iowait, steal = 4, 5, 8
	for i := 1; i <= steal && i < len(fields); i++ {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err == nil && i != idle && i != iowait {
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}
