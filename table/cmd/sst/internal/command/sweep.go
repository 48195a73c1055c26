package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

const sweepLong = `List the tables in a set's directory that no manifest there lists, and temporary files of killed
builds: one per line, with size and time. With --delete, remove them. Programs may still read the
older tables of a set that was built again: sweep once they have reopened it. --age must exceed the
time of the longest build.`

func sweepCommand() *cobra.Command { return SweepCommand(SweepDir) }

// A SweepFunc sweeps the directory with the given name, by [Sweep.Run].
type SweepFunc func(cmd *cobra.Command, name string, s *Sweep) error

// SweepCommand returns a command that calls sweep.
func SweepCommand(sweep SweepFunc) *cobra.Command {
	var s Sweep
	var age time.Duration
	cmd := &cobra.Command{
		SuggestFor: []string{"clean", "gc", "prune", "vacuum"},
		Use:        "sweep [flags] DIR",
		Short:      "List or remove tables that no manifest of a set lists",
		Long:       sweepLong,
		Example: `  sst sweep urls
  sst sweep --delete --age 1h urls`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "all was listed, or removed with --delete",
			cli.ExitDamaged: "a manifest is damaged, and nothing was removed",
		}.Annotation(),
		Args:              cli.Arguments("DIR", 1, 1, 1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&s.remove, "delete", false, "remove the files")
	cmd.Flags().DurationVar(&age, "age", 24*time.Hour, "keep files that changed within this `time`")
	cmd.Flags().BoolVar(&s.json, "json", false, "print a JSON object per line")
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
		if age < 0 {
			return cli.UsageErrorf("--age is %v, not 0 or more", age)
		}
		s.before = time.Now().Add(-age)
		return sweep(cmd, args[0], &s)
	})
	return cmd
}

// SweepDir sweeps a local directory.
func SweepDir(cmd *cobra.Command, dir string, s *Sweep) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	o := set.SweepOptions{
		Match: func(name string) bool {
			return slices.Contains(tableNames, "*"+filepath.Ext(name)) || IsTemporary(name)
		},
		Keep: func(context.Context) ([]*set.Manifest, error) {
			all, err := dbdir.SetManifests(dir)
			if err != nil { // an unreadable file may be a manifest
				err = fmt.Errorf("%w: nothing was removed, as a manifest may list any file", err)
			}
			return all, err
		},
	}
	if !info.IsDir() || !dbdir.IsSet(dir) { // a set's manifest is a file
		if name, _ := versions.FindCurrentOrManifest(dir); name != "" || !info.IsDir() {
			return fmt.Errorf("%s is not the directory of a set", dir)
		}
		text.Note(cmd.ErrOrStderr(), "%s has no manifest of a set: only temporary files are listed", dir)
		o.Match = IsTemporary // left by a first build that was killed
	}
	return s.Run(cmd, &set.DirStore{Dir: dir, LockFile: filelock.Wait}, o)
}

// A Sweep has the flags of the command, and counts files.
type Sweep struct {
	before       time.Time
	remove, json bool
	kept, n      uint64
	size         int64
}

// Run sweeps a store. The flags override some fields of o. Run prints the files, and then a summary.
func (s *Sweep) Run(cmd *cobra.Command, store set.Store, o set.SweepOptions) error {
	o.Before, o.DryRun = s.before, !s.remove
	o.Found = func(f set.File, young bool) error {
		if young {
			s.kept++
			return nil
		}
		return s.print(cmd.OutOrStdout(), f)
	}
	err := set.Sweep(cmd.Context(), store, &o)
	if err != nil && s.n == 0 {
		return err
	}
	done := "would be removed by --delete"
	if s.remove {
		done = "removed"
	}
	if s.kept > 0 {
		done += fmt.Sprintf("; kept %s that changed within --age", text.Count(s.kept, "file"))
	}
	text.Note(cmd.ErrOrStderr(), "%s, %s, %s", text.Count(s.n, "file"), text.Bytes(uint64(s.size)), done)
	return err
}

func (s *Sweep) print(out io.Writer, f set.File) error {
	s.n, s.size = s.n+1, s.size+f.Size
	modified := f.Modified.UTC().Truncate(time.Second)
	if s.json {
		return text.JSONLine(out, struct {
			Name     string    `json:"name"`
			Bytes    int64     `json:"bytes"`
			Modified time.Time `json:"modified"`
		}{f.Name, f.Size, modified})
	}
	text.Cells(out, f.Name, strconv.FormatInt(f.Size, 10), modified.Format(time.RFC3339))
	return nil
}

// IsTemporary reports whether builds give such a name to temporary files.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, "sievetable-") && filepath.Ext(name) == ".tmp"
}
