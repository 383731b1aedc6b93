package manual

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// example is a command of a page and what the page shows that it prints.
type example struct {
	line    int
	command string
	want    []string
}

// examples are the commands of a page's console blocks, in order: a line after "$ ", and those after "> ". What follows
// is what they print. A line of "..." stands for any lines, and "..." within a line for any text.
func examples(page string) (all []example) {
	inside := false
	for i, line := range strings.Split(page, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case isCommand:
			all = append(all, example{line: i + 1, command: command})
		case len(all) == 0:
		case isMore && len(all[len(all)-1].want) == 0:
			all[len(all)-1].command += "\n" + more
		default:
			all[len(all)-1].want = append(all[len(all)-1].want, line)
		}
	}
	return all
}

// shows reports whether what a page shows stands for what was printed.
func shows(want []string, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range want {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		for i, part := range strings.Split(line, "...") {
			if i > 0 {
				pattern.WriteString(`.*`)
			}
			pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(part, " ")))
		}
		pattern.WriteString(` *\n`)
	}
	pattern.WriteString(`\z`)
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	return regexp.MustCompile(pattern.String()).MatchString(printed)
}

func TestPagesAreReadAsPeopleReadThem(t *testing.T) {
	page := "```console\n$ a\nx ... z\n...\n$ b \\\n> c\n```\n```\n$ no\n```\n"
	all := examples(page)
	if len(all) != 2 || all[0].line != 2 || all[0].command != "a" || all[1].command != "b \\\nc" || len(all[1].want) != 0 {
		t.Fatalf("%+v", all)
	}
	for printed, want := range map[string]bool{"x y z\n": true, "x  z\n1\n2\n": true, "x y z\n1\n": true, "x z": true, "xz": false, "": false,
		"1\nx y z\n": false} {
		if got := shows(all[0].want, printed); got != want {
			t.Errorf("%q: %v", printed, got)
		}
	}
	if shows(nil, "something\n") || !shows(nil, "") {
		t.Error("a command that shows nothing prints nothing")
	}
}

// person is somebody at a terminal, with a home, a folder to work in and the program in the path.
type person struct {
	home, folder string
	env          []string
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{home: t.TempDir(), folder: t.TempDir()}
	build := exec.Command("go", "build", "-o", filepath.Join(p.home, "bin", "dodoor"), "dodoor/cmd/dodoor")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	p.env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"),
		"PATH="+filepath.Join(p.home, "bin")+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "DODOOR_CLUSTER=")
	return p
}

// patience is how long one command of a page may take.
const patience = 5 * time.Minute

// types runs a command line, and returns what the terminal shows.
func (p *person) types(ctx context.Context, command string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	var terminal bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.folder, p.env, &terminal, &terminal, time.Second
	if err := cmd.Run(); cmd.ProcessState == nil || !cmd.ProcessState.Exited() {
		fmt.Fprintf(&terminal, "(did not end: %v)\n", err)
	}
	return terminal.String()
}

// settling is how long services take to find each other, at most.
const settling = time.Minute

// follows types every command of a page. One that ends in "&" is a service, and what is asked next is asked until services have settled.
func (p *person) follows(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	all := examples(string(text))
	if len(all) == 0 {
		t.Fatalf("docs/%s has no command", page)
	}
	var settled time.Time
	for _, e := range all {
		if service, ok := strings.CutSuffix(e.command, " &"); ok {
			p.serves(t, strings.Fields(service)[1:]...)
			settled = time.Now().Add(settling)
			continue
		}
		printed := p.types(t.Context(), e.command)
		for !shows(e.want, printed) && time.Now().Before(settled) {
			printed = p.types(t.Context(), e.command)
		}
		settled = time.Time{}
		if !shows(e.want, printed) {
			t.Errorf("docs/%s:%d: $ %s\nprints\n%s\nand the page shows\n%s", page, e.line, e.command, printed, strings.Join(e.want, "\n"))
		}
	}
}
