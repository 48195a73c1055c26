package cloud_test

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

var (
	blockFilters = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	bothFilters  = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}

	// eager are the options of a Set that opens its tables before the first lookup.
	eager = &set.Options{OpenAll: true}
)

// putTables writes the keys, each with the same value, into tables of perTable keys. It returns their manifest
// without writing it.
func putTables(t testing.TB, bucket *blob.Bucket, o *table.WriterOptions, keys [][]byte, perTable int, value string) *set.Manifest {
	t.Helper()
	m := new(set.Manifest)
	for part := range slices.Chunk(keys, perTable) {
		contents, line := wantTable(t, o, part, value)
		noError(t, set.PutTable(context.Background(), newStore(bucket), line, bytes.NewReader(contents)))
		m.Tables = append(m.Tables, line)
	}
	return m
}

// putSet writes a set of the keys, with its manifest.
func putSet(t testing.TB, bucket *blob.Bucket, o *table.WriterOptions, keys [][]byte, perTable int, value string) *set.Manifest {
	t.Helper()
	m := putTables(t, bucket, o, keys, perTable, value)
	putManifest(t, bucket, set.ManifestName, m)
	return m
}

// putManifest writes a manifest, even if its tables are missing.
func putManifest(t testing.TB, bucket *blob.Bucket, key string, m *set.Manifest) {
	t.Helper()
	var b bytes.Buffer
	noError(t, set.WriteManifest(&b, m))
	putObject(t, bucket, key, b.String())
}

// openSet opens the set in the bucket, with the manifest there.
func openSet(t testing.TB, bucket *blob.Bucket, src set.Source, o *set.Options) *set.Set {
	t.Helper()
	m, err := set.LoadManifest(context.Background(), newStore(bucket), set.ManifestName)
	noError(t, err)
	s, err := set.Open(context.Background(), m, src, o)
	noError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// A counter is a Source that counts its reads.
type counter struct {
	set.Source
	reads atomic.Int64
}

func (c *counter) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.Source.ReadAt(ctx, name, p, off)
}
