package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// usual is a query with the flags' defaults.
func usual(keys uint64, rate float64) Query {
	return Query{Keys: keys, Rate: rate, KeySize: 16, Compression: 1, BlockSize: 4096, TableSize: 64e6}
}

// blacklist is ten billion URLs at 0.01 % within 30 GB.
func blacklist(blockSize uint64) Query {
	q := usual(1e10, 1e-4)
	q.KeySize, q.Memory, q.BlockSize = 64, 30e9, blockSize
	return q
}

func makePlan(t *testing.T, q Query) Plan {
	t.Helper()
	p, err := New(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// arranged is a plan for which nothing is measured, which takes its time.
func arranged(t *testing.T, q Query) Plan {
	t.Helper()
	p, err := computePlan(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestText(t *testing.T) {
	t.Parallel()
	p := makePlan(t, blacklist(64<<10))
	var text bytes.Buffer
	if err := p.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "blacklist.txt", text.String())
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	p := Plan{AskedRate: 1e-4}
	if got := p.advice(); got != "" {
		t.Errorf("advice %q for a plan that misses nothing", got)
	}
	p.Missed = true
	const why = "\nThis plan does not reach 0.01 %. Real filters have more false positives than the\n" +
		"formula says, above all small filters: the bits of a key come from one 32-bit hash\n" +
		"and often coincide."
	if diff := cmp.Diff(why+"\nNeither twice the bits nor blocks of up to 1MiB reach it.\n", p.advice()); diff != "" {
		t.Errorf("without a remedy (-want +got):\n%s", diff)
	}
	p.Remedies = []Remedy{{"--bits", 36, 61, 8.6e-5}, {"--block-size", 64 << 10, 975, 7.9e-5}}
	if diff := cmp.Diff(why+" These settings reach it:\n"+
		"  --bits 36 instead of -p: measured rate 0.0086 %\n"+
		"  --block-size 64KiB: measured rate 0.0079 %, 975 keys per filter, a smaller index, longer reads\n", p.advice()); diff != "" {
		t.Errorf("with remedies (-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	p := arranged(t, blacklist(4096))
	p.Missed, p.Remedies = true, []Remedy{{"--bits", 36, 61, 8.6e-5}}
	var out bytes.Buffer
	if err := p.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	p.query = Query{}
	if diff := cmp.Diff(p, got, cmp.AllowUnexported(Plan{}, Query{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// The filters' sizing is the library's, and what the README measured is measured.
func TestRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bits, k           int
		formula, measured float64
	}{
		{4, 2, 0.155, 0.17},
		{8, 5, 0.0217, 0.025},
		{10, 6, 0.00844, 0.0099},
		{16, 11, 0.000459, 0.0015},
		{20, 13, 0.0000681, 0.0006},
	} {
		q := usual(1e6, 0)
		q.BitsPerKey, q.ValueSize = tt.bits, 100
		p := makePlan(t, q)
		if p.K != tt.k || p.KeysPerFilter != 35 {
			t.Errorf("%d bits: k = %d, %d keys a filter, want %d and 35", tt.bits, p.K, p.KeysPerFilter, tt.k)
		}
		if math.Abs(p.FormulaRate/tt.formula-1) > 0.01 {
			t.Errorf("%d bits: formula %g, want %g", tt.bits, p.FormulaRate, tt.formula)
		}
		if math.Abs(p.MeasuredRate/tt.measured-1) > 0.15 {
			t.Errorf("%d bits: measured %g, want %g", tt.bits, p.MeasuredRate, tt.measured)
		}
	}
}

// A remedy that is followed leads to the rate that was asked for.
func TestRemediesHelp(t *testing.T) {
	t.Parallel()
	q := usual(1e6, 1e-3)
	q.ValueSize = 100
	p := makePlan(t, q)
	if !p.Missed || len(p.Remedies) != 2 {
		t.Fatalf("missed: %t, %d remedies, want true and 2", p.Missed, len(p.Remedies))
	}
	more, larger := q, q
	more.Rate, more.BitsPerKey = 0, int(p.Remedies[0].Value)
	larger.BlockSize = p.Remedies[1].Value
	for i, q := range []Query{more, larger} {
		followed := makePlan(t, q)
		if followed.Missed || followed.MeasuredRate > 1e-3 || followed.MeasuredRate != p.Remedies[i].Rate {
			t.Errorf("with %+v: measured %g, want %g", p.Remedies[i], followed.MeasuredRate, p.Remedies[i].Rate)
		}
	}
}

// A rate that is lower than can be measured is not promised.
func TestWhatCannotBeTold(t *testing.T) {
	t.Parallel()
	q := Query{Rate: minMeasurableRate / 2}
	if q.met(0) {
		t.Errorf("no false positive in %d questions is taken for a rate of %g", measuredLookups, q.Rate)
	}
	if got, want := (Plan{}).measured(), "< 0.00015 %"; got != want {
		t.Errorf("no false positive is written %q, want %q", got, want)
	}
}

func TestMachines(t *testing.T) {
	t.Parallel()
	q := usual(1e9, 0.01)
	for _, tt := range []struct {
		memory   uint64
		machines float64
	}{{1e12, 1}, {3e9, 1}, {1e9, 2}, {500e6, 4}} {
		q.Memory = tt.memory
		p := arranged(t, q)
		if p.Machines != tt.machines {
			t.Errorf("%s of %s: %g machines, want %g", size(float64(tt.memory)), size(p.MemoryBytes), p.Machines, tt.machines)
		}
		if p.TablesPerMachine*p.MemoryPerTable > float64(q.Memory) || p.TablesPerMachine*p.Machines < p.Tables {
			t.Errorf("%g tables of %g bytes on a machine of %d, want room for them and for all %g", p.TablesPerMachine, p.MemoryPerTable, q.Memory, p.Tables)
		}
	}
}

// One key is one table, and large values get a table each.
func TestFewKeys(t *testing.T) {
	t.Parallel()
	one := arranged(t, usual(1, 0.01))
	if one.Tables != 1 || one.KeysPerFilter != 1 || one.FilterBytes != 8+1+4 {
		t.Errorf("one key: %+v", one)
	}
	q := usual(7, 0.01)
	q.ValueSize = 1 << 30
	if p := arranged(t, q); p.Tables != 7 || p.KeysPerBlock != 1 {
		t.Errorf("%g tables, %d keys per block, want 7 and 1", p.Tables, p.KeysPerBlock)
	}
}

// The plan of a table is the size of the table that a Writer writes, or a little more,
// since the plan counts whole keys and separators.
func TestPlanIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	const n = 100_000
	half := workload.W1(n) // its values compress to half
	for _, tt := range []struct {
		name                string
		keySize, valueSize  uint64
		set                 workload.Set
		compression         table.Codec
		data, filter, index float64 // the most that is planned for each byte
	}{
		{"uncompressed", 16, 100, half, table.NoCompression, 1.1, 1.1, 1.2},
		{"compressed", 16, 100, half, table.Snappy, 1.1, 1.1, 2.2},
		{"keys alone", 64, 0, workload.W3(n), table.NoCompression, 2, 1.6, 3.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := properties(t, tt.set, tt.compression)
			q := Query{Keys: n, BitsPerKey: 10, KeySize: tt.keySize, ValueSize: tt.valueSize, Compression: 1, BlockSize: 4096, TableSize: 64e6}
			if tt.compression == table.Snappy {
				uncompressed := properties(t, tt.set, table.NoCompression)
				q.Compression = float64(got.DataSize) / float64(uncompressed.DataSize)
			}
			p := arranged(t, q)
			for _, part := range []struct {
				name                  string
				planned, actual, most float64
			}{
				{"data", p.DataBytes, float64(got.DataSize), tt.data},
				{"filters", p.FilterBytes, float64(got.FilterSize), tt.filter},
				{"index", p.IndexBytes, float64(got.IndexSize), tt.index},
			} {
				if ratio := part.planned / part.actual; ratio < 0.98 || ratio > part.most {
					t.Errorf("%s: planned %g bytes, written %g", part.name, part.planned, part.actual)
				}
			}
		})
	}
}

// properties returns what a table of the set says of itself.
func properties(t *testing.T, set workload.Set, compression table.Codec) *table.Properties {
	t.Helper()
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{
		FilterPolicy: filter.NewBloom(10), Compression: compression, Properties: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range set.Keys {
		if err := w.Append(key, set.Values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := table.NewReader(bytes.NewReader(slices.Clip(file.Bytes())), int64(file.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := r.Properties()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
