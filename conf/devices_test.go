package conf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// A class with two GPUs and another with four, 1.5 licences and no ids.
const gpuClasses = `class = [{ name = "two", cores = 2, memory_mb = 4096, extra = { gpu = 2, licence = 1.5 } },` +
	` { name = "four", cores = 2, memory_mb = 4096, extra = { gpu = 4, fpga = 1 } }]` + "\n"

// What a worker of a class says of its devices.
func devicesOf(t *testing.T, c *Config, class string) string {
	t.Helper()
	dims, err := c.Dimensions()
	if err != nil {
		t.Fatal(err)
	}
	k, _ := c.Class(class)
	capacity := k.Capacity(dims)
	return fmt.Sprintf("%+v", c.DevicesOf(dims, &capacity))
}

func TestDevicesOfAWorker(t *testing.T) {
	for _, c := range []struct {
		text, class, want string
		sets              []string
	}{
		{"", "two", "map[gpu:{IDs:[] Variable:CUDA_VISIBLE_DEVICES Driver:nvidia} licence:{IDs:[] Variable: Driver:}]", nil},
		{"[worker]\nclass = 'two'\n[worker.devices.gpu]\nids = ['2', 'GPU-5b/1:0']\n", "two",
			"map[gpu:{IDs:[2 GPU-5b/1:0] Variable:CUDA_VISIBLE_DEVICES Driver:nvidia} licence:{IDs:[] Variable: Driver:}]", nil},
		{"[worker.devices.gpu]\nvariable = ''\ndocker = ''\n[worker.devices.fpga]\nvariable = 'X'\n", "four",
			"map[fpga:{IDs:[] Variable:X Driver:} gpu:{IDs:[] Variable: Driver:}]", nil},
		{"", "four", "map[fpga:{IDs:[7] Variable: Driver:} gpu:{IDs:[] Variable:A Driver:nvidia}]",
			[]string{"worker.devices.fpga.ids=['7']", "worker.devices.gpu.variable=A"}},
		{"[worker]\ndevices = { gpu = { variable = 'X' } }\n", "four",
			"map[fpga:{IDs:[] Variable:Z Driver:} gpu:{IDs:[] Variable:CUDA_VISIBLE_DEVICES Driver:nvidia}]",
			[]string{"worker.devices={fpga={variable='Z'}}"}},
	} {
		conf, err := loadText(gpuClasses+c.text, c.sets...)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := devicesOf(t, conf, c.class); got != c.want {
			t.Errorf("%s%v:\ngot  %s\nwant %s", c.text, c.sets, got, c.want)
		}
	}
}

