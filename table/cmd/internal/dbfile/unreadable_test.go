package dbfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sievetable/sievetable/internal/long"
)

// A failingDisk cannot read some sectors: a read that reaches one fails there.
type failingDisk struct {
	contents []byte
	bad      map[int64]bool // sectors, by their numbers
}

func (d failingDisk) ReadAt(p []byte, at int64) (n int, err error) {
	for ; n < len(p) && at+int64(n) < int64(len(d.contents)); n++ {
		if d.bad[(at+int64(n))/sectorSize] {
			return n, syscall.EIO
		}
		p[n] = d.contents[at+int64(n)]
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A read returns bytes of 0xff in place of each bad sector, and the other sectors unchanged. Each bad sector is
// reported.
func TestPastUnreadable(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		d := failingDisk{make([]byte, 1+rng.IntN(8*sectorSize)), map[int64]bool{}}
		for i := range d.contents {
			d.contents[i] = byte(rng.Uint32())
		}
		want := bytes.Clone(d.contents)
		for sector := range int64(8) {
			if d.bad[sector] = rng.IntN(3) == 0; d.bad[sector] {
				for i := sector * sectorSize; i < min(int64(len(want)), (sector+1)*sectorSize); i++ {
					want[i] = 0xff
				}
			}
		}
		at, p := int64(rng.IntN(len(want))), make([]byte, rng.IntN(4*sectorSize))
		wantTold := map[int64]bool{}
		for i := at; i < min(int64(len(want)), at+int64(len(p))); i++ {
			if d.bad[i/sectorSize] {
				wantTold[i/sectorSize] = true
			}
		}
		told := map[int64]bool{}
		r := pastUnreadable(d, "file", func(path string, at int64, err error) {
			if told[at/sectorSize] = true; path != "file" || !errors.Is(err, syscall.EIO) {
				t.Errorf("told %s at %d: %v", path, at, err)
			}
		})
		end := min(len(want), int(at)+len(p))
		if n, err := r.ReadAt(p, at); int(at)+n < end || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes at %d of %d: %d, %v", len(p), at, len(want), n, err)
		}
		if diff := cmp.Diff(want[at:end], p[:end-int(at)]); diff != "" {
			t.Fatalf("%d bytes at %d of %d (-want +got):\n%s", len(p), at, len(want), diff)
		}
		if diff := cmp.Diff(wantTold, told); diff != "" {
			t.Fatalf("%d bytes at %d of %d: sectors (-want +got):\n%s", len(p), at, len(want), diff)
		}
	}
}

// This is an input/output error of the kernel itself: nothing is mapped at the start of a process's memory.
func TestPastUnreadableMemory(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/proc/self/mem")
	if runtime.GOOS != "linux" || err != nil {
		t.Skip("there is no /proc/self/mem")
	}
	defer f.Close() // it was only read
	p, told := make([]byte, 2*sectorSize), 0
	n, err := pastUnreadable(f, f.Name(), func(string, int64, error) { told++ }).ReadAt(p, 0)
	if n != len(p) || err != nil || told != 2 || !bytes.Equal(p, bytes.Repeat([]byte{0xff}, len(p))) {
		t.Errorf("ReadAt = %d, %v, after %d errors: %x…", n, err, told, p[:16])
	}
}
