package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Verify reads the tables themselves: it neither asks the Cache nor fills it, and is not in the Metrics of
// lookups.
func TestVerifyLeavesCacheAndMetricsAsTheyAre(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	o := table.ReaderOptions{Cache: table.NewCache(1 << 20), Metrics: new(table.Metrics)}
	s := open(t, m, src, &set.Options{Reader: o})
	checkGet(t, s, key(7), valueOf(7))
	metrics, cached := o.Metrics.String(), o.Cache.Size()
	if err := s.Verify(background, nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(metrics, o.Metrics.String()); diff != "" {
		t.Errorf("Metrics (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(cached, o.Cache.Size()); diff != "" {
		t.Errorf("Cache (-before +after):\n%s", diff)
	}
}

// Verify finds each changed byte of each table, and reports each table.
func TestVerifyFindsEachChangedByte(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, nil)
	if err := s.Verify(background, nil); err != nil {
		t.Errorf("Verify = %v", err)
	}
	contents := bytes.Clone(src.files["t001"])
	for i := 0; i < len(contents); i += 7 {
		src.files["t001"] = bytes.Clone(contents)
		src.files["t001"][i] ^= 4
		var got []string
		err := s.Verify(background, func(l set.Table, err error) {
			if err != nil {
				l.Name += ": " + err.Error()
			}
			got = append(got, l.Name)
		})
		if err == nil || len(got) != 3 || got[0] != "t000" || got[1] != "t001: "+err.Error() || got[2] != "t002" {
			t.Fatalf("byte %d: Verify = %v, reports %q; want a finding of t001", i, err, got)
		}
		if !strings.Contains(err.Error(), `"t001": sha256: `) || !errors.Is(err, set.ErrMismatch) {
			t.Fatalf("byte %d: Verify = %v, want a mismatch of the sha256", i, err)
		}
	}
}

// Verify reads each byte of a table once, by large reads, and one byte more to see that the file ends there.
func TestVerifyReadsEachTableOnce(t *testing.T) {
	t.Parallel()
	pairs := numbered(0, 3000)
	for i := range pairs {
		pairs[i][1] = strings.Repeat(pairs[i][0], 100)
	}
	for name, o := range map[string]*table.WriterOptions{
		"plain":    {Compression: table.NoCompression},
		"filters":  {Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(100)},
		"digest":   {DataDigest: true, TableFilterPolicy: filter.NewTableBloom(10)},
		"one read": {BlockSize: 3 << 20},
	} {
		src, m := newStore(), new(set.Manifest)
		m.Tables = []set.Table{src.put(t, "t", o, pairs)}
		s := open(t, m, src, nil)
		calls, read := int64(0), int64(0)
		src.before = func(_ context.Context, _ string, p []byte, _ int64) (int, error, bool) {
			calls, read = calls+1, read+int64(len(p))
			return 0, nil, false
		}
		if err := s.Verify(background, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		size := m.Tables[0].Size
		if most := size>>20 + 2; calls > most || read != size+1 {
			t.Errorf("%s: %d bytes by %d reads of a table of %d bytes, want %d by at most %d", name, read, calls, size, size+1, most)
		}
	}
}

// Verify notices what opening a table does not: a manifest that is forged.
func TestVerifyOfForgedManifests(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{BlockSize: 1 << 20} // one block, no filters, no properties
	src, m := numberedSet(t, 2, o)
	other := src.put(t, "other", o, numberedAs("other", 3))
	for want, forge := range map[string]func(l *set.Table){
		"sha256":   func(l *set.Table) { l.SHA256 = other.SHA256 },
		"entries":  func(l *set.Table) { l.Entries = 3 },
		"smallest": func(l *set.Table) { l.Smallest = []byte("a") },
		"largest":  func(l *set.Table) { l.Largest = []byte(key(48)) },
	} {
		t.Run(want, func(t *testing.T) {
			s := open(t, changed(m.Tables[0], forge), src, nil)
			err := s.Verify(background, nil)
			if prefix := `set: table "t000": ` + want + ": "; !errors.Is(err, set.ErrMismatch) || !strings.HasPrefix(err.Error(), prefix) {
				t.Errorf("Verify = %v, want a mismatch of %s", err, want)
			}
		})
	}
}

// Verify notices a tail that is too short to open the table, which Open leaves to lookups.
func TestVerifyOfShortTails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	for _, tail := range []int64{48, m.Tables[0].TailSize - 1} {
		s := open(t, changed(m.Tables[0], func(l *set.Table) { l.TailSize = tail }), src, nil)
		_, want := s.Get(background, []byte(key(0)))
		err := s.Verify(background, nil)
		if !errors.Is(err, set.ErrMismatch) || want == nil || err.Error() != want.Error() {
			t.Errorf("Verify with a tail of %d bytes = %v, want what Get returns: %v", tail, err, want)
		}
	}
}

// Of a table that has a filter only, Verify checks what can be checked.
func TestVerifyOfForgedFilters(t *testing.T) {
	t.Parallel()
	src := newStore()
	pairs := numbered(0, 10)
	for i := range pairs {
		pairs[i][1] = ""
	}
	line := src.put(t, "t", &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}, pairs)
	for want, forge := range map[string]func(l *set.Table){
		"entries":  func(l *set.Table) { l.Entries = 3 },
		"smallest": func(l *set.Table) { l.Smallest = []byte("a") },
		"largest":  func(l *set.Table) { l.Largest = []byte("z") },
	} {
		t.Run(want, func(t *testing.T) {
			s := open(t, changed(line, forge), src, nil)
			err := s.Verify(background, nil)
			if prefix := `set: table "t": ` + want + ": "; !errors.Is(err, set.ErrMismatch) || !strings.HasPrefix(err.Error(), prefix) {
				t.Errorf("Verify = %v, want a mismatch of %s", err, want)
			}
		})
	}
}