// Overrides of one configuration leave the next one alone.
func TestDevicesAreNotShared(t *testing.T) {
	base, err := read(source{"t.toml", []byte(gpuClasses + "[worker.devices.gpu]\nvariable = 'A'")}, openEmbedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"B", "A"} {
		c, err := base.With([]string{"worker.devices.gpu.variable=" + want})
		if err != nil || c.Worker.Devices["gpu"].Variable != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if c, err := base.With(nil); err != nil || c.Worker.Devices["gpu"].Variable != "A" {
		t.Errorf("%+v, %v", c.Worker.Devices["gpu"], err)
	}
}

const gpuHosts = gpuClasses + `[[host]]
name = "a"
address = "a"
roles = ["datastore", "scheduler", "worker"]
class = "two"
[[host]]
name = "b"
address = "b"
roles = ["worker"]
class = "four"
`

// A host's ids are its own; what it does not say of its devices is said for all.
func TestDevicesOfHosts(t *testing.T) {
	c, err := loadText(gpuHosts + "[host.devices.gpu]\nids = ['w', 'x', 'y', 'z']\n[worker.devices.gpu]\nvariable = 'V'\ndocker = ''\n")
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, s := range c.with(RoleWorker) {
		want := "map[gpu:{IDs:[] Variable:V Driver:} licence:{IDs:[] Variable: Driver:}]"
		if s.Name == "b" {
			want = "map[fpga:{IDs:[] Variable: Driver:} gpu:{IDs:[w x y z] Variable:V Driver:}]"
		}
		if got := devicesOf(t, c.As(&s), s.Host.Class); got != want {
			t.Errorf("%s: %s, want %s", s.Name, got, want)
		}
		digest, err := c.DigestOf(&s)
		if err != nil || digests[digest] {
			t.Error("hosts with different devices are of one version", err)
		}
		digests[digest] = true
	}
	if c.Worker.Devices["gpu"].IDs != nil {
		t.Error("a host's ids became everybody's")
	}
}

func TestWrongDevices(t *testing.T) {
	gpu := "[worker.devices.gpu]\n"
	on := gpuHosts + "[host.devices.gpu]\n"
	taken := "t.toml:3: worker.devices.gpu.variable: must be the name of a variable that is no other's (not DODOOR_*, LD_*, PATH, HOME, " +
		"TMPDIR and the like), or empty, found "
	count := strings.Count(gpuHosts, "\n") + 2
	for _, c := range []struct{ text, want string }{
		{gpuClasses + gpu + "ids = ['0', '0']", `t.toml:3: worker.devices.gpu.ids[1]: "0" is there already (first in t.toml:3)`},
		{gpuClasses + gpu + "ids = ['', '0']",
			`t.toml:3: worker.devices.gpu.ids[0]: must be 1 to 128 printable characters of ASCII without blanks and commas, found ""`},
		{gpuClasses + gpu + "ids = ['0,1', '2']", `t.toml:3: worker.devices.gpu.ids[0]: must be 1 to 128 printable characters of ASCII ` +
			`without blanks and commas, found "0,1"`},
		{gpuClasses + gpu + "ids = ['0', '1', '2']",
			"t.toml:3: worker.devices.gpu.ids: class two: there are 3 ids for 2 gpu: as many are needed"},
		{gpuClasses + gpu + "ids = ['0', '1']",
			"t.toml:3: worker.devices.gpu.ids: class four: there are 2 ids for 4 gpu: as many are needed"},
		{gpuClasses + gpu + "ids = 2", "t.toml:3: worker.devices.gpu.ids: must be a list of strings, found integer 2"},
		{gpuClasses + gpu + "ids = [0, 1]", "t.toml:3: worker.devices.gpu.ids[0]: must be a string, found integer 0\n" +
			"t.toml:3: worker.devices.gpu.ids[1]: must be a string, found integer 1"},
		{gpuClasses + gpu + "id = ['0']", "t.toml:3: worker.devices.gpu.id: unknown key: did you mean ids?"},
		{gpuClasses + gpu + "variable = 'A=B'", taken + `"A=B"`},
		{gpuClasses + gpu + "variable = 'DODOOR_NODE'", taken + `"DODOOR_NODE"`},
		{gpuClasses + gpu + "variable = 'PATH'", taken + `"PATH"`},
		{gpuClasses + gpu + "variable = 'TMPDIR'", taken + `"TMPDIR"`},
		{gpuClasses + gpu + "variable = 'LC_ALL'", taken + `"LC_ALL"`},
		{gpuClasses + gpu + "variable = 'GCONV_PATH'", taken + `"GCONV_PATH"`},
		{gpuClasses + gpu + "variable = 'LD_PRELOAD'", taken + `"LD_PRELOAD"`},
		{gpuClasses + gpu + "docker = 'a b'", "t.toml:3: worker.devices.gpu.docker: must be a driver of up to 128 letters, digits, dots, " +
			`dashes or underscores, or empty, found "a b"`},
		{gpuClasses + "[worker.devices.fpga]\nvariable = 'CUDA_VISIBLE_DEVICES'",
			"t.toml:2: worker.devices.gpu.variable: CUDA_VISIBLE_DEVICES is that of fpga already"},
		{gpuClasses + "[worker.devices.tpu]", "t.toml:2: worker.devices.tpu: no class or task type has an extra called \"tpu\": there are " +
			"fpga, gpu, licence"},
		{gpuClasses + "[worker.devices.licence]\nids = ['0']",
			"t.toml:3: worker.devices.licence.ids: class two: 1.5 licence is no set of devices: it " +
				"needs a whole number of them, from 1 to 1024"},
		{gpuClasses + "[worker]\nclass = 'four'\n" + gpu + "ids = ['0', '1']",
			"t.toml:5: worker.devices.gpu.ids: class four: there are 2 ids for 4 gpu: " +
				"as many are needed"},
		{gpuClasses + "[worker]\ndevices = 1", "t.toml:3: worker.devices: must be a table of tables, found integer 1"},
		{gpuClasses + "[worker]\ndevices = { gpu = 1 }", "t.toml:3: worker.devices.gpu: must be a table, found integer 1"},
		{on + "ids = ['0', '1']",
			fmt.Sprintf("t.toml:%d: host.b.devices.gpu.ids: class four: there are 2 ids for 4 gpu: as many are needed", count)},
		{gpuHosts + "[host.devices.licence]", fmt.Sprintf(`t.toml:%d: host.b.devices.licence: class "four" has no licence`, count-1)},
		{gpuHosts + "[worker.devices.gpu]\nids = ['0', '1']",
			fmt.Sprintf("t.toml:%d: worker.devices.gpu.ids: class four: there are 2 ids for 4 gpu: as many are needed", count)},
		{gpuHosts + "[[host]]\nname = 'c'\naddress = 'c'\nroles = ['scheduler']\ndevices = { gpu = {} }",
			fmt.Sprintf(`t.toml:%d: host.c.devices.gpu: has no meaning without the role "worker"`, count+3)},
	} {
		wantError(t, c.want)(loadText(c.text))
	}
}

// Extras whose devices tasks would be told of by one variable, or by that of something else, need other names.
func TestNamesOfDevices(t *testing.T) {
	text := `class = [{ name = "a", cores = 2, memory_mb = 4096, extra = { "g-pu" = 1, "g.pu" = 1, node = 1, index = 1.5 } }]`
	_, err := loadText(text)
	wantError(t, `t.toml:1: class.a.extra."g.pu": must have another name: tasks are told of g-pu by DODOOR_G_PU as well`+"\n"+
		"t.toml:1: class.a.extra.node: must have another name: DODOOR_NODE tells tasks something else")(nil, err)
}

// What would split the devices of every class is refused where it is written.
func TestModesThatSplitDevices(t *testing.T) {
	typ := "[[task_type]]\nname = 't'\n[[task_type.mode]]\nname = 'm'\n"
	figures := "cores = 1\nduration = '1s'\n"
	rule := ": class two has devices of it, of which a task gets whole ones, or a part of one"
	for _, c := range []struct{ text, want string }{
		{figures + "extra = { gpu = 1.5 }", "t.toml:8: task_type.t.mode.m.extra.gpu: must be up to 1 or a whole number, found 1.5" + rule},
		{figures + "extra = { gpu = 0.5 }", ""},
		{figures + "extra = { gpu = 2 }", ""},
		{figures + "extra = { licence = 1.2 }", ""},
		{"[[task_type.mode.profile]]\nclass = 'two'\n" + figures + "extra = { gpu = 1.5 }",
			"t.toml:10: task_type.t.mode.m.profile.two.extra.gpu: must be up to 1 or a whole number, found 1.5" + rule},
		{"[[task_type.mode.profile]]\nclass = 'elsewhere'\n" + figures + "extra = { gpu = 1.5 }", ""},
	} {
		_, err := loadText(gpuClasses + typ + c.text)
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if c.want != "" {
			wantError(t, c.want)(nil, err)
		}
	}
	if cluster.SplitsDevices(cluster.FirstExtra, 1500, 1500) {
		t.Error("a plain quantity is split")
	}
}

// Ids that workers of one machine would share are worth a word, since the file may be of workers on many.
func TestWarningOfSharedDevices(t *testing.T) {
	const class = "class = [{ name = 'a', cores = 1, memory_mb = 1, extra = { gpu = 1 }, count = %d }]"
	const want = "worker.devices.gpu.ids is of each of 2 workers: dodoor local does not start them, unless tasks are emulated"
	for text, warned := range map[string]bool{
		fmt.Sprintf(class, 2): true, fmt.Sprintf(class, 1): false,
		fmt.Sprintf(class, 2) + "\n[worker]\nexecutor = 'sleep'": false,
	} {
		text += "\n[worker.devices.gpu]\nids = ['4']"
		c, err := loadText(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Warnings(); slices.Contains(got, want) != warned {
			t.Errorf("%s: %q", text, got)
		}
	}
}
