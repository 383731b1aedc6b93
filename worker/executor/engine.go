package executor

import (
	_ "github.com/containerd/errdefs"
	_ "github.com/docker/docker/api/types/container"
	_ "github.com/docker/docker/api/types/filters"
	_ "github.com/docker/docker/api/types/image"
	_ "github.com/docker/docker/api/types/network"
	_ "github.com/docker/docker/client"
	_ "github.com/docker/docker/pkg/stdcopy"
)
