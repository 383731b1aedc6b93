package executor

import (
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// withDevices is a task with two GPUs and no FPGA, on a node that has both and something that no program looks for.
func withDevices() worker.Start {
	s := executortest.Start(1, 64, 1000)
	s.Devices = []worker.Assigned{
		{Dimension: 3, Extra: "gpu", Devices: worker.Devices{IDs: []string{"0", "2"}, Variable: "CUDA_VISIBLE_DEVICES", Driver: "nvidia"}},
		{Dimension: 4, Extra: "fp.ga", Devices: worker.Devices{Variable: "X", Driver: "d"}},
		{Dimension: 5, Extra: "Tape-9", Devices: worker.Devices{IDs: []string{"b"}}},
		{Dimension: 6, Extra: "robot"},
	}
	return s
}

// A task sees its own devices, and none by the variable of an extra of which it has none. Where the engine shows it nothing
// else, that variable would count from another device.
func TestDeviceEnv(t *testing.T) {
	s, without := withDevices(), executortest.Start(1, 64, 1000)
	for _, c := range []struct {
		s         *worker.Start
		contained bool
		want      []string
	}{
		{&s, false, []string{"DODOOR_GPU=0,2", "CUDA_VISIBLE_DEVICES=0,2", "X=", "DODOOR_TAPE_9=b"}},
		{&s, true, []string{"DODOOR_GPU=0,2", "X=", "DODOOR_TAPE_9=b"}},
		{&without, false, nil},
	} {
		if got := DeviceEnv(c.s, c.contained); !slices.Equal(got, c.want) {
			t.Errorf("contained %v: %q, want %q", c.contained, got, c.want)
		}
	}
	s.Devices[0].IDs = nil
	if got := DeviceEnv(&s, true); !slices.Contains(got, "NVIDIA_VISIBLE_DEVICES=void") {
		t.Errorf("a container without GPUs is told %q, and sees what its image asks for", got)
	}
	if got := DeviceEnv(&s, false); !slices.Contains(got, "CUDA_VISIBLE_DEVICES=") || slices.Contains(got, "NVIDIA_VISIBLE_DEVICES=void") {
		t.Errorf("a program without GPUs is told %q", got)
	}
	s = withDevices()
	s.Devices[0].Driver = ""
	if got := DeviceEnv(&s, true); !slices.Contains(got, "CUDA_VISIBLE_DEVICES=0,2") {
		t.Errorf("a container that sees every device is told %q", got)
	}
}

// What a command says of its devices itself does not count, also of those that it has none of.
func TestCommandsDoNotChooseTheirDevices(t *testing.T) {
	s := withDevices()
	s.Command = &cluster.Command{Template: &cluster.Template{Env: []string{"CUDA_VISIBLE_DEVICES=1", "A=1", "DODOOR_GPU=1", "X=0",
		"DODOOR_ROBOT=r", "CUDA_VISIBLE_DEVICES_=x", "NVIDIA_VISIBLE_DEVICES=all"}}}
	got := CommandEnv(&s, "w")
	if !slices.Equal(got[:2], []string{"A=1", "CUDA_VISIBLE_DEVICES_=x"}) || strings.Contains(strings.Join(got[2:], " "), "VISIBLE") {
		t.Errorf("%q", got)
	}
	if len(s.Command.Template.Env) != 7 || s.Command.Template.Env[0] != "CUDA_VISIBLE_DEVICES=1" {
		t.Error("the template has changed")
	}
}

// Every variable that tells of something else is known, so that no extra is called like it.
func TestTells(t *testing.T) {
	s := executortest.Start(1, 64, 1000)
	s.Command = &cluster.Command{Template: &cluster.Template{}, Entries: []string{"x"}}
	own := CommandEnv(&s, "w")
	for _, variable := range own {
		if name, _, _ := strings.Cut(variable, "="); !Tells(name) || !strings.HasPrefix(name, ownVariables) {
			t.Errorf("%s is not known", name)
		}
	}
	if len(own) != len(told) {
		t.Errorf("%d are there, %d are known", len(own), len(told))
	}
}
