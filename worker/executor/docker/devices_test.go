package docker

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/executortest"
)

// asked is what a container was to be.
type asked struct {
	config *container.Config
	host   *container.HostConfig
}

// given are two GPUs that the engine has a driver for, a tape that it has none for, and an FPGA that is not the task's.
func given() []worker.Assigned {
	return []worker.Assigned{
		{Dimension: 3, Extra: "fpga", Devices: worker.Devices{Variable: "FPGAS", Driver: "xilinx"}},
		{Dimension: 4, Extra: "gpu", Devices: worker.Devices{IDs: []string{"0", "2"}, Variable: "CUDA_VISIBLE_DEVICES", Driver: "nvidia"}},
		{Dimension: 5, Extra: "tape", Devices: worker.Devices{IDs: []string{"b"}, Variable: "TAPES"}},
	}
}

// The engine is asked for the task's devices alone, and the program is told of them: of those that it has to choose itself by
// their variable, too.
func TestDevicesOfContainers(t *testing.T) {
	want := []container.DeviceRequest{{Driver: "nvidia", DeviceIDs: []string{"0", "2"}, Capabilities: [][]string{{"gpu"}}}}
	env := []string{"FPGAS=", "DODOOR_GPU=0,2", "DODOOR_TAPE=b", "TAPES=b"}
	for name, s := range map[string]worker.Start{"type": contained(1, 64, "print=x"), "command": boxed(cluster.Template{Image: "x",
		Argv: []string{"y"}, Env: []string{"CUDA_VISIBLE_DEVICES=7", "TAPES=a", "FPGAS=c"}})} {
		s.Devices = given()
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Second, 0, "")
			d := f.executor()
			d.cfg.Commands = []string{anyImage}
			executortest.Finished(t, d.Run(t.Context(), s))
			if len(f.created) != 1 || !reflect.DeepEqual(f.created[0].host.DeviceRequests, want) {
				t.Fatalf("%s: %+v", name, f.created)
			}
			got := f.created[0].config.Env
			for _, variable := range []string{"FPGAS", "DODOOR_GPU", "DODOOR_TAPE", "TAPES"} {
				value, _ := executor.Variable(got, variable)
				if !slices.Contains(env, variable+"="+value) {
					t.Errorf("%s: %s is %q", name, variable, value)
				}
			}
			if _, there := executor.Variable(got, "CUDA_VISIBLE_DEVICES"); there {
				t.Errorf("%s: %q, and the container counts its GPUs from 0", name, got)
			}
		})
	}
}

// A task without devices gets none, nor does one whose devices the engine has no driver for.
func TestNoDeviceRequests(t *testing.T) {
	s := contained(1, 64)
	s.Devices = given()
	s.Devices[1].IDs = nil
	if got := deviceRequests(&s); got != nil {
		t.Errorf("%+v", got)
	}
}

var errNoDriver = errors.New(`could not select device driver "nvidia" with capabilities: [[gpu]]`)

// A task never began whose devices the engine cannot give: it is placed elsewhere.
func TestDevicesThatTheEngineLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Second, 0, "")
		f.once("start", func(context.Context) error { return errNoDriver })
		s := contained(1, 64)
		s.Devices = given()
		if r := f.executor().Run(t.Context(), s); r.Outcome != cluster.Lost || !strings.Contains(r.Reason, errNoDriver.Error()) {
			t.Errorf("%+v", r)
		}
	})
}
