package process

import (
	"dodoor/internal/procgroup"
	"dodoor/worker/executor"
)

// rules is what holds for the tasks of one who submits: what they may run, and whom they run as.
type rules struct {
	*Executor
	submitter string
	allow     []string        // entries of process.allow
	user      *procgroup.User // nil: this process's
}

// rulesOf fails for somebody as whom tasks were to run, and cannot.
func (p *Executor) rulesOf(submitter string) (rules, error) {
	user, err := p.cfg.Accounts.Of(submitter, p.cfg.User)
	return rules{p, submitter, executor.EntriesFor(p.cfg.Allow, submitter), user}, err
}
