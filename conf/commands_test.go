package conf

import (
	"slices"
	"strings"
	"testing"
)

// What commands are allowed is read strictly: a list that means something else than it says would be dangerous.
func TestWhatCommandsAreAllowed(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{`process.allow=["/usr/bin/gzip", "/opt/tools/", "*", "/"]`, ""},
		{`process.allow=["gzip"]`, `process.allow[0]: must be the absolute path of a program, found "gzip"`},
		{`process.allow=["/opt/../bin/"]`, `process.allow[0]: must be the absolute path of a program, found "/opt/../bin/"`},
		{`process.allow=["/a", "/a"]`, "process.allow[1]"},
		{`process.workdirs=["/data", "/x/"]`, ""},
		{`process.workdirs=["*"]`, ""},
		{`process.workdirs=["data"]`, `process.workdirs[0]: must be the absolute path of a folder, or "*" for any, found "data"`},
		{`process.workdirs=["/a/../b"]`, "process.workdirs[0]"},
		{`docker.images=["*", "lab/tool:3"]`, ""},
		{`docker.images=["r.io:5/a@sha256:0"]`, ""},
		{`docker.images=[""]`, `docker.images[0]: must name an image, or be "*" for any, found ""`},
		{`docker.images=["a b"]`, "docker.images[0]"},
		{`worker.spool="/var/spool/dodoor"`, ""},
		{`worker.spool="spool"`, ""},
		{`worker.spool="spool/../x"`, `must be the path of a folder, without detours and spaces around it, or empty, found "spool/../x"`},
		{`worker.spool_task_mb=0`, "worker.spool_task_mb"},
		{`worker.spool_mb=0`, "worker.spool_mb"},
	} {
		_, err := Load("single", []string{c.set})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.set, err, c.want)
		}
	}
}

// Nothing is allowed unless somebody says so.
func TestNoCommandsByDefault(t *testing.T) {
	for _, profile := range []string{"single", "local", "paper"} {
		c, err := Load(profile, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Process.Allow)+len(c.Process.Workdirs)+len(c.Docker.Images) > 0 {
			t.Errorf("%s allows %v, %v, %v", profile, c.Process.Allow, c.Process.Workdirs, c.Docker.Images)
		}
	}
}

// The warning about programs that are not listed knows folders.
func TestWarningsOfFolders(t *testing.T) {
	for allow, warned := range map[string]bool{
		`"/opt/tools/x"`: false, `"/opt/tools/"`: false, `"*"`: false, `"/opt/tool"`: true, `"/opt"`: true,
	} {
		c, err := Load("single", []string{`worker.executor=""`, "process.allow=[" + allow + "]",
			`task_type=[{name="t", executor="process", argv=["/opt/tools/x"]}]`})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(c.Warnings(), func(w string) bool { return strings.Contains(w, "process.allow does not list") })
		if found != warned {
			t.Errorf("%s: %v", allow, c.Warnings())
		}
	}
}

// What is for one user alone names a user whom a certificate can name.
func TestEntriesOfOneUser(t *testing.T) {
	for set, want := range map[string]string{
		`process.allow=["alice=/bin/x","bob=*","c.d-e_f=/opt/x/"]`: "",
		`docker.images=["alice=reg/sim:7","bob=*"]`:                "",
		`process.user="submitter"`:                                 "",
		`process.allow=["=/bin/x"]`:                                "process.allow[0]: must have the name of a user before the =",
		`process.allow=["a b=/bin/x"]`:                             "process.allow[0]: must have the name of a user before the =",
		`process.allow=["alice=bin/x"]`:                            "process.allow[0]: must be the absolute path of a program",
		`process.allow=["alice=/a","alice=/a"]`:                    "process.allow[1]",
		`docker.images=["alice="]`:                                 "docker.images[0]: must name an image",
	} {
		_, err := Load("local", []string{set})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
