package process

import (
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// devices are a GPU that a task has, and an FPGA that it has not.
var devices = []worker.Assigned{
	{Dimension: 3, Extra: "fpga", Devices: worker.Devices{Variable: "FPGAS"}},
	{Dimension: 4, Extra: "gpu", Devices: worker.Devices{IDs: []string{"1", "GPU-5b"}, Variable: "CUDA_VISIBLE_DEVICES", Driver: "nvidia"}},
}

const printDevices = `echo "$DODOOR_GPU $CUDA_VISIBLE_DEVICES ${FPGAS-unset} ${DODOOR_FPGA-unset}"`

// Commands and configured types see the devices that are theirs, whatever a command says itself.
func TestDevicesOfTasks(t *testing.T) {
	const want = "1,GPU-5b 1,GPU-5b  unset\n"
	p, output := newCommands(t, off)
	s := command(cluster.Template{Argv: []string{"sh", "-c", printDevices},
		Env: []string{"CUDA_VISIBLE_DEVICES=0", "FPGAS=0", "DODOOR_FPGA=0", "DODOOR_GPU=7"}}, 1)
	s.Devices = devices
	executortest.Finished(t, p.Run(t.Context(), s))
	if got := spooled(t, output, s.TaskID, false); got != want {
		t.Errorf("command: %q, want %q", got, want)
	}
	typ := executortest.Start(1, 64, 1000)
	typ.Argv, typ.Devices = []string{"/bin/sh", "-c", printDevices}, devices
	r := p.Run(t.Context(), typ)
	if executortest.Finished(t, r); r.Output != strings.TrimSpace(want) {
		t.Errorf("type: %q, want %q", r.Output, want)
	}
}
