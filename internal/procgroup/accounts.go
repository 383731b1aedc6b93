package procgroup

import (
	"fmt"
	"sync"
	"time"
)

// Submitter is the word for process.user that has programs run as the account of whoever submitted them.
const Submitter = "submitter"

// knownFor is how long it stays true who an account is, and mostAccounts how many are remembered.
const (
	knownFor     = 10 * time.Second
	mostAccounts = 1024
)

// Accounts are the accounts of this machine that programs run as, by the names of who submits them. Nil: who submits has none.
type Accounts struct {
	find  func(name string) (*User, error)
	mu    sync.Mutex
	known map[string]account
}

type account struct {
	user *User
	err  error
	at   time.Time
}

// NewAccounts returns the accounts of this machine.
func NewAccounts() *Accounts { return &Accounts{find: byName, known: map[string]account{}} }

// Of returns the user that programs run as which somebody has submitted; another one where nobody in particular has.
// It fails for who has no account here, and for root.
func (a *Accounts) Of(submitter string, otherwise *User) (*User, error) {
	if a == nil || submitter == "" {
		return otherwise, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	known, found := a.known[submitter]
	if !found || now.Sub(known.at) >= knownFor {
		if len(a.known) >= mostAccounts {
			clear(a.known)
		}
		known = account{at: now}
		known.user, known.err = a.find(submitter)
		if known.err == nil && known.user.UID == 0 {
			known.err = fmt.Errorf("user %s is root on this machine, and tasks of users do not run as root (process.user = %q)", submitter,
				Submitter)
		}
		a.known[submitter] = known
	}
	return known.user, known.err
}

// byName finds an account by its name alone: a user whom certificates call 0 is not root.
func byName(name string) (*User, error) {
	u, err := accountOf(name)
	if err != nil {
		return nil, fmt.Errorf("user %s has no account on this machine, and tasks run as the accounts of those who submit them "+
			"(process.user = %q): make one", name, Submitter)
	}
	return u, nil
}
