package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/job"
)

// visitJob reads one argument, the name of a job, and connects to its cluster.
func (o *options) visitJob(args []string) (*visit, *client.Cluster, int) {
	if code := o.parseArgument(args, "job"); code >= 0 {
		return nil, nil, code
	}
	v, code := o.connect()
	if code >= 0 {
		return nil, nil, code
	}
	return v, v.asking(), -1
}

// visitList reads a command line with a bound of a list, and connects to the cluster.
func (o *options) visitList(args []string, most *int) (*visit, int) {
	if code := o.parse(args); code >= 0 {
		return nil, code
	}
	if *most < 1 {
		return nil, o.fail(exitUsage, fmt.Errorf("-max is %d: it must be at least 1", *most))
	}
	return o.connect()
}

func runJobs(args []string, stdout, stderr io.Writer) int {
	o := newOptions("jobs", "lists the jobs that the schedulers know, newest first", "dodoor jobs\ndodoor jobs -cluster lab -max 5 -json",
		"local",
		stderr)
	o.visitFlags()
	most := o.Int("max", 50, "jobs at most")
	asJSON := o.Bool("json", false, "print a JSON object per job")
	v, code := o.visitList(args, most)
	if code >= 0 {
		return code
	}
	defer v.close()
	jobs, err := v.asking().Jobs(v.ctx, *most)
	switch {
	case *asJSON:
		for i := range jobs {
			if err := printObject(stdout, jobObjectOf(&jobs[i])); err != nil {
				return o.fail(exitFailed, err)
			}
		}
	case len(jobs) > 0:
		if _, err := fmt.Fprintln(stdout, jobTable(jobs)); err != nil {
			return o.fail(exitFailed, err)
		}
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

func jobTable(jobs []client.Job) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	unknown := slices.ContainsFunc(jobs, func(j client.Job) bool { return j.Unknown > 0 })
	header := table.Row{"job", "name", "tasks", "finished", "failed", "cancelled", "lost", "open"}
	if unknown {
		header = append(header, "unknown")
	}
	t.AppendHeader(append(header, "retried", "submitted", "took", "command"))
	for i := range jobs {
		j := &jobs[i]
		took := time.Since(time.Unix(0, int64(j.Submitted)))
		if j.Open() == 0 && j.JobStatus.Ended > 0 {
			took = j.JobStatus.Ended - j.Submitted
		}
		row := table.Row{j.ID, j.Name, max(j.Tasks, j.Accepted), j.Outcomes[cluster.Finished],
			j.Outcomes[cluster.Failed] + j.Outcomes[cluster.TimedOut], j.Outcomes[cluster.Cancelled], j.Outcomes[cluster.Lost], j.Open()}
		if unknown {
			row = append(row, j.Unknown)
		}
		t.AppendRow(append(row, j.Retried, time.Unix(0, int64(j.Submitted)).Format(time.DateTime), took.Round(10*time.Millisecond),
			shortened(j.Text)))
	}
	return t.Render()
}

// shortened is a command that a table has room for.
func shortened(text string) string {
	const room = 60
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room-3], "") + "..."
	}
	return text
}

// firstLine leaves out what a reason tells of the output.
func firstLine(reason string) string {
	line, _, _ := strings.Cut(reason, "\n")
	return line
}

func runJob(args []string, stdout, stderr io.Writer) int {
	o := newOptions("job", "tells of one job, and of its tasks that did not finish",
		"dodoor job 1kdvdna00x2f4\ndodoor job -all -max 20 1kdvdna00x2f4",
		"local", stderr)
	o.visitFlags()
	most := o.Int64("max", 50, "tasks at most")
	all := o.Bool("all", false, "list tasks that finished as well, and those that have not ended")
	asJSON := o.Bool("json", false, "print a JSON object of the job, and one per task")
	v, c, code := o.visitJob(args)
	if code >= 0 {
		return code
	}
	defer v.close()
	j, err := c.Job(v.ctx, o.Arg(0))
	if err != nil && j.Accepted == 0 {
		return o.fail(exitFailed, err)
	}
	if *asJSON {
		err = printObject(stdout, jobObjectOf(&j))
	} else {
		_, err = fmt.Fprintln(stdout, jobTable([]client.Job{j}))
	}
	if err == nil {
		err = listTasks(v.ctx, c, &j, stdout, *most, *all, *asJSON)
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// listTasks prints tasks of a job, up to a number.
func listTasks(ctx context.Context, c *client.Cluster, j *client.Job, stdout io.Writer, most int64, all, asJSON bool) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"task", "entry", "outcome", "code", "worker", "attempts", "run", "printed", "reason"})
	listed, more := int64(0), false
	var missing error // a scheduler does not answer
	for task, err := range c.Tasks(ctx, j.ID, 0, !all) {
		if err != nil {
			missing = err
			break
		}
		if listed == most {
			more = true
			break
		}
		listed++
		if asJSON {
			if err := printObject(stdout, objectOf(j.ID, &task)); err != nil {
				return err
			}
			continue
		}
		outcome := task.Outcome.String()
		if task.Outcome == cluster.NoOutcome {
			outcome = "open"
		}
		t.AppendRow(table.Row{task.ID, shortened(strings.Join(task.Entries, " ")), outcome, task.ExitCode, task.Worker, task.Attempts,
			brief(task.Run),
			task.Printed, firstLine(task.Reason)})
	}
	text := ""
	if listed > 0 && !asJSON {
		text = t.Render() + "\n"
	}
	if more && !asJSON {
		text += fmt.Sprintf("and more: -max %d shows the first %d\n", most*10, most*10)
	}
	_, err := io.WriteString(stdout, text)
	return errors.Join(err, missing)
}

func runWait(args []string, stdout, stderr io.Writer) int {
	o := newOptions("wait", "waits until a job has no open task; exit code 0 when all finished",
		"dodoor wait 1kdvdna00x2f4 && dodoor logs -out results 1kdvdna00x2f4", "local", stderr)
	o.visitFlags()
	quiet := o.Bool("quiet", false, "no progress, and no word about failed tasks")
	v, c, code := o.visitJob(args)
	if code >= 0 {
		return code
	}
	defer v.close()
	for _, a := range v.absent {
		fmt.Fprintf(stderr, "dodoor wait: %v\n", a) // it may take a while until that is an error, or nothing of the job is missing
	}
	var bar *progress.Line
	start := time.Now()
	j, err := c.Wait(v.ctx, o.Arg(0), func(j client.Job) {
		if bar == nil && !*quiet {
			bar = progress.New(os.Stderr, int(max(j.Tasks, 1)))
		}
		bar.Show(int(j.Ended()), time.Since(start), func(perSecond float64) string {
			return fmt.Sprintf("%d failed, %d open, %.0f/s, done", j.Bad(), j.Open(), perSecond)
		})
	})
	bar.Finish()
	switch {
	case errors.Is(err, context.Canceled):
		return o.fail(exitFailed, fmt.Errorf("interrupted: job %s goes on; %s waits again, %s ends it", j.ID, o.again("wait", j.ID),
			o.again("cancel", j.ID)))
	case err != nil:
		return o.fail(exitFailed, err)
	case !j.OK():
		if !*quiet {
			fmt.Fprintf(stderr, "%d of %s finished; %s lists the others\n", j.Outcomes[cluster.Finished], count(j.Tasks, "task", "tasks"),
				o.again("job", j.ID))
		}
		return exitFailed
	}
	return exitDone
}

// isTask tells whether an argument names a task of a job.
func isTask(name string) bool {
	_, _, task := job.ParseID(name)
	return task
}
