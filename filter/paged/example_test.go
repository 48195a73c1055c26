package paged_test

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/table"
)

func ExamplePolicy() {
	policy, err := paged.New(14)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d MB, %.2f %% false positives\n", policy.Size(1e9)/1e6, 100*policy.Rate(1e9))
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{TableFilterPolicy: policy})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Append([]byte("Norway"), []byte("Oslo")); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()),
		&table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	fmt.Println(r.MayContain([]byte("Norway")))
	fmt.Println(r.MayContain([]byte("Atlantis")))
	// Output:
	// 1751 MB, 0.12 % false positives
	// true <nil>
	// false <nil>
}

// Opening a filter-only table reads its tail. A lookup reads one page.
func ExamplePolicy_filterOnly() {
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{TableFilterPolicy: paged.Policy{}, FilterOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 100_000 {
		if err := w.Append(fmt.Appendf(nil, "https://example.com/%06d", i), nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	var m table.Metrics
	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), &table.ReaderOptions{
		TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}, TailSize: int(w.TailSize()), Metrics: &m,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://example.com/099999", "https://example.com/100000"} {
		listed, err := r.MayContain([]byte(url))
		fmt.Println(url, listed, err)
	}
	fmt.Println(m.FilterPagesRead.Load(), "of", (int64(file.Len())-w.TailSize())/paged.PageSize, "pages read")
	// Output:
	// https://example.com/099999 true <nil>
	// https://example.com/100000 false <nil>
	// 2 of 43 pages read
}

// Look up several keys, and read each page once.
func ExampleShape() {
	g := paged.Policy{}.NewTableGenerator()
	for i := range 100_000 {
		g.Add(fmt.Append(nil, i))
	}
	contents, err := g.Generate()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := paged.ReadShape(contents[len(contents)-paged.TrailerSize:], uint64(len(contents)))
	if err != nil {
		fmt.Println(err)
		return
	}
	hashes := make(map[uint64][]uint64) // by pages
	for i := range 1000 {
		h := s.Hash(fmt.Append(nil, i))
		hashes[s.Page(h)] = append(hashes[s.Page(h)], h)
	}
	listed := 0
	for n, all := range hashes {
		page := contents[n*paged.PageSize:][:paged.PageSize] // a program reads it here
		if err := s.CheckPage(page, n); err != nil {
			fmt.Println(err)
			return
		}
		for _, h := range all {
			if s.InPage(page, h) {
				listed++
			}
		}
	}
	fmt.Println(listed, "keys are listed, by", len(hashes), "reads")
	// Output: 1000 keys are listed, by 43 reads
}
