package conf

import (
	"strings"
	"testing"
)

// Plaintext is for this machine alone, unless somebody says otherwise, and with certificates any address will do.
func TestWhoIsReachedInPlaintext(t *testing.T) {
	for listen, own := range map[string]bool{"127.0.0.1:1": true, "127.9.9.9:0": true, "[::1]:20503": true, "localhost:1": true,
		"0.0.0.0:1": false, ":20503": false, "[::]:1": false, "10.0.0.1:1": false, "node-1:1": false, "localhost.example:1": false, "": false,
		"127.0.0.1": false} {
		if Loopback(listen) != own {
			t.Errorf("%q: on its own machine alone %t, want %t", listen, !own, own)
		}
		for s, allowed := range map[Security]bool{{}: own, {User: "me"}: own, {Insecure: true}: true, {Folder: "certs"}: true} {
			err := s.Permits("worker.listen", listen)
			if (err == nil) != allowed {
				t.Errorf("%+v, %q: %v", s, listen, err)
			}
			for _, part := range []string{"worker.listen", listen, "dodoor certs", "security.folder", "security.insecure = true"} {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %s", err, part)
				}
			}
		}
	}
}

func TestBundles(t *testing.T) {
	c, err := loadText(laptop + "[security]\nfolder = \"certs\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Security; s.Bundle("worker-1") != "certs/worker-1" || s.Domain != "dodoor" || s.User != "operator" || s.Insecure {
		t.Errorf("%+v", s)
	}
	if s := Default().Security; s.Bundle("worker-1") != "" {
		t.Error("there is a bundle without a folder")
	}
}

// Bundles are kept by name, and names go into certificates.
func TestNamesOfBundles(t *testing.T) {
	const secured = "[security]\nfolder = \"certs\"\n"
	host := func(name, roles string) string {
		return "[[host]]\nname = \"" + name + "\"\naddress = \"10.0.0.1\"\nroles = [" + roles + "]\nclass = \"laptop\"\n"
	}
	second := strings.Replace(host("scheduler-a", `"worker"`), "10.0.0.1", "10.0.0.2", 1)
	all := host("a", `"datastore", "scheduler", "worker"`)
	for text, want := range map[string]string{
		secured + all: "",
		all + second:  "",
		secured + all + second: `the worker "scheduler-a" is called as the scheduler is, and security.folder keeps bundles by name: ` +
			"call the host something else",
		secured + host("operator", `"datastore", "scheduler", "worker"`):                  `the worker "operator" is called as security.user is`,
		secured + host("_"+strings.Repeat("x", 64), `"datastore", "scheduler", "worker"`): "has 75 bytes: at most 64 are allowed: call the host something else",
		"[security]\ndomain = \"a/b\"\n":                                                  `security.domain: the domain "a/b" has the character '/'`,
		"[security]\nuser = \"\"\n":                                                       `security.user: the name "" of a operator is empty`,
		"[security]\nfolder = \"a/../b\"":                                                 "security.folder: must be the path of a folder",
	} {
		_, err := loadText(laptop + text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

// Who may use a cluster's services is no concern of a service that runs; where its own certificate is, is.
func TestSecurityOfADigest(t *testing.T) {
	digest := func(more string) string {
		c, err := loadText(lab + more)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Service(RoleWorker, "b")
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.DigestOf(s)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if digest("") != digest("[security]\nuser = \"me\"\n") || digest("") == digest("[security]\nfolder = \"certs\"\n") {
		t.Error("a digest depends on the wrong keys")
	}
}
