package command

import (
	"errors"
	"io"
	"path"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	sst "github.com/sievetable/sievetable/table/cmd/sst/internal/command"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

const sweepLong = `List the tables in a set's directory or store that no manifest lists, and temporary files of killed
builds: one per line, with size and time. With --delete, delete them.

In a directory, the tables of all its manifests stay. At a URL, the tables of set.jsonl and of each
--manifest stay: give all manifests that programs still read. A note names the others. Only objects
named by a SHA-256, and leases of builds that failed over a day ago, are swept.

sweep may run during a put. --age must be longer than a put takes, plus 12 hours. If a new manifest
lists a table that was just deleted, the exit status is 3: upload the set again.`

// sweepCommand returns sst's command, extended to URLs.
func sweepCommand() *cobra.Command {
	var manifests []string
	cmd := sst.SweepCommand(func(cmd *cobra.Command, name string, s *sst.Sweep) error {
		switch {
		case files.IsURL(name):
			return sweepURL(cmd, name, s, manifests)
		case manifests != nil:
			return cli.UsageErrorf("--manifest is only for URLs: in a directory, the tables of all manifests stay")
		}
		return sst.SweepDir(cmd, name, s)
	})
	cmd.Use, cmd.Long = "sweep [flags] DIR|URL", sweepLong
	cmd.Example = `  sstcloud sweep 's3://urls?region=eu-central-1'
  sstcloud sweep --delete --manifest 2026-11-25.jsonl gs://lists
  sstcloud sweep --delete --age 48h blocklist`
	cmd.Annotations = cli.ExitStatus{
		cli.ExitOK:      "the files were listed, or deleted with --delete",
		cli.ExitDamaged: "a manifest is damaged, and nothing was deleted; or a new manifest lists a deleted table",
	}.Annotation()
	cmd.Flags().StringArrayVar(&manifests, "manifest", nil, "also keep the tables of the manifest `name` (URLs only)")
	return cmd
}

// sweepURL sweeps a store.
func sweepURL(cmd *cobra.Command, url string, sweep *sst.Sweep, manifests []string) error {
	s, err := store.Open(cmd.Context(), url)
	if err != nil {
		return err
	}
	return errors.Join(sweep.Run(cmd, s.Store, sweepOptions(cmd.ErrOrStderr(), s, manifests)), s.Close())
}

// tableName matches the object names of tables.
var tableName = regexp.MustCompile(`^[0-9a-f]{64}(-[1-9][0-9]*)?\.(ldb|filter)$`)

// temporary matches the suffix of gocloud.dev/blob's temporary files.
var temporary = regexp.MustCompile(`\.[0-9a-f]{15,16}\.tmp$`)

// sweepOptions selects the files to delete. It prints a note for each manifest in the store that is not in manifests.
func sweepOptions(notes io.Writer, s *store.Store, manifests []string) set.SweepOptions {
	o := set.SweepOptions{Manifests: manifests}
	if manifests == nil {
		o.Manifests = []string{set.ManifestName}
	}
	o.Match = func(name string) bool {
		if path.Ext(name) == ".jsonl" && name != set.ManifestName && !slices.Contains(manifests, name) {
			text.Note(notes, "%s is ignored: if programs read it, add --manifest %s", s.Path(name), format.ShellWord(name))
		}
		if whole := temporary.ReplaceAllString(name, ""); s.Dir != "" && whole != name {
			return tableName.MatchString(whole) || whole == set.ManifestName || slices.Contains(manifests, whole)
		}
		return tableName.MatchString(name) || s.Dir != "" && sst.IsTemporary(name)
	}
	return o
}
