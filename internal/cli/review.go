package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/render"
	"quarry/internal/review"
)

// reviewing holds the flags and state of one run of quarry review.
type reviewing struct {
	changer
	all     bool
	hunks   string
	comment string
	confirm bool
	full    bool

	store *review.Store
}

func newReview(s env.Streams) *cobra.Command {
	r := &reviewing{changer: changer{s: s}}
	cmd := command.New("review [ID]", "Decide about changes that agents proposed",
		`List the changes that wait for a decision: those of agents whose server was
started with quarry mcp --review. Nothing of them is written before they are
accepted. With an ID, on a terminal, decide hunk by hunk.

Accepting needs a terminal: no tool call can do it. It is no boundary against a
program that runs as you and has a shell.`,
		`  quarry review                        what waits
  quarry review p-0003                 decide hunk by hunk
  quarry review show p-0003            its diff, with the numbers of hunks
  quarry review accept p-0003 --hunks 1,3 -m 'keep the limit'
  quarry review refuse p-0003 -m 'use the pool instead'`,
		command.Args(0, 1), func(cmd *cobra.Command, args []string) error {
			return r.with(cmd.Context(), func(ctx context.Context) error {
				if len(args) == 0 {
					return r.list(ctx)
				}
				return r.ask(ctx, args[0])
			})
		})
	cmd.Flags().BoolVar(&r.all, "all", false, "list decided ones too")
	r.commonFlags(cmd.Flags())
	cmd.AddCommand(
		r.sub("show ID", "Show what a proposal would change", r.show, func(c *cobra.Command) {
			c.Flags().BoolVar(&r.full, "full", false, "show files over 20,000 changed lines to the end")
		}),
		r.sub("accept ID", "Accept a proposal, or hunks of it, and apply it", r.accept, func(c *cobra.Command) {
			c.Flags().StringVar(&r.hunks, "hunks", "", "accept only these, as `1,3-5`; the others are refused")
			c.Flags().BoolVar(&r.confirm, "confirm", false, "apply it though the agent has gone since")
		}),
		r.sub("refuse ID", "Refuse a proposal", r.refuse, nil))
	return cmd
}

func (r *reviewing) sub(use, short string, run func(ctx context.Context, id string) error, flags func(*cobra.Command)) *cobra.Command {
	cmd := command.New(use, short, short+".", "", command.Args(1, 1), func(cmd *cobra.Command, args []string) error {
		return r.with(cmd.Context(), func(ctx context.Context) error { return run(ctx, args[0]) })
	})
	if !strings.HasPrefix(use, "show") {
		cmd.Flags().StringVarP(&r.comment, "message", "m", "", "`comment` to the agent")
	}
	if flags != nil {
		flags(cmd)
	}
	r.commonFlags(cmd.Flags())
	return cmd
}

// with opens the workspace and its proposals, and calls do.
func (r *reviewing) with(ctx context.Context, do func(context.Context) error) error {
	if err := r.open(); err != nil {
		return err
	}
	dir, err := r.s.ReviewDir(r.ws.Dir())
	if err == nil {
		r.store, err = review.Open(dir)
	}
	if err != nil {
		return r.run(render.Writing, "", err)
	}
	if err = r.store.Settle(ctx, r.ws); err == nil {
		err = do(ctx)
	}
	return r.run(render.Writing, "", errors.Join(err, r.store.Close()))
}

func (r *reviewing) list(ctx context.Context) error {
	list, err := r.store.List()
	if err != nil && list == nil {
		return err
	}
	shown := []*review.Proposal{}
	stale := map[string]bool{}
	for _, p := range list {
		if p.State.Open() || r.all {
			stale[p.ID] = p.State.Open() && len(review.BlockedPaths(r.store.Stale(ctx, r.ws, p))) > 0
			shown = append(shown, r.store.Seen(ctx, r.ws, p))
		}
	}
	if r.json {
		return r.s.Encode(map[string]any{"proposals": shown})
	}
	var b strings.Builder
	for _, p := range shown {
		all, yes, _ := p.Counts()
		state := string(p.State)
		if p.State == review.Partly {
			state = fmt.Sprintf("%d of %d hunks", yes, all)
		}
		if stale[p.ID] {
			state += ", stale"
		}
		add, del := p.Lines()
		fmt.Fprintf(&b, "%s%s\n", r.s.Paint().In(printing.Good, p.ID), r.s.Safe(fmt.Sprintf("  %s  %s  %s (%s, %s, +%d -%d)  %s", p.Made.Local().Format(time.DateTime), who(p), p.Summary,
			p.Does(), fault.Count(all, "hunk"), add, del, state)))
	}
	if err := r.s.Write(b.String()); err != nil {
		return err
	}
	if len(shown) == 0 {
		return r.s.Nothing("nothing waits for a decision")
	}
	return nil
}

