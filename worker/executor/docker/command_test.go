package docker

import (
	"context"
	"fmt"
	"io"
)

func (f *fakeEngine) attach(ctx context.Context, _ string, in []byte, out, errs io.Writer) (<-chan error, error) {
	if err := f.step(ctx, "attach"); err != nil {
		return nil, err
	}
	fmt.Fprint(out, f.prints)
	errs.Write(in)
	done := make(chan error, 1)
	done <- f.lostOutput
	return done, nil
}
