package procgroup

import (
	"errors"
	"io/fs"
	"os/user"
	"strings"
	"testing"
	"testing/synctest"
)

// Tasks run as the accounts of those who submit them: nobody's as another one's, those of who has none not at all, and nobody's as root.
func TestAccountsOfSubmitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, other := 0, &User{Name: "nobody", UID: nobodyNumber}
		a := NewAccounts(ByName)
		a.find = func(name string) (*User, error) {
			asked++
			switch name {
			case "alice":
				return &User{Name: name, UID: 1000}, nil
			case "root":
				return &User{Name: name}, nil
			}
			return nil, errors.New("no account")
		}
		for range 3 {
			if u, err := a.Of("alice", other); err != nil || u.UID != 1000 {
				t.Errorf("alice: %+v, %v", u, err)
			}
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		for who, want := range map[string]string{"root": "user root is root on this machine", "eve": "no account"} {
			if _, err := a.Of(who, other); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", who, err)
			}
		}
		if u, err := a.Of("", other); u != other || err != nil {
			t.Errorf("nobody in particular: %+v, %v", u, err)
		}
		if u, err := (*Accounts)(nil).Of("alice", other); u != other || err != nil {
			t.Errorf("without accounts: %+v, %v", u, err)
		}
	})
}

// A number is no account's name, and only root's worker can run tasks as those who submit them.
func TestSubmitterIsAWord(t *testing.T) {
	for _, name := range []string{"0", "no-such-user"} {
		if u, err := NewAccounts(ByName).Of(name, nil); err == nil || !strings.Contains(err.Error(), "has no account on this machine") {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	if u, err := findUser(Submitter, 0); err != nil || u == nil || u.UID != nobodyNumber {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := findUser(Submitter, 1000); err == nil || !strings.Contains(err.Error(), "start it as root") {
		t.Errorf("%v", err)
	}
}

// Whoever the machine says nothing about now may have an account: that is not remembered, and said otherwise.
func TestUnansweredIsNotWithoutAccount(t *testing.T) {
	err := notFound("eve", user.UnknownUserError("eve"))
	if errors.Is(err, ErrUnanswered) || !strings.Contains(err.Error(), "has no account") {
		t.Errorf("%v", err)
	}
	if err := notFound("eve", fs.ErrPermission); !errors.Is(err, ErrUnanswered) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
	away, a := true, NewAccounts(ByName)
	a.find = func(name string) (*User, error) {
		if away {
			return nil, notFound(name, fs.ErrPermission)
		}
		return &User{Name: name, UID: 1000}, nil
	}
	if _, err := a.Of("alice", nil); !errors.Is(err, ErrUnanswered) {
		t.Errorf("%v", err)
	}
	away = false
	if u, err := a.Of("alice", nil); err != nil || u.UID != 1000 {
		t.Errorf("%+v, %v", u, err)
	}
}

// While the machine is asked for one account others can be had.
func TestNobodyWaitsForAnothersAccount(t *testing.T) {
	a := NewAccounts(ByName)
	a.find = func(name string) (*User, error) {
		if !a.mu.TryLock() {
			return nil, errors.New("everybody waits for " + name)
		}
		a.mu.Unlock()
		return &User{Name: name, UID: 1000}, nil
	}
	if _, err := a.Of("alice", nil); err != nil {
		t.Error(err)
	}
}