// An error of the Source is a finding of its table, and a context that is done ends Verify.
func TestVerifyThatFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, nil)
	broken := errors.New("broken")
	src.before = failing("t001", broken)
	var got []string
	report := func(l set.Table, err error) {
		if errors.Is(err, broken) {
			l.Name += " is broken"
		}
		got = append(got, l.Name)
	}
	if err := s.Verify(background, report); !errors.Is(err, broken) {
		t.Errorf("Verify = %v, want %v", err, broken)
	}
	if diff := cmp.Diff([]string{"t000", "t001 is broken", "t002"}, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(background)
	src.before = func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		if name == "t001" {
			cancel()
			return 0, ctx.Err(), true
		}
		return 0, nil, false
	}
	got = nil
	if err := s.Verify(ctx, report); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify = %v, want Canceled", err)
	}
	if diff := cmp.Diff([]string{"t000"}, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// A read that fails, or finds the end too early, is a finding, whichever of the two reads it is.
func TestVerifyOfUnreadableTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	for _, fault := range []error{errors.New("broken"), io.EOF} {
		for good := range 2 {
			t.Run(fmt.Sprintf("%v after %d reads", fault, good), func(t *testing.T) {
				src.before = nil
				s := open(t, m, src, nil)
				reads := 0
				src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
					reads++
					return 0, fault, reads > good
				}
				err := s.Verify(background, nil)
				if err == nil || !strings.Contains(err.Error(), `"t000"`) || fault != io.EOF && !errors.Is(err, fault) {
					t.Errorf("Verify = %v, want an error of t000", err)
				}
			})
		}
	}
}

// Close ends Verify.
func TestVerifyOfAClosedSet(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, nil)
	reports := 0
	err := s.Verify(background, func(set.Table, error) { reports++; s.Close() })
	if !errors.Is(err, table.ErrClosed) || reports != 1 {
		t.Errorf("Verify = %v after %d reports, want ErrClosed after 1", err, reports)
	}
}

// Describe reads a table twice: for its SHA-256, and to verify it and see its keys.
func TestDescribeReadsTwice(t *testing.T) {
	t.Parallel()
	src := newStore()
	line := src.put(t, "t", &table.WriterOptions{Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)}, numbered(0, 20_000))
	read := int64(0)
	got, err := set.Describe(readerAtFunc(func(p []byte, off int64) (int, error) {
		read += int64(len(p))
		return bytes.NewReader(src.files["t"]).ReadAt(p, off)
	}), line.Size, nil)
	got.Name = line.Name
	if diff := cmp.Diff(line, got); err != nil || diff != "" {
		t.Errorf("Describe: %v (-want +got):\n%s", err, diff)
	}
	if read > line.Size*22/10 {
		t.Errorf("Describe reads %d bytes of a table of %d, want twice as many", read, line.Size)
	}
}

// readerAtFunc is a function as an io.ReaderAt.
type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// Whatever byte of a table is changed, Verify reports each finding once.
func TestVerifyReportsEachFindingOnce(t *testing.T) {
	t.Parallel()
	src := newStore()
	line := src.put(t, "t", nil, [][2]string{{"a", "1"}, {"b", "2"}})
	s := open(t, &set.Manifest{Tables: []set.Table{line}}, src, nil)
	sound := src.files["t"]
	for i := range sound {
		src.files["t"] = bytes.Clone(sound)
		src.files["t"][i] ^= 0xff
		seen := map[string]bool{}
		for _, finding := range strings.Split(fmt.Sprint(s.Verify(background, nil)), "\n") {
			if seen[finding] {
				t.Errorf("byte %d: reported twice: %s", i, finding)
			}
			seen[finding] = true
		}
		if seen["<nil>"] {
			t.Errorf("byte %d: nothing is reported", i)
		}
	}
}
