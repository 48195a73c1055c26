package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someResults() *results {
	return &results{
		Command: "run it", Machine: [][2]string{{"CPU", "Z80"}, {"cores", "1"}}, Peers: [][2]string{{"bbolt", "v1"}},
		Rows: []row{
			{N: 1000, Name: "set, bloom:10, read", Build: 0.5, Unsorted: -1, Disk: 20_000, Update: 1e6, costs: costs{Open: 12, FalsePositives: -1, Absent: 301, Present: 2000}},
			{N: 1000, Name: "set, bloom:10, mapped", Build: 0.5, Unsorted: -1, Disk: 20_000, Update: 1e6, costs: costs{Open: 12, FalsePositives: -1, Absent: 301, Present: 2000}},
			{N: 1_000_000, Name: "bbolt", Build: 0.36, Unsorted: 3.6, Disk: 2e7, Update: 3e6, costs: costs{
				Open: 12, Read: 1e7, Opened: memory{Anon: 2e6}, After: memory{Anon: 3e6, Mapped: 1e6}, FalsePositives: 0.0101, Absent: 301, Present: 2000,
			}},
		},
		Curve: curve{Tables: 100, Keys: 10_000, Points: []point{{100, 500}, {10, 65_000}}},
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	const (
		writtenTitles = " build, µs per key | from unsorted, µs per key | disk, bytes per key | update, MB written |\n|---|--:|--:|--:|--:|\n"
		queryTitles   = " open, ms | read to open, MB | memory, bytes per key | after lookups, bytes per key | mapped, bytes per key |" +
			" absent key, ns | false positives, % | present key, ns |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
	)
	const want = "`run it` on CPU Z80, cores 1, with bbolt v1.\n" +
		"\n| 1,000 keys, built and updated |" + writtenTitles + "| set, bloom:10 | 0.500 | – | 20.0 | 1.00 |\n" +
		"\n| 1,000 keys, queried |" + queryTitles + "| set, bloom:10, read | 12.0 | 0 | 0 | 0 | 0 | 301 | – | 2,000 |\n| set, bloom:10, mapped | 12.0 | 0 | 0 | 0 | 0 | 301 | – | 2,000 |\n" +
		"\n| 1,000,000 keys, built and updated |" + writtenTitles + "| bbolt | 0.360 | 3.60 | 20.0 | 3.00 |\n" +
		"\n| 1,000,000 keys, queried |" + queryTitles + "| bbolt | 12.0 | 10.0 | 2.00 | 3.00 | 1.00 | 301 | 1.01 | 2,000 |\n" +
		"\n| 10,000,000,000 keys, scaled from 1,000,000 | build, core-hours | from unsorted, core-hours |" +
		" disk, GB | open, CPU s | read to open, GB | memory, GB | after lookups, GB | update, GB written |\n" +
		"|---|--:|--:|--:|--:|--:|--:|--:|--:|\n" +
		"| bbolt | 1.00 | 10.0 | 200 | 120 | 100 | 20.0 | 30.0 | 30.0 |\n" +
		"\n| `MemorySize`, as a share of the memory of 100 tables of 10,000 keys | 100 % | 10 % |\n|---|--:|--:|\n| absent key, µs | 0.500 | 65.0 |\n"
	if diff := cmp.Diff(want, someResults().tables()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	r := someResults()
	r.Rows = append(r.Rows, row{N: 1_000_000, Name: "set, fuse:8, filter only, mapped"}, row{N: 1_000_000, Name: "set, fuse:8, filter only, read", Disk: 1_130_000, costs: costs{
		Opened: memory{Anon: 1.2e6}, FalsePositives: 0.004, Absent: 434, Present: 445,
	}})
	const want = "| filters | memory, bytes | disk, bytes | absent key, ns | present key, ns | false positives, % |\n" +
		"|---|--:|--:|--:|--:|--:|\n| fuse:8, filter only | 1.20 | 1.13 | 434 | 445 | 0.400 |\n"
	if diff := cmp.Diff(want, r.choice()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
