package table_test

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// Lookups collect their most frequent false positives, which become exceptions. Then the filter rules them out.
func ExampleReader_Except() {
	var contents bytes.Buffer
	w, err := table.NewWriter(&contents, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 10_000 {
		if err := w.Append(fmt.Appendf(nil, "blocked%05d", i), nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	visit := func(contents []byte, report func(filterKey []byte)) *table.Reader { // the same 1,000 pages, again and again
		var m table.Metrics
		r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Metrics: &m, OnFalsePositive: report})
		if err != nil {
			panic(err)
		}
		for i := range 10_000 {
			r.Get(fmt.Appendf(nil, "allowed%03d", i%1000))
		}
		fmt.Printf("%d of %d lookups read a data block\n", m.FilterFalsePositives.Load(), m.Lookups.Load())
		return r
	}

	var frequent filter.FalsePositives
	r := visit(contents.Bytes(), frequent.Add)
	var better bytes.Buffer
	n, err := r.Except(&better, frequent.Keys())
	fmt.Printf("%d exceptions, %d more bytes, %v\n", n, better.Len()-contents.Len(), err)
	visit(better.Bytes(), nil)
	// Output:
	// 120 of 10000 lookups read a data block
	// 12 exceptions, 110 more bytes, <nil>
	// 0 of 10000 lookups read a data block
}
