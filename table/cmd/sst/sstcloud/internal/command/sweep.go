package command

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	sst "github.com/sievetable/sievetable/table/cmd/sst/internal/command"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/sweep"
	"github.com/sievetable/sievetable/table/set"
)

const sweepLong = `

With a URL, sweep lists the objects of a store that no manifest lists: set.jsonl and those of
--manifest. Give all that programs still read: what they list stays. A note names further objects that
end in .jsonl. Only objects named as put names tables are listed and deleted: 64 hexadecimal digits,
and .ldb or .filter. In a directory, temporary files of such objects and of the manifests are too. All
others, those below a further prefix, and the manifests stay.

--age must be longer than a put can take, plus 12 hours: put does not send a table again that the store
has had for less than that. The age is by the time that the store says and this machine's clock.

With --delete, the manifests are read again right before objects are deleted, if they have changed, and
an object that was sent again stays. So sweep can run while sets are put. A put that takes longer than
--age, and a service whose manifest is not given, lose tables. A manifest that is written in the moment
between the last look and the deletion, and lists one of these old tables, is noticed afterwards: the
exit status is 3, and a put of the set sends the table again.`

// sweepCommand returns the command of sst, which sweeps stores too.
func sweepCommand() *cobra.Command {
	var manifests []string
	cmd := sst.SweepCommand()
	cmd.Use, cmd.Long = "sweep [flags] DIR|URL", cmd.Long+sweepLong
	cmd.Example += `
  sstcloud sweep 's3://urls?region=eu-central-1'
  sstcloud sweep --delete --manifest 2026-11-25.jsonl gs://lists`
	cmd.Annotations = cli.ExitStatus{
		cli.ExitOK:      "all was listed, or removed with --delete",
		cli.ExitDamaged: "a manifest is damaged, and nothing was removed; or a new manifest lists a removed table",
	}.Annotation()
	cmd.Flags().StringArrayVar(&manifests, "manifest", nil, "of a URL, keep the tables of the manifest of this `name` too")
	local := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case files.IsURL(args[0]):
			return sweepURL(cmd, args[0], manifests)
		case manifests != nil:
			return cli.UsageErrorf("--manifest is for URLs: of a directory, the tables of all manifests stay")
		}
		return local(cmd, args)
	}
	return cmd
}

// sweepURL lists or deletes objects.
func sweepURL(cmd *cobra.Command, url string, manifests []string) error {
	age, err := cmd.Flags().GetDuration("age")
	if err == nil && age < 0 {
		err = cli.UsageErrorf("--age is %v, not 0 or more", age)
	}
	if err != nil {
		return err
	}
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		s, err := store.Open(ctx, url)
		if err != nil {
			return err
		}
		return errors.Join(sweepStore(ctx, cmd, s, manifests, age), s.Close())
	})
}

// deleteAtATime is how many objects are deleted at a time.
const deleteAtATime = 8

func sweepStore(ctx context.Context, cmd *cobra.Command, s *store.Store, manifests []string, age time.Duration) error {
	remove, removeErr := cmd.Flags().GetBool("delete")
	json, jsonErr := cmd.Flags().GetBool("json")
	w, err := sweep.Plan(ctx, s, manifests, age)
	if err := errors.Join(removeErr, jsonErr, err); err != nil {
		return err
	}
	for _, key := range w.Others {
		text.Note(cmd.ErrOrStderr(), "%s is not among the manifests: if programs read it, give --manifest %s", s.Name(key), key)
	}
	return sst.PrintSwept(cmd, remove, json, func(print func(set.File) error) (kept uint64, failed error) {
		printObject := func(o store.Object) {
			failed = errors.Join(failed, print(set.File{Name: o.Key, Size: o.Size, Modified: o.Modified}))
		}
		if remove {
			err := w.Delete(ctx, deleteAtATime, printObject)
			return 0, errors.Join(err, failed)
		}
		for _, o := range w.Objects {
			printObject(o)
		}
		return 0, failed
	})
}
