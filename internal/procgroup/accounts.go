package procgroup

import (
	"errors"
	"fmt"
	"os/user"
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

// ErrUnanswered is beneath the error of who may have an account: the machine did not say, and may another time.
var ErrUnanswered = errors.New("the machine does not say now who has an account")

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

// NewAccounts returns accounts that are looked up as ByName does.
func NewAccounts(find func(name string) (*User, error)) *Accounts {
	return &Accounts{find: find, known: map[string]account{}}
}

// Of returns the user that programs run as which somebody has submitted; another one where nobody in particular has.
// It fails for who has no account here, and for root; with ErrUnanswered beneath where that is not known now.
func (a *Accounts) Of(submitter string, otherwise *User) (*User, error) {
	if a == nil || submitter == "" {
		return otherwise, nil
	}
	if known, found := a.remembered(submitter); found {
		return known.user, known.err
	}
	found := account{at: time.Now()}
	found.user, found.err = a.find(submitter) // which may take long: those who are remembered do not wait
	if found.err == nil && found.user.UID == 0 {
		found.err = fmt.Errorf("user %s is root on this machine, and tasks of users do not run as root (process.user = %q)", submitter,
			Submitter)
	}
	if !errors.Is(found.err, ErrUnanswered) {
		a.remember(submitter, found)
	}
	return found.user, found.err
}

func (a *Accounts) remembered(submitter string) (account, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, found := a.known[submitter]
	return known, found && time.Since(known.at) < knownFor
}

func (a *Accounts) remember(submitter string, found account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= mostAccounts {
		clear(a.known)
	}
	a.known[submitter] = found
}

// ByName finds an account of this machine by its name alone: a user whom certificates call 0 is not root. It fails with ErrUnanswered
// beneath where the machine does not say.
func ByName(name string) (*User, error) {
	u, err := accountOf(name)
	if err != nil {
		return nil, notFound(name, err)
	}
	return u, nil
}

// notFound tells who has no account from who could not be looked up.
func notFound(name string, err error) error {
	if errors.As(err, new(user.UnknownUserError)) {
		return fmt.Errorf("user %s has no account on this machine, and tasks run as the accounts of those who submit them "+
			"(process.user = %q): make one", name, Submitter)
	}
	return fmt.Errorf("%w: look up user %s: %w", ErrUnanswered, name, err)
}
