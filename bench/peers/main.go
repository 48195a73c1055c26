package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/bench/peers/internal/report"
	"github.com/sievetable/sievetable/internal/membership"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("peers: ", err)
	}
}

// arguments say what is done: measuring, if draw is false, and drawing.
type arguments struct {
	dir     string
	draw    bool
	options measure.Options
}

// run does what the arguments ask for.
func run(args []string) error {
	a, err := parse(args)
	if err != nil {
		return err
	}
	if !a.draw {
		a.options.Progress = progress()
		if err := measureTo(a.dir, command(args), a.options); err != nil {
			return err
		}
	}
	if err := report.Draw(a.dir); err != nil {
		return err
	}
	log.Printf("wrote %s", filepath.Join(a.dir, report.File))
	if a.dir != ownDir {
		return nil
	}
	return report.DrawReadme("README.md", a.dir)
}

// ownDir is the directory of the results that README.md shows.
const ownDir = "bench/peers"

// measureTo writes what was measured into the directory.
func measureTo(dir, command string, o measure.Options) (err error) {
	engines := columns()
	r := report.New(command, o, engines, measure.Forms())
	if r.Engines.Rows, err = measure.Run(o, engines); err != nil {
		return err
	}
	if r.Membership.Rows, err = measure.Membership(o); err != nil {
		return err
	}
	if len(r.Engines.Rows)+len(r.Membership.Rows) == 0 {
		return fmt.Errorf("-run %s: no such work", o.Run)
	}
	return r.Save(dir)
}

// parse reads the arguments, and refuses what cannot be done.
func parse(args []string) (arguments, error) {
	var a arguments
	flags := flag.NewFlagSet("peers", flag.ExitOnError)
	flags.StringVar(&a.dir, "o", "", "`directory` to write results.json, RESULTS.md and charts to, over what is there (default bench/peers, and its part of README.md)")
	flags.BoolVar(&a.draw, "draw", false, "measure nothing: write RESULTS.md and charts of the results.json that is there")
	works := flags.String("run", "", "only works whose name, such as W1-snappy/scan-forward-warm, matches `regexp`")
	o := &a.options
	flags.IntVar(&o.Rounds, "rounds", 5, "measurements of each work by each engine")
	flags.IntVar(&o.Entries, "entries", 1_000_000, "entries of W1")
	flags.IntVar(&o.URLs, "urls", 10_000_000, "entries of the largest W3; 0 leaves it out")
	flags.IntVar(&o.Members, "members", membership.Largest, "keys of the largest set asked for membership; 0 leaves them out")
	flags.DurationVar(&o.Time, "time", 100*time.Millisecond, "`duration` of a measurement")
	if err := flags.Parse(args); err != nil {
		return a, err
	}
	if a.dir == "" && *works != "" {
		return a, fmt.Errorf("-run leaves works out: -o must say where the results go")
	}
	if a.dir == "" {
		a.dir = ownDir
	}
	if _, err := os.Stat(a.dir); err != nil {
		return a, err
	}
	var err error
	if o.Run, err = regexp.Compile(*works); err != nil {
		return a, fmt.Errorf("-run: %w", err)
	}
	return a, errors.Join(check(*o, flags.Args()), checkDraw(a.draw, flags))
}

// checkDraw refuses flags that say what to measure when nothing is measured.
func checkDraw(draw bool, flags *flag.FlagSet) (err error) {
	flags.Visit(func(f *flag.Flag) {
		if draw && f.Name != "draw" && f.Name != "o" {
			err = fmt.Errorf("-draw measures nothing: leave -%s out", f.Name)
		}
	})
	return err
}

// check refuses what cannot be measured.
func check(o measure.Options, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("arguments that are no flags: %q", rest)
	}
	if most := 1_000_000_000; o.Entries > most || o.URLs > most {
		return fmt.Errorf("-entries and -urls must be at most %d", most)
	}
	if o.Members < 0 || o.Members > membership.Largest {
		return fmt.Errorf("-members must be 0 to %d", membership.Largest)
	}
	if o.Rounds < 1 || o.Entries < 1 || o.URLs < 0 || o.Time <= 0 {
		return fmt.Errorf("-rounds, -entries and -time must be positive, and -urls not negative")
	}
	return nil
}

// progress returns what shows how far the measuring is: on a terminal as a bar,
// and else by a line for each set of works.
func progress() func(done, total int, what string) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(done, total int, what string) {
			if strings.HasSuffix(what, measure.Preparing) {
				log.Printf("%d of %d works done: %s", done, total, what)
			}
		}
	}
	var bar *progressbar.ProgressBar
	return func(done, total int, what string) {
		if bar == nil || bar.GetMax() != total { // Membership has works of its own
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionClearOnFinish(), progressbar.OptionShowCount())
		}
		bar.Describe(fmt.Sprintf("%-40s", what))
		// A bar that cannot be drawn is no reason to stop measuring.
		_ = bar.Set(done)
	}
}
