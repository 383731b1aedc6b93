package procgroup

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// output is the way from a group's processes to a writer.
type output struct {
	to     io.Writer
	fd     uintptr       // what the program is to write to
	pipe   *os.File      // what the processes wrote; nil: they write to a file themselves
	copied chan struct{} // closed when nobody can write any more, or nobody listens; nil: nothing is copied
}

// outputGrace is how long to wait for a stranger that keeps the output of a dead group open.
const outputGrace = time.Second

// newOutput opens what has to be.
func newOutput(to io.Writer, null int, user *User) (*output, error) {
	if to == nil {
		return &output{fd: uintptr(null)}, nil
	}
	if file, is := to.(*os.File); is {
		return &output{to: to, fd: file.Fd()}, nil
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	if user != nil { // who may open it again by its name, /dev/stdout
		_ = unix.Fchown(ends[1], user.UID, user.GID)
	}
	_ = unix.SetNonblock(ends[0], true) // otherwise reading takes a thread
	return &output{to: to, fd: uintptr(ends[1]), pipe: os.NewFile(uintptr(ends[0]), "|0")}, nil
}

// begin begins to copy what the processes write, if there is a program, which has its descriptors by now.
func (o *output) begin(program bool) {
	if o.pipe == nil {
		return
	}
	unix.Close(int(o.fd))
	if !program {
		o.pipe.Close()
		return
	}
	o.copied = make(chan struct{})
	go o.copy()
}

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

func (o *output) copy() {
	defer close(o.copied)
	defer o.pipe.Close() // who goes on to write to nobody is told so
	buffer := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := o.pipe.Read(buffer[:])
		if n > 0 {
			if _, failed := o.to.Write(buffer[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// finish waits until all that was written has arrived.
func (o *output) finish() {
	if o.copied == nil {
		return
	}
	select {
	case <-o.copied:
	default:
		_ = o.pipe.SetReadDeadline(time.Now().Add(outputGrace))
		<-o.copied
	}
}