func who(p *review.Proposal) string {
	if p.Client.Name == "" {
		return p.Tool
	}
	return change.OneLine(p.Client.Name, change.MaxName) + " " + p.Tool
}

func (r *reviewing) get(id string) (*review.Proposal, error) {
	p, err := r.store.Get(id)
	return p, named(id, err)
}

// named adds the id to the error for an unknown proposal, because it may be a mistyped subcommand.
func named(id string, err error) error {
	if errors.Is(err, review.ErrUnknown()) {
		return fmt.Errorf("%s: %w", strconv.QuoteToGraphic(id), err)
	}
	return err
}

func (r *reviewing) show(ctx context.Context, id string) error {
	p, err := r.get(id)
	if err != nil {
		return err
	}
	stale := review.BlockedPaths(r.store.Stale(ctx, r.ws, p))
	own := p
	p = r.store.Seen(ctx, r.ws, p)
	if r.json {
		return r.s.Encode(p)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.s.Safe(fmt.Sprintf("%s  %s: %s\nIt %s.", p.ID, who(p), p.Summary, p.Does())))
	k, cut := 0, false
	for i := range p.Files {
		cut = cut || p.Files[i].Cut != (review.Lines{})
		if r.full && p.Files[i].Cut != (review.Lines{}) {
			f, err := r.store.Whole(ctx, r.ws, own, i)
			if err != nil {
				return err
			}
			p.Files[i] = *f
		}
		for j := range p.Files[i].Hunks {
			k++
			b.WriteString(r.hunk(p, i, j, k))
		}
	}
	if cut && !r.full {
		fmt.Fprintf(&b, "\nquarry review show %s --full shows what is cut.\n", p.ID)
	}
	if p.State == review.Abandoned {
		b.WriteString("\nThe agent has gone since; accepting it needs --confirm.\n")
	}
	if p.State.Open() && len(stale) > 0 {
		fmt.Fprintf(&b, "%s\n", r.s.Safe("changed since: "+strings.Join(stale, ", ")))
	}
	if !p.State.Open() {
		fmt.Fprintf(&b, "%s\n", r.s.Safe(p.Verdict()))
	}
	return r.s.Write(b.String())
}

// hunk formats hunk j of file i of a proposal as number k.
func (r *reviewing) hunk(p *review.Proposal, i, j, k int) string {
	f, h := &p.Files[i], &p.Files[i].Hunks[j]
	all, _, _ := p.Counts()
	paint := r.s.Paint()
	var b strings.Builder
	name := f.Path
	if f.To != "" {
		name += " → " + f.To
	}
	verdict := ""
	if h.Verdict != review.Undecided {
		verdict = " (" + string(h.Verdict) + ")"
	}
	verb := map[change.OpVerb]string{change.DeletePath: "delete ", change.MovePath: "move ", change.MakeFolder: "new folder "}[f.Op]
	if verb == "" && f.Before == "" {
		verb = "new "
	}
	fmt.Fprintf(&b, "\n%s\n", paint.In(printing.Bold, r.s.Safe(fmt.Sprintf("hunk %d of %d: %s%s%s", k, all, verb, render.Plain(name), verdict))))
	if f.Note != "" {
		b.WriteString(r.s.Safe(f.Note) + "\n")
	}
	if h.Text != "" {
		b.WriteString(paint.In(printing.Place, h.Head()) + "\n")
	}
	for line := range strings.Lines(r.s.Safe(h.Text)) {
		paint.Line(&b, map[byte]string{'@': printing.Place, '-': printing.Bad, '+': printing.Good}[line[0]], line)
	}
	return b.String()
}

// needTerminal refuses to accept changes without a terminal. Agents that can run commands usually
// have none, so they can't accept their own changes.
func (r *reviewing) needTerminal() error {
	in, ok := r.s.In.(*os.File)
	if ok && term.IsTerminal(int(in.Fd())) && r.s.ErrTerminal() {
		return nil
	}
	return errors.New("accepting needs a person at a terminal\n  run it in a terminal, or open the page with quarry ui")
}

