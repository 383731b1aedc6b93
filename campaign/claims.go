package campaign

import (
	"fmt"
	"strings"
)

// judged is a claim with its judgement.
type judged struct {
	*Claim
	Judgement
}

func (p *Plan) judged(r *Results) []judged {
	var all []judged
	for i := range p.Studies {
		for k := range p.Studies[i].Claims {
			c := &p.Studies[i].Claims[k]
			all = append(all, judged{c, c.Judge(r)})
		}
	}
	return all
}

// summary opens the page: what agrees with the paper, what is larger or smaller, and what contradicts it.
func summary(b *strings.Builder, all []judged) {
	if len(all) == 0 {
		return
	}
	groups := []struct {
		title string
		holds func(j *judged) bool
	}{
		{"Agree", func(j *judged) bool { return j.Direction == sameWay && j.Size != unlike }},
		{"Same direction, larger here", func(j *judged) bool { return j.Direction == sameWay && j.Size == unlike && j.Larger == largerHere }},
		{"Same direction, smaller here", func(j *judged) bool { return j.Direction == sameWay && j.Size == unlike && j.Larger != largerHere }},
		{"No effect here", func(j *judged) bool { return j.Direction == noWay }},
		{"**Contradicted**", func(j *judged) bool { return j.Direction == otherWay }},
	}
	fmt.Fprintf(b, "Of %d claims of the paper and figures of its authors ([all of them](#claims)):\n\n", len(all))
	for _, g := range groups {
		var names []string
		for i := range all {
			if g.holds(&all[i]) {
				names = append(names, fmt.Sprintf("%s (%s, published %s)", all[i].Claim.Claim, all[i].Ours, all[i].Published))
			}
		}
		if len(names) == 0 {
			names = []string{"none"}
		}
		fmt.Fprintf(b, "* %s: %s.\n", g.title, strings.Join(names, "; "))
	}
	b.WriteString("\n")
}

// claims are the whole comparison, a row each.
func claims(b *strings.Builder, all []judged) {
	if len(all) == 0 {
		return
	}
	b.WriteString("<a id=\"claims\"></a>\n\n")
	paragraph(b, "## The paper's claims")
	paragraph(b, fmt.Sprintf(`
Computed. *Direction*: that of the published change, or none where our interval holds zero. *Size*: within the published range,
or at most %g %% from the published change (%g %% where it is no change, a hundredth where it is a count that no noise touches);
and whose is *larger*. "Clean" is this project's own code; "the fault" is one of the prototype's ([below](#rerun)). The paper's
sentences that claim a gain over all baselines are judged against each.`, 100*tolerance, 100*near))
	lines := [][]string{{"claim of the paper", "published", "ours", "direction", "size", "larger"}}
	for _, j := range all {
		lines = append(lines, []string{j.Claim.Claim, j.Published, j.Ours, string(j.Direction), string(j.Size), string(j.Larger)})
	}
	writeAligned(b, lines, 6)
	b.WriteString("\n")
}
