package campaign

import "slices"

// ablation switches the parts of dodoor+ off, one at a time.
func ablation(o Options) Study {
	conditions := []setting{
		{name: "Even load, b = 100.", cell: func(policy string) Cell { return functions(o, policy, 100, studyTasks) }},
		{name: "All load through one scheduler, b = 100.", cell: func(policy string) Cell {
			return functions(o, policy, 100, studyTasks).with(overrides("sim.skew", 1)...)
		}},
		{name: "Even load, b = 1600.", cell: func(policy string) Cell {
			return functions(o, policy, 100, studyTasks).with(overrides("datastore.b", 1600)...)
		}},
	}
	variants := []struct{ name, policy, set string }{
		{"dodoor+", "dodoor+", ""},
		{"score = ldn", "dodoor+", "score=ldn"},
		{"view = snapshot", "dodoor+", "view=snapshot"},
		{"home = false", "dodoor+", "home=false"},
		{"foreign = 0", "dodoor+", "foreign=0"},
		{"foreign = 2", "dodoor+", "foreign=2"},
		{"foreign = 8", "dodoor+", "foreign=8"},
		{"foreign = 16", "dodoor+", "foreign=16"},
		{"gain = 0", "dodoor+", "gain=0"},
		{"adaptive = false", "dodoor+", "adaptive=false"},
		{"weighted = false", "dodoor+", "weighted=false"},
		{"ties = false", "dodoor+", "ties=false"},
		{"*policy* `ect`", "ect", ""},
		{"*policy* `partition`", "partition", ""},
		{"*policy* `dodoor`", "dodoor", ""},
		{"*policy* `oracle`", "oracle", ""},
	}
	variant := func(condition setting, policy, set string) Cell {
		c := condition.cell(policy)
		if set != "" {
			c = c.with("dodoor_plus." + set)
		}
		return c
	}
	var parts []Part
	for _, condition := range conditions {
		table := &Table{Labels: []string{"switched"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(control),
			changeOf("Δ mean vs dodoor+ (%)", mean), changeOf("Δ P95 vs dodoor+ (%)", p95))}
		for _, v := range variants {
			full := variant(condition, "dodoor+", "")
			table.Rows = append(table.Rows, row(variant(condition, v.policy, v.set), &full, v.name))
		}
		parts = append(parts, Part{Text: "**" + condition.name + "**", Table: table})
	}
	parts[0].Text = `
Every part of dodoor+ is a switch ([policies](policies.md#dodoor-1)); the defaults are score = ect, view = fresh, home, foreign = 4,
gain = 0.1, adaptive, weighted, ties. What a part is for shows where it is needed: home nodes and fresh reports where views are old, foreign
nodes and their adaptive number where load is uneven.

` + parts[0].Text
	return Study{
		Name: "ablation", Title: "The parts of dodoor+", Question: "Which part of dodoor+ does what? (FunctionBench, QPS 100)", Parts: parts,
		Rules: []Rule{{"Load through one scheduler, without foreign nodes.",
			"With all load at one of five schedulers, `partition` has a mean makespan of %s s, dodoor+ of %s s: home nodes need foreign ones " +
				"beside them.",
			[]Figure{valueOf(variant(conditions[1], "partition", ""), mean), valueOf(variant(conditions[1], "dodoor+", ""), mean)}}},
	}
}
