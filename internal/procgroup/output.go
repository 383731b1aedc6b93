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
	pipe   *os.File      // what the processes wrote; nil: the writer is a file, or there is none
	own    int           // this process's descriptor of the other end of the pipe
	copied chan struct{} // closed when nobody can write any more, or nobody listens
}

// outputGrace is how long to wait for a stranger that keeps the output of a dead group open.
const outputGrace = time.Second

// newOutput opens what has to be. It returns the descriptor that is to be the program's output.
func newOutput(to io.Writer, null int) (o *output, fd int, err error) {
	if to == nil {
		return &output{}, null, nil
	}
	if file, is := to.(*os.File); is {
		return &output{}, int(file.Fd()), nil
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, 0, os.NewSyscallError("pipe2", err)
	}
	_ = unix.SetNonblock(ends[0], true) // otherwise reading takes a thread
	return &output{pipe: os.NewFile(uintptr(ends[0]), "|0"), own: ends[1]}, ends[1], nil
}

// abandon closes everything, for want of a program.
func (o *output) abandon() {
	if o.pipe != nil {
		unix.Close(o.own)
		o.pipe.Close()
	}
}

// copyTo begins to copy what the processes write.
func (o *output) copyTo(to io.Writer) {
	if o.pipe != nil {
		unix.Close(o.own) // the program has it by now
		o.copied = make(chan struct{})
		go o.copy(to)
	}
}

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

func (o *output) copy(to io.Writer) {
	defer close(o.copied)
	defer o.pipe.Close() // who goes on to write to nobody is told so
	buffer := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := o.pipe.Read(buffer[:])
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
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
