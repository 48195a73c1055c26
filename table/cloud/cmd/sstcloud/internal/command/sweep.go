package command

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/sweep"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	manifests []string
	age       time.Duration
	remove    bool
	json      bool
}

const sweepLong = `List the tables of earlier sets that no manifest lists any more, and delete them with --delete.

The manifests are set.jsonl and those of --manifest. Give all that programs still read: what they list
stays. A program reads its old manifest until its Swap and Drain are done. A note names further objects
that end in .jsonl.

Only objects are listed and deleted that have the name of a table as sstcloud and package table/cloud
give it: the SHA-256 in 64 hexadecimal digits, and .ldb or .filter. In a directory, temporary files of
such objects and of the manifests are too, which a put that was killed has left. All others, those
below a further prefix, and the manifests stay.

An object that was sent within --age stays: a put that is under way has sent tables that no manifest
lists yet. --age must be longer than a put can take, plus 12 hours: put does not send a table again that
the store has had for less than that. The age is by the time that the store says and this machine's clock.

With --delete, the manifests are read again right before objects are deleted, if they have changed, and
an object that was sent again stays. So sweep can run while sets are put. What remains is --age: a put
that takes longer, and a service whose manifest is not given, lose tables. A manifest that is written
in the moment between the last look and the deletion, and lists one of these old tables, is noticed
afterwards: the exit status is 3, and a put of the set sends the table again.`

func sweepCommand() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep [flags] URL",
		Short: "List or delete tables that no manifest lists",
		Long:  sweepLong,
		Example: `  sstcloud sweep 's3://urls?region=eu-central-1'
  sstcloud sweep --delete --manifest 2026-11-25.jsonl gs://lists`,
		Annotations: exitStatus{
			exitOK:      "all was listed, or deleted with --delete",
			exitDamaged: "a manifest is damaged, and nothing was deleted; or a manifest that was written at the same time lists a table that was deleted",
		}.annotation(),
		Args: arguments("URL", 1, 1),
	}
	cmd.Flags().StringArrayVar(&f.manifests, "manifest", nil, "the `key` of a further manifest whose tables stay; may be given several times")
	cmd.Flags().DurationVar(&f.age, "age", 24*time.Hour, "keep objects that were sent within this time, such as 36h")
	cmd.Flags().BoolVar(&f.remove, "delete", false, "delete the objects, and print those that are deleted")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object per line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.age < 0 {
			return usageErrorf("--age is %v, want 0 or more", f.age)
		}
		s, err := store.Open(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return errors.Join(f.run(cmd, s), s.Close())
	}
	return cmd
}

// deleteAtATime is how many objects are deleted at a time.
const deleteAtATime = 8

func (f *sweepFlags) run(cmd *cobra.Command, s *store.Store) error {
	w, err := sweep.Plan(cmd.Context(), s, f.manifests, f.age)
	if err != nil {
		return err
	}
	for _, key := range w.Others {
		text.Line(cmd.ErrOrStderr(), "sstcloud: note: %s is not among the manifests: if programs read it, give --manifest %s", s.Name(key), key)
	}
	n, size, failed := 0, int64(0), error(nil)
	print := func(o store.Object) {
		n, size = n+1, size+o.Size
		failed = errors.Join(failed, f.print(cmd.OutOrStdout(), o))
	}
	done := "would be deleted by --delete"
	if f.remove {
		done = "deleted"
		err = w.Delete(cmd.Context(), deleteAtATime, print)
	} else {
		for _, o := range w.Objects {
			print(o)
		}
	}
	flush(cmd.OutOrStdout()) // before the note
	text.Line(cmd.ErrOrStderr(), "sstcloud: note: %s, %s, %s", text.Count(n, "object"), text.Bytes(size), done)
	return errors.Join(err, failed)
}

// A jsonObject is an object in JSON.
type jsonObject struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// print prints an object: its name, size and time.
func (f *sweepFlags) print(out io.Writer, o store.Object) error {
	j := jsonObject{o.Key, o.Size, o.Modified.UTC().Truncate(time.Second)}
	if f.json {
		return writeJSONLine(out, j)
	}
	_, err := fmt.Fprintf(out, "%s\t%d\t%s\n", j.Name, j.Bytes, j.Modified.Format(time.RFC3339))
	return err
}
