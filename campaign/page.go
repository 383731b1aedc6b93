package campaign

import (
	"fmt"
	"strings"
	"time"
)

// About is what the page says of its own making.
type About struct {
	Command string
	Machine string
	Took    time.Duration // 0: nobody measured it
	Busy    time.Duration // of the processor
}

// Page writes the page in Markdown.
func (p *Plan) Page(r *Results, about About) []byte {
	var b strings.Builder
	paragraph(&b, "# Reproduction of the paper, and beyond")
	judged := p.judged(r)
	summary(&b, judged)
	p.opening(&b, about)
	claims(&b, judged)
	for i := range p.Studies {
		p.Studies[i].write(&b, r)
	}
	p.rules(&b, r)
	return []byte(b.String())
}

func (p *Plan) opening(b *strings.Builder, about About) {
	paragraph(b, `Every experiment of the paper (Sec. 6), and what it leaves open, in the simulator: production policy, queue and accounting
code in virtual time. Makespan is from submission to known completion. Every setting is run with several seeds; all policies see the
same arrivals, tasks and random draws. A figure is the mean over seeds ± half its 95 % interval (Student's *t*); a change is the mean
of paired runs with its bootstrap interval, and a tilde marks one whose interval holds zero. Unless a study says otherwise: 100
workers of the paper's four classes, 5 schedulers with 8 handlers each, b = 100, b_Δ = 8, α = 0.5, Poisson arrivals, 100 tasks of
warm-up, network delay 0.1 ms, 0.2 ms of a handler's time per message, exact estimates, no interference.`)
	paragraph(b, "This page is generated; edit package `campaign` instead. Command, machine and duration, and how long the simulator took "+
		"in the\n"+
		"study of scale, are those of this run; all else is the same on every machine.")
	fmt.Fprintf(b, "* Command: `%s`\n* Machine: %s\n", about.Command, about.Machine)
	if about.Took > 0 {
		fmt.Fprintf(b, "* Duration: %v for %d runs, with %v of processor time\n", about.Took.Round(time.Second), p.Runs(),
			about.Busy.Round(time.Second))
	}
	fmt.Fprintf(b, "* Seeds: 1 to %d\n* Azure trace: %s\n", p.Options.Seeds, p.azureTrace())
	if p.Options.Quick {
		b.WriteString("* **Quick: every study has a fraction of its tasks. The figures mean nothing.**\n")
	}
	b.WriteString("\n")
}

func (p *Plan) azureTrace() string {
	if file := p.Options.Azure; file != "" {
		return fmt.Sprintf("`%s`, the first %d requests", shortName(file), azureTasks)
	}
	return "synthetic, with the marginals of the public one; `-azure FILE` replays a real one"
}

func (s *Study) write(b *strings.Builder, r *Results) {
	fmt.Fprintf(b, "<a id=%q></a>\n\n", s.Name)
	paragraph(b, "## "+s.Title)
	paragraph(b, "*"+s.Question+"*")
	for _, part := range s.Parts {
		if part.Text != "" {
			paragraph(b, part.Text)
		}
		if part.Plot != nil {
			fmt.Fprintf(b, "![%s](%s/%s)\n\n", part.Plot.Caption, plots, part.Plot.file())
		}
		if part.Table != nil {
			part.Table.write(b, r)
			b.WriteString("\n")
		}
		if part.Says != nil {
			paragraph(b, part.Says(r))
		}
	}
}

// rules close the page.
func (p *Plan) rules(b *strings.Builder, r *Results) {
	var lines []string
	for _, s := range p.Studies {
		for _, rule := range s.Rules {
			var figures []any
			for _, f := range rule.Figures {
				figures = append(figures, f(r))
			}
			lines = append(lines, fmt.Sprintf("* **%s** %s ([study](#%s))\n", rule.Breaks, fmt.Sprintf(strings.TrimSpace(rule.Text), figures...),
				s.Name))
		}
	}
	if len(lines) == 0 {
		return
	}
	paragraph(b, "## What breaks first, and the rules of thumb")
	for _, line := range lines {
		b.WriteString(line)
	}
}

// paragraph writes a block of text. Line ends within it are those of the program's text.
func paragraph(b *strings.Builder, text string) { b.WriteString(strings.TrimSpace(text) + "\n\n") }
