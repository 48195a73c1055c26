package table_test

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// capitals writes a small table and returns its bytes.
func capitals(o *table.WriterOptions) []byte {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, o)
	if err != nil {
		panic(err)
	}
	for _, e := range [][2]string{{"Cuba", "Havana"}, {"Norway", "Oslo"}, {"Peru", "Lima"}, {"Togo", "Lomé"}} {
		if err := w.Append([]byte(e[0]), []byte(e[1])); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Write a table to a file and read it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "capitals.ldb")

	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Abort() // does nothing after Close
	for _, e := range [][2]string{{"Norway", "Oslo"}, {"Peru", "Lima"}} {
		if err := w.Append([]byte(e[0]), []byte(e[1])); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil { // if it is nil, the file is on disk
		fmt.Println(err)
		return
	}

	r, err := table.Open(name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	capital, err := r.Get([]byte("Peru"))
	fmt.Printf("%s %v\n", capital, err)
	_, err = r.Get([]byte("Atlantis"))
	fmt.Println(err)
	// Output:
	// Lima <nil>
	// table: key not found
}

//go:embed testdata/capitals.ldb
var data embed.FS

// Open a table that is embedded in the program. The file was built with: sst build capitals.tsv -o
// testdata/capitals.ldb
func ExampleOpenFS() {
	r, err := table.OpenFS(data, "testdata/capitals.ldb", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	capital, err := r.Get([]byte("Togo"))
	fmt.Printf("%s %v\n", capital, err)
	// Output: Lomé <nil>
}

// Metrics show what the filter saves: the absent key costs no read of a data block.
func ExampleMetrics() {
	contents := capitals(&table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	var m table.Metrics
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Metrics: &m})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, country := range []string{"Atlantis", "Norway"} {
		_, err := r.Get([]byte(country))
		fmt.Printf("%s: found %v, %d of %d lookups ended at the filter, %d data blocks read\n",
			country, err == nil, m.FilterNegatives.Load(), m.Lookups.Load(), m.BlocksRead.Load())
	}
	// Output:
	// Atlantis: found false, 1 of 1 lookups ended at the filter, 0 data blocks read
	// Norway: found true, 1 of 2 lookups ended at the filter, 1 data blocks read
}

// A block in the Cache is not read again. This table has one block.
func ExampleCache() {
	contents := capitals(nil)
	var m table.Metrics
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{
		Cache:   table.NewCache(64 << 20), // all Readers of a program can share it
		Metrics: &m,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, country := range []string{"Norway", "Peru", "Norway"} {
		capital, err := r.Get([]byte(country))
		fmt.Printf("%s %v\n", capital, err)
	}
	fmt.Printf("%d data blocks read, %d found in the cache\n", m.BlocksRead.Load(), m.CacheHits.Load())
	// Output:
	// Oslo <nil>
	// Lima <nil>
	// Oslo <nil>
	// 1 data blocks read, 2 found in the cache
}

// Iterate over the entries whose keys start with a prefix.
func ExampleIterOptions() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range r.All(&table.IterOptions{Prefix: []byte("P")}) {
		fmt.Println(string(e.Key), string(e.Value), err)
	}
	// Output: Peru Lima <nil>
}

func ExampleReader_AppendGet() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var buf []byte
	for _, country := range []string{"Togo", "Cuba"} {
		if buf, err = r.AppendGet(buf[:0], []byte(country)); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", buf)
	}
	// Output:
	// Lomé
	// Havana
}

// If keys are looked up only once, their blocks need not be cached. AppendFind appends to slices that can be reused.
func ExampleReader_DontFillCache() {
	contents := capitals(nil)
	cache := table.NewCache(64 << 20)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Cache: cache})
	if err != nil {
		fmt.Println(err)
		return
	}
	once := r.DontFillCache(true)
	var country, capital []byte
	for _, key := range []string{"Togo", "Cuba"} {
		country, capital, err = once.AppendFind(country[:0], capital[:0], []byte(key))
		fmt.Printf("%s: %s, %v\n", country, capital, err)
	}
	fmt.Println(cache.Size(), "bytes in the Cache")
	// Output:
	// Togo: Lomé, <nil>
	// Cuba: Havana, <nil>
	// 0 bytes in the Cache
}

// A CorruptionError says which block is damaged, where it is in the file, and how.
func ExampleCorruptionError() {
	contents := capitals(&table.WriterOptions{Compression: table.NoCompression})
	contents[3] = 'X'
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Get([]byte("Norway"))
	var damage *table.CorruptionError
	if errors.As(err, &damage) {
		fmt.Println(damage.Block, damage.Offset)
	}
	// Output: data block 0
}

// The error of Verify joins several findings. Some are corruption, others are not.
func ExampleReader_Verify() {
	contents := capitals(&table.WriterOptions{Compression: table.NoCompression, BlockSize: 1})
	contents[3], contents[33] = 'X', 'X' // in the first and the second block
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = r.Verify()
	if err == nil {
		fmt.Println("sound")
		return
	}
	findings := []error{err} // ErrClosed is a single error
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		findings = all.Unwrap()
	}
	for _, finding := range findings {
		if damage := (*table.CorruptionError)(nil); errors.As(finding, &damage) {
			fmt.Println("damaged:", damage.Block, damage.Offset)
		} else {
			fmt.Println("not damage:", finding) // for example an I/O error
		}
	}
	// Output:
	// damaged: data block 0
	// damaged: data block 26
}

// An engine closes a table when it is large enough, and starts the next one.
func ExampleWriter_Size() {
	var tables int
	var w *table.Writer
	for i := range 1000 {
		if w == nil {
			var err error
			if w, err = table.NewWriter(new(bytes.Buffer), nil); err != nil {
				fmt.Println(err)
				return
			}
			tables++
		}
		if err := w.Append(fmt.Appendf(nil, "%06d", i), make([]byte, 100)); err != nil {
			fmt.Println(err)
			return
		}
		if w.Size() < 2000 && i < 999 {
			continue
		}
		if err := w.Close(); err != nil {
			fmt.Println(err)
			return
		}
		w = nil
	}
	fmt.Println(tables, "tables")
	// Output: 4 tables
}

// A filter-only table is as small as its filter. It answers "certainly not" or "maybe".
func ExampleReader_MayContain() {
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(16), FilterOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://example.com/a", "https://example.com/b"} { // in order
		if err := w.Append([]byte(url), nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	fmt.Println(r.MayContain([]byte("https://example.com/a")))
	fmt.Println(r.MayContain([]byte("https://example.com/c")))
	_, err = r.Get([]byte("https://example.com/a"))
	fmt.Println(errors.Is(err, table.ErrFilterOnly))
	// Output:
	// true <nil>
	// false <nil>
	// true
}