func (r *reviewing) accept(ctx context.Context, id string) error {
	if err := r.needTerminal(); err != nil {
		return err
	}
	p, err := r.get(id)
	if err != nil {
		return err
	}
	d := review.Decision{By: "shell", Rest: review.Yes, Comment: r.comment, Confirm: r.confirm}
	if r.hunks != "" {
		all, _, _ := p.Counts()
		chosen, err := numbers(r.hunks, all)
		if err != nil {
			return err
		}
		d.Rest, d.Hunks = review.No, make([][]review.Verdict, len(p.Files))
		k := 0
		for i := range p.Files {
			d.Hunks[i] = make([]review.Verdict, len(p.Files[i].Hunks))
			for j := range d.Hunks[i] {
				if k++; chosen[k] {
					d.Hunks[i][j] = review.Yes
				}
			}
		}
	}
	return r.decide(ctx, id, d)
}

func (r *reviewing) refuse(ctx context.Context, id string) error {
	return r.decide(ctx, id, review.Decision{By: "shell", Rest: review.No, Comment: r.comment})
}

func (r *reviewing) decide(ctx context.Context, id string, d review.Decision) error {
	p, err := r.store.Decide(ctx, r.ws, id, d)
	if err != nil {
		return named(id, err)
	}
	if r.json {
		return r.s.Encode(p)
	}
	text := "Proposal " + p.Verdict() + ".\n"
	for _, broken := range p.Broken {
		text += broken.String() + "\n"
	}
	return r.s.Print(text)
}

// numbers parses a list such as 1,3-5; most is the highest valid number.
func numbers(list string, most int) (map[int]bool, error) {
	out := map[int]bool{}
	for part := range strings.SplitSeq(list, ",") {
		a, b, two := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(a)
		to := from
		if err == nil && two {
			to, err = strconv.Atoi(b)
		}
		if err != nil || from < 1 || to < from || to > most {
			return nil, fmt.Errorf("invalid hunks %q: numbers from 1 to %d, as 1,3-5", list, most)
		}
		for ; from <= to; from++ {
			out[from] = true
		}
	}
	return out, nil
}

// ask asks a person about each hunk of a proposal.
func (r *reviewing) ask(ctx context.Context, id string) error {
	p, err := r.get(id)
	if err != nil {
		return err
	}
	if !p.State.Open() {
		return r.show(ctx, id)
	}
	p = r.store.Seen(ctx, r.ws, p)
	if err := r.needTerminal(); err != nil {
		return err
	}
	in := bufio.NewReader(env.InputOf(ctx, r.s.In))
	d := review.Decision{By: "shell", Comment: r.comment, Hunks: make([][]review.Verdict, len(p.Files)), Comments: make([][]string, len(p.Files))}
	k := 0
files:
	for i := range p.Files {
		d.Hunks[i], d.Comments[i] = make([]review.Verdict, len(p.Files[i].Hunks)), make([]string, len(p.Files[i].Hunks))
		for j := range p.Files[i].Hunks {
			k++
			if err := r.s.Write(r.hunk(p, i, j, k)); err != nil {
				return err
			}
			v, comment, rest, err := r.answer(in)
			if err != nil {
				return err
			}
			if d.Hunks[i][j], d.Comments[i][j] = v, comment; rest {
				d.Rest = v
				break files
			}
		}
	}
	if p.State == review.Abandoned {
		fmt.Fprint(r.s.Err, "The agent has gone since it proposed this. Apply what you accepted all the same? [y/n] ")
		line, err := in.ReadString('\n')
		if err != nil {
			return errNothingDecided
		}
		d.Confirm = strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
	}
	return r.decide(ctx, id, d)
}

var errNothingDecided = errors.New("nothing was decided; the proposal still waits")

// answer reads the decision about one hunk. rest reports whether it applies to all following hunks
// too.
func (r *reviewing) answer(in *bufio.Reader) (v review.Verdict, comment string, rest bool, err error) {
	for {
		fmt.Fprint(r.s.Err, "Accept this hunk? [a]ccept, [r]efuse, [A]ccept or [R]efuse the rest, [c]omment, [q]uit: ")
		line, err := in.ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			return "", "", false, errNothingDecided
		}
		switch strings.TrimSpace(line) {
		case "a":
			return review.Yes, comment, false, nil
		case "r":
			return review.No, comment, false, nil
		case "A":
			return review.Yes, comment, true, nil
		case "R":
			return review.No, comment, true, nil
		case "q":
			return "", "", false, errNothingDecided
		case "c":
			fmt.Fprint(r.s.Err, "Comment: ")
			text, err := in.ReadString('\n')
			if err != nil {
				return "", "", false, errNothingDecided
			}
			comment = strings.TrimSpace(text)
		}
	}
}

var _ review.Workspace = (*quarry.Workspace)(nil)
