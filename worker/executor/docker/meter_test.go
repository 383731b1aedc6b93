package docker

import (
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestSamples(t *testing.T) {
	m := &meter{}
	one := &container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 100, Stats: map[string]uint64{"inactive_file": 30}}}
	one.CPUStats.CPUUsage.TotalUsage = 5
	m.take(one)
	if m.cpu != 5 || m.peak != 70 {
		t.Errorf("version 2: %v, %d bytes", m.cpu, m.peak)
	}
	m.take(&container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 10, MaxUsage: 200}})
	if m.cpu != 5 || m.peak != 200 {
		t.Errorf("version 1: %v, %d bytes", m.cpu, m.peak)
	}
	m.take(&container.StatsResponse{})
	if m.cpu != 5 || m.peak != 200 {
		t.Errorf("after the end: %v, %d bytes", m.cpu, m.peak)
	}
	idle := &meter{}
	idle.take(&container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 10, Stats: map[string]uint64{"inactive_file": 11}}})
	if idle.peak != 0 {
		t.Errorf("cache alone: %d bytes", idle.peak)
	}
}
