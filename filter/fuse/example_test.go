package fuse_test

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
)

func ExampleNew() {
	policy, err := fuse.New(12)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f bits per key, 1 false positive in %.0f\n",
		8*float64(policy.Size(1_000_000))/1_000_000, 1/policy.Rate())
	// Output: 13.6 bits per key, 1 false positive in 4096
}

// A Reader needs the policy. Without it, the filter is not used.
func ExamplePolicy() {
	var policy fuse.Policy // as New(12)
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
	for _, o := range []*table.ReaderOptions{{TableFilterPolicies: []filter.TablePolicy{policy}}, nil} {
		r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), o)
		if err != nil {
			fmt.Println(err)
			return
		}
		may, err := r.MayContain([]byte("Atlantis"))
		fmt.Println(may, err, r.FilterErr())
		r.Close()
	}
	// Output:
	// false <nil> <nil>
	// true <nil> table: filter "binaryfuse": no policy of that name in the options
}
