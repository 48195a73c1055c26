package trial

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/codecs"
)

var noError = errtest.NoError

// written writes n W1 entries, and opens the table.
func written(t *testing.T, n int, o table.WriterOptions) *dbfile.File {
	t.Helper()
	contents := tabletest.Build(t, &o, workload.W1(n).Pairs())
	f, err := dbfile.Open(filetest.Write(t, fmt.Sprintf("%d.ldb", n), contents), dbfile.Options{})
	noError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func take(t *testing.T, f *dbfile.File, most int64) *Sample {
	t.Helper()
	s, err := Take(f, most)
	noError(t, err)
	return s
}

// settings are tried on each other's tables.
var settings = []table.WriterOptions{
	{BlockSize: 1024, Compression: table.NoCompression},
	{BlockSize: 4096, Compression: table.Snappy},
	{BlockSize: 16384, Compression: codecs.Zstd},
	{BlockSize: 65536, Compression: table.Snappy, Properties: true},
}

// If the whole table is tried, sizes equal those of a Writer to the byte, whichever settings the table was written
// with. Its own block size is determined.
func TestSizesAreExact(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var samples []*Sample
	for _, o := range settings {
		samples = append(samples, take(t, written(t, 2000, o), 100<<20))
	}
	for i, from := range samples {
		if from.BlockSize != settings[i].BlockSize || from.RestartInterval != 16 {
			t.Errorf("blocks of %d bytes: BlockSize is %d, RestartInterval %d", settings[i].BlockSize, from.BlockSize, from.RestartInterval)
		}
		for j, to := range samples {
			got, err := from.Size(settings[j].BlockSize, settings[j].Compression)
			if want := to.Data + to.Index; err != nil || got != want {
				t.Errorf("from blocks of %d bytes to %d bytes: %d bytes and error %v, want %d bytes", from.BlockSize, to.BlockSize, got, err, want)
			}
		}
	}
}

// A Sample has about the given size, comes from all parts of the file, and results in sizes close to those of the
// whole file.
func TestSample(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	f := written(t, 30_000, table.WriterOptions{})
	all, part := take(t, f, 1<<30), take(t, f, 2<<20)
	if all.Tried != all.Blocks || all.Entries != 30_000 {
		t.Errorf("of 1 GiB: %d of %d blocks with %d entries, want all", all.Tried, all.Blocks, all.Entries)
	}
	if raw := part.Tried * part.BlockSize; raw < 1<<20 || raw > 3<<20 {
		t.Errorf("of 2 MiB: %d blocks of %d bytes", part.Tried, part.BlockSize)
	}
	if n := len(part.stretches); n != 2 || part.stretches[0].end < part.Blocks/3 {
		t.Errorf("of 2 MiB: %d stretches, want 2, of which one begins in the middle", n)
	}
	for _, o := range settings {
		want, err := all.Size(o.BlockSize, o.Compression)
		got, partErr := part.Size(o.BlockSize, o.Compression)
		if ratio := float64(got) / float64(want); errors.Join(err, partErr) != nil || ratio < 0.98 || ratio > 1.02 {
			t.Errorf("blocks of %d bytes: %d bytes by a part, %d by all; errors %v, %v", o.BlockSize, got, want, err, partErr)
		}
	}
}

// Stretches that end early leave their share to the others, so that a table that just fits is tried as a whole.
func TestUnevenStretches(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	f := written(t, 20_000, table.WriterOptions{BlockSize: 512})
	raw := int64(0)
	for _, part := range f.Layout.Data {
		contents, _, err := f.Layout.ReadBlock(part.Handle)
		noError(t, err)
		raw += int64(len(contents))
	}
	if s := take(t, f, raw); s.Tried < s.Blocks-len(s.stretches) {
		t.Errorf("of %d bytes: %d of %d blocks, want almost all", raw, s.Tried, s.Blocks)
	}
}

func TestBlockSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		estimate tablestats.Estimate
		want     int
	}{
		{tablestats.Estimate{}, 4096},
		{tablestats.Estimate{Growing: 100}, 4096}, // a single block
		{tablestats.Estimate{Growing: 5000}, 8192},
		{tablestats.Estimate{Smallest: 4100, Growing: 4090}, 4096},
		{tablestats.Estimate{Smallest: 4100, Growing: 4096}, 4100}, // with 4096, the block would have been complete
		{tablestats.Estimate{Smallest: 1 << 30, Growing: 1 << 20}, 512 << 20},
	} {
		if got := blockSize(&tt.estimate, nil); got != tt.want {
			t.Errorf("%+v: block size %d, want %d", tt.estimate, got, tt.want)
		}
	}
}
