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

// The set of a directory is sent to a bucket. Its manifest there has the names that PutFile gives
// to the tables.
func ExamplePutFile() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	check(writeDir(dir))
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()

	d := set.NewDir(dir)
	defer d.Close()
	m, err := d.ReadManifest()
	check(err)
	for i, t := range m.Tables {
		m.Tables[i], err = cloud.PutFile(ctx, bucket, filepath.Join(dir, t.Name), nil)
		check(err)
	}
	check(cloud.WriteManifest(ctx, bucket, set.ManifestName, m)) // when all tables are there

	m, err = cloud.ReadManifest(ctx, bucket, set.ManifestName)
	check(err)
	s, err := set.Open(ctx, m, cloud.NewSource(bucket), nil)
	check(err)
	defer s.Close()
	capital, err := s.Get(ctx, []byte("Peru"))
	fmt.Printf("%s, %v\n", capital, err)
	// Output:
	// Lima, <nil>
}

// writeDir writes a set of one table into a directory.
func writeDir(dir string) error {
	f, err := os.Create(filepath.Join(dir, "capitals.ldb"))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := set.NewTableWriter(f, nil)
	if err != nil {
		return err
	}
	for name, capital := range sorted(map[string]string{"Norway": "Oslo", "Peru": "Lima"}) {
		if err := w.Append(name, capital); err != nil {
			return err
		}
	}
	t, err := w.Close()
	if err != nil {
		return err
	}
	t.Name = "capitals.ldb"
	d := set.NewDir(dir)
	defer d.Close()
	return d.WriteManifest(&set.Manifest{Tables: []set.Table{t}})
}
