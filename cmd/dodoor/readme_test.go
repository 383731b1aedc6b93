package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"dodoor/conf"
	"dodoor/generator"
)

// Every trace that the README replays exists, and its cluster runs every task of it.
func TestReadmeTraces(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`-conf (\S+\.toml) -trace (\S+\.csv)`).FindAllStringSubmatch(string(readme), -1)
	if len(lines) == 0 {
		t.Fatal("the README replays no trace file")
	}
	for _, l := range lines {
		c, err := conf.Load("../../"+l[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		dims, err := c.Dimensions()
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open("../../" + l[2])
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		requests, err := generator.ReadTrace(file, dims, 0)
		if err != nil {
			t.Fatalf("%s: %v", l[2], err)
		}
		for _, q := range requests {
			if !slices.ContainsFunc(c.Types, func(known conf.TaskType) bool { return known.Name == q.Type }) {
				t.Errorf("%s: task %s is of type %q, which %s does not know", l[2], q.ID, q.Type, l[1])
			}
		}
	}
}
