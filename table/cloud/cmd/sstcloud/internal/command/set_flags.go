package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/set"
)

// setFlags say which set of a store is read.
type setFlags struct{ manifest string }

func (f *setFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.manifest, "manifest", set.ManifestName, "the `key` of the manifest's object, without the prefix")
}

// memorySize is how much memory filters and indexes of open tables may take. Beyond it, tables are
// closed that were not used for a while.
const memorySize = 1 << 30

// options are the options of sets that are read.
func options() *set.Options {
	return &set.Options{
		Reader:     table.ReaderOptions{Codecs: codecs.All(), TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}}},
		MemorySize: memorySize, ReadTimeout: store.Timeout,
	}
}

// with calls do with the manifest of a store.
func (f *setFlags) with(ctx context.Context, url string, do func(*store.Store, *set.Manifest) error) error {
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	m, err := s.ReadManifest(ctx, f.manifest)
	if err == nil {
		err = do(s, m)
	}
	return errors.Join(err, remedy(err), s.Close())
}

// withSet calls do with the set of a store. Its tables are opened when they are needed.
func (f *setFlags) withSet(ctx context.Context, url string, do func(*set.Set) error) error {
	return f.with(ctx, url, func(s *store.Store, m *set.Manifest) error {
		opened, err := set.Open(ctx, m, s.Source(), options())
		if err != nil {
			return err
		}
		return errors.Join(do(opened), opened.Close())
	})
}
