package process

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/worker/executor"
)

// allowsEnv says why a command may not have an environment here, if so.
func (p *rules) allowsEnv(env []string) error {
	if slices.Contains(p.allow, anything) {
		return nil
	}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); executor.Loads(name) {
			return fmt.Errorf("worker %s may not set %s, which makes a program run another's code: process.allow has only %s, and \"*\" would "+
				"allow it", p.cfg.Worker, name, strings.Join(p.allow, ", "))
		}
	}
	return nil
}
