package filter_test

import (
	"fmt"

	"github.com/sievetable/sievetable/filter"
)

// Build a filter of three keys and look two up.
func ExampleNewBloom() {
	policy := filter.NewBloom(10)
	g := policy.NewGenerator()
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		g.Add([]byte(city))
	}
	var f filter.Bytes
	g.Generate(&f)

	for _, city := range []string{"Lima", "Rome"} {
		fmt.Println(city, policy.Contains(f, []byte(city)))
	}
	// Output:
	// Lima true
	// Rome false
}

// How many bits per key give at most 1 % false positives in a filter of a million keys?
func ExampleForRate() {
	const n = 1_000_000
	one, err := filter.ForRate(filter.NewBloom, n, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := filter.ForRate(filter.NewTableBloom, n, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Bloom:      %d bits per key, k = %d, %.2f MB, %.2f %%\n", one.BitsPerKey(), one.K(), float64(one.Size(n))/1e6, 100*one.Rate(n))
	fmt.Printf("TableBloom: %d bits per key, k = %d, %.2f MB, %.2f %%\n", table.BitsPerKey(), table.K(), float64(table.Size(n))/1e6, 100*table.Rate(n))
	// Output:
	// Bloom:      11 bits per key, k = 7, 1.38 MB, 0.77 %
	// TableBloom: 11 bits per key, k = 6, 1.38 MB, 0.86 %
}

// Two nodes each build a filter of the keys they saw. The union contains the keys of both.
func ExampleUnion() {
	policy := filter.NewBloom(10)
	build := func(keys ...string) []byte {
		g := policy.NewGenerator()
		for _, k := range keys {
			g.Add([]byte(k))
		}
		var f filter.Bytes
		g.Generate(&f)
		return f
	}
	both, err := filter.Union(build("Bern", "Lima"), build("Oslo"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.Contains(both, []byte("Bern")), policy.Contains(both, []byte("Oslo")))
	// Output: true true
}

// Which lines were seen before? The filter resumes after a restart.
func ExampleDynamicBloom() {
	seen, err := filter.NewDynamicBloom(1_000_000, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, city := range []string{"Bern", "Lima", "Bern"} {
		fmt.Println(city, seen.AddIfAbsent([]byte(city)))
	}
	resumed, err := filter.OpenDynamicBloom(seen.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resumed.Contains([]byte("Lima")), resumed.Contains([]byte("Rome")))
	// Output:
	// Bern true
	// Lima true
	// Bern false
	// true false
}

// Names are removed from a blocklist. Its filter is LevelDB's.
func ExampleCountingBloom() {
	blocked, err := filter.NewCountingBloom(1000, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	blocked.Add([]byte("Lima"))
	blocked.Add([]byte("Rome"))
	fmt.Println(blocked.Remove([]byte("Lima")), blocked.Remove([]byte("Bern")))
	f := blocked.Bytes()
	fmt.Println(filter.NewBloom(10).Contains(f, []byte("Lima")), filter.NewBloom(10).Contains(f, []byte("Rome")))
	// Output:
	// true false
	// false true
}

// Two lists become one, which resumes after a restart. Names can still be removed.
func ExampleCountingBloom_Union() {
	lists := make([]*filter.CountingBloom, 2)
	for i, cities := range [][]string{{"Lima", "Rome"}, {"Rome", "Bern"}} {
		f, err := filter.NewCountingBloom(1000, 10)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, city := range cities {
			f.Add([]byte(city))
		}
		lists[i] = f
	}
	if err := lists[0].Union(lists[1]); err != nil {
		fmt.Println(err)
		return
	}
	both, err := filter.OpenCountingBloom(lists[0].Counts())
	if err != nil {
		fmt.Println(err)
		return
	}
	both.Remove([]byte("Rome"))
	both.Remove([]byte("Bern"))
	for _, city := range []string{"Lima", "Rome", "Bern"} {
		fmt.Println(city, both.Contains([]byte(city)))
	}
	// Output:
	// Lima true
	// Rome true
	// Bern false
}

// The bits of a present and of an absent key.
func ExampleProbe() {
	policy := filter.NewBloom(10)
	g := policy.NewGenerator()
	g.Add([]byte("Lima"))
	var f filter.Bytes
	g.Generate(&f)
	for _, city := range []string{"Lima", "Rome"} {
		p, err := filter.Probe(f, []byte(city))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: hash 0x%08x, bits %d, first clear: %d\n", city, p.Hash, p.Bits, p.Clear)
	}
	// Output:
	// Lima: hash 0xc1991115, bits [21 33 45 57 5 17], first clear: -1
	// Rome: hash 0x9163be9d, bits [29 14 63 48 33 18], first clear: 0
}

// One filter for all keys of a table.
func ExampleTableBloom() {
	policy := filter.NewTableBloom(10)
	g := policy.NewTableGenerator()
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		g.Add([]byte(city))
	}
	contents, err := g.Generate()
	if err != nil {
		fmt.Println(err)
		return
	}

	f, err := policy.Open(contents)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Contains([]byte("Lima")), f.Contains([]byte("Rome")))
	// Output: true false
}

func ExampleRename() {
	fmt.Println(filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter2").Name())
	// Output: leveldb.BuiltinBloomFilter2
}

// Write a filter block with one data block, at offset 0, and look up keys in it.
func ExampleBlockWriter() {
	policy := filter.NewBloom(10)
	w, err := filter.NewBlockWriter(policy, filter.DefaultBaseLg)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.StartBlock(0); err != nil {
		fmt.Println(err)
		return
	}
	w.Add([]byte("Bern"))
	w.Add([]byte("Lima"))
	block, err := w.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := filter.NewBlockReader(block, policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Contains(0, []byte("Bern")), r.Contains(0, []byte("Rome")))
	// Output: true false
}
