package process

import (
	"fmt"
	"slices"
	"strings"
)

// loading are the variables by which the loader or the C library run code of somebody else in any program. Those that begin
// with LD_ do so too.
var loading = []string{"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"}

// allowsEnv says why a command may not have an environment here, if so.
func (p *Executor) allowsEnv(env []string) error {
	if slices.Contains(p.cfg.Allow, anything) {
		return nil
	}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "LD_") || slices.Contains(loading, name) {
			return fmt.Errorf("worker %s may not set %s, which makes a program run another's code: process.allow has only %s, and \"*\" would "+
				"allow it", p.cfg.Worker, name, strings.Join(p.cfg.Allow, ", "))
		}
	}
	return nil
}
