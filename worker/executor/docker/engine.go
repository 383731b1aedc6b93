package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"dodoor/worker/executor"
)

// engine is what the executor needs of a container engine, in the words of the Engine API. Containers
// go by the name that they were created with.
type engine interface {
	ping(ctx context.Context) error
	image(ctx context.Context, name string) error // a not-found error where it is absent
	create(ctx context.Context, name string, c *container.Config, h *container.HostConfig) (id string, err error)
	// wait returns once the engine has noted the request. The channel then gets one value, at the end
	// of ctx at the latest.
	wait(ctx context.Context, name string, until container.WaitCondition) (<-chan exit, error)
	// attach hands over what a container prints from its start on, and gives it its input. It returns once the engine has
	// noted the request. The channel then gets one value, once all has arrived, or at the end of ctx.
	attach(ctx context.Context, name string, in []byte, out, errs io.Writer) (<-chan error, error)
	start(ctx context.Context, name string) error
	stats(ctx context.Context, name string) (*container.StatsResponse, error)
	inspect(ctx context.Context, name string) (*container.State, error)
	logs(ctx context.Context, name string, w io.Writer) error
	kill(ctx context.Context, name string) error
	remove(ctx context.Context, name string) error // by force, with its volumes
	list(ctx context.Context, worker string) ([]owned, error)
	close() error
}

// exit is the end of a container, or of the connection that waited for it.
type exit struct {
	code int
	err  error
}

// owned is a container of this worker.
type owned struct{ id, name, owner string }

// dockerEngine is an engine behind Docker's client.
type dockerEngine struct{ *client.Client }

// oldestAPI is that of Engine 20.10: the first with samples that do not take a second each.
const oldestAPI = "1.41"

// dial makes a client; nothing is asked of the engine yet.
func dial(host string) (dockerEngine, error) {
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if host != "" {
		options = append(options, client.WithHost(host))
	}
	return dialWith(options...)
}

// CheckHost refuses what is no address of an engine, without asking it anything.
func CheckHost(host string) error {
	e, err := dialWith(client.WithHost(host))
	if err != nil {
		return err
	}
	return e.close()
}

func dialWith(options ...client.Opt) (dockerEngine, error) {
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		return dockerEngine{}, err
	}
	scheme, _, _ := strings.Cut(c.DaemonHost(), "://")
	if !slices.Contains([]string{"unix", "tcp", "http", "https"}, scheme) {
		return dockerEngine{}, fmt.Errorf("an engine is reached by unix, tcp, http or https, not by %s", c.DaemonHost())
	}
	return dockerEngine{c}, nil
}

func (e dockerEngine) ping(ctx context.Context) error {
	answer, err := e.Ping(ctx)
	switch {
	case err != nil:
		return err
	case answer.OSType != "linux":
		return fmt.Errorf("it runs %s containers, not those of Linux: %w", answer.OSType, errdefs.ErrFailedPrecondition)
	case versions.LessThan(answer.APIVersion, oldestAPI):
		return fmt.Errorf("it speaks API %s, and %s (Engine 20.10) is the oldest that will do: %w", answer.APIVersion, oldestAPI,
			errdefs.ErrFailedPrecondition)
	}
	return nil
}

func (e dockerEngine) image(ctx context.Context, name string) error {
	_, err := e.ImageInspect(ctx, name)
	return err
}

func (e dockerEngine) create(ctx context.Context, name string, c *container.Config, h *container.HostConfig) (string, error) {
	answer, err := e.ContainerCreate(ctx, c, h, nil, nil, name)
	return answer.ID, err
}

func (e dockerEngine) wait(ctx context.Context, name string, until container.WaitCondition) (<-chan exit, error) {
	answers, failures := e.ContainerWait(ctx, name, until)
	select {
	case err := <-failures:
		return nil, err
	default:
	}
	ended := make(chan exit, 1)
	go func() { // whoever does not take the client's answer leaves a goroutine behind
		select {
		case answer := <-answers:
			ended <- exit{code: int(answer.StatusCode)}
		case err := <-failures:
			ended <- exit{err: err}
		}
	}()
	return ended, nil
}

func (e dockerEngine) start(ctx context.Context, name string) error {
	return e.ContainerStart(ctx, name, container.StartOptions{})
}

func (e dockerEngine) attach(ctx context.Context, name string, in []byte, out, errs io.Writer) (<-chan error, error) {
	stream, err := e.ContainerAttach(ctx, name, container.AttachOptions{Stream: true, Stdin: len(in) > 0, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, stream.Close)
	go func() { // ends with the connection; a program need not read its input
		if len(in) > 0 {
			_, _ = stream.Conn.Write(in)
			_ = stream.CloseWrite()
		}
	}()
	done := make(chan error, 1)
	go func() {
		_, err := stdcopy.StdCopy(out, errs, stream.Reader)
		stop()
		stream.Close()
		done <- err
	}()
	return done, nil
}

func (e dockerEngine) stats(ctx context.Context, name string) (*container.StatsResponse, error) {
	answer, err := e.ContainerStatsOneShot(ctx, name)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	sample := &container.StatsResponse{}
	return sample, json.NewDecoder(answer.Body).Decode(sample)
}

func (e dockerEngine) inspect(ctx context.Context, name string) (*container.State, error) {
	answer, err := e.ContainerInspect(ctx, name)
	if err != nil {
		return nil, err
	}
	if answer.ContainerJSONBase == nil || answer.State == nil {
		return nil, errors.New("the engine says nothing about the container's state")
	}
	return answer.State, nil
}

// logs writes the end of what a container printed. executor.TailBytes have no more lines than that.
func (e dockerEngine) logs(ctx context.Context, name string, w io.Writer) error {
	stream, err := e.ContainerLogs(ctx, name, container.LogsOptions{ShowStdout: true, ShowStderr: true,
		Tail: strconv.Itoa(executor.TailBytes)})
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = stdcopy.StdCopy(w, w, stream)
	return err
}

func (e dockerEngine) kill(ctx context.Context, name string) error {
	return e.ContainerKill(ctx, name, "KILL")
}

func (e dockerEngine) remove(ctx context.Context, name string) error {
	return e.ContainerRemove(ctx, name, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// list returns the containers of a worker, running or not.
func (e dockerEngine) list(ctx context.Context, worker string) ([]owned, error) {
	answer, err := e.ContainerList(ctx, container.ListOptions{All: true,
		Filters: filters.NewArgs(filters.Arg("label", workerLabel+"="+worker))})
	if err != nil {
		return nil, err
	}
	var all []owned
	for _, c := range answer {
		all = append(all, owned{c.ID, strings.TrimPrefix(strings.Join(c.Names, ""), "/"), c.Labels[ownerLabel]})
	}
	return all, nil
}

func (e dockerEngine) close() error { return e.Close() }

// answers are the kinds of errors that an engine has answered a request with.
var answers = []func(error) bool{
	errdefs.IsNotFound, errdefs.IsInvalidArgument, errdefs.IsConflict, errdefs.IsInternal, errdefs.IsPermissionDenied, errdefs.IsUnauthorized,
	errdefs.IsNotImplemented, errdefs.IsFailedPrecondition, errdefs.IsResourceExhausted,
}

// unreachable reports whether an error is about the way to the engine, or an engine that takes no
// requests now, rather than about a request.
func unreachable(err error) bool {
	return err != nil && !slices.ContainsFunc(answers, func(is func(error) bool) bool { return is(err) })
}
