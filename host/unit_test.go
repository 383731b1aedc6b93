package host

import (
	"strings"
	"testing"
	"time"
)

func TestUnitFiles(t *testing.T) {
	u := unit{name: "dodoor-lab-a.service", service: "a", folder: "/srv/lab", argv: []string{"/srv/lab/bin/dodoor", "host", "supervise"},
		patience: 70 * time.Second, system: true}
	want := `# Written by dodoor host up; dodoor host down removes it.

[Unit]
Description=Dodoor's a
StartLimitIntervalSec=0
After=network.target

[Service]
Type=exec
WorkingDirectory=/srv/lab
ExecStart=/srv/lab/bin/dodoor host supervise
Restart=on-failure
RestartPreventExitStatus=2
RestartSec=1s
RestartSteps=5
RestartMaxDelaySec=30s
KillMode=mixed
TimeoutStopSec=1m10s
Delegate=yes
StandardOutput=append:/srv/lab/log/a.log
StandardError=append:/srv/lab/log/a.log

[Install]
WantedBy=multi-user.target
`
	if got := string(u.text(254)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// No target of the machine's is known to a user's systemd, and to an older one no pauses that grow.
	u.system = false
	for line, instead := range map[string]string{"After=network.target\n": "", "multi-user.target": "default.target",
		"RestartSteps=5\nRestartMaxDelaySec=30s\n": ""} {
		want = strings.Replace(want, line, instead, 1)
	}
	if got := string(u.text(253)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Nothing is escaped: what would have to be is no unit.
func TestNoEscapes(t *testing.T) {
	for _, c := range []struct{ service, folder, configuration, want string }{
		{"a", "/srv/lab", "/srv/lab/cluster.toml", ""},
		{"datastore-a.b_C-2", "/home/o@x+y/lab", "/srv/lab/cluster.toml", ""},
		{strings.Repeat("a", 255), "/srv/lab", "/srv/lab/cluster.toml", "shorten cluster.name or host.name"},
		{"a@b", "/srv/lab", "/srv/lab/cluster.toml", "is no name for a unit"},
		{`a\x2d`, "/srv/lab", "/srv/lab/cluster.toml", "is no name for a unit"},
		{"a/b", "/srv/lab", "/srv/lab/cluster.toml", "is no name for a unit"},
		{"a", "/srv/my lab", "/srv/lab/cluster.toml", `"/srv/my lab" has characters that a unit would have to escape: choose another folder`},
		{"a", "/srv/%h", "/srv/lab/cluster.toml", `"/srv/%h" has characters`},
		{"a", "/srv/lab", "/srv/$lab", `"/srv/$lab" has characters`},
		{"a", "/srv/lab", "/srv/lab/\nExecStart=/bin/sh", `"/srv/lab/\nExecStart=/bin/sh" has characters`},
	} {
		u := unit{name: unitName("lab", c.service), service: c.service, folder: Folder(c.folder), argv: []string{"x", c.configuration}}
		err := u.check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
