package conf

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/scheduler"
	"dodoor/sim"
)

// settingPaths lists the dotted paths of every key below v; lists of tables count as tables.
func settingPaths(v reflect.Value, path string) []string {
	var paths []string
	for _, s := range slotsOf(v) {
		inner := s.value
		if inner.Kind() == reflect.Slice {
			inner = reflect.New(inner.Type().Elem()).Elem()
		}
		at := join(path, s.key)
		if inner.Kind() == reflect.Map && inner.Type().Elem().Kind() == reflect.Pointer {
			at, inner = join(at, "NAME"), reflect.New(inner.Type().Elem().Elem())
		}
		if inner.Kind() == reflect.Struct || inner.Kind() == reflect.Pointer {
			paths = append(paths, settingPaths(inner, at)...)
		} else {
			paths = append(paths, at)
		}
	}
	return paths
}

func eachSetting(v reflect.Value, path string, visit func(string, reflect.Value)) {
	for _, s := range slotsOf(v) {
		switch at := join(path, s.key); {
		case s.value.Kind() == reflect.Struct || s.value.Kind() == reflect.Pointer:
			eachSetting(s.value, at, visit)
		case s.value.Kind() == reflect.Slice && s.value.Len() > 0 && s.value.Index(0).Kind() == reflect.Struct:
			eachSetting(s.value.Index(0), index(at, 0), visit)
		case s.value.Kind() == reflect.Map && s.value.Type().Elem().Kind() == reflect.Pointer:
			for _, name := range s.value.MapKeys() {
				eachSetting(s.value.MapIndex(name), join(at, name.String()), visit)
			}
		default:
			visit(at, s.value)
		}
	}
}

// scoreOf returns the knobs of the policy dodoor.
func scoreOf(c *Config) *scheduler.ScoreKnobs {
	return c.Policies.Find("score").(*scheduler.ScoreKnobs)
}

// No number, duration, name or address is taken unchecked: an absurd one is refused, by its key.
func TestEverySettingIsBounded(t *testing.T) {
	shape := Shape{Cores: 1, Duration: Duration(time.Millisecond)}
	c := Default()
	c.Classes = []Class{{Name: "a", Cores: 1, MemoryMB: 1, Count: 1}}
	c.Classes[0].Extra = map[string]float64{"gpu": 1, "fpga": 1}
	c.Hosts = []Host{{Name: "h", Address: "h", Folder: "d", Roles: slices.Clone(Roles), Schedulers: 1, Class: "a"}}
	c.Worker.Devices, c.Hosts[0].Devices = map[string]*Devices{"fpga": {}}, map[string]*Devices{"gpu": {}}
	c.Types = []TaskType{{Name: "t", Executor: sleepExecutor, Modes: []Mode{{Name: "m", Shape: shape, Profiles: []Profile{{"a", shape}}}}}}
	c.Sim.Faults = []Fault{{What: sim.FaultWorker, Name: "a-1", Until: Duration(time.Millisecond)}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	checked := 0
	eachSetting(reflect.ValueOf(c).Elem(), "", func(path string, v reflect.Value) {
		var absurd []any
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			absurd = []any{int64(-1), int64(math.MaxInt64)}
		case reflect.Float64:
			absurd = []any{-1.0, math.NaN(), math.Inf(1)}
		case reflect.Uint64:
			absurd = []any{uint64(math.MaxUint64)}
		case reflect.Map:
			absurd = []any{map[string]float64{"gpu": -1}, map[string]float64{"gpu": math.NaN()}, map[string]float64{"": 1}}
		case reflect.String:
			if path != "generator.trace" && path != "generator.out" {
				absurd = []any{"\x00"}
			} else {
				absurd = []any{""}
			}
		case reflect.Slice:
			absurd = []any{[]string{"\x00"}}
		}
		for _, value := range absurd {
			before := reflect.New(v.Type()).Elem()
			before.Set(v)
			v.Set(reflect.ValueOf(value).Convert(v.Type()))
			key := relabel(path, c.labels())
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("%s = %v: got %v", path, value, err)
			}
			v.Set(before)
			checked++
		}
	})
	if checked < 100 {
		t.Errorf("only %d values were tried", checked)
	}
}

func TestWarnings(t *testing.T) {
	c, err := Load("paper", []string{"scheduler.b_delta=41", "class=[{name='m510', cores=8, memory_mb=65536}]"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"scheduler.b_delta is 41, above 2b/S = 40 (b = 100, S = 5): a scheduler may not contribute before the next push",
		`task types have a profile for class "xl170", which this cluster does not have`,
		`task types have a profile for class "c6525-25g", which this cluster does not have`,
		`task types have a profile for class "c6620", which this cluster does not have`,
	}
	if got := c.Warnings(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

// What commands take for themselves is no task type's, and their estimate is one that a task can have.
func TestCommandsHaveTheirOwnType(t *testing.T) {
	for text, want := range map[string]string{
		laptop + "[[task_type]]\nname = \"command\"": `t.toml:3: task_type.command.name: must not be "command": tasks that bring their own ` +
			`command have that type`,
		laptop + "[scheduler]\ndefault_duration = \"1.0005s\"": "t.toml:3: scheduler.default_duration: must be a whole number of milliseconds, " +
			"found 1.0005s",
	} {
		wantError(t, want)(loadText(text))
	}
}
