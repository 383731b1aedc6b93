package procgroup

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
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
	if name == Submitter && own == 0 {
		name = "" // where nobody in particular submits
	}
	if name == "" && own != 0 {
		return nil, nil
	}
	named := name
	if name == "" {
		named = nobody
	}
	u, err := lookUp(named)
	switch {
	case name == Submitter:
		return nil, cannotSwitch(name, own)
	case err != nil && name == "":
		u = &User{Name: nobody, UID: nobodyNumber, GID: nobodyNumber}
	case err != nil:
		return nil, fmt.Errorf("process.user is %q, and this machine has no such user: make one, or name another", name)
	}
	switch {
	case u.UID == own:
		return nil, nil
	case own != 0:
		return nil, cannotSwitch(name, own)
	case u.UID == 0:
		return nil, fmt.Errorf("process.user is empty, and %s is root here: name another user", nobody)
	}
	return u, nil
}

// cannotSwitch is why programs cannot run as another user than this process's own.
func cannotSwitch(name string, own int) error {
	return fmt.Errorf("process.user is %q, and this worker runs as user %d, who cannot run programs as another: start it as root, or "+
		"leave process.user empty", name, own)
}

// lookUp finds a user. A number need not be anybody's.
func lookUp(name string) (*User, error) {
	u, err := accountOf(name)
	if number, failure := strconv.ParseUint(name, 10, 31); err != nil && failure == nil {
		entry, err := user.LookupId(strconv.FormatUint(number, 10))
		if errors.As(err, new(user.UnknownUserIdError)) {
			return &User{Name: name, UID: int(number), GID: nobodyNumber}, nil
		}
		if err != nil {
			return nil, err
		}
		return userOf(entry)
	}
	return u, err
}

// accountOf finds a user by name.
func accountOf(name string) (*User, error) {
	entry, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	return userOf(entry)
}

// userOf is the user of an entry of the machine's.
func userOf(entry *user.User) (u *User, err error) {
	u = &User{Name: entry.Username}
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

// Give makes an open file or folder the user's. There is no way to give one by its path: somebody may have put another there.
func (u *User) Give(file *os.File) error {
	if u == nil {
		return nil
	}
	return file.Chown(u.UID, u.GID)
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

// become gives this thread, which nobody else may use, the user's rights to files, for good. Go's own calls would change all
// threads. It stays root's in all else: the user's processes may kill what has the number of the user, and with a thread all of
// this process. Without root's number for files the kernel takes root's capabilities for files away.
func (u *User) become() error {
	groups := make([]uint32, len(u.Groups)+1) // the kernel's numbers
	groups[0] = uint32(u.GID)
	for i, g := range u.Groups {
		groups[i+1] = uint32(g)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
		return u.cannotBe(os.NewSyscallError("setgroups", errno))
	}
	for _, set := range []struct {
		name   string
		call   func(int) (int, error)
		number int
	}{{"setfsgid", unix.SetfsgidRetGid, u.GID}, {"setfsuid", unix.SetfsuidRetUid, u.UID}} {
		_, err := set.call(set.number) // which returns the number before, and no errors
		if now, _ := set.call(-1); err == nil && now != set.number {
			err = unix.EPERM
		}
		if err != nil {
			return u.cannotBe(os.NewSyscallError(set.name, err))
		}
	}
	return nil
}

// cannotBe says what to do where this process is root but may not become others, as in a container without that right.
func (u *User) cannotBe(err error) error {
	return fmt.Errorf("this process may not become user %s (%w): this is a container or user namespace without that right or that user; "+
		`set process.user = "root" to run tasks as the worker's own user, who is root in there alone`, u.Name, err)
}

// MayRun fails for a file that the user may not run as a program. It is to be called by Do.
func (u *User) MayRun(path string) error {
	if u == nil {
		return unix.Access(path, unix.X_OK)
	}
	err := unix.Faccessat2(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) // with the numbers for files; access takes the real ones
	if err == unix.ENOSYS || err == unix.EPERM {
		return u.mayRunByMode(path)
	}
	return err
}

// mayRunByMode does without the call that Linux before 5.8, and some containers, do not have. It knows no access control lists.
func (u *User) mayRunByMode(path string) error {
	var info unix.Stat_t
	if err := unix.Stat(path, &info); err != nil {
		return err
	}
	var bit uint32 = 0o001
	switch group := int(info.Gid); {
	case int(info.Uid) == u.UID:
		bit = 0o100
	case group == u.GID || slices.Contains(u.Groups, group):
		bit = 0o010
	}
	if info.Mode&bit == 0 {
		return unix.EACCES
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
