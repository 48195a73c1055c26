package cloud_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// Upload a set from a directory to a bucket: its tables first, then the manifest.
func ExampleStore_PutTable() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	check(writeDir(ctx, dir))
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()

	d := set.NewDir(dir)
	defer d.Close()
	m, err := d.ReadManifest()
	check(err)
	store := &cloud.Store{Bucket: bucket}
	for t := range m.All() {
		f, err := os.Open(filepath.Join(dir, t.Name))
		check(err)
		check(set.PutTable(ctx, store, *t, f))
		check(f.Close())
	}
	check(set.PublishManifest(ctx, store, set.ManifestName, m, nil))

	s, err := set.Open(ctx, m, store, nil)
	check(err)
	defer s.Close()
	capital, err := s.Get(ctx, []byte("Peru"))
	fmt.Printf("%s, %v\n", capital, err)
	// Output:
	// Lima, <nil>
}

// writeDir writes a set of one table into a directory.
func writeDir(ctx context.Context, dir string) error {
	b, err := set.NewBuilder(ctx, &set.DirStore{Dir: dir}, nil)
	if err != nil {
		return err
	}
	defer b.Abort() // does nothing after Commit
	if err := b.Append([]byte("Norway"), []byte("Oslo")); err != nil {
		return err
	}
	if err := b.Append([]byte("Peru"), []byte("Lima")); err != nil {
		return err
	}
	_, err = b.Commit()
	return err
}
