// Package vm boots a Linux kernel in an emulator, without a disk, and runs a script in there as root: tests of what only
// another kernel, or one that is set up otherwise, does. Only tests import it.
package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Machine is a machine that is off, and what it is to find when it boots.
type Machine struct {
	emulator, kernel string
	files            map[string]file
}

type file struct {
	mode    int
	content []byte
}

// The programs that it takes. The kernel is a file, because to install one changes how a machine boots.
const (
	emulator = "qemu-system-x86_64"
	shell    = "/bin/busybox"
)

// Kernel is where scripts/install-deps puts the kernel: below the user's cache, since it is no program of this machine.
func Kernel() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "dodoor", "vmlinuz"), err
}

// New fails where something is missing.
func New() (*Machine, error) {
	m := &Machine{files: map[string]file{}}
	var err error
	if m.emulator, err = exec.LookPath(emulator); err != nil {
		return nil, missing(err)
	}
	if m.kernel, err = Kernel(); err != nil {
		return nil, missing(err)
	}
	if _, err := os.Stat(m.kernel); err != nil {
		return nil, missing(err)
	}
	if err := m.AddFile(shell, shell); err != nil {
		return nil, missing(err)
	}
	return m, nil
}

func missing(err error) error {
	return fmt.Errorf("no machine to boot: %w: scripts/install-deps test installs it", err)
}

// AddFile puts a file of this machine, which may be a program that needs no libraries, at a path of the other.
func (m *Machine) AddFile(name, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	m.add(name, kindFile|int(info.Mode().Perm()), content)
	return nil
}

// AddText makes a file for all to read.
func (m *Machine) AddText(name, text string) { m.add(name, kindFile|0o644, []byte(text)) }

func (m *Machine) add(name string, mode int, content []byte) {
	m.files[strings.TrimPrefix(path.Clean(name), "/")] = file{mode, content}
}

// start is what the kernel starts first. The script's output goes to a line of its own, where the kernel writes nothing.
const start = `#!/bin/busybox sh
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
ln -s /proc/self/fd /dev/fd
for i in stdin stdout stderr; do ln -s "fd/$((n++))" /dev/$i; done
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
stty -F /dev/ttyS1 raw -echo
export PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/tmp
cd /tmp
sh /script </dev/null >/dev/ttyS1 2>&1
echo "` + ending + `$?" >/dev/ttyS1
poweroff -f
`

// ending is what the last line begins with.
const ending = "the script has ended: "

// folders are there before anything is mounted or installed.
var folders = []string{"bin", "dev", "etc", "proc", "sbin", "sys", "tmp", "usr", "usr/bin", "usr/sbin"}

// image is the first file system.
func (m *Machine) image(script string) ([]byte, error) {
	var image bytes.Buffer
	a := &archive{to: &image}
	seen := map[string]bool{".": true}
	var folder func(name string)
	folder = func(name string) {
		if !seen[name] {
			seen[name] = true
			folder(path.Dir(name))
			a.add(name, kindFolder|0o755, nil)
		}
	}
	for _, name := range folders {
		folder(name)
	}
	all := map[string]file{"init": {kindFile | 0o755, []byte(start)}, "script": {kindFile | 0o644, []byte(script)}}
	for name, f := range m.files {
		all[name] = f
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		folder(path.Dir(name))
		a.add(name, all[name].mode, all[name].content)
	}
	err := a.end()
	return image.Bytes(), err
}

// Memory and cores of the machine.
const (
	memory = "1024" // MiB
	cores  = "2"
)

// Run boots the machine, runs a shell's script in it, and returns what that printed and its exit code. It takes a
// folder for files of its own. The machine is off again when Run returns.
func (m *Machine) Run(ctx context.Context, folder, script string) (output string, code int, err error) {
	image, err := m.image(script)
	if err != nil {
		return "", 0, err
	}
	first, console := filepath.Join(folder, "initramfs"), filepath.Join(folder, "console")
	if err := os.WriteFile(first, image, 0o600); err != nil {
		return "", 0, err
	}
	// The emulator's own processor: that of the machine may be an emulation itself, and then does not lend itself.
	cmd := exec.CommandContext(ctx, m.emulator, "-machine", "pc", "-accel", "tcg", "-cpu", "max", "-smp", cores, "-m", memory,
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "file:"+console, "-serial", "stdio",
		"-kernel", m.kernel, "-initrd", first, "-append", "console=ttyS0 panic=-1 loglevel=5 mitigations=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // by which it ends with this process, however that does
	runtime.LockOSThread()                                             // with this thread, that is
	defer runtime.UnlockOSThread()
	text, err := cmd.Output()
	output = string(text)
	at := strings.LastIndex(output, ending)
	if err != nil || at < 0 {
		log, _ := os.ReadFile(console)
		return output, 0, errors.Join(fmt.Errorf("the machine went off before its script ended: %w", errors.Join(err, ctx.Err())),
			errors.New(string(log[max(0, len(log)-4000):])))
	}
	if _, err := fmt.Sscanf(output[at:], ending+"%d", &code); err != nil {
		return output, 0, fmt.Errorf("%q: %w", output[at:], err)
	}
	return output[:at], code, nil
}
