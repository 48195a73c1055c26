package command

import (
	"errors"
	"io"
	"path"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	sst "github.com/sievetable/sievetable/table/cmd/sst/internal/command"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

const sweepLong = `

With a URL, sweep lists the objects of a store that no manifest lists: set.jsonl and those of
--manifest. Give all that programs still read: what they list stays. A note names further objects that
end in .jsonl. Only objects named as put names tables are listed and deleted: 64 hexadecimal digits,
and .ldb or .filter. In a directory, temporary files of tables and manifests are too. All others,
those below a further prefix, and the manifests stay.

--age must be longer than a put can take, plus 12 hours: put does not send a table again that the store
has had for less than that. The age is by the time that the store says and this machine's clock.

With --delete, the manifests are read again right before objects are deleted, and an object that was
sent again stays. So sweep can run while sets are put. A put that takes longer than --age, and a service
whose manifest is not given, lose tables. A manifest that is written in the moment between the last look
and the deletion, and lists one of these old tables, is noticed afterwards: the exit status is 3, and a
put of the set sends the table again.`

// sweepCommand returns the command of sst, which sweeps stores too.
func sweepCommand() *cobra.Command {
	var manifests []string
	cmd := sst.SweepCommand(func(cmd *cobra.Command, name string, s *sst.Sweep) error {
		switch {
		case files.IsURL(name):
			return sweepURL(cmd, name, s, manifests)
		case manifests != nil:
			return cli.UsageErrorf("--manifest is for URLs: of a directory, the tables of all manifests stay")
		}
		return sst.SweepDir(cmd, name, s)
	})
	cmd.Use, cmd.Long = "sweep [flags] DIR|URL", cmd.Long+sweepLong
	cmd.Example += `
  sstcloud sweep 's3://urls?region=eu-central-1'
  sstcloud sweep --delete --manifest 2026-11-25.jsonl gs://lists`
	cmd.Annotations = cli.ExitStatus{
		cli.ExitOK:      "all was listed, or removed with --delete",
		cli.ExitDamaged: "a manifest is damaged, and nothing was removed; or a new manifest lists a removed table",
	}.Annotation()
	cmd.Flags().StringArrayVar(&manifests, "manifest", nil, "of a URL, keep the tables of the manifest of this `name` too")
	return cmd
}

// sweepURL lists or deletes the files of a store.
func sweepURL(cmd *cobra.Command, url string, sweep *sst.Sweep, manifests []string) error {
	s, err := store.Open(cmd.Context(), url)
	if err != nil {
		return err
	}
	return errors.Join(sweep.Run(cmd, s.Store, sweepOptions(cmd.ErrOrStderr(), s, manifests)), s.Close())
}

// tableName matches the names that put gives to tables.
var tableName = regexp.MustCompile(`^[0-9a-f]{64}(-[1-9][0-9]*)?\.(ldb|filter)$`)

// temporary matches what gocloud.dev/blob adds to the name of a file while it writes one in a directory.
var temporary = regexp.MustCompile(`\.[0-9a-f]{15,16}\.tmp$`)

// sweepOptions returns which files of a store are deleted. Each manifest is noted that none of manifests is.
func sweepOptions(notes io.Writer, s *store.Store, manifests []string) set.SweepOptions {
	o := set.SweepOptions{Manifests: manifests}
	if manifests == nil {
		o.Manifests = []string{set.ManifestName}
	}
	o.Match = func(name string) bool {
		if path.Ext(name) == ".jsonl" {
			text.Note(notes, "%s is not among the manifests: if programs read it, give --manifest %s", s.Path(name), name)
		}
		if whole := temporary.ReplaceAllString(name, ""); s.Dir != "" && whole != name {
			return tableName.MatchString(whole) || whole == set.ManifestName || slices.Contains(manifests, whole)
		}
		return tableName.MatchString(name) || s.Dir != "" && sst.IsTemporary(name)
	}
	return o
}
