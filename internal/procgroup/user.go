package procgroup

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// User is whom programs run as, when that is not this process's own user.
type User struct {
	Name   string // or the number of one that has none
	UID    int
	GID    int
	Groups []int // others that the user is in
}

// nobody is whom tasks run as when nobody has said otherwise and this process is root's, and what its number and its group's
// are where the machine does not say.
const (
	nobody       = "nobody"
	nobodyNumber = 65534
)

// FindUser returns the user of a name or number; nil where that is the one of this process, whom tasks run as unless
// somebody is named. Only root runs programs as somebody else, and as itself when that is said.
func FindUser(name string) (*User, error) { return findUser(name, os.Geteuid()) }

func findUser(name string, own int) (*User, error) {
	if name == "" && own != 0 {
		return nil, nil
	}
	named := name
	if name == "" {
		named = nobody
	}
	u, err := lookUp(named)
	switch {
	case err != nil && name == "":
		u = &User{Name: nobody, UID: nobodyNumber, GID: nobodyNumber}
	case err != nil:
		return nil, fmt.Errorf("process.user is %q, and this machine has no such user: make one, or name another", name)
	}
	switch {
	case u.UID == own:
		return nil, nil
	case own != 0:
		return nil, fmt.Errorf("process.user is %q, and this worker runs as user %d, who cannot run programs as another: start it as root, or "+
			"leave process.user empty", name, own)
	case u.UID == 0:
		return nil, fmt.Errorf("process.user is empty, and %s is root here: name another user", nobody)
	}
	return u, nil
}

// lookUp finds a user. A number need not be anybody's.
func lookUp(name string) (*User, error) {
	entry, err := user.Lookup(name)
	if number, failure := strconv.ParseUint(name, 10, 31); err != nil && failure == nil {
		if entry, err = user.LookupId(strconv.FormatUint(number, 10)); errors.As(err, new(user.UnknownUserIdError)) {
			return &User{Name: name, UID: int(number), GID: nobodyNumber}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	u := &User{Name: entry.Username}
	if u.UID, err = strconv.Atoi(entry.Uid); err != nil {
		return nil, err
	}
	if u.GID, err = strconv.Atoi(entry.Gid); err != nil {
		return nil, err
	}
	groups, err := entry.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, text := range groups {
		if g, err := strconv.Atoi(text); err == nil && g != u.GID {
			u.Groups = append(u.Groups, g)
		}
	}
	return u, nil
}

// Env is what programs find out about their user from, but for the home, which is the task's.
func (u *User) Env() []string {
	if u == nil {
		return nil
	}
	return []string{"USER=" + u.Name, "LOGNAME=" + u.Name}
}

// Owner is the number of the user, this process's own for none.
func (u *User) Owner() int {
	if u == nil {
		return os.Geteuid()
	}
	return u.UID
}

// Give makes a file or folder the user's.
func (u *User) Give(path string) error {
	if u == nil {
		return nil
	}
	return os.Lchown(path, u.UID, u.GID)
}

// Do runs something with the user's rights to files.
func (u *User) Do(f func() error) error {
	if u == nil {
		return f()
	}
	done := make(chan error, 1)
	onThread(func() {
		err := u.become()
		if err == nil {
			err = f()
		}
		done <- err
	})
	return <-done
}

// become gives this thread, which nobody else may use, the user's rights, for good. Go's own calls would change all threads.
func (u *User) become() error {
	groups := make([]uint32, len(u.Groups)+1) // the kernel's numbers
	groups[0] = uint32(u.GID)
	for i, g := range u.Groups {
		groups[i+1] = uint32(g)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
		return os.NewSyscallError("setgroups", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(u.GID), uintptr(u.GID), uintptr(u.GID)); errno != 0 {
		return os.NewSyscallError("setresgid", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(u.UID), uintptr(u.UID), uintptr(u.UID)); errno != 0 {
		return os.NewSyscallError("setresuid", errno)
	}
	return nil
}

// credential is what a program starts with.
func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}
