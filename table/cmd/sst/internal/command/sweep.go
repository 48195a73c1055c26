package command

import (
	"context"
	"fmt"
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
older tables of a set that was built again: sweep once they have reopened it. --age must be longer
than a build takes.`

// SweepCommand returns the command that sweeps local directories.
func SweepCommand() *cobra.Command {
	var remove, json bool
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
	cmd.Flags().BoolVar(&remove, "delete", false, "remove the files")
	cmd.Flags().DurationVar(&age, "age", 24*time.Hour, "keep files that changed within this `time`")
	cmd.Flags().BoolVar(&json, "json", false, "print a JSON object per line")
	cmd.RunE = interruptible(func(cmd *cobra.Command, args []string) error {
		if age < 0 {
			return cli.UsageErrorf("--age is %v, not 0 or more", age)
		}
		return sweep(cmd, args[0], time.Now().Add(-age), remove, json)
	})
	return cmd
}

// sweep prints the files, and what became of all.
func sweep(cmd *cobra.Command, dir string, before time.Time, remove, json bool) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	match := isOfSet
	if !dbdir.IsSet(dir) {
		if name, _ := versions.FindCurrentOrManifest(dir); name != "" || !dbdir.IsDirectory(dir) {
			return fmt.Errorf("%s: not the directory of a set", dir)
		}
		match = isTemporary // of a first build that was killed
	}
	return PrintSwept(cmd, remove, json, func(print func(set.File) error) (kept uint64, err error) {
		found := func(f set.File, young bool) error {
			if young {
				kept++
				return nil
			}
			return print(f)
		}
		err = set.Sweep(cmd.Context(), &set.DirStore{Dir: dir, LockFile: filelock.Wait}, &set.SweepOptions{
			Before: before, Match: match, Found: found, DryRun: !remove,
			Keep: func(context.Context) ([]*set.Manifest, error) { return manifestsOf(dir) },
		})
		return kept, err
	})
}

// PrintSwept calls sweep with a function that prints a file, and then prints what became of all files. sweep returns how
// many more it has kept because of their age.
func PrintSwept(cmd *cobra.Command, remove, json bool, sweep func(print func(set.File) error) (kept uint64, err error)) error {
	var n, size uint64
	kept, err := sweep(func(f set.File) error {
		n, size = n+1, size+uint64(f.Size)
		out, modified := cmd.OutOrStdout(), f.Modified.UTC().Truncate(time.Second)
		if json {
			return text.JSONLine(out, struct {
				Name     string    `json:"name"`
				Bytes    int64     `json:"bytes"`
				Modified time.Time `json:"modified"`
			}{f.Name, f.Size, modified})
		}
		text.Cells(out, f.Name, strconv.FormatInt(f.Size, 10), modified.Format(time.RFC3339))
		return nil
	})
	if err != nil && n == 0 {
		return err
	}
	done := "would be removed by --delete"
	if remove {
		done = "removed"
	}
	if kept > 0 {
		done += fmt.Sprintf("; kept %s that changed within --age", text.Count(kept, "file"))
	}
	text.Note(cmd.ErrOrStderr(), "%s, %s, %s", text.Count(n, "file"), text.Bytes(size), done)
	return err
}

// manifestsOf returns the manifests of sets in a directory.
func manifestsOf(dir string) ([]*set.Manifest, error) {
	all, err := dbdir.SetManifests(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: no file is removed, as it may list any of them", err)
	}
	return all, nil
}

// isOfSet reports whether a name is one that builds give to tables or temporary files.
func isOfSet(name string) bool {
	return slices.Contains([]string{".ldb", ".sst", ".filter"}, filepath.Ext(name)) || isTemporary(name)
}

// isTemporary reports whether a name is one that builds give to temporary files.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, "sievetable-") && filepath.Ext(name) == ".tmp"
}
