package blocked_test

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/filter/blocked"
)

// Which URLs were seen before? The filter resumes after a restart.
func Example() {
	seen, err := blocked.New(1_000_000, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://go.dev", "https://pkg.go.dev", "https://go.dev"} {
		fmt.Println(url, seen.AddIfAbsent([]byte(url)))
	}

	var file bytes.Buffer
	if _, err := seen.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}
	resumed, err := blocked.Read(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resumed.Contains([]byte("https://go.dev")), resumed.Contains([]byte("https://example.org")))
	// Output:
	// https://go.dev true
	// https://pkg.go.dev true
	// https://go.dev false
	// true false
}

// If the number of URLs is unknown, the filter grows and keeps its rate.
func ExampleGrowing() {
	seen, err := blocked.NewGrowing(0, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 100_000 {
		if err := seen.Add(fmt.Append(nil, "https://go.dev/issue/", i)); err != nil {
			fmt.Println(err)
			return
		}
	}
	absent, err := seen.AddIfAbsent([]byte("https://go.dev/issue/42"))
	fmt.Println(absent, err)
	fmt.Printf("%d filters, %d KB\n", len(seen.Inspect()), seen.Size()/1000)
	// Output:
	// false <nil>
	// 3 filters, 304 KB
}

// Inspect a filter with half of the planned keys.
func ExampleFilter_Inspect() {
	f, err := blocked.New(100_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 50_000 {
		f.Add(fmt.Append(nil, i))
	}
	i := f.Inspect()
	fmt.Printf("%d KB, k = %d, %.0f %% of the bits are set\n", f.Size()/1000, i.K, 100*i.Fill)
	fmt.Printf("%.0f thousand keys, %.2f %% false positives\n", i.Keys/1000, 100*i.Rate)
	// Output:
	// 126 KB, k = 6, 25 % of the bits are set
	// 50 thousand keys, 0.05 % false positives
}
