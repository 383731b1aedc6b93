package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/image"

	"dodoor/internal/needs"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// The images of the tests: testdata/task is their only program. The first one runs it, the other runs
// whatever it is told to. Other runs of the tests may use the same engine.
var (
	testRun   = cmp.Or(os.Getenv(crashingRun), strconv.Itoa(os.Getpid()))
	taskImage = "dodoor/executor-test:" + testRun
	bareImage = taskImage + "-bare"
)

// needEngine skips a test where no engine answers, but not where everything has to be there. It returns
// an executor for a worker of the test's own.
func needEngine(t testing.TB, change ...func(*Config)) *Executor {
	t.Helper()
	cfg := Config{User: "65534:65534", PidsLimit: 64, TmpfsMB: 16, Worker: t.Name() + "-" + testRun}
	for _, c := range change {
		c(&cfg)
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(); err != nil {
		d.Close()
		needs.Real(t, err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if left := containers(t, cfg.Worker); len(left) > 0 {
			t.Errorf("%d containers are left: %v", len(left), left)
		}
	})
	if err := buildImages(); err != nil {
		t.Fatal(err)
	}
	return d
}

var imagesBuilt bool

// buildImages makes the images, once. No registry is asked.
var buildImages = sync.OnceValue(func() error {
	binary, err := executortest.Program()
	if err != nil {
		return err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	w.WriteHeader(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777})
	w.WriteHeader(&tar.Header{Name: "plain", Mode: 0o644})
	w.WriteHeader(&tar.Header{Name: "task", Mode: 0o755, Size: int64(len(binary))})
	w.Write(binary)
	if err := w.Close(); err != nil {
		return err
	}
	e, err := dial("")
	if err != nil {
		return err
	}
	defer e.Close()
	imagesBuilt = true
	for name, changes := range map[string][]string{taskImage: {`ENTRYPOINT ["/task"]`}, bareImage: nil} {
		source := image.ImportSource{Source: bytes.NewReader(files.Bytes()), SourceName: "-"}
		answer, err := e.ImageImport(context.Background(), source, name, image.ImportOptions{Changes: changes})
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer)
		answer.Close()
		if err != nil {
			return err
		}
	}
	return nil
})

// removeImages undoes buildImages.
func removeImages() {
	if !imagesBuilt {
		return
	}
	e, err := dial("")
	if err != nil {
		return
	}
	defer e.Close()
	for _, name := range []string{taskImage, bareImage} {
		e.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true})
	}
}

// containers lists what the engine has of a worker.
func containers(t testing.TB, worker string) []owned {
	t.Helper()
	e, err := dial("")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	all, err := e.list(context.Background(), worker)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// contained is a task that runs steps of testdata/task.
func contained(cores float64, memory int64, steps ...string) worker.Start {
	s := executortest.Start(cores, memory, 1000)
	s.Type, s.Mode, s.Executor = "boxed", "any", "docker"
	s.Image, s.Argv = taskImage, steps
	return s
}
