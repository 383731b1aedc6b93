package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"dodoor/internal/wholefile"
)

// Rows is where commands that somebody has run from this host write.
func (f Folder) Rows() string { return filepath.Join(string(f), "rows") }

// Command runs dodoor with some arguments in the folder for rows, and returns its exit code. Whoever is at the other end of
// an ssh connection has no process here to send a signal to: every line on control stands for an interrupt, and the end
// of it for SIGTERM, because then there is nobody left who waits for the result. So does the end of the context.
func Command(ctx context.Context, f Folder, args []string, control io.Reader, stdout, stderr io.Writer) (code int, err error) {
	if err := os.MkdirAll(f.Rows(), wholefile.FolderMode); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, f.Binary(), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.Rows(), stdout, stderr
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(string(f), "run", "cache")) // nothing is left outside of the folder
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// A group of its own: what interrupts this process is passed on once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", f.Binary(), err)
	}
	go func() {
		for lines := bufio.NewScanner(control); lines.Scan(); {
			_ = cmd.Process.Signal(syscall.SIGINT) // or it has ended already
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}()
	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	default:
		return 0, fmt.Errorf("run %s: %w", args[0], err)
	}
}
